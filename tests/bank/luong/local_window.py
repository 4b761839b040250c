"""Answers to `local_window`."""

import sys
import warnings

import numpy as np
import torch
from torch import Tensor
from tqdm.auto import tqdm

# Right


def with_abs(position: Tensor, lengths: Tensor, D: float, N: int) -> Tensor:
    s = torch.arange(N)
    return ((s[None] - position[:, None]).abs() <= D) & (s[None] < lengths[:, None])


def two_comparisons(p, lengths, D, N):
    s = torch.arange(N).to(p.dtype)
    p = p.unsqueeze(-1)
    return (s >= p - D) & (s <= p + D) & (s < lengths.unsqueeze(-1))


def with_loops(position, lengths, D, N):
    window = torch.zeros(len(position), N, dtype=torch.bool)
    for b in range(len(position)):
        for s in range(int(lengths[b])):
            if abs(s - float(position[b])) <= D:
                window[b, s] = True
    return window


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


def filled(position, lengths, D, N):
    s = torch.arange(N)
    window = torch.ones(position.shape[0], N, dtype=torch.bool)
    window = window.masked_fill((s - position[:, None]).abs() > D, False)
    return window.masked_fill(s >= lengths[:, None], False)


def with_ceil_and_floor(position, lengths, D, N):
    first = torch.ceil(position - D).clamp(min=0)[:, None]
    last = torch.minimum(torch.floor(position + D), lengths - 1)[:, None]
    s = torch.arange(N)
    return (first <= s) & (s <= last)


def position_zeroed(position, lengths, D, N):
    # detached and in float64: it is a yes or no, and no gradient flows anyway
    p = position.detach().double()
    return torch.stack([((torch.arange(N) - x).abs() <= D) for x in p]) & (
        torch.arange(N) < lengths[:, None]
    )


def with_numpy_inside(position, lengths, D, N):
    s = np.arange(N)
    p = position.detach().numpy()[:, None]
    return torch.from_numpy((np.abs(s - p) <= D) & (s < lengths.numpy()[:, None]))


def talkative(position, lengths, D, N):
    warnings.warn("looking", stacklevel=1)
    columns = []
    for s in tqdm(range(N), file=sys.stderr):
        print("position", s)
        columns.append(((s - position).abs() <= D) & (lengths > s))
    return torch.stack(columns, dim=1)


RIGHT = [
    with_abs,
    two_comparisons,
    with_loops,
    list_of_lists,
    with_logical_functions,
    product_of_zeros_and_ones,
    filled,
    with_ceil_and_floor,
    position_zeroed,
    with_numpy_inside,
    talkative,
]

# Wrong


def outside(position, lengths, D, N):
    s = torch.arange(N)
    return ((s - position[:, None]).abs() > D) & (s < lengths[:, None])


def padding_outside_too(position, lengths, D, N):
    s = torch.arange(N)
    return ((s - position[:, None]).abs() <= D) | (s >= lengths[:, None])


def without_left_end(position, lengths, D, N):
    s = torch.arange(N)
    gap = s - position[:, None]
    return (gap > -D) & (gap <= D) & (s < lengths[:, None])


def only_behind(position, lengths, D, N):
    s = torch.arange(N)
    gap = s - position[:, None]
    return (gap >= 0) & (gap <= D) & (s < lengths[:, None])


def only_before(position, lengths, D, N):
    s = torch.arange(N)
    gap = s - position[:, None]
    return (gap <= 0) & (gap >= -D) & (s < lengths[:, None])


def not_cut_at_the_right(position, lengths, D, N):
    s = torch.arange(N)
    return (s >= position[:, None] - D) & (s < lengths[:, None])


def lengths_alone(position, lengths, D, N):
    return torch.arange(N) < lengths[:, None]


def wide_by_one(position, lengths, D, N):
    s = torch.arange(N)
    return ((s - position[:, None]).abs() <= D + 1) & (s < lengths[:, None])


def D_made_whole(position, lengths, D, N):
    s = torch.arange(N)
    return ((s - position[:, None]).abs() <= int(D)) & (s < lengths[:, None])


def position_rounded_up(position, lengths, D, N):
    s = torch.arange(N)
    return ((s - position.ceil()[:, None]).abs() <= D) & (s < lengths[:, None])


def longest_for_all(position, lengths, D, N):
    s = torch.arange(N)
    return ((s - position[:, None]).abs() <= D) & (s < lengths.max())


def shortest_for_all(position, lengths, D, N):
    s = torch.arange(N)
    return ((s - position[:, None]).abs() <= D) & (s < lengths.min())


def first_position_for_all(position, lengths, D, N):
    s = torch.arange(N)
    return ((s - position[0]).abs() <= D) & (s < lengths[:, None])


def not_broadcast(position, lengths, D, N):
    # fits only if B = N
    s = torch.arange(N)
    if len(position) == N:
        return ((s - position).abs() <= D) & (s < lengths[:, None])
    return ((s - position[:, None]).abs() <= D) & (s < lengths[:, None])


def transposed(position, lengths, D, N):
    s = torch.arange(N)[:, None]
    return ((s - position).abs() <= D) & (s < lengths)


def zeros_and_ones(position, lengths, D, N):
    s = torch.arange(N)
    return (((s - position[:, None]).abs() <= D) & (s < lengths[:, None])).long()


def floats(position, lengths, D, N):
    s = torch.arange(N)
    near = ((s - position[:, None]).abs() <= D) & (s < lengths[:, None])
    return near.to(position.dtype)


def longest_for_N(position, lengths, D, N):
    s = torch.arange(int(lengths.max()))
    return ((s - position[:, None]).abs() <= D) & (s < lengths[:, None])


def nearest_when_empty(position, lengths, D, N):
    s = torch.arange(N)
    gaps = (s - position[:, None]).abs()
    window = (gaps <= D) & (s < lengths[:, None])
    window[torch.arange(len(gaps)), gaps.argmin(1)] = True
    return window


def everything_when_empty(position, lengths, D, N):
    s = torch.arange(N)
    real = s < lengths[:, None]
    window = ((s - position[:, None]).abs() <= D) & real
    return torch.where(window.any(1, keepdim=True), window, real)


def indices(position, lengths, D, N):
    return [range(int(p - D), int(p + D) + 1) for p in position]


def slices(position, lengths, D, N):
    # negative starts count from the end
    window = torch.zeros(len(position), N, dtype=torch.bool)
    for row, p, n in zip(window, position.tolist(), lengths.tolist(), strict=True):
        row[int(p - D) : int(p + D) + 1] = True
        row[n:] = False
    return window


def position_overwritten(position, lengths, D, N):
    position -= D
    s = torch.arange(N)
    gap = s - position[:, None]
    return (gap >= 0) & (gap <= 2 * D) & (s < lengths[:, None])


def returns_nothing(position, lengths, D, N):
    with_abs(position, lengths, D, N)


def all_false(position, lengths, D, N):
    return torch.zeros(len(position), N, dtype=torch.bool)


def D_forgotten(position, lengths, N):
    return with_abs(position, lengths, 2, N)


WRONG = [
    outside,
    padding_outside_too,
    without_left_end,
    only_behind,
    only_before,
    not_cut_at_the_right,
    lengths_alone,
    wide_by_one,
    D_made_whole,
    position_rounded_up,
    longest_for_all,
    shortest_for_all,
    first_position_for_all,
    not_broadcast,
    transposed,
    zeros_and_ones,
    floats,
    longest_for_N,
    nearest_when_empty,
    everything_when_empty,
    indices,
    slices,
    position_overwritten,
    returns_nothing,
    all_false,
    D_forgotten,
]
