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


def stacked_chunks(x, heads):
    return torch.stack(torch.chunk(x, heads, dim=2), dim=1)


def slices(x, heads):
    size = x.shape[-1] // heads
    return torch.stack([x[:, :, i * size : (i + 1) * size] for i in range(heads)], 1)


def filled(x, heads):
    B, T, d = x.shape
    found = x.new_zeros(B, heads, T, d // heads)
    for i in range(heads):
        for j in range(d // heads):
            found[:, i, :, j] = x[:, :, i * (d // heads) + j]
    return found


def with_matrices(x, heads):
    d = x.shape[-1]
    chooser = torch.eye(d, dtype=x.dtype).reshape(heads, d // heads, d)
    return torch.einsum("btd,hpd->bhtp", x, chooser)


def float64_kept(x, heads):
    return x.double().unflatten(2, (heads, x.shape[2] // heads)).swapaxes(1, 2)


def talkative(x, heads):
    warnings.warn("cutting", stacklevel=1)
    print("heads:", heads, file=sys.stderr)
    return torch.cat([piece.unsqueeze(1) for piece in x.tensor_split(heads, -1)], 1)


RIGHT = [
    view_and_transpose,
    reshape_and_permute,
    stacked_chunks,
    slices,
    filled,
    with_matrices,
    float64_kept,
    talkative,
]

# Wrong


def words_cut(x, heads):
    return torch.stack(x.tensor_split(heads, dim=1), 1)


def heads_backwards(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2).flip(1)


def pieces_backwards(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2).flip(-1)


def words_last(x, heads):
    return x.unflatten(-1, (heads, -1)).permute(0, 2, 3, 1)


def transposed_first(x, heads):
    return x.transpose(1, 2).reshape(x.shape[0], heads, x.shape[1], -1)


def always_eight(x, heads):
    return x.unflatten(-1, (8, -1)).transpose(1, 2)


def always_two(x, heads):
    return x.unflatten(-1, (2, -1)).transpose(1, 2)


def first_head_for_all(x, heads):
    first = x.chunk(heads, -1)[0]
    return torch.stack([first] * heads, 1)


def overlapping(x, heads):
    size = x.shape[-1] // heads
    return torch.stack([x[..., i : i + size] for i in range(heads)], 1)


def scaled(x, heads):
    found = x.unflatten(-1, (heads, -1)).transpose(1, 2)
    return found / found.shape[-1] ** 0.5


def a_tuple(x, heads):
    return x.chunk(heads, -1)


def squeezed(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2).squeeze()


def overwritten(x, heads):
    found = x.unflatten(-1, (heads, -1)).transpose(1, 2).clone()
    with torch.no_grad():
        x.zero_()
    return found


def in_float32(x, heads):
    return x.float().unflatten(-1, (heads, -1)).transpose(1, 2)


def as_an_array(x, heads):
    return x.detach().numpy().reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def without_heads(x):
    return x.unflatten(-1, (2, -1)).transpose(1, 2)


def mixed_by_chance(x, heads):
    return x[..., torch.randperm(x.shape[-1])].unflatten(-1, (heads, -1)).transpose(1, 2)


def returns_nothing(x, heads):
    x.unflatten(-1, (heads, -1)).transpose(1, 2)


WRONG = [
    words_cut,
    heads_backwards,
    pieces_backwards,
    words_last,
    transposed_first,
    always_eight,
    always_two,
    first_head_for_all,
    overlapping,
    scaled,
    a_tuple,
    squeezed,
    overwritten,
    in_float32,
    as_an_array,
    without_heads,
    mixed_by_chance,
    returns_nothing,
]
