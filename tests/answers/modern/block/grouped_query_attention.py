"""Answers to `grouped_query_attention`."""

import math

import torch

# Right


def _weigh(scores, mask):
    if mask is None:
        return scores.softmax(-1)
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask


def with_an_axis_more(query, key, value, mask=None):
    """No copies of keys: (B, G, h / G, T, d_k) against (B, G, 1, N, d_k)."""
    B, h, T, d_k = query.shape
    G = key.shape[1]
    scores = query.reshape(B, G, h // G, T, d_k) @ key.unsqueeze(2).transpose(-2, -1)
    scores = scores.reshape(B, h, T, -1) / math.sqrt(d_k)
    weights = _weigh(scores, mask)
    output = weights.reshape(B, G, h // G, T, -1) @ value.unsqueeze(2)
    return output.reshape(B, h, T, -1), weights


def head_by_head(query, key, value, mask=None):
    B, h, T, d_k = query.shape
    N, share = key.shape[2], h // key.shape[1]
    seen = torch.ones(1, 1, T, N, dtype=torch.bool) if mask is None else mask
    seen = seen.expand(B, h, T, N)
    outputs, rows = [], []
    for i in range(h):
        g = i // share
        row = _weigh(query[:, i] @ key[:, g].mT / d_k**0.5, seen[:, i])
        rows.append(row)
        outputs.append(row @ value[:, g])
    return torch.stack(outputs, 1), torch.stack(rows, 1)


def by_indices(query, key, value, mask=None):
    h, G = query.shape[1], key.shape[1]
    which = torch.arange(h) * G // h
    scores = torch.einsum("bhtd,bhnd->bhtn", query, key[:, which]) * query.shape[-1] ** -0.5
    weights = _weigh(scores, mask)
    return torch.einsum("bhtn,bhnv->bhtv", weights, value[:, which]), weights


def with_expand(query, key, value, mask=None):
    def widened(x):
        B, G, N, d = x.shape
        share = query.shape[1] // G
        return x[:, :, None].expand(B, G, share, N, d).reshape(B, G * share, N, d)

    scores = query @ widened(key).transpose(2, 3) / math.sqrt(key.shape[-1])
    top = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    powers = (top - top.amax(-1, keepdim=True).clamp(min=-1e9)).exp()
    total = powers.sum(-1, keepdim=True)
    weights = powers / torch.where(total == 0, torch.ones_like(total), total)
    return weights @ widened(value), weights


def float64_kept(query, key, value, mask=None):
    share = query.shape[1] // key.shape[1]
    k, v = (torch.cat([x[:, i // share, None] for i in range(query.shape[1])], 1).double()
            for x in (key, value))  # fmt: skip
    weights = _weigh(query.double() @ k.mT / math.sqrt(k.shape[-1]), mask)
    return weights @ v, weights


RIGHT = [with_an_axis_more, head_by_head, by_indices, with_expand, float64_kept]

# Wrong


def _wide(x, h):
    return x.repeat_interleave(h // x.shape[1], dim=1)


def mask_of_the_first_head(query, key, value, mask=None):
    h = query.shape[1]
    if mask is not None and mask.dim() == 4:
        mask = mask[:, :1]
    weights = _weigh(query @ _wide(key, h).mT / math.sqrt(query.shape[-1]), mask)
    return weights @ _wide(value, h), weights


def weights_of_groups(query, key, value, mask=None):
    h, G = query.shape[1], key.shape[1]
    weights = _weigh(query @ _wide(key, h).mT / math.sqrt(query.shape[-1]), mask)
    return weights @ _wide(value, h), weights.unflatten(1, (G, h // G)).mean(2)


def scale_of_the_values(query, key, value, mask=None):
    h = query.shape[1]
    weights = _weigh(query @ _wide(key, h).mT / math.sqrt(value.shape[-1]), mask)
    return weights @ _wide(value, h), weights


def scale_of_the_whole_vector(query, key, value, mask=None):
    h = query.shape[1]
    weights = _weigh(query @ _wide(key, h).mT / math.sqrt(h * query.shape[-1]), mask)
    return weights @ _wide(value, h), weights


def nan_for_nothing(query, key, value, mask=None):
    h = query.shape[1]
    scores = query @ _wide(key, h).mT / math.sqrt(query.shape[-1])
    weights = (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1)
    return weights @ _wide(value, h), weights


def keys_cut(query, key, value, mask=None):
    h = query.shape[1]
    weights = _weigh(query @ _wide(key, h).mT.detach() / math.sqrt(query.shape[-1]), mask)
    return weights @ _wide(value, h), weights


WRONG = [
    mask_of_the_first_head,
    weights_of_groups,
    scale_of_the_values,
    scale_of_the_whole_vector,
    nan_for_nothing,
    keys_cut,
]
