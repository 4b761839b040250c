"""Answers to `merge_heads`."""

import sys
import warnings

import torch
from torch import Tensor

# Right


def transpose_and_view(x: Tensor) -> Tensor:
    B, h, T, size = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, h * size)


def joined(x):
    return torch.cat([x[:, i] for i in range(x.shape[1])], dim=-1)


def word_by_word(x):
    return torch.stack([x[:, :, t].flatten(1) for t in range(x.shape[2])], 1)


def float64_kept(x):
    return x.double().transpose(1, 2).flatten(-2)


def talkative(x):
    warnings.warn("joining", stacklevel=1)
    print("heads:", x.shape[1], file=sys.stderr)
    return torch.hstack([piece.transpose(1, 2) for piece in x.unbind(1)]).transpose(1, 2)


RIGHT = [transpose_and_view, joined, word_by_word, float64_kept, talkative]

# Wrong


def viewed_only_if_it_fits(x):
    # a view of swapped axes: mostly an error
    return x.transpose(1, 2).view(x.shape[0], x.shape[2], -1)


def divided_by_the_heads(x):
    return x.transpose(1, 2).flatten(2) / x.shape[1]


def two_heads(x):
    return torch.cat([x[:, 0], x[:, -1]], -1)


def squeezed(x):
    return x.transpose(1, 2).flatten(2).squeeze()


def overwritten(x):
    found = x.transpose(1, 2).flatten(2).clone()
    with torch.no_grad():
        x.zero_()
    return found


WRONG = [viewed_only_if_it_fits, divided_by_the_heads, two_heads, squeezed, overwritten]
