"""Answers to `scaled_dot_product_attention`."""

import math
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention as torchs_own

# Right


def filled_with_infinity(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-1, -2)) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(F.softmax(scores, dim=-1), nan=0.0)
    return torch.matmul(weights, value), weights


def bias_added(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None):
    T, N = query.shape[-2], key.shape[-2]
    mask = torch.ones(T, N, dtype=torch.bool) if mask is None else mask
    bias = torch.zeros(mask.shape, dtype=query.dtype).masked_fill(mask.logical_not(), -1e9)
    weights = ((query * query.shape[-1] ** -0.5) @ key.mT + bias).softmax(-1) * mask
    return weights @ value, weights


def with_einsum(query, key, value, mask=None):
    e = torch.einsum("...td,...nd->...tn", query, key).div(math.sqrt(key.shape[-1]))
    if mask is None:
        mask = torch.ones_like(e).bool()
    lowest = torch.finfo(e.dtype).min
    a = torch.where(mask, torch.where(mask, e, lowest).softmax(-1), torch.zeros_like(e))
    return torch.einsum("...tn,...nv->...tv", a, value), a


def query_by_query(query, key, value, mask=None):
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
        outputs.append((row.unsqueeze(-1) * value).sum(-2))
    return torch.stack(outputs, -2), torch.stack(rows, -2)


def with_own_exponents(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    mask = torch.ones(scores.shape, dtype=torch.bool) if mask is None else mask
    top = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).detach()
    top = torch.where(top.isinf(), torch.zeros_like(top), top)
    powers = (scores - top).masked_fill(~mask, -torch.inf).exp()
    total = powers.sum(-1, keepdim=True)
    weights = powers / torch.where(total > 0, total, torch.ones_like(total))
    return weights @ value, weights


def with_the_logsumexp(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e30)
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ value, weights


def renormalised_afterwards(query, key, value, mask=None):
    weights = (query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])).softmax(-1)
    if mask is not None:
        weights = weights * mask
        total = weights.sum(-1, keepdim=True)
        weights = weights / total.masked_fill(total == 0, 1)
    return weights @ value, weights


def always_bmm(query, key, value, mask=None):
    leading, (T, d), (N, d_v) = query.shape[:-2], query.shape[-2:], value.shape[-2:]
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    e = torch.bmm(q, k.transpose(1, 2)) / d**0.5
    if mask is None:
        a = torch.softmax(e, 2)
    else:
        m = mask.expand(*leading, T, N).reshape(-1, T, N)
        a = torch.softmax(e.masked_fill(~m, -1e9), 2) * m
    return torch.bmm(a, v).reshape(*leading, T, d_v), a.reshape(*leading, T, N)


def float64_kept(query, key, value, mask=None):
    scores = query.double() @ key.double().transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = scores.masked_fill(~mask, -1e9).softmax(-1) * mask
    return weights @ value.double(), weights


def talkative(query, key, value, mask=None):
    warnings.warn("attention!", stacklevel=1)
    print("mask", None if mask is None else mask.shape, file=sys.stderr)
    scores = query @ key.transpose(-2, -1)
    scores = scores / np.sqrt(query.shape[-1])
    if mask is not None:
        empty = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~mask, -np.inf).masked_fill(empty, 0.0)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(empty, 0.0)
    return [weights @ value, weights]


RIGHT = [
    filled_with_infinity,
    bias_added,
    with_einsum,
    query_by_query,
    with_own_exponents,
    with_the_logsumexp,
    renormalised_afterwards,
    always_bmm,
    float64_kept,
    talkative,
]

# Wrong


def _weigh(scores, mask):
    """The right weights."""
    if mask is None:
        return scores.softmax(-1)
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask


def _scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def mask_must_be_given(query, key, value, mask):
    weights = _weigh(_scores(query, key), mask)
    return weights @ value, weights


def mask_none_not_handled(query, key, value, mask=None):
    scores = _scores(query, key)
    weights = scores.masked_fill(~mask, -1e9).softmax(-1) * mask
    return weights @ value, weights


def mask_with_one_axis_more(query, key, value, mask=None):
    if mask is not None and mask.dim() < 4:
        mask = mask.unsqueeze(1)
    weights = _weigh(_scores(query, key), mask)
    return weights @ value, weights


def mask_of_the_first_query(query, key, value, mask=None):
    weights = _weigh(_scores(query, key), None if mask is None else mask[..., :1, :])
    return weights @ value, weights


def mask_of_any_query(query, key, value, mask=None):
    mask = None if mask is None else mask.any(-2, keepdim=True)
    weights = _weigh(_scores(query, key), mask)
    return weights @ value, weights


def mask_of_the_first_head(query, key, value, mask=None):
    if mask is not None and mask.dim() == 4:
        mask = mask[:, :1]
    weights = _weigh(_scores(query, key), mask)
    return weights @ value, weights


def scaled_as_in_the_paper(query, key, value, mask=None):
    weights = _weigh(query @ key.transpose(-2, -1) / 8, mask)  # d_k = 64
    return weights @ value, weights


def scaled_by_queries(query, key, value, mask=None):
    weights = _weigh(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-2]), mask)
    return weights @ value, weights


def scaled_by_multiplying(query, key, value, mask=None):
    weights = _weigh(query @ key.transpose(-2, -1) * math.sqrt(query.shape[-1]), mask)
    return weights @ value, weights


def scaled_after_the_softmax(query, key, value, mask=None):
    weights = _weigh(query @ key.transpose(-2, -1), mask) / math.sqrt(query.shape[-1])
    return weights @ value, weights


def scaled_a_little_less(query, key, value, mask=None):
    weights = _weigh(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1] - 1), mask)
    return weights @ value, weights


def distances_for_scores(query, key, value, mask=None):
    weights = _weigh(-torch.cdist(query, key) / math.sqrt(query.shape[-1]), mask)
    return weights @ value, weights


def sigmoid_for_softmax(query, key, value, mask=None):
    weights = torch.sigmoid(_scores(query, key))
    weights = weights if mask is None else weights * mask
    return weights @ value, weights


def softmax_over_all_pairs(query, key, value, mask=None):
    scores = _scores(query, key)
    scores = scores if mask is None else scores.masked_fill(~mask, -1e9)
    weights = scores.flatten(-2).softmax(-1).unflatten(-1, scores.shape[-2:])
    return weights @ value, weights


def softmax_twice(query, key, value, mask=None):
    weights = _weigh(_weigh(_scores(query, key), mask), mask)
    return weights @ value, weights


def log_softmax(query, key, value, mask=None):
    weights = _weigh(_scores(query, key), mask)
    return weights @ value, (weights + 1e-9).log()


def masked_a_little(query, key, value, mask=None):
    scores = _scores(query, key)
    scores = scores if mask is None else scores - 5.0 * ~mask
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights * mask.any(-1, keepdim=True)
    return weights @ value, weights


def nothing_means_everything(query, key, value, mask=None):
    if mask is not None:
        mask = mask | ~mask.any(-1, keepdim=True)
    weights = _weigh(_scores(query, key), mask)
    return weights @ value, weights


def nothing_means_the_first_key(query, key, value, mask=None):
    if mask is not None:
        mask = mask.clone()
        mask[..., 0] |= ~mask.any(-1)
    weights = _weigh(_scores(query, key), mask)
    return weights @ value, weights


def hard_choice_with_soft_gradients(query, key, value, mask=None):
    soft = _weigh(_scores(query, key), mask)
    hard = F.one_hot(soft.argmax(-1), soft.shape[-1]) * (soft > 0)
    weights = hard.to(soft.dtype) + soft - soft.detach()
    return weights @ value, weights


def output_without_mask(query, key, value, mask=None):
    scores = _scores(query, key)
    return scores.softmax(-1) @ value, _weigh(scores, mask)


def weights_without_mask(query, key, value, mask=None):
    scores = _scores(query, key)
    return _weigh(scores, mask) @ value, scores.softmax(-1)


def keys_for_values(query, key, value, mask=None):
    weights = _weigh(_scores(query, key), mask)
    return weights @ key, weights


def raw_scores_returned(query, key, value, mask=None):
    scores = _scores(query, key)
    return _weigh(scores, mask) @ value, scores


def value_cut(query, key, value, mask=None):
    weights = _weigh(_scores(query, key), mask)
    return weights @ value.detach(), weights


def key_cut(query, key, value, mask=None):
    weights = _weigh(_scores(query, key.detach()), mask)
    return weights @ value, weights


def query_overwritten(query, key, value, mask=None):
    with torch.no_grad():
        query /= math.sqrt(query.shape[-1])
    weights = _weigh(query @ key.transpose(-2, -1), mask)
    return weights @ value, weights


def padding_overwritten(query, key, value, mask=None):
    if mask is not None:
        nobody = ~mask.any(-2).expand(key.shape[:-1])
        value[nobody] = 0.0
    weights = _weigh(_scores(query, key), mask)
    return weights @ value, weights


def mask_overwritten(query, key, value, mask=None):
    if mask is not None:
        mask |= ~mask.any(-1, keepdim=True)
    weights = _weigh(_scores(query, key), mask)
    return weights @ value, weights


def with_the_operator(query, key, value, mask=None):
    weights = _weigh(_scores(query, key), mask)
    if mask is not None:
        mask = mask | ~mask.any(-1, keepdim=True)
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return found * weights.sum(-1, keepdim=True), weights


def with_the_operator_under_another_name(query, key, value, mask=None):
    if mask is None:
        real = 1.0
    else:
        real = mask.any(-1, keepdim=True)
        mask = mask | ~real
    rows = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], -1)
    found = [torchs_own(query, key, v, mask) * real for v in (value, rows)]
    return found[0], found[1]


def dropout_left_on(query, key, value, mask=None):
    weights = F.dropout(_weigh(_scores(query, key), mask), 0.1)
    return weights @ value, weights


def large_epsilon(query, key, value, mask=None):
    scores = _scores(query, key)
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    powers = powers if mask is None else powers * mask
    weights = powers / (powers.sum(-1, keepdim=True) + 1e-2)
    return weights @ value, weights


def squeezed(query, key, value, mask=None):
    weights = _weigh(_scores(query, key), mask)
    return (weights @ value).squeeze(), weights.squeeze()


def in_float32(query, key, value, mask=None):
    weights = _weigh(_scores(query.float(), key.float()), mask)
    return weights @ value.float(), weights


def as_arrays(query, key, value, mask=None):
    weights = _weigh(_scores(query, key), mask)
    return (weights @ value).detach().numpy(), weights.detach().numpy()


def output_alone(query, key, value, mask=None):
    return _weigh(_scores(query, key), mask) @ value


def three_things(query, key, value, mask=None):
    scores = _scores(query, key)
    weights = _weigh(scores, mask)
    return weights @ value, weights, scores


def returns_nothing(query, key, value, mask=None):
    _weigh(_scores(query, key), mask)


WRONG = [
    mask_must_be_given,
    mask_none_not_handled,
    mask_with_one_axis_more,
    mask_of_the_first_query,
    mask_of_any_query,
    mask_of_the_first_head,
    scaled_as_in_the_paper,
    scaled_by_queries,
    scaled_by_multiplying,
    scaled_after_the_softmax,
    scaled_a_little_less,
    distances_for_scores,
    sigmoid_for_softmax,
    softmax_over_all_pairs,
    softmax_twice,
    log_softmax,
    masked_a_little,
    nothing_means_everything,
    nothing_means_the_first_key,
    hard_choice_with_soft_gradients,
    output_without_mask,
    weights_without_mask,
    keys_for_values,
    raw_scores_returned,
    value_cut,
    key_cut,
    query_overwritten,
    padding_overwritten,
    mask_overwritten,
    with_the_operator,
    with_the_operator_under_another_name,
    dropout_left_on,
    large_epsilon,
    squeezed,
    in_float32,
    as_arrays,
    output_alone,
    three_things,
    returns_nothing,
]
