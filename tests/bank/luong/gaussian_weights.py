"""Answers to `gaussian_weights`."""

import math
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

# Right


def as_written(weights: Tensor, position: Tensor, D: float) -> Tensor:
    sigma = D / 2
    s = torch.arange(weights.shape[1])
    return weights * torch.exp(-((s - position.unsqueeze(1)) ** 2) / (2 * sigma**2))


def simplified(weights, p, D):
    s = torch.arange(weights.size(-1), dtype=weights.dtype)
    return weights * torch.exp(-2 * ((s - p[:, None]) / D).square())


def half_of_a_square(weights, position, D):
    steps = (position[:, None] - torch.arange(weights.shape[1])) / (0.5 * D)
    return torch.exp(-0.5 * steps * steps).mul(weights)


def with_loops(weights, position, D):
    rows = []
    for a, p in zip(weights, position, strict=True):
        row = [a[s] * torch.exp(-((s - p) ** 2) / (D * D / 2)) for s in range(len(a))]
        rows.append(torch.stack(row))
    return torch.stack(rows)


def preallocated(weights, position, D):
    out = weights.new_zeros(weights.shape)
    for s in range(weights.shape[1]):
        out[:, s] = weights[:, s] * torch.exp(-2 * (s - position) ** 2 / D**2)
    return out


def with_pow(weights, position, D):
    gap = torch.arange(weights.shape[1]).expand_as(weights) - position.reshape(-1, 1)
    return weights * torch.pow(math.e, -gap.pow(2) * 2 / D**2)


def with_normal(weights, position, D):
    # the density, divided by what it is at its centre
    normal = torch.distributions.Normal(position.unsqueeze(1), D / 2)
    s = torch.arange(weights.shape[1], dtype=weights.dtype)
    at_centre = normal.log_prob(position.unsqueeze(1))
    return weights * (normal.log_prob(s) - at_centre).exp()


def multiplied_out(weights, position, D):
    s = torch.arange(weights.shape[1], dtype=weights.dtype)
    p = position[:, None]
    return weights * torch.exp(-(s * s - 2 * s * p + p * p) / (2 * (D / 2) ** 2))


def with_cdist(weights, position, D):
    s = torch.arange(weights.shape[1], dtype=weights.dtype)
    gap = s.unsqueeze(0) - position.unsqueeze(-1)
    return torch.einsum("bn,bn->bn", weights, torch.exp(-(gap**2) / (D**2 / 2)))


def talkative(weights, position, D):
    warnings.warn("sigma = D / 2", stacklevel=1)
    columns = []
    for s in tqdm(range(weights.shape[1]), file=sys.stderr):
        print("word", s)
        columns.append(weights[:, s] * torch.exp(-2 * ((s - position) / D) ** 2))
    return torch.stack(columns, 1)


def float64_kept(weights, position, D):
    s = torch.arange(weights.shape[1])
    gap = s - position.double().unsqueeze(1)
    return weights.double() * torch.exp(-2 * (gap / D) ** 2)


RIGHT = [
    as_written,
    simplified,
    half_of_a_square,
    with_loops,
    preallocated,
    with_pow,
    with_normal,
    multiplied_out,
    with_cdist,
    talkative,
    float64_kept,
]

# Wrong


def _gaps(weights, position):
    return torch.arange(weights.shape[1]) - position[:, None]


def sigma_twice_D(weights, position, D):
    return weights * torch.exp(-(_gaps(weights, position) ** 2) / (2 * (2 * D) ** 2))


def both_factors_missing(weights, position, D):
    return weights * torch.exp(-(_gaps(weights, position) ** 2) / D**2)


def root_of_sigma(weights, position, D):
    return weights * torch.exp(-(_gaps(weights, position) ** 2) / (2 * (D / 2) ** 0.5))


def gaussian_alone(weights, position, D):
    return torch.exp(-2 * (_gaps(weights, position) / D) ** 2) + 0 * weights


def power_of_two(weights, position, D):
    return weights * torch.exp2(-2 * (_gaps(weights, position) / D) ** 2)


def softmax_of_all(weights, position, D):
    return torch.softmax(weights * torch.exp(-2 * (_gaps(weights, position) / D) ** 2), -1)


def softmax_of_exponents(weights, position, D):
    return weights * torch.softmax(-2 * (_gaps(weights, position) / D) ** 2, -1)


def largest_first(weights, position, D):
    bell = torch.exp(-2 * (_gaps(weights, position) / D) ** 2)
    return weights * bell / bell.amax(-1, keepdim=True)


def sum_kept(weights, position, D):
    cut = weights * torch.exp(-2 * (_gaps(weights, position) / D) ** 2)
    return cut * weights.sum(-1, keepdim=True) / cut.sum(-1, keepdim=True).clamp(min=1e-30)


def cut_to_the_window(weights, position, D):
    gap = _gaps(weights, position)
    return weights * torch.exp(-2 * (gap / D) ** 2) * (gap.abs() <= D)


def counted_from_one(weights, position, D):
    s = torch.arange(1, weights.shape[1] + 1)
    return weights * torch.exp(-2 * ((s - position[:, None]) / D) ** 2)


def position_floored(weights, position, D):
    return weights * torch.exp(-2 * (_gaps(weights, position.floor()) / D) ** 2)


def position_moved_into_sentence(weights, position, D):
    p = position.clamp(0, weights.shape[1] - 1)
    return weights * torch.exp(-2 * (_gaps(weights, p) / D) ** 2)


def share_of_the_sentence(weights, position, D):
    gap = _gaps(weights, position) / weights.shape[1]
    return weights * torch.exp(-2 * (gap / D) ** 2)


def triangle(weights, position, D):
    return weights * (1 - _gaps(weights, position).abs() / D).clamp(min=0)


def lorentz(weights, position, D):
    return weights / (1 + (_gaps(weights, position) / (D / 2)) ** 2)


def first_position_for_all(weights, position, D):
    return weights * torch.exp(-2 * (_gaps(weights, position[:1]) / D) ** 2)


def not_broadcast(weights, position, D):
    # fits only if B = N
    s = torch.arange(weights.shape[1])
    if weights.shape[0] == weights.shape[1]:
        return weights * torch.exp(-2 * ((s - position) / D) ** 2)
    return weights * torch.exp(-2 * ((s - position[:, None]) / D) ** 2)


def transposed(weights, position, D):
    return (weights * torch.exp(-2 * (_gaps(weights, position) / D) ** 2)).T


def weights_cut(weights, position, D):
    return weights.detach() * torch.exp(-2 * (_gaps(weights, position) / D) ** 2)


def everything_cut(weights, position, D):
    return (weights * torch.exp(-2 * (_gaps(weights, position) / D) ** 2)).detach()


def weights_overwritten(weights, position, D):
    weights *= torch.exp(-2 * (_gaps(weights, position) / D) ** 2)
    return weights


def position_overwritten(weights, position, D):
    s = torch.arange(weights.shape[1])
    result = weights * torch.exp(-2 * ((s - position[:, None]) / D) ** 2)
    position.zero_()
    return result


def epsilon_added(weights, position, D):
    return weights * torch.exp(-2 * (_gaps(weights, position) / D) ** 2) + 1e-4


def always_float32(weights, position, D):
    gap = _gaps(weights, position).float()
    return weights.float() * torch.exp(-2 * (gap / D) ** 2)


def numbers_only(weights, position, D):
    rows = [
        [a * math.exp(-2 * ((s - p) / D) ** 2) for s, a in enumerate(row)]
        for row, p in zip(weights.tolist(), position.tolist(), strict=True)
    ]
    return torch.tensor(rows, dtype=weights.dtype)


def with_numpy(weights, position, D):
    gap = np.arange(weights.shape[1]) - position.detach().numpy()[:, None]
    return weights.detach().numpy() * np.exp(-2 * (gap / D) ** 2)


def dropout_left_on(weights, position, D):
    return F.dropout(weights, 0.1) * torch.exp(-2 * (_gaps(weights, position) / D) ** 2)


def returns_nothing(weights, position, D):
    as_written(weights, position, D)


def returns_the_sum_too(weights, position, D):
    cut = weights * torch.exp(-2 * (_gaps(weights, position) / D) ** 2)
    return cut, cut.sum(-1)


WRONG = [
    sigma_twice_D,
    both_factors_missing,
    root_of_sigma,
    gaussian_alone,
    power_of_two,
    softmax_of_all,
    softmax_of_exponents,
    largest_first,
    sum_kept,
    cut_to_the_window,
    counted_from_one,
    position_floored,
    position_moved_into_sentence,
    share_of_the_sentence,
    triangle,
    lorentz,
    first_position_for_all,
    not_broadcast,
    transposed,
    weights_cut,
    everything_cut,
    weights_overwritten,
    position_overwritten,
    epsilon_added,
    always_float32,
    numbers_only,
    with_numpy,
    dropout_left_on,
    returns_nothing,
    returns_the_sum_too,
]
