"""Answers to `causal_mask`."""

import sys
import warnings

import numpy as np
import torch
from torch import Tensor

# Right


def lower_triangle(length: int) -> Tensor:
    return torch.tril(torch.ones((length, length))).bool()


def not_the_upper_triangle(length):
    return ~torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)


def positions_compared(length):
    t = torch.arange(length)
    return t[:, None] >= t[None, :]


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


def talkative(length):
    warnings.warn("masking", stacklevel=1)
    print("so many words:", length, file=sys.stderr)
    shown = torch.full((length, length), float("-inf")).triu(1)
    return shown == 0


RIGHT = [
    lower_triangle,
    not_the_upper_triangle,
    positions_compared,
    list_of_lists,
    row_by_row,
    running_sum,
    with_numpy,
    talkative,
]

# Wrong


def floats(length):
    return torch.ones(length, length).tril()


def whole_numbers(length):
    return torch.ones(length, length, dtype=torch.long).tril()


def to_be_added(length):
    return torch.full((length, length), -torch.inf).triu(1)


def everything(length):
    return torch.ones(length, length, dtype=torch.bool)


def nothing(length):
    return torch.zeros(length, length, dtype=torch.bool)


def with_a_batch(length):
    return torch.ones(1, length, length, dtype=torch.bool).tril()


def with_batch_and_heads(length):
    return torch.ones(1, 1, length, length, dtype=torch.bool).tril()


def one_row_too_many(length):
    return torch.ones(length + 1, length + 1, dtype=torch.bool).tril()


def one_row_too_few(length):
    return torch.ones(length - 1, length - 1, dtype=torch.bool).tril()


def only_the_one_before(length):
    return torch.ones(length, length, dtype=torch.bool).tril().triu(-1)


def other_diagonal(length):
    return torch.ones(length, length, dtype=torch.bool).tril().flip(0)


def from_right_to_left(length):
    return torch.ones(length, length, dtype=torch.bool).tril().flip(1)


def first_word_always_seen(length):
    mask = torch.ones(length, length, dtype=torch.bool).tril(-1)
    mask[:, 0] = True
    return mask


def last_row_sees_nothing(length):
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    mask[-1] = False
    return mask


def chance(length):
    return torch.rand(length, length) < 0.5


def up_to_twelve(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    mask[:12, :12] = torch.ones(12, 12, dtype=torch.bool).tril()[:length, :length]
    return mask


def as_an_array(length):
    return np.tri(length, dtype=bool)


def as_a_list(length):
    return torch.ones(length, length, dtype=torch.bool).tril().tolist()


def two_lengths(length, other):
    return torch.ones(length, other, dtype=torch.bool).tril()


def returns_nothing(length):
    torch.ones(length, length).tril()


WRONG = [
    floats,
    whole_numbers,
    to_be_added,
    everything,
    nothing,
    with_a_batch,
    with_batch_and_heads,
    one_row_too_many,
    one_row_too_few,
    only_the_one_before,
    other_diagonal,
    from_right_to_left,
    first_word_always_seen,
    last_row_sees_nothing,
    chance,
    up_to_twelve,
    as_an_array,
    as_a_list,
    two_lengths,
    returns_nothing,
]
