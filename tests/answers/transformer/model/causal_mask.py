"""Answers to `causal_mask`."""

import numpy as np
import torch
from torch import Tensor

# Right


def lower_triangle(length: int) -> Tensor:
    return torch.tril(torch.ones((length, length))).bool()


def list_of_lists(length):
    return torch.tensor([[column <= row for column in range(length)] for row in range(length)])


def row_by_row(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for t in range(length):
        mask[t, : t + 1] = True
    return mask


def running_sum(length):
    return torch.eye(length).flip(1).cumsum(1).flip(1) > 0


def with_numpy(length):
    return torch.from_numpy(np.tri(length, dtype=bool))


RIGHT = [lower_triangle, list_of_lists, row_by_row, running_sum, with_numpy]


def nothing(length):
    return torch.zeros(length, length, dtype=torch.bool)


def from_right_to_left(length):
    return torch.ones(length, length, dtype=torch.bool).tril().flip(1)


def chance(length):
    return torch.rand(length, length) < 0.5


def up_to_twelve(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    mask[:12, :12] = torch.ones(12, 12, dtype=torch.bool).tril()[:length, :length]
    return mask


def as_an_array(length):
    return np.tri(length, dtype=bool)


WRONG = [nothing, from_right_to_left, chance, up_to_twelve, as_an_array]
