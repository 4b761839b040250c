"""Answers to `reverse_source`."""

import sys
import warnings

import numpy as np
import torch
from torch import Tensor
from tqdm.auto import tqdm

# Right


def with_gather(tokens, lengths):
    positions = torch.arange(tokens.shape[1]).expand_as(tokens)
    mirrored = lengths[:, None] - 1 - positions
    return torch.gather(tokens, 1, torch.where(mirrored >= 0, mirrored, positions))


def with_a_loop(tokens: Tensor, lengths: Tensor) -> Tensor:
    turned = tokens.clone()
    for i, n in enumerate(lengths):
        turned[i, :n] = tokens[i, :n].flip(0)
    return turned


def with_lists(tokens, lengths):
    rows = []
    for row, n in zip(tokens.tolist(), lengths.tolist(), strict=True):
        rows.append(row[:n][::-1] + row[n:])
    return torch.tensor(rows)


def with_two_loops(x, n):
    out = torch.empty_like(x)
    for b in range(x.size(0)):
        for s in range(x.size(1)):
            out[b, s] = x[b, n[b] - 1 - s] if s < n[b] else x[b, s]
    return out


def flipped_and_rolled(tokens, lengths):
    # padding comes out backwards too, but one padding is like another
    rows = [row.flip(0).roll(int(n), 0) for row, n in zip(tokens, lengths, strict=True)]
    return torch.stack(rows)


def with_modulo(tokens, lengths):
    S = tokens.shape[1]
    index = (lengths.unsqueeze(1) - 1 - torch.arange(S)) % S
    return tokens[torch.arange(len(tokens)).unsqueeze(1), index]


def with_sorting(tokens, lengths):
    places = torch.arange(tokens.shape[1]).repeat(len(tokens), 1)
    keys = torch.where(places < lengths.view(-1, 1), -places, places)
    return tokens.take_along_dim(keys.argsort(dim=1), dim=1)


def with_numpy(tokens, lengths):
    turned = tokens.numpy().copy()
    for row, n in zip(turned, lengths.numpy(), strict=True):
        row[:n] = np.flip(row[:n]).copy()
    return torch.from_numpy(turned)


def with_concatenation(tokens, lengths):
    return torch.stack(
        [torch.cat([r[:n].flip(0), r[n:]]) for r, n in zip(tokens, lengths.tolist(), strict=True)]
    )


def talkative(tokens, lengths):
    warnings.warn("turning round", stacklevel=1)
    out = tokens.clone()
    for i in tqdm(range(len(tokens)), file=sys.stderr):
        print("sentence", i)
        n = lengths[i].item()
        index = torch.arange(n - 1, -1, -1)
        out[i, :n] = tokens[i].index_select(0, index)
    return out


def in_int32(tokens, lengths):
    return with_gather(tokens, lengths).int()


RIGHT = [
    with_gather,
    with_a_loop,
    with_lists,
    with_two_loops,
    flipped_and_rolled,
    with_modulo,
    with_sorting,
    with_numpy,
    with_concatenation,
    talkative,
    in_int32,
]

# Wrong


def _turned(tokens, lengths):
    out = tokens.clone()
    for i, n in enumerate(lengths.tolist()):
        out[i, :n] = tokens[i, :n].flip(0)
    return out


def length_of_the_first(tokens, lengths):
    n = int(lengths[0])
    return torch.cat([tokens[:, :n].flip(1), tokens[:, n:]], 1)


def shortest_length_for_all(tokens, lengths):
    n = int(lengths.min())
    return torch.cat([tokens[:, :n].flip(1), tokens[:, n:]], 1)


def padding_told_by_zero(tokens, lengths):
    return _turned(tokens, (tokens != 0).sum(1))


def both_axes_flipped(tokens, lengths):
    return tokens.flip(0, 1)


def rows_in_another_order(tokens, lengths):
    order = lengths.argsort(descending=True, stable=True)
    return _turned(tokens[order], lengths[order])


def cut_to_the_longest(tokens, lengths):
    return _turned(tokens, lengths)[:, : int(lengths.max())]


def one_more_column(tokens, lengths):
    out = _turned(tokens, lengths)
    return torch.cat([out, torch.zeros_like(out[:, :1])], 1)


def first_word_stays(tokens, lengths):
    out = tokens.clone()
    for i, n in enumerate(lengths.tolist()):
        out[i, 1:n] = tokens[i, 1:n].flip(0)
    return out


def first_and_last_swapped(tokens, lengths):
    out = tokens.clone()
    for i, n in enumerate(lengths.tolist()):
        if n:
            out[i, 0], out[i, n - 1] = tokens[i, n - 1], tokens[i, 0]
    return out


def half_overwritten(tokens, lengths):
    # writes into what it still reads
    out = tokens.clone()
    for i, n in enumerate(lengths.tolist()):
        for s in range(n):
            out[i, s] = out[i, n - 1 - s]
    return out


def rolled_too(tokens, lengths):
    return _turned(tokens, lengths).roll(1, dims=1)


def sorted_ids(tokens, lengths):
    return _turned(tokens, lengths).sort(dim=1, descending=True).values


def transposed(tokens, lengths):
    return _turned(tokens, lengths).T


def lists(tokens, lengths):
    return _turned(tokens, lengths).tolist()


def list_of_sentences(tokens, lengths):
    return [row[:n].flip(0) for row, n in zip(tokens, lengths.tolist(), strict=True)]


def tokens_and_lengths(tokens, lengths):
    return _turned(tokens, lengths), lengths


def as_floats(tokens, lengths):
    out = torch.zeros(tokens.shape)
    out[:] = _turned(tokens, lengths)
    return out


def returns_nothing(tokens, lengths):
    tokens = tokens.clone()
    for row, n in zip(tokens, lengths.tolist(), strict=True):
        row[:n] = row[:n].flip(0)


def no_empty_sentence(tokens, lengths):
    if (lengths < 1).any():
        raise ValueError("a sentence has at least one word")
    return _turned(tokens, lengths)


def minus_zero(tokens, lengths):
    # the flipped row ends in the words, and -n takes them; but -0 takes the whole row
    flipped = tokens.flip(1)
    rows = []
    for row, back, n in zip(tokens, flipped, lengths.tolist(), strict=True):
        rows.append(torch.cat([back[-n:], row[n:]]))
    return torch.stack(rows)


def negative_step(tokens, lengths):
    out = tokens.clone()
    for i, n in enumerate(lengths.tolist()):
        out[i, :n] = tokens[i, :n][::-1]
    return out


def lengths_overwritten(tokens, lengths):
    out = _turned(tokens, lengths)
    lengths -= 1
    return out


def batch_of_one(tokens, lengths):
    n = lengths.item()
    return torch.cat([tokens[:, :n].flip(1), tokens[:, n:]], 1)


def squeezed(tokens, lengths):
    return _turned(tokens, lengths).squeeze()


def all_padding(tokens, lengths):
    return torch.zeros_like(tokens)


def padding_on_the_left(tokens, lengths):
    # what encoders that pad on the left want
    rows = []
    for row, n in zip(tokens, lengths.tolist(), strict=True):
        rows.append(torch.cat([row[n:], row[:n]]))
    return torch.stack(rows)


WRONG = [
    length_of_the_first,
    shortest_length_for_all,
    padding_told_by_zero,
    both_axes_flipped,
    rows_in_another_order,
    cut_to_the_longest,
    one_more_column,
    first_word_stays,
    first_and_last_swapped,
    half_overwritten,
    rolled_too,
    sorted_ids,
    transposed,
    lists,
    list_of_sentences,
    tokens_and_lengths,
    as_floats,
    returns_nothing,
    no_empty_sentence,
    minus_zero,
    negative_step,
    lengths_overwritten,
    batch_of_one,
    squeezed,
    all_padding,
    padding_on_the_left,
]
