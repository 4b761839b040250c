"""Answers to `attention`."""

import math
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

# Right


def filled_with_infinity(query, keys, values, score, mask=None):
    scores = score(query, keys)
    if mask is not None:
        if scores.dim() == 3 and mask.dim() == 2:
            mask = mask[:, None, :]
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0)
    if query.dim() == 2:
        return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights
    return torch.bmm(weights, values), weights


def filled_then_multiplied(query, keys, values, score, mask=None):
    e = score(query, keys)
    if mask is None:
        mask = torch.ones_like(e, dtype=torch.bool)
    elif mask.dim() != e.dim():
        mask = mask.unsqueeze(1)
    weights = e.masked_fill(mask == 0, -1e9).softmax(-1) * mask
    return torch.einsum("b...n,bnv->b...v", weights, values), weights


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


def with_the_logsumexp(query, keys, values, score, mask=None):
    e = score(query, keys)
    if mask is not None:
        m = mask if mask.dim() == e.dim() else mask.unsqueeze(-2)
        e = e.masked_fill(~m, -1e30)
    a = (e - torch.logsumexp(e, dim=-1, keepdim=True)).exp()
    if mask is not None:
        a = a.masked_fill(~m, 0.0)
    return torch.einsum("b...n,bnv->b...v", a, values), a


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


def returned_as_a_list(query, keys, values, score, mask=None):
    scores = score(query, keys)
    if mask is not None:
        mask = mask.unsqueeze(1) if mask.ndim < scores.ndim else mask
        scores = scores + torch.zeros_like(scores).masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0)
    if query.dim() == 2:
        return [(weights.unsqueeze(1) @ values).squeeze(1), weights]
    return [weights @ values, weights]


RIGHT = [
    filled_with_infinity,
    filled_then_multiplied,
    one_target_word_at_a_time,
    sentence_by_sentence,
    always_three_axes,
    with_the_logsumexp,
    float64_kept,
    talkative,
    returned_as_a_list,
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


def mask_none_not_handled(query, keys, values, score, mask=None):
    e = score(query, keys)
    m = mask.unsqueeze(1) if mask.dim() < e.dim() else mask
    weights = e.masked_fill(~m, -1e9).softmax(-1) * m
    return _average(weights, values), weights


def mask_of_two_axes_only(query, keys, values, score, mask=None):
    e = score(query, keys)
    if mask is not None and mask.dim() == 3:
        mask = mask.any(1)  # "a word is real for all or for none"
    weights = _weights(e, mask)
    return _average(weights, values), weights


def mask_of_the_first_target_word(query, keys, values, score, mask=None):
    if mask is not None and mask.dim() == 3:
        mask = mask[:, :1]
    weights = _weights(score(query, keys), mask)
    return _average(weights, values), weights


def mask_widened_at_the_end(query, keys, values, score, mask=None):
    # (B, N, 1): fits if T = N, and then along the wrong axis
    e = score(query, keys)
    if mask is None:
        weights = e.softmax(-1)
    else:
        m = mask.unsqueeze(-1) if mask.dim() < e.dim() else mask
        weights = e.masked_fill(~m, -1e9).softmax(-1) * m
    return _average(weights, values), weights


def mask_on_the_context_only(query, keys, values, score, mask=None):
    e = score(query, keys)
    weights = e.softmax(-1)
    context = _average(weights if mask is None else weights * _wide(mask, e), values)
    return context, weights


def mask_on_the_values(query, keys, values, score, mask=None):
    weights = score(query, keys).softmax(-1)
    if mask is not None and mask.dim() == 2:
        values = values * mask.unsqueeze(-1)
    return _average(weights, values), weights


def mask_on_the_keys(query, keys, values, score, mask=None):
    if mask is not None and mask.dim() == 2:
        keys = keys * mask.unsqueeze(-1)
    weights = score(query, keys).softmax(-1)
    return _average(weights, values), weights


def lengths_for_masks(query, keys, values, score, mask=None):
    # takes for granted that real positions come first
    if mask is not None:
        mask = torch.arange(keys.shape[1]) < mask.sum(-1, keepdim=True)
    weights = _weights(score(query, keys), mask)
    return _average(weights, values), weights


def filled_with_minus_100(query, keys, values, score, mask=None):
    e = score(query, keys)
    if mask is None:
        weights = e.softmax(-1)
    else:
        weights = e.masked_fill(~_wide(mask, e), -100.0).softmax(-1) * _wide(mask, e)
    return _average(weights, values), weights


def minus_ten_added(query, keys, values, score, mask=None):
    e = score(query, keys)
    if mask is not None:
        e = e - 10.0 * (~_wide(mask, e)).to(e.dtype)
    weights = e.softmax(-1)
    return _average(weights, values), weights


def large_number_added(query, keys, values, score, mask=None):
    # a row of padding keeps its softmax
    e = score(query, keys)
    if mask is not None:
        e = e - 1e6 * (~_wide(mask, e)).to(e.dtype)
    weights = e.softmax(-1)
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


def empty_rows_left_in_the_context(query, keys, values, score, mask=None):
    e = score(query, keys)
    m = torch.ones_like(e, dtype=torch.bool) if mask is None else _wide(mask, e)
    filled = e.masked_fill(~m, torch.finfo(e.dtype).min).softmax(-1)
    return _average(filled, values), filled * m


def epsilon_in_the_sum(query, keys, values, score, mask=None):
    e = score(query, keys)
    powers = (e - e.amax(-1, keepdim=True)).exp()
    if mask is not None:
        powers = powers * _wide(mask, e)
    weights = powers / (powers.sum(-1, keepdim=True) + 1e-3)
    return _average(weights, values), weights


def score_called_the_wrong_way_round(query, keys, values, score, mask=None):
    e = score(keys, query)
    e = e.transpose(1, 2) if query.dim() == 3 else e
    weights = _weights(e, mask)
    return _average(weights, values), weights


def score_of_the_values(query, keys, values, score, mask=None):
    weights = _weights(score(query, values), mask)
    return _average(weights, values), weights


def score_of_normalised_vectors(query, keys, values, score, mask=None):
    e = score(F.normalize(query, dim=-1), F.normalize(keys, dim=-1))
    weights = _weights(e, mask)
    return _average(weights, values), weights


def values_of_the_first_row(query, keys, values, score, mask=None):
    weights = _weights(score(query, keys), mask)
    return weights @ values[0], weights


def plain_mean(query, keys, values, score, mask=None):
    weights = _weights(score(query, keys), mask)
    context = values.mean(1)
    if query.dim() == 3:
        context = context.unsqueeze(1).expand(-1, query.shape[1], -1)
    return context, weights


def divided_by_the_keys(query, keys, values, score, mask=None):
    weights = _weights(score(query, keys), mask)
    return _average(weights, values) / keys.shape[1], weights


def sigmoid_for_softmax(query, keys, values, score, mask=None):
    e = score(query, keys)
    weights = torch.sigmoid(e) if mask is None else torch.sigmoid(e) * _wide(mask, e)
    return _average(weights, values), weights


def log_of_the_softmax(query, keys, values, score, mask=None):
    e = score(query, keys)
    weights = e.log_softmax(-1)
    if mask is not None:
        weights = weights * _wide(mask, e)
    return _average(weights, values), weights


def softmax_twice(query, keys, values, score, mask=None):
    weights = _weights(_weights(score(query, keys), mask), mask)
    return _average(weights, values), weights


def squeezed(query, keys, values, score, mask=None):
    weights = _weights(score(query, keys), mask)
    return _average(weights, values).squeeze(), weights.squeeze()


def axis_kept(query, keys, values, score, mask=None):
    q = query.unsqueeze(1) if query.dim() == 2 else query
    weights = _weights(score(q, keys), mask)
    return _average(weights, values), weights


def context_alone(query, keys, values, score, mask=None):
    return _average(_weights(score(query, keys), mask), values)


def scores_returned(query, keys, values, score, mask=None):
    e = score(query, keys)
    return _average(_weights(e, mask), values), e


def returns_nothing(query, keys, values, score, mask=None):
    weights = _weights(score(query, keys), mask)
    print(_average(weights, values))


def numpy_answer(query, keys, values, score, mask=None):
    weights = _weights(score(query, keys), mask).numpy()
    return np.einsum("b...n,bnv->b...v", weights, values.numpy()), weights


def always_float32(query, keys, values, score, mask=None):
    weights = _weights(score(query.float(), keys.float()), mask)
    return _average(weights, values.float()), weights


def dropout_left_on(query, keys, values, score, mask=None):
    weights = F.dropout(_weights(score(query, keys), mask), 0.3)
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


def values_cut(query, keys, values, score, mask=None):
    weights = _weights(score(query, keys), mask)
    return _average(weights, values.detach()), weights


def clamped_scores(query, keys, values, score, mask=None):
    weights = _weights(score(query, keys).clamp(-50, 50), mask)
    return _average(weights, values), weights


def all_zero(query, keys, values, score, mask=None):
    e = score(query, keys)
    return torch.zeros(*e.shape[:-1], values.shape[-1], dtype=e.dtype), torch.zeros_like(e)


WRONG = [
    mask_must_be_given,
    mask_none_not_handled,
    mask_of_two_axes_only,
    mask_of_the_first_target_word,
    mask_widened_at_the_end,
    mask_on_the_context_only,
    mask_on_the_values,
    mask_on_the_keys,
    lengths_for_masks,
    filled_with_minus_100,
    minus_ten_added,
    large_number_added,
    infinity_times_zero,
    log_of_the_mask,
    empty_rows_left_in_the_context,
    epsilon_in_the_sum,
    score_called_the_wrong_way_round,
    score_of_the_values,
    score_of_normalised_vectors,
    values_of_the_first_row,
    plain_mean,
    divided_by_the_keys,
    sigmoid_for_softmax,
    log_of_the_softmax,
    softmax_twice,
    squeezed,
    axis_kept,
    context_alone,
    scores_returned,
    returns_nothing,
    numpy_answer,
    always_float32,
    dropout_left_on,
    mask_overwritten,
    values_cut,
    clamped_scores,
    all_zero,
]
