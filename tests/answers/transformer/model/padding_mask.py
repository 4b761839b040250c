"""Answers to `padding_mask`."""

import torch
from torch import Tensor

# Right


def compared(tokens: Tensor, pad_id: int = 0) -> Tensor:
    return tokens.ne(pad_id)


def list_of_lists(tokens, pad_id=0):
    return torch.tensor([[token != pad_id for token in row] for row in tokens.tolist()])


def difference_as_bool(tokens, pad_id=0):
    return (tokens - pad_id).bool()


def filled(tokens, pad_id=0):
    mask = torch.ones(tokens.shape, dtype=torch.bool)
    mask[tokens == pad_id] = False
    return mask


def either_side(tokens, pad_id=0):
    return torch.logical_or(tokens > pad_id, tokens < pad_id)


RIGHT = [compared, list_of_lists, difference_as_bool, filled, either_side]

# Wrong


def only_larger_or_zero(tokens, pad_id=0):
    return tokens >= max(pad_id, 1)


def smaller(tokens, pad_id=0):
    return tokens < pad_id if pad_id else tokens > 0


def first_token_always(tokens, pad_id=0):
    mask = tokens != pad_id
    mask[:, 0] = True
    return mask


def tokens_overwritten(tokens, pad_id=0):
    tokens -= pad_id
    return tokens != 0


WRONG = [only_larger_or_zero, smaller, first_token_always, tokens_overwritten]
