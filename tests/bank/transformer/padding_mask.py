"""Answers to `padding_mask`."""

import sys
import warnings

import torch
from torch import Tensor

# Right


def compared(tokens: Tensor, pad_id: int = 0) -> Tensor:
    return tokens.ne(pad_id)


def negated(tokens, pad_id=0):
    return ~(tokens == pad_id)


def list_of_lists(tokens, pad_id=0):
    return torch.tensor([[token != pad_id for token in row] for row in tokens.tolist()])


def difference_as_bool(tokens, pad_id=0):
    return (tokens - pad_id).bool()


def filled(tokens, pad_id=0):
    mask = torch.ones(tokens.shape, dtype=torch.bool)
    mask[tokens == pad_id] = False
    return mask


def talkative(tokens, pad_id=0):
    warnings.warn("masking", stacklevel=1)
    print("padding is", pad_id, file=sys.stderr)
    return torch.where(tokens == pad_id, False, True)


def either_side(tokens, pad_id=0):
    return torch.logical_or(tokens > pad_id, tokens < pad_id)


RIGHT = [
    compared,
    negated,
    list_of_lists,
    difference_as_bool,
    filled,
    talkative,
    either_side,
]

# Wrong


def zeros_and_ones(tokens, pad_id=0):
    return (tokens != pad_id).long()


def floats(tokens, pad_id=0):
    return (tokens != pad_id).float()


def zero_is_padding_too(tokens, pad_id=0):
    return (tokens != pad_id) & (tokens != 0)


def only_larger_or_zero(tokens, pad_id=0):
    return tokens >= max(pad_id, 1)


def smaller(tokens, pad_id=0):
    return tokens < pad_id if pad_id else tokens > 0


def up_to_the_first_padding(tokens, pad_id=0):
    return (tokens != pad_id).long().cumprod(1).bool()


def up_to_the_last_word(tokens, pad_id=0):
    real = tokens != pad_id
    return real.flip(1).long().cumsum(1).flip(1).bool()


def row_by_row_or_not_at_all(tokens, pad_id=0):
    return (tokens != pad_id).any(1, keepdim=True).expand(tokens.shape)


def of_the_first_sentence(tokens, pad_id=0):
    return (tokens[:1] != pad_id).expand(tokens.shape)


def first_token_always(tokens, pad_id=0):
    mask = tokens != pad_id
    mask[:, 0] = True
    return mask


def with_an_axis_for_queries(tokens, pad_id=0):
    return (tokens != pad_id).unsqueeze(1)


def pairs(tokens, pad_id=0):
    real = tokens != pad_id
    return real[:, :, None] & real[:, None, :]


def lengths(tokens, pad_id=0):
    return (tokens != pad_id).sum(1)


def transposed(tokens, pad_id=0):
    return (tokens != pad_id).T


def to_be_added(tokens, pad_id=0):
    return torch.zeros(tokens.shape).masked_fill(tokens == pad_id, -torch.inf)


def pad_id_must_be_given(tokens, pad_id):
    return tokens != pad_id


def without_pad_id(tokens):
    return tokens != 0


def tokens_overwritten(tokens, pad_id=0):
    tokens -= pad_id
    return tokens != 0


def a_list(tokens, pad_id=0):
    return [[token != pad_id for token in row] for row in tokens.tolist()]


def one_answer_for_all(tokens, pad_id=0):
    return bool((tokens != pad_id).all())


def returns_nothing(tokens, pad_id=0):
    tokens.ne(pad_id)


WRONG = [
    zeros_and_ones,
    floats,
    zero_is_padding_too,
    only_larger_or_zero,
    smaller,
    up_to_the_first_padding,
    up_to_the_last_word,
    row_by_row_or_not_at_all,
    of_the_first_sentence,
    first_token_always,
    with_an_axis_for_queries,
    pairs,
    lengths,
    transposed,
    to_be_added,
    pad_id_must_be_given,
    without_pad_id,
    tokens_overwritten,
    a_list,
    one_answer_for_all,
    returns_nothing,
]
