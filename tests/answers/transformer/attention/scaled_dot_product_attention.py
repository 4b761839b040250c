"""Answers to `scaled_dot_product_attention`."""

import math

import torch
from torch import Tensor

# Right


def _dropped(weights, dropout):
    return weights if dropout is None else dropout(weights)


def bias_added(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, dropout=None):
    T, N = query.shape[-2], key.shape[-2]
    mask = torch.ones(T, N, dtype=torch.bool) if mask is None else mask
    bias = torch.zeros(mask.shape, dtype=query.dtype).masked_fill(mask.logical_not(), -1e9)
    weights = ((query * query.shape[-1] ** -0.5) @ key.mT + bias).softmax(-1) * mask
    return _dropped(weights, dropout) @ value, weights


def query_by_query(query, key, value, mask=None, dropout=None):
    T, N, d = query.shape[-2], key.shape[-2], query.shape[-1]
    if mask is not None:
        mask = mask.expand(*query.shape[:-2], T, N)
    outputs, rows = [], []
    for t in range(T):
        q = query[..., t, :]
        scores = torch.stack([(q * key[..., n, :]).sum(-1) for n in range(N)], -1) / math.sqrt(d)
        if mask is not None:
            scores = scores.masked_fill(~mask[..., t, :], -1e12)
        row = scores.softmax(-1)
        if mask is not None:
            row = row.masked_fill(~mask[..., t, :], 0)
        rows.append(row)
    weights = torch.stack(rows, -2)
    for row in (dropout(weights) if dropout else weights).unbind(-2):
        outputs.append((row.unsqueeze(-1) * value).sum(-2))
    return torch.stack(outputs, -2), weights


def with_own_exponents(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    mask = torch.ones(scores.shape, dtype=torch.bool) if mask is None else mask
    top = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).detach()
    top = torch.where(top.isinf(), torch.zeros_like(top), top)
    powers = (scores - top).masked_fill(~mask, -torch.inf).exp()
    total = powers.sum(-1, keepdim=True)
    weights = powers / torch.where(total > 0, total, torch.ones_like(total))
    return _dropped(weights, dropout) @ value, weights


def always_bmm(query, key, value, mask=None, dropout=None):
    leading, (T, d), (N, d_v) = query.shape[:-2], query.shape[-2:], value.shape[-2:]
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    e = torch.bmm(q, k.transpose(1, 2)) / d**0.5
    if mask is None:
        a = torch.softmax(e, 2)
    else:
        m = mask.expand(*leading, T, N).reshape(-1, T, N)
        a = torch.softmax(e.masked_fill(~m, -1e9), 2) * m
    a = a.reshape(*leading, T, N)
    kept = a if dropout is None else dropout(a)
    return torch.bmm(kept.reshape(-1, T, N), v).reshape(*leading, T, d_v), a


def float64_kept(query, key, value, mask=None, dropout=None):
    scores = query.double() @ key.double().transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = scores.masked_fill(~mask, -1e9).softmax(-1) * mask
    return _dropped(weights, dropout) @ value.double(), weights


RIGHT = [bias_added, query_by_query, with_own_exponents, always_bmm, float64_kept]

# Wrong


def _weigh(scores, mask):
    """The right weights."""
    if mask is None:
        return scores.softmax(-1)
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask


def _scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def mask_must_be_given(query, key, value, mask, dropout=None):
    weights = _weigh(_scores(query, key), mask)
    return _dropped(weights, dropout) @ value, weights


def mask_of_the_first_head(query, key, value, mask=None, dropout=None):
    if mask is not None and mask.dim() == 4:
        mask = mask[:, :1]
    weights = _weigh(_scores(query, key), mask)
    return _dropped(weights, dropout) @ value, weights


def key_cut(query, key, value, mask=None, dropout=None):
    weights = _weigh(_scores(query, key.detach()), mask)
    return _dropped(weights, dropout) @ value, weights


def padding_overwritten(query, key, value, mask=None, dropout=None):
    if mask is not None:
        nobody = ~mask.any(-2).expand(key.shape[:-1])
        value[nobody] = 0.0
    weights = _weigh(_scores(query, key), mask)
    return _dropped(weights, dropout) @ value, weights


def squeezed(query, key, value, mask=None, dropout=None):
    weights = _weigh(_scores(query, key), mask)
    return (_dropped(weights, dropout) @ value).squeeze(), weights.squeeze()


WRONG = [mask_must_be_given, mask_of_the_first_head, key_cut, padding_overwritten, squeezed]
