"""Mistakes that people really make in the notebook `modern/block`.

Each function is one wrong implementation; the first line of its docstring is the title of the card,
the rest the hint. Hints teach; they never show the code.
"""

import torch
import torch.nn.functional as F

from solutions.modern import block as right
from solutions.transformer.attention import scaled_dot_product_attention

# %% rms_norm


def rms_takes_the_mean_off(x, weight, eps=1e-6):
    """You take the mean off first, as a LayerNorm does.

    RMSNorm leaves the mean where it is: x is divided by the root of its mean square, and that is
    all.
    """
    return right.rms_norm(x - x.mean(-1, keepdim=True), weight, eps)


def rms_divides_by_deviation(x, weight, eps=1e-6):
    """You divide by the standard deviation, not by the root of the mean square.

    The deviation measures how far the numbers are from their mean; here they are measured from 0.
    """
    return weight * x / (x.var(-1, keepdim=True, correction=0) + eps).sqrt()


def rms_divides_by_length(x, weight, eps=1e-6):
    """You divide by the vector's length: the squares are summed, not averaged.

    The root of the *mean* square is the length divided by the root of d. So the result has length
    sqrt(d) before the gain, whatever d is.
    """
    return weight * x / (x.square().sum(-1, keepdim=True) + eps).sqrt()


def rms_without_root(x, weight, eps=1e-6):
    """You divide by the mean square; the root is missing.

    Divided by the mean square, a vector that is twice as long would come out half as long. With
    the root it comes out the same.
    """
    return weight * x / (x.square().mean(-1, keepdim=True) + eps)


def rms_eps_outside(x, weight, eps=1e-6):
    """You add eps outside the root.

    eps belongs to the mean square, under the root. For small numbers that makes a difference.
    """
    return weight * x / (x.square().mean(-1, keepdim=True).sqrt() + eps)


def rms_without_eps(x, weight, eps=1e-6):
    """You leave eps out.

    A vector of zeros would be divided by 0. Add eps to the mean square, under the root.
    """
    return weight * x / x.square().mean(-1, keepdim=True).sqrt()


def rms_with_fixed_eps(x, weight, eps=1e-6):
    """Your eps is fixed.

    It is an argument: models differ in it, and published weights fit only their own.
    """
    return right.rms_norm(x, weight)


def rms_over_everything(x, weight, eps=1e-6):
    """You take one mean over all vectors.

    Each vector is divided by the root of its own mean square: the mean is over the last axis.
    """
    return weight * x / (x.square().mean() + eps).sqrt()


def rms_of_absolutes(x, weight, eps=1e-6):
    """You divide by the mean of the absolute values.

    The numbers are squared, averaged, and the root is taken afterwards.
    """
    return weight * x / (x.abs().mean(-1, keepdim=True) + eps)


def rms_gain_plus_one(x, weight, eps=1e-6):
    """You multiply by 1 + weight.

    Some models store the gain like that (Gemma does). Here weight is the gain itself.
    """
    return right.rms_norm(x, 1 + weight, eps)


def rms_statistics_cut(x, weight, eps=1e-6):
    """No gradient flows through your root of the mean square.

    The divisor depends on x too, so part of the gradient goes through it.
    """
    return weight * x / (x.detach().square().mean(-1, keepdim=True) + eps).sqrt()


# %% rotary_positions


def _turn(x, angle):
    even, odd = x[..., 0::2], x[..., 1::2]
    cos, sin = angle.cos(), angle.sin()
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


def _angles(x, positions, base=10_000.0, factor=1.0):
    exponent = torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1]
    return positions.unsqueeze(1) * base ** (-factor * exponent)


def rotary_backwards(x, positions, base=10_000.0):
    """You turn the other way round.

    In the first line of the formula the sine has a minus, in the second a plus. The scores would be
    the same if queries and keys both turned backwards, but weights that were trained with one
    direction do not fit the other.
    """
    return _turn(x, -_angles(x, positions, base))


def rotary_of_halves(x, positions, base=10_000.0):
    """Your pairs are the first and the second half of the vector.

    Here a pair is two neighbours, x_2i and x_2i+1. Halves are the other convention in use (that of
    LLaMA's weights as Hugging Face stores them).
    """
    first, second = x.chunk(2, dim=-1)
    angle = _angles(x, positions, base)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def rotary_joined_as_halves(x, positions, base=10_000.0):
    """You turn neighbours, but put all first results before all second ones.

    The two results of a pair are neighbours again: y_2i and y_2i+1.
    """
    y = right.rotary_positions(x, positions, base)
    return torch.cat([y[..., 0::2], y[..., 1::2]], dim=-1)


def rotary_exponent_without_two(x, positions, base=10_000.0):
    """Your pairs slow down half as fast as they should.

    The exponent of pair i is -2i / d, so that it runs from 0 to almost -1 over the vector. With i
    counting the pairs and without the 2 it stops at a half.
    """
    return _turn(x, _angles(x, positions, base, 0.5))


def rotary_faster(x, positions, base=10_000.0):
    """Your pairs turn faster along the vector, not more slowly.

    theta_i is base to the power of *minus* 2i / d: the first pair turns by one radian from position
    to position, the last one hardly at all.
    """
    return _turn(x, _angles(x, positions, base, -1.0))


def rotary_one_speed(x, positions, base=10_000.0):
    """All your pairs turn at the same speed.

    Pair i turns by p theta_i with theta_i = base^(-2i / d): each pair is slower than the one before.
    """
    return _turn(x, _angles(x, positions, base, 0.0))


def rotary_fixed_base(x, positions, base=10_000.0):
    """Your base is fixed.

    It is an argument: models for long texts take a larger one.
    """
    return right.rotary_positions(x, positions)


def rotary_counts_itself(x, positions, base=10_000.0):
    """You count the positions yourself, from 0.

    They are given. A decoder that has kept its keys turns only the newest one, and that does not
    stand at position 0.
    """
    return right.rotary_positions(x, torch.arange(x.shape[-2]), base)


def rotary_from_one(x, positions, base=10_000.0):
    """You turn by one position too far.

    The angle is p theta_i: at position 0 nothing turns.
    """
    return right.rotary_positions(x, positions + 1, base)


def rotary_adds(x, positions, base=10_000.0):
    """You add sines and cosines to the vector.

    That is the encoding of 2017. Here nothing is added: each pair is multiplied by a rotation.
    """
    angle = _angles(x, positions, base)
    return x + torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


def rotary_without_cross_terms(x, positions, base=10_000.0):
    """You multiply by sine and cosine, but do not mix the two components of a pair.

    A rotation makes each of the new components from both old ones: x_2i cos - x_2i+1 sin, and x_2i
    sin + x_2i+1 cos.
    """
    angle = _angles(x, positions, base)
    even, odd = x[..., 0::2] * angle.cos(), x[..., 1::2] * angle.sin()
    return torch.stack([even, odd], dim=-1).flatten(-2)


def rotary_uses_the_new_one(x, positions, base=10_000.0):
    """You make the second component from the first one that is turned already.

    Both lines of the formula act on the *old* components. Keep them until both new ones are computed.
    """
    angle = _angles(x, positions, base)
    even, odd = x[..., 0::2], x[..., 1::2]
    even = even * angle.cos() - odd * angle.sin()
    odd = even * angle.sin() + odd * angle.cos()
    return torch.stack([even, odd], dim=-1).flatten(-2)


# %% grouped_query_attention


def _attend(query, key, value, mask=None):
    return scaled_dot_product_attention(query, key, value, mask)


def grouped_in_turns(query, key, value, mask=None):
    """You hand the keys out in turns: 0, 1, 0, 1.

    Neighbouring heads of queries share a head of keys and values: 0, 0, 1, 1. `repeat` and
    `repeat_interleave` differ in just this.
    """
    times = query.shape[1] // key.shape[1]
    return _attend(query, key.repeat(1, times, 1, 1), value.repeat(1, times, 1, 1), mask)


def grouped_values_in_turns(query, key, value, mask=None):
    """You hand the values out in another order than the keys.

    A head of queries that looks at head g of the keys gets its average from head g of the values.
    """
    times = query.shape[1] // key.shape[1]
    return _attend(query, key.repeat_interleave(times, dim=1), value.repeat(1, times, 1, 1), mask)


def grouped_first_only(query, key, value, mask=None):
    """All your heads of queries look at the first head of the keys.

    There are G of them, each for h / G neighbouring heads of queries. One for all is the special
    case G = 1.
    """
    return _attend(query, key[:, :1], value[:, :1], mask)


def grouped_mean(query, key, value, mask=None):
    """You average the heads of keys and values.

    Nothing is averaged over heads here: each head of queries looks at one head of keys, and several
    look at the same one. (Ainslie and others average heads once, when they turn a trained model
    into one with groups.)
    """
    return _attend(query, key.mean(1, keepdim=True), value.mean(1, keepdim=True), mask)


def grouped_without_mask(query, key, value, mask=None):
    """The mask does not reach your attention.

    What may not be attended has a weight of exactly 0.
    """
    return _attend(query, key.repeat_interleave(query.shape[1] // key.shape[1], dim=1),
                   value.repeat_interleave(query.shape[1] // key.shape[1], dim=1))  # fmt: skip


def grouped_queries_summed(query, key, value, mask=None):
    """The queries of a group ask together in your answer.

    They share keys and values, but each head of queries asks for itself: there are h outputs, and h
    times N weights for each word.
    """
    times = query.shape[1] // key.shape[1]
    joined = query.unflatten(1, (-1, times)).mean(2).repeat_interleave(times, dim=1)
    return right.grouped_query_attention(joined, key, value, mask)


def grouped_without_scale(query, key, value, mask=None):
    """You do not divide the scores by the root of d_k.

    The attention inside is the scaled dot product, which is given at the top of the notebook.
    """
    return right.grouped_query_attention(query * query.shape[-1] ** 0.5, key, value, mask)


# %% swiglu


def _gated(x, gate, up, down, act):
    return (act(x @ gate.T) * (x @ up.T)) @ down.T


def swiglu_gates_the_other(x, gate, up, down):
    """You put the SiLU on the wrong projection.

    SiLU acts on W_gate x; W_up x is multiplied as it is.
    """
    return _gated(x, up, gate, down, F.silu)


def swiglu_sigmoid(x, gate, up, down):
    """Your gate is a sigmoid.

    That is the GLU of 2017 (Dauphin and others). In SwiGLU the gate is SiLU(z) = z sigmoid(z), which is
    not bounded above.
    """
    return _gated(x, gate, up, down, torch.sigmoid)


def swiglu_relu(x, gate, up, down):
    """Your gate is a ReLU.

    That is ReGLU, from the same paper. SwiGLU's gate is SiLU(z) = z sigmoid(z).
    """
    return _gated(x, gate, up, down, torch.relu)


def swiglu_gelu(x, gate, up, down):
    """Your gate is a GELU.

    That is GEGLU, from the same paper. SwiGLU's gate is SiLU(z) = z sigmoid(z).
    """
    return _gated(x, gate, up, down, F.gelu)


def swiglu_bilinear(x, gate, up, down):
    """Your gate has no activation.

    The product of two linear projections is the paper's "bilinear" variant. SwiGLU sends the gate
    through SiLU(z) = z sigmoid(z) first.
    """
    return _gated(x, gate, up, down, lambda z: z)


def swiglu_adds(x, gate, up, down):
    """You add the two projections.

    A gate multiplies: it says how much of the other passes.
    """
    return (F.silu(x @ gate.T) + x @ up.T) @ down.T


def swiglu_without_up(x, gate, up, down):
    """W_up is not used.

    Without it, it is the network of 2017 with another activation. The gate is multiplied by W_up x.
    """
    return F.silu(x @ gate.T) @ down.T


def swiglu_of_the_product(x, gate, up, down):
    """You send the product through SiLU.

    SiLU acts on W_gate x alone, and the product with W_up x comes afterwards.
    """
    return F.silu((x @ gate.T) * (x @ up.T)) @ down.T


# %% lora_linear


def _frozen(x, weight, bias):
    return F.linear(x, weight.detach(), None if bias is None else bias.detach())


def lora_not_divided(x, weight, bias, A, B, scale):
    """You do not divide the scale by the rank.

    The factor is s / r, with r = A.shape[0].
    """
    return right.lora_linear(x, weight, bias, A, B, scale * len(A))


def lora_without_scale(x, weight, bias, A, B, scale):
    """The scale is not used.

    The correction is multiplied by s / r.
    """
    return _frozen(x, weight, bias) + x @ A.T @ B.T


def lora_divides_by_size(x, weight, bias, A, B, scale):
    """You divide the scale by the size of x, not by the rank.

    A is (r, d): the rank is its first axis.
    """
    return _frozen(x, weight, bias) + scale / A.shape[1] * (x @ A.T @ B.T)


def lora_trains_everything(x, weight, bias, A, B, scale):
    """Gradients flow into W and b.

    They are frozen; only A and B are learned. x still gets its gradient through W.
    """
    return F.linear(x, weight, bias) + scale / len(A) * (x @ A.T @ B.T)


def lora_bias_not_frozen(x, weight, bias, A, B, scale):
    """A gradient flows into the bias.

    W and b are both frozen; only A and B are learned.
    """
    return F.linear(x, weight.detach(), bias) + scale / len(A) * (x @ A.T @ B.T)


def lora_cuts_x(x, weight, bias, A, B, scale):
    """No gradient flows to x through the frozen layer.

    W is frozen, but what it makes of x is not: the layers before need the gradient of x, through W
    and through the correction.
    """
    with torch.no_grad():
        frozen = F.linear(x, weight, bias)
    return frozen + scale / len(A) * (x @ A.T @ B.T)


def lora_correction_alone(x, weight, bias, A, B, scale):
    """The frozen layer is missing.

    The result is W x + b, plus the correction.
    """
    return scale / len(A) * (x @ A.T @ B.T)


def lora_without_bias(x, weight, bias, A, B, scale):
    """The bias is missing.

    It is frozen, but still added, unless it is None.
    """
    return right.lora_linear(x, weight, None, A, B, scale)


def lora_after_the_layer(x, weight, bias, A, B, scale):
    """The whole result is multiplied by s / r.

    Only the correction is: with B = 0 the layer is what it was.
    """
    return scale / len(A) * (_frozen(x, weight, bias) + x @ A.T @ B.T)
