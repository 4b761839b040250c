"""Answers to `concat_score`."""

import torch
import torch.nn.functional as F
from torch import Tensor


def with_einsum(query, keys, W, v):
    W_q, W_k = torch.split(W, [query.size(-1), keys.size(-1)], dim=1)
    if query.ndim == 3:
        h = torch.einsum("btq,dq->btd", query, W_q)[:, :, None]
        h = h + torch.einsum("bnk,dk->bnd", keys, W_k)[:, None]
        return torch.einsum("btnd,d->btn", h.tanh(), v)
    h = torch.einsum("bq,dq->bd", query, W_q)[:, None] + torch.einsum("bnk,dk->bnd", keys, W_k)
    return torch.einsum("bnd,d->bn", h.tanh(), v)


def with_loops(query, keys, W, v):
    sentences = []
    for q, k in zip(query, keys, strict=True):
        words = [q] if q.dim() == 1 else list(q)
        rows = [
            torch.stack([v.dot(torch.tanh(W.mv(torch.cat([word, key])))) for key in k])
            for word in words
        ]
        sentences.append(rows[0] if q.dim() == 1 else torch.stack(rows))
    return torch.stack(sentences)


def functional(query: Tensor, keys: Tensor, W: Tensor, v: Tensor) -> Tensor:
    d_q = query.shape[-1]
    of_keys = F.linear(keys, W[:, d_q:])
    if query.dim() == 3:
        of_keys = of_keys.unsqueeze(1)
    hidden = torch.tanh(F.linear(query, W[:, :d_q]).unsqueeze(-2) + of_keys)
    return F.linear(hidden, v.unsqueeze(0)).squeeze(-1)


def float64_kept(query, keys, W, v):
    query, keys, W, v = (t.double() for t in (query, keys, W, v))
    of_query, of_keys = W.split([query.shape[-1], keys.shape[-1]], 1)
    b = keys @ of_keys.T
    b = b if query.dim() == 2 else b.unsqueeze(1)
    return torch.tanh((query @ of_query.T).unsqueeze(-2) + b) @ v


def padded_with_zeros(query, keys, W, v):
    # [q; 0] + [0; k] = [q; k]
    wide_query = F.pad(query, (0, keys.shape[-1]))
    wide_keys = F.pad(keys, (query.shape[-1], 0))
    if query.dim() == 3:
        wide_keys = wide_keys.unsqueeze(1)
    return torch.tanh((wide_query.unsqueeze(-2) + wide_keys) @ W.T) @ v


RIGHT = [with_einsum, with_loops, functional, float64_kept, padded_with_zeros]

# Wrong


def _join(query, keys):
    """[q; k] for every pair, (B, N, d_q + d_k) or (B, T, N, d_q + d_k)."""
    several = query if query.dim() == 3 else query.unsqueeze(1)
    b, t, _ = several.shape
    n = keys.shape[1]
    q = several.unsqueeze(2).expand(b, t, n, -1)
    k = keys.unsqueeze(1).expand(b, t, n, -1)
    pairs = torch.cat([q, k], dim=-1)
    return pairs if query.dim() == 3 else pairs.squeeze(1)


def target_words_and_keys_in_step(query, keys, W, v):
    # pairs target word j with source word j where T = N
    if query.dim() == 3 and query.shape[1] == keys.shape[1]:
        scores = torch.tanh(torch.cat([query, keys], -1) @ W.T) @ v  # (B, N)
        return scores.unsqueeze(1).expand(-1, query.shape[1], -1)
    return torch.tanh(_join(query, keys) @ W.T) @ v


def repeated_the_wrong_way(query, keys, W, v):
    # repeat gives q1 q2 q1 q2, and the view wants q1 q1 q2 q2
    if query.dim() == 3:
        return torch.tanh(_join(query, keys) @ W.T) @ v
    b, n, _ = keys.shape
    q = query.repeat(n, 1).view(b, n, -1)
    return torch.tanh(torch.cat([q, keys], -1) @ W.T) @ v


def squeezed(query, keys, W, v):
    return (torch.tanh(_join(query, keys) @ W.T) @ v).squeeze()


def keys_overwritten(query, keys, W, v):
    scores = torch.tanh(_join(query, keys) @ W.T) @ v
    keys.zero_()
    return scores


def matrix_cut(query, keys, W, v):
    return torch.tanh(_join(query, keys) @ W.data.T) @ v


WRONG = [
    target_words_and_keys_in_step,
    repeated_the_wrong_way,
    squeezed,
    keys_overwritten,
    matrix_cut,
]
