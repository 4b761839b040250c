"""Answers to `split_heads`."""

import sys
import warnings

import torch
from torch import Tensor

# Right


def view_and_transpose(x: Tensor, heads: int) -> Tensor:
    B, T, d = x.shape
    return x.view(B, T, heads, d // heads).transpose(1, 2)


def reshape_and_permute(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).permute(0, 2, 1, 3).contiguous()


def filled(x, heads):
    B, T, d = x.shape
    found = x.new_zeros(B, heads, T, d // heads)
    for i in range(heads):
        for j in range(d // heads):
            found[:, i, :, j] = x[:, :, i * (d // heads) + j]
    return found


def float64_kept(x, heads):
    return x.double().unflatten(2, (heads, x.shape[2] // heads)).swapaxes(1, 2)


def talkative(x, heads):
    warnings.warn("cutting", stacklevel=1)
    print("heads:", heads, file=sys.stderr)
    return torch.cat([piece.unsqueeze(1) for piece in x.tensor_split(heads, -1)], 1)


RIGHT = [view_and_transpose, reshape_and_permute, filled, float64_kept, talkative]


def always_two(x, heads):
    return x.unflatten(-1, (2, -1)).transpose(1, 2)


def overlapping(x, heads):
    size = x.shape[-1] // heads
    return torch.stack([x[..., i : i + size] for i in range(heads)], 1)


def squeezed(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2).squeeze()


def overwritten(x, heads):
    found = x.unflatten(-1, (heads, -1)).transpose(1, 2).clone()
    with torch.no_grad():
        x.zero_()
    return found


WRONG = [always_two, overlapping, squeezed, overwritten]
