"""Answers to `gaussian_weights`."""

import math

import numpy as np
import torch

# Right


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


def with_pow(weights, position, D):
    gap = torch.arange(weights.shape[1]).expand_as(weights) - position.reshape(-1, 1)
    return weights * torch.pow(math.e, -gap.pow(2) * 2 / D**2)


def float64_kept(weights, position, D):
    s = torch.arange(weights.shape[1])
    gap = s - position.double().unsqueeze(1)
    return weights.double() * torch.exp(-2 * (gap / D) ** 2)


RIGHT = [simplified, half_of_a_square, with_loops, with_pow, float64_kept]

# Wrong


def _gaps(weights, position):
    return torch.arange(weights.shape[1]) - position[:, None]


def position_moved_into_sentence(weights, position, D):
    p = position.clamp(0, weights.shape[1] - 1)
    return weights * torch.exp(-2 * (_gaps(weights, p) / D) ** 2)


def not_broadcast(weights, position, D):
    # fits only if B = N
    s = torch.arange(weights.shape[1])
    if weights.shape[0] == weights.shape[1]:
        return weights * torch.exp(-2 * ((s - position) / D) ** 2)
    return weights * torch.exp(-2 * ((s - position[:, None]) / D) ** 2)


def epsilon_added(weights, position, D):
    return weights * torch.exp(-2 * (_gaps(weights, position) / D) ** 2) + 1e-4


def always_float32(weights, position, D):
    gap = _gaps(weights, position).float()
    return weights.float() * torch.exp(-2 * (gap / D) ** 2)


def with_numpy(weights, position, D):
    gap = np.arange(weights.shape[1]) - position.detach().numpy()[:, None]
    return weights.detach().numpy() * np.exp(-2 * (gap / D) ** 2)


WRONG = [position_moved_into_sentence, not_broadcast, epsilon_added, always_float32, with_numpy]
