"""Answers to `dot_score`."""

import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

# Right


def with_matmul(query, keys):
    if query.dim() == 2:
        return (keys @ query.unsqueeze(-1)).squeeze(-1)
    return query @ keys.transpose(1, 2)


def with_einsum(query, keys):
    if query.ndim == 3:
        return torch.einsum("btd,bnd->btn", query, keys)
    return torch.einsum("bd,bnd->bn", query, keys)


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


def multiplied_and_summed(query, keys):
    if query.dim() == 3:
        keys = keys.unsqueeze(1)
    return torch.sum(query.unsqueeze(-2) * keys, dim=-1)


def float64_and_back(query, keys):
    scores = torch.einsum("b...d,bnd->b...n", query.double(), keys.double())
    return scores.to(query.dtype)


def float64_kept(query, keys):
    return torch.einsum("b...d,bnd->b...n", query.double(), keys.double())


def talkative(query, keys):
    warnings.warn("which axis was it?", stacklevel=1)
    print(query.shape, keys.shape, file=sys.stderr)
    if query.dim() == 2:
        return torch.stack([(query * keys[:, j]).sum(-1) for j in range(keys.shape[1])], dim=-1)
    print("several target words")
    columns = [(query * keys[:, j].unsqueeze(1)).sum(-1) for j in range(keys.shape[1])]
    return torch.stack(columns, dim=-1)


def by_the_cosine(query, keys):
    # |q| |k| cos
    several = query if query.dim() == 3 else query.unsqueeze(1)
    cosine = F.cosine_similarity(several.unsqueeze(2), keys.unsqueeze(1), dim=-1)
    scores = cosine * several.norm(dim=-1, keepdim=True) * keys.norm(dim=-1).unsqueeze(1)
    return scores.squeeze(1) if query.dim() == 2 else scores


RIGHT = [
    with_matmul,
    with_einsum,
    with_loops,
    with_bmm,
    multiplied_and_summed,
    float64_and_back,
    float64_kept,
    talkative,
    by_the_cosine,
]

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


def keys_of_the_first_row(query, keys):
    return query @ keys[0].T


def query_of_the_first_row(query, keys):
    return torch.einsum("...d,bnd->b...n", query[0], keys)


def summed_over_keys(query, keys):
    return torch.einsum("b...d,bnd->b...d", query, keys)


def mixed_sentences(query, keys):
    # every sentence's query with every sentence's keys, then added up
    return torch.einsum("b...d,cnd->b...n", query, keys)


def absolute_values(query, keys):
    return torch.einsum("b...d,bnd->b...n", query, keys).abs()


def keys_normalised(query, keys):
    return torch.einsum("b...d,bnd->b...n", query, F.normalize(keys, dim=-1))


def queries_normalised(query, keys):
    return torch.einsum("b...d,bnd->b...n", F.normalize(query, dim=-1), keys)


def euclidean(query, keys):
    several = query if query.dim() == 3 else query.unsqueeze(1)
    distance = -torch.cdist(several, keys)
    return distance if query.dim() == 3 else distance.squeeze(1)


def view_for_transpose(query, keys):
    b, n, d = keys.shape
    several = query if query.dim() == 3 else query.unsqueeze(1)
    scores = several @ keys.reshape(b, d, n)
    return scores if query.dim() == 3 else scores.squeeze(1)


def centred(query, keys):
    scores = torch.einsum("b...d,bnd->b...n", query, keys)
    return scores - scores.amax(-1, keepdim=True)


def last_feature_dropped(query, keys):
    return torch.einsum("b...d,bnd->b...n", query[..., :-1], keys[..., :-1])


def always_float32(query, keys):
    return torch.einsum("b...d,bnd->b...n", query.float(), keys.float())


def numpy_answer(query, keys):
    return np.einsum("b...d,bnd->b...n", query.numpy(), keys.numpy())


def returns_nothing(query, keys):
    print(torch.einsum("b...d,bnd->b...n", query, keys))


def returns_a_list(query, keys):
    return [k @ q if q.dim() == 1 else q @ k.T for q, k in zip(query, keys, strict=True)]


def query_overwritten(query, keys):
    query.mul_(2)
    return torch.einsum("b...d,bnd->b...n", query, keys) / 2


def keys_cut(query, keys):
    return torch.einsum("b...d,bnd->b...n", query, keys.detach())


def all_zero(query, keys):
    return torch.zeros(*query.shape[:-1], keys.shape[1], dtype=query.dtype)


WRONG = [
    sentences_paired_with_target_words,
    squeezed,
    axis_kept,
    first_target_word_only,
    mean_query,
    keys_of_the_first_row,
    query_of_the_first_row,
    summed_over_keys,
    mixed_sentences,
    absolute_values,
    keys_normalised,
    queries_normalised,
    euclidean,
    view_for_transpose,
    centred,
    last_feature_dropped,
    always_float32,
    numpy_answer,
    returns_nothing,
    returns_a_list,
    query_overwritten,
    keys_cut,
    all_zero,
]
