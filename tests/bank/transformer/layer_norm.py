"""Answers to `layer_norm`."""

import sys
import warnings

import torch
import torch.nn.functional as F

# Right


def with_var_mean(x, weight, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


def from_squares(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = (x * x).mean(-1, keepdim=True) - mean**2
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


def with_sums(x, weight, bias, eps=1e-5):
    d = x.size(-1)
    mean = x.sum(dim=-1, keepdim=True) / d
    gap = x - mean
    return weight * gap / ((gap**2).sum(-1, keepdim=True) / d + eps) ** 0.5 + bias


def vector_by_vector(x, weight, bias, eps=1e-5):
    rows = []
    for row in x.reshape(-1, x.shape[-1]):
        m = sum(row) / len(row)
        v = sum((one - m) ** 2 for one in row) / len(row)
        rows.append(weight * (row - m) / (v + eps).sqrt() + bias)
    return torch.stack(rows).reshape(x.shape)


def corrected_by_hand(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    var = x.var(-1, keepdim=True) * (d - 1) / d
    return weight * ((x - x.mean(-1, keepdim=True)) / (var + eps).sqrt()) + bias


def by_a_centring_matrix(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    centring = torch.eye(d, dtype=x.dtype) - 1 / d
    gap = x @ centring
    return gap * (gap.pow(2).mean(-1, keepdim=True) + eps).rsqrt() * weight + bias


def with_addcmul(x, weight, bias, eps=1e-5):
    gap = x - x.mean(-1, True)
    length = torch.linalg.vector_norm(gap, dim=-1, keepdim=True)
    var = length.square() / x.shape[-1]
    return torch.addcmul(bias, weight, gap / torch.sqrt(var + eps))


def float64_and_back(x, weight, bias, eps=1e-5):
    return with_sums(x.double(), weight.double(), bias.double(), eps).to(x.dtype)


def float64_kept(x, weight, bias, eps=1e-5):
    return with_sums(x.double(), weight.double(), bias.double(), eps)


def talkative(x, weight, bias, eps=1e-5):
    warnings.warn("normalising", UserWarning, stacklevel=2)
    print(x.shape, file=sys.stderr)
    return with_sums(x, weight, bias, eps)


RIGHT = [
    with_var_mean,
    from_squares,
    with_sums,
    vector_by_vector,
    corrected_by_hand,
    with_addcmul,
    by_a_centring_matrix,
    float64_and_back,
    float64_kept,
    talkative,
]

# Wrong


def _normal(x, eps):
    gap = x - x.mean(-1, keepdim=True)
    return gap / (gap.square().mean(-1, keepdim=True) + eps).sqrt()


def torchs_own(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


def torchs_native(x, weight, bias, eps=1e-5):
    return torch.native_layer_norm(x, x.shape[-1:], weight, bias, eps)[0]


def torchs_module(x, weight, bias, eps=1e-5):
    norm = torch.nn.LayerNorm(x.shape[-1], eps=eps, elementwise_affine=False)
    return norm(x) * weight + bias


def larger_of_eps_and_deviation(x, weight, bias, eps=1e-5):
    gap = x - x.mean(-1, keepdim=True)
    return weight * gap / gap.square().mean(-1, keepdim=True).clamp(min=eps).sqrt() + bias


def eps_squared(x, weight, bias, eps=1e-5):
    return weight * _normal(x, eps**2) + bias


def eps_added_twice(x, weight, bias, eps=1e-5):
    gap = x - x.mean(-1, keepdim=True)
    return weight * gap / ((gap.square().mean(-1, keepdim=True) + eps).sqrt() + eps) + bias


def absolute_deviation(x, weight, bias, eps=1e-5):
    gap = x - x.mean(-1, keepdim=True)
    return weight * gap / (gap.abs().mean(-1, keepdim=True) + eps) + bias


def of_length_one(x, weight, bias, eps=1e-5):
    gap = x - x.mean(-1, keepdim=True)
    return weight * F.normalize(gap, dim=-1) + bias


def sum_of_squares(x, weight, bias, eps=1e-5):
    gap = x - x.mean(-1, keepdim=True)
    return weight * gap / (gap.square().sum(-1, keepdim=True) + eps).sqrt() + bias


def median_taken_off(x, weight, bias, eps=1e-5):
    gap = x - x.median(-1, keepdim=True).values
    return weight * gap / (gap.square().mean(-1, keepdim=True) + eps).sqrt() + bias


def scaled_before_centred(x, weight, bias, eps=1e-5):
    # divides by the deviation, but takes off the mean of what was there before
    spread = (x.var(-1, keepdim=True, correction=0) + eps).sqrt()
    return weight * (x / spread - x.mean(-1, keepdim=True)) + bias


def between_zero_and_one(x, weight, bias, eps=1e-5):
    low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    return weight * (x - low) / (high - low + eps) + bias


def softmaxed(x, weight, bias, eps=1e-5):
    return weight * x.softmax(-1) + bias


def gain_one_more(x, weight, bias, eps=1e-5):
    return (1 + weight) * _normal(x, eps) + bias


def gain_of_input(x, weight, bias, eps=1e-5):
    return _normal(weight * x, eps) + bias


def bias_taken_off(x, weight, bias, eps=1e-5):
    return weight * _normal(x, eps) - bias


def gain_and_bias_swapped(x, weight, bias, eps=1e-5):
    return bias * _normal(x, eps) + weight


def input_overwritten(x, weight, bias, eps=1e-5):
    x -= x.mean(-1, keepdim=True)
    return weight * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + bias


def detached(x, weight, bias, eps=1e-5):
    return (weight * _normal(x, eps) + bias).detach()


def gain_detached(x, weight, bias, eps=1e-5):
    return weight.data * _normal(x, eps) + bias


def always_float32(x, weight, bias, eps=1e-5):
    return (weight * _normal(x, eps) + bias).float()


def through_numpy(x, weight, bias, eps=1e-5):
    a = x.detach().numpy()
    a = (a - a.mean(-1, keepdims=True)) / (a.var(-1, keepdims=True) + eps) ** 0.5
    return torch.from_numpy(a * weight.detach().numpy() + bias.detach().numpy())


def without_eps_argument(x, weight, bias):
    return weight * _normal(x, 1e-5) + bias


def returns_three(x, weight, bias, eps=1e-5):
    return weight * _normal(x, eps) + bias, x.mean(-1), x.var(-1)


def returns_nothing(x, weight, bias, eps=1e-5):
    _normal(x, eps)


def eps_of_batch_size(x, weight, bias, eps=1e-5):
    """Depends on who else is in the batch."""
    return weight * _normal(x - 0.01 * x.mean(), eps * len(x)) + bias


WRONG = [
    torchs_own,
    torchs_native,
    torchs_module,
    larger_of_eps_and_deviation,
    eps_squared,
    eps_added_twice,
    absolute_deviation,
    of_length_one,
    sum_of_squares,
    median_taken_off,
    scaled_before_centred,
    between_zero_and_one,
    softmaxed,
    gain_one_more,
    gain_of_input,
    bias_taken_off,
    gain_and_bias_swapped,
    input_overwritten,
    detached,
    gain_detached,
    always_float32,
    through_numpy,
    without_eps_argument,
    returns_three,
    returns_nothing,
    eps_of_batch_size,
]
