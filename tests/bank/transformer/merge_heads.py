"""Answers to `merge_heads`."""

import sys
import warnings

import torch
from torch import Tensor

# Right


def transpose_and_view(x: Tensor) -> Tensor:
    B, h, T, size = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, h * size)


def permute_and_reshape(x):
    return x.permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def joined(x):
    return torch.cat([x[:, i] for i in range(x.shape[1])], dim=-1)


def unbound(x):
    return torch.cat(x.unbind(1), -1)


def word_by_word(x):
    return torch.stack([x[:, :, t].flatten(1) for t in range(x.shape[2])], 1)


def with_matrices(x):
    h, size = x.shape[1], x.shape[3]
    place = torch.eye(h * size, dtype=x.dtype).reshape(h, size, h * size)
    return torch.einsum("bhtp,hpd->btd", x, place)


def float64_kept(x):
    return x.double().transpose(1, 2).flatten(-2)


def talkative(x):
    warnings.warn("joining", stacklevel=1)
    print("heads:", x.shape[1], file=sys.stderr)
    return torch.hstack([piece.transpose(1, 2) for piece in x.unbind(1)]).transpose(1, 2)


RIGHT = [
    transpose_and_view,
    permute_and_reshape,
    joined,
    unbound,
    word_by_word,
    with_matrices,
    float64_kept,
    talkative,
]

# Wrong


def viewed_only_if_it_fits(x):
    # a view of swapped axes: mostly an error
    return x.transpose(1, 2).view(x.shape[0], x.shape[2], -1)


def heads_backwards(x):
    return x.flip(1).transpose(1, 2).flatten(2)


def pieces_backwards(x):
    return x.flip(-1).transpose(1, 2).flatten(2)


def words_last(x):
    return x.transpose(1, 2).flatten(2).transpose(1, 2)


def batch_flattened(x):
    return x.transpose(1, 2).flatten(0, 1).flatten(1)


def first_head_alone(x):
    return x[:, 0]


def largest_of_the_heads(x):
    return x.amax(1)


def first_head_repeated(x):
    return x[:, :1].expand_as(x).transpose(1, 2).flatten(2)


def sum_of_heads_repeated(x):
    return x.sum(1).repeat(1, 1, x.shape[1])


def divided_by_the_heads(x):
    return x.transpose(1, 2).flatten(2) / x.shape[1]


def words_of_the_batch(x):
    return x.permute(2, 0, 1, 3).flatten(2)


def poured_in_another_order(x):
    return x.permute(0, 3, 2, 1).reshape(x.shape[0], x.shape[2], -1)


def eight_heads(x):
    return torch.cat([x[:, i] for i in range(8)], -1)


def two_heads(x):
    return torch.cat([x[:, 0], x[:, -1]], -1)


def squeezed(x):
    return x.transpose(1, 2).flatten(2).squeeze()


def half_cut(x):
    return torch.cat([x[:, :1].detach(), x[:, 1:]], 1).transpose(1, 2).flatten(2)


def overwritten(x):
    found = x.transpose(1, 2).flatten(2).clone()
    with torch.no_grad():
        x.zero_()
    return found


def in_float32(x):
    return x.float().transpose(1, 2).flatten(2)


def as_an_array(x):
    return x.transpose(1, 2).flatten(2).detach().numpy()


def with_the_number_of_heads(x, heads):
    return x.transpose(1, 2).flatten(2)


def returns_nothing(x):
    x.transpose(1, 2).flatten(2)


WRONG = [
    viewed_only_if_it_fits,
    heads_backwards,
    pieces_backwards,
    words_last,
    batch_flattened,
    first_head_alone,
    largest_of_the_heads,
    first_head_repeated,
    sum_of_heads_repeated,
    divided_by_the_heads,
    words_of_the_batch,
    poured_in_another_order,
    eight_heads,
    two_heads,
    squeezed,
    half_cut,
    overwritten,
    in_float32,
    as_an_array,
    with_the_number_of_heads,
    returns_nothing,
]
