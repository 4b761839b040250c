"""Answers to `dot_score`."""

import torch
from torch import Tensor

# Right


def with_matmul(query, keys):
    if query.dim() == 2:
        return (keys @ query.unsqueeze(-1)).squeeze(-1)
    return query @ keys.transpose(1, 2)


def with_loops(query, keys):
    sentences = []
    for q, k in zip(query, keys, strict=True):
        if q.dim() == 1:
            sentences.append(torch.stack([(q * key).sum() for key in k]))
        else:
            sentences.append(torch.stack([torch.stack([one.dot(key) for key in k]) for one in q]))
    return torch.stack(sentences)


def with_bmm(query: Tensor, keys: Tensor) -> Tensor:
    one = query.dim() == 2
    q = query[:, None] if one else query
    scores = torch.bmm(q, keys.permute(0, 2, 1))
    return scores[:, 0] if one else scores


def float64_and_back(query, keys):
    scores = torch.einsum("b...d,bnd->b...n", query.double(), keys.double())
    return scores.to(query.dtype)


def float64_kept(query, keys):
    return torch.einsum("b...d,bnd->b...n", query.double(), keys.double())


RIGHT = [with_matmul, with_loops, with_bmm, float64_and_back, float64_kept]

# Wrong


def sentences_paired_with_target_words(query, keys):
    # (B, N, d) @ (B, T, d, 1): the batch of one meets the target words of the other
    return (keys @ query.unsqueeze(-1)).squeeze(-1)


def squeezed(query, keys):
    return torch.einsum("b...d,bnd->b...n", query, keys).squeeze()


def axis_kept(query, keys):
    if query.dim() == 3:
        return query @ keys.transpose(1, 2)
    return query.unsqueeze(1) @ keys.transpose(1, 2)


def first_target_word_only(query, keys):
    q = query[:, 0] if query.dim() == 3 else query
    return torch.einsum("bd,bnd->bn", q, keys)


def mean_query(query, keys):
    if query.dim() == 3:
        scores = torch.einsum("bd,bnd->bn", query.mean(1), keys)
        return scores.unsqueeze(1).expand(-1, query.shape[1], -1)
    return torch.einsum("bd,bnd->bn", query, keys)


WRONG = [
    sentences_paired_with_target_words,
    squeezed,
    axis_kept,
    first_target_word_only,
    mean_query,
]
