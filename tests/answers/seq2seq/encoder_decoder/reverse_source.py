"""Answers to `reverse_source`."""

import torch
from torch import Tensor

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


def in_int32(tokens, lengths):
    return with_gather(tokens, lengths).int()


RIGHT = [with_a_loop, flipped_and_rolled, with_modulo, with_sorting, in_int32]

# Wrong


def _turned(tokens, lengths):
    out = tokens.clone()
    for i, n in enumerate(lengths.tolist()):
        out[i, :n] = tokens[i, :n].flip(0)
    return out


def padding_told_by_zero(tokens, lengths):
    return _turned(tokens, (tokens != 0).sum(1))


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


def lengths_overwritten(tokens, lengths):
    out = _turned(tokens, lengths)
    lengths -= 1
    return out


def squeezed(tokens, lengths):
    return _turned(tokens, lengths).squeeze()


WRONG = [padding_told_by_zero, no_empty_sentence, minus_zero, lengths_overwritten, squeezed]
