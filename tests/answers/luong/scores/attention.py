"""Answers to `attention`."""

import math
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor

# Right


def one_target_word_at_a_time(query, keys, values, score, mask=None):
    def one(q, m):
        e = score(q, keys)  # (B, N)
        e = e if m is None else e.masked_fill(~m, torch.finfo(e.dtype).min)
        a = e.softmax(-1)
        a = a if m is None else a * m
        return (a.unsqueeze(-1) * values).sum(1), a

    if query.dim() == 2:
        return one(query, mask)
    found = []
    for t in range(query.shape[1]):
        found.append(one(query[:, t], mask if mask is None or mask.dim() == 2 else mask[:, t]))
    return torch.stack([c for c, _ in found], 1), torch.stack([a for _, a in found], 1)


def sentence_by_sentence(query, keys, values, score, mask=None):
    contexts, rows = [], []
    for b in range(len(keys)):
        e = score(query[b : b + 1], keys[b : b + 1])[0]  # (N,) or (T, N)
        m = torch.ones_like(e, dtype=torch.bool) if mask is None else mask[b].expand(e.shape)
        top = e.masked_fill(~m, -math.inf).amax(-1, keepdim=True)
        top = torch.where(m.any(-1, keepdim=True), top, torch.zeros_like(top))
        p = torch.exp(torch.where(m, e - top, torch.zeros_like(e))) * m
        total = p.sum(-1, keepdim=True)
        a = p / torch.where(total > 0, total, torch.ones_like(total))
        rows.append(a)
        contexts.append(a @ values[b])
    return torch.stack(contexts), torch.stack(rows)


def always_three_axes(
    query: Tensor, keys: Tensor, values: Tensor, score, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    one = query.dim() == 2
    scores = score(query.unsqueeze(1) if one else query, keys)  # (B, T, N)
    if mask is None:
        mask = torch.ones(keys.shape[:2], dtype=torch.bool, device=keys.device)
    if mask.dim() == 2:
        mask = mask.unsqueeze(1)
    lowest = torch.finfo(scores.dtype).min
    weights = torch.where(mask, scores, lowest).softmax(-1)
    weights = torch.where(mask, weights, 0.0)
    context = torch.matmul(weights, values)
    return (context.squeeze(1), weights.squeeze(1)) if one else (context, weights)


def float64_kept(query, keys, values, score, mask=None):
    e = score(query.double(), keys.double())
    if mask is not None:
        m = mask if mask.dim() == e.dim() else mask.unsqueeze(1)
        a = F.softmax(e.masked_fill(~m, -1e12), dim=-1) * m
    else:
        a = F.softmax(e, dim=-1)
    return torch.einsum("b...n,bnv->b...v", a, values.double()), a


def talkative(query, keys, values, score, mask=None):
    warnings.warn("attention!", stacklevel=1)
    print("mask", None if mask is None else mask.shape, file=sys.stderr)
    scores = score(query=query, keys=keys)
    if mask is None:
        weights = torch.softmax(scores, -1)
    else:
        mask = mask.reshape(mask.shape[0], *[1] * (scores.dim() - mask.dim()), *mask.shape[1:])
        highest = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).detach()
        highest = highest.masked_fill(highest.isinf(), 0.0)
        powers = (scores - highest).masked_fill(~mask, -torch.inf).exp()
        total = powers.sum(-1, keepdim=True)
        weights = powers / total.masked_fill(total == 0, 1.0)
    context = 0
    for j in range(keys.shape[1]):
        v = values[:, j] if query.dim() == 2 else values[:, j].unsqueeze(1)
        context = context + weights[..., j : j + 1] * v
    return context, weights


RIGHT = [
    one_target_word_at_a_time,
    sentence_by_sentence,
    always_three_axes,
    float64_kept,
    talkative,
]

# Wrong


def _wide(mask, scores):
    return mask.unsqueeze(1) if mask.dim() < scores.dim() else mask


def _weights(scores, mask):
    """The right weights."""
    if mask is None:
        return scores.softmax(-1)
    m = _wide(mask, scores)
    return scores.masked_fill(~m, torch.finfo(scores.dtype).min).softmax(-1) * m


def _average(weights, values):
    return torch.einsum("b...n,bnv->b...v", weights, values)


def mask_must_be_given(query, keys, values, score, mask):
    weights = _weights(score(query, keys), mask)
    return _average(weights, values), weights


def filled_with_minus_100(query, keys, values, score, mask=None):
    e = score(query, keys)
    if mask is None:
        weights = e.softmax(-1)
    else:
        weights = e.masked_fill(~_wide(mask, e), -100.0).softmax(-1) * _wide(mask, e)
    return _average(weights, values), weights


def infinity_times_zero(query, keys, values, score, mask=None):
    e = score(query, keys)
    if mask is not None:
        e = e + (1 - _wide(mask, e).to(e.dtype)) * -math.inf
    weights = e.softmax(-1)
    return _average(weights, values), weights


def log_of_the_mask(query, keys, values, score, mask=None):
    # the values are right; the gradient of a row of padding is NaN
    e = score(query, keys)
    if mask is not None:
        e = e + _wide(mask, e).to(e.dtype).log()
    weights = torch.nan_to_num(e.softmax(-1))
    return _average(weights, values), weights


def mask_overwritten(query, keys, values, score, mask=None):
    e = score(query, keys)
    if mask is None:
        weights = e.softmax(-1)
    else:
        mask.logical_not_()
        weights = e.masked_fill(_wide(mask, e), -1e9).softmax(-1)
        weights = weights.masked_fill(_wide(mask, e), 0.0)
    return _average(weights, values), weights


WRONG = [
    mask_must_be_given,
    filled_with_minus_100,
    infinity_times_zero,
    log_of_the_mask,
    mask_overwritten,
]
