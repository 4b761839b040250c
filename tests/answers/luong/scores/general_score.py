"""Answers to `general_score`."""

import torch
import torch.nn.functional as F
from torch import Tensor

# Right


def keys_side(query, keys, W):
    projected = keys @ W.T  # W k
    if query.dim() == 2:
        return (query.unsqueeze(1) * projected).sum(-1)
    return torch.bmm(query, projected.transpose(1, 2))


def functional(query: Tensor, keys: Tensor, W: Tensor) -> Tensor:
    one = query.dim() == 2
    q = query.unsqueeze(1) if one else query
    scores = torch.matmul(q, F.linear(keys, W).transpose(-1, -2))
    return scores.squeeze(1) if one else scores


def with_loops(query, keys, W):
    sentences = []
    for q, k in zip(query, keys, strict=True):
        words = q.unsqueeze(0) if q.dim() == 1 else q
        scores = torch.stack([torch.stack([w @ W @ key for key in k]) for w in words])
        sentences.append(scores[0] if q.dim() == 1 else scores)
    return torch.stack(sentences)


def bilinear(query, keys, W):
    b, n, _ = keys.shape
    several = query if query.dim() == 3 else query.unsqueeze(1)
    t = several.shape[1]
    q = several.unsqueeze(2).expand(b, t, n, -1).reshape(b * t * n, -1)
    k = keys.unsqueeze(1).expand(b, t, n, -1).reshape(b * t * n, -1)
    scores = F.bilinear(q, k, W.unsqueeze(0)).reshape(b, t, n)
    return scores if query.dim() == 3 else scores[:, 0]


def float64_kept(query, keys, W):
    q, k, W = query.double(), keys.double(), W.double()
    return torch.einsum("b...q,qk,bnk->b...n", q, W, k)


RIGHT = [keys_side, functional, with_loops, bilinear, float64_kept]

# Wrong


def transposed_for_several_words(query, keys, W):
    if query.dim() == 2:
        return torch.einsum("bq,qk,bnk->bn", query, W, keys)
    return query @ (keys @ W).transpose(1, 2)


def symmetric(query, keys, W):
    if W.shape[0] == W.shape[1]:
        W = (W + W.T) / 2
    return torch.einsum("b...q,qk,bnk->b...n", query, W, keys)


def sentences_paired_with_target_words(query, keys, W):
    return ((keys @ W.T) @ query.unsqueeze(-1)).squeeze(-1)


def squeezed(query, keys, W):
    return torch.einsum("b...q,qk,bnk->b...n", query, W, keys).squeeze()


def axis_kept(query, keys, W):
    q = query if query.dim() == 3 else query.unsqueeze(1)
    return q @ W @ keys.transpose(1, 2)


WRONG = [
    transposed_for_several_words,
    symmetric,
    sentences_paired_with_target_words,
    squeezed,
    axis_kept,
]
