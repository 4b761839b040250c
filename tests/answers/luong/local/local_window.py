"""Answers to `local_window`."""

import numpy as np
import torch


def list_of_lists(position, lengths, D, N):
    rows = []
    for p, n in zip(position.tolist(), lengths.tolist(), strict=True):
        rows.append([p - D <= s <= p + D and s < n for s in range(N)])
    return torch.tensor(rows)


def with_logical_functions(position, lengths, D, N):
    grid = torch.arange(N).expand(len(position), N)
    left = torch.ge(grid, (position - D)[:, None])
    right = torch.le(grid, (position + D)[:, None])
    real = torch.lt(grid, lengths[:, None])
    return torch.logical_and(torch.logical_and(left, right), real)


def product_of_zeros_and_ones(position, lengths, D, N):
    s = torch.arange(N)
    near = ((s - position.view(-1, 1)).pow(2) <= D**2).int()
    real = (s < lengths.view(-1, 1)).int()
    return (near * real).bool()


def with_ceil_and_floor(position, lengths, D, N):
    first = torch.ceil(position - D).clamp(min=0)[:, None]
    last = torch.minimum(torch.floor(position + D), lengths - 1)[:, None]
    s = torch.arange(N)
    return (first <= s) & (s <= last)


def with_numpy_inside(position, lengths, D, N):
    s = np.arange(N)
    p = position.detach().numpy()[:, None]
    return torch.from_numpy((np.abs(s - p) <= D) & (s < lengths.numpy()[:, None]))


RIGHT = [
    list_of_lists,
    with_logical_functions,
    product_of_zeros_and_ones,
    with_ceil_and_floor,
    with_numpy_inside,
]

# Wrong


def D_made_whole(position, lengths, D, N):
    s = torch.arange(N)
    return ((s - position[:, None]).abs() <= int(D)) & (s < lengths[:, None])


def not_broadcast(position, lengths, D, N):
    # fits only if B = N
    s = torch.arange(N)
    if len(position) == N:
        return ((s - position).abs() <= D) & (s < lengths[:, None])
    return ((s - position[:, None]).abs() <= D) & (s < lengths[:, None])


def longest_for_N(position, lengths, D, N):
    s = torch.arange(int(lengths.max()))
    return ((s - position[:, None]).abs() <= D) & (s < lengths[:, None])


def everything_when_empty(position, lengths, D, N):
    s = torch.arange(N)
    real = s < lengths[:, None]
    window = ((s - position[:, None]).abs() <= D) & real
    return torch.where(window.any(1, keepdim=True), window, real)


def indices(position, lengths, D, N):
    return [range(int(p - D), int(p + D) + 1) for p in position]


WRONG = [D_made_whole, not_broadcast, longest_for_N, everything_when_empty, indices]
