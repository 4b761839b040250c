"""Answers to `scaled_dot_score`."""

import math
import warnings

import numpy as np
import torch
from torch import Tensor

# Right


def with_einsum(query, keys):
    return torch.einsum("b...d,bnd->b...n", query, keys) / math.sqrt(query.shape[-1])


def query_scaled_first(query, keys):
    q = query * query.shape[-1] ** -0.5
    if query.dim() == 2:
        return (q.unsqueeze(1) * keys).sum(-1)
    return q @ keys.mT


def half_of_it_on_each(query: Tensor, keys: Tensor) -> Tensor:
    root = keys.size(-1) ** 0.25
    return torch.einsum("b...d,bnd->b...n", query / root, keys / root)


def with_a_tensor_root(query, keys):
    d = torch.tensor(keys.shape[2], dtype=keys.dtype)
    one = query.dim() == 2
    scores = torch.bmm(query.unsqueeze(1) if one else query, keys.transpose(1, 2)) / torch.sqrt(d)
    return scores.squeeze(1) if one else scores


def with_loops(query, keys):
    rows = []
    for b in range(len(keys)):
        row = []
        for j in range(keys.shape[1]):
            row.append((query[b] * keys[b, j]).sum(-1) / np.sqrt(keys.shape[-1]))
        rows.append(torch.stack(row, dim=-1))
    return torch.stack(rows)


def from_a_helper(query, keys):
    def dot(q, k):
        return torch.einsum("b...d,bnd->b...n", q, k)

    warnings.warn("scaled now", stacklevel=1)
    print("d =", keys.shape[-1])
    return dot(query, keys).div(keys.shape[-1] ** 0.5)


def float64_kept(query, keys):
    return torch.einsum("b...d,bnd->b...n", query.double(), keys.double()) / keys.shape[-1] ** 0.5


def mean_times_root(query, keys):
    # sum / sqrt(d) = mean * sqrt(d)
    if query.dim() == 3:
        keys = keys.unsqueeze(1)
    return (query.unsqueeze(-2) * keys).mean(-1) * keys.shape[-1] ** 0.5


RIGHT = [
    with_einsum,
    query_scaled_first,
    half_of_it_on_each,
    with_a_tensor_root,
    with_loops,
    from_a_helper,
    float64_kept,
    mean_times_root,
]

# Wrong


def scaled_by_sentences(query, keys):
    return torch.einsum("b...d,bnd->b...n", query, keys) / math.sqrt(keys.shape[0])


def whole_root(query, keys):
    return torch.einsum("b...d,bnd->b...n", query, keys) / max(1, math.isqrt(keys.shape[-1]))


def scaled_for_64(query, keys):
    return torch.einsum("b...d,bnd->b...n", query, keys) / 8


def scaled_by_the_logarithm(query, keys):
    return torch.einsum("b...d,bnd->b...n", query, keys) / math.log(1 + keys.shape[-1])


def scaled_by_half(query, keys):
    return torch.einsum("b...d,bnd->b...n", query, keys) / (keys.shape[-1] / 2)


def root_of_the_scores(query, keys):
    scores = torch.einsum("b...d,bnd->b...n", query, keys)
    return scores.sign() * (scores.abs() + 1e-12).sqrt()


def divided_by_their_deviation(query, keys):
    scores = torch.einsum("b...d,bnd->b...n", query, keys)
    return scores / (scores.std(-1, keepdim=True, unbiased=False) + 1e-5)


def divided_by_the_query_norm(query, keys):
    scores = torch.einsum("b...d,bnd->b...n", query, keys)
    return scores / query.norm(dim=-1, keepdim=True)


def mean_over_features(query, keys):
    several = keys.unsqueeze(1) if query.dim() == 3 else keys
    return (query.unsqueeze(-2) * several).mean(-1) / keys.shape[-1] ** 0.5


def scaled_only_if_large(query, keys):
    # "scaling is for large d"
    scores = torch.einsum("b...d,bnd->b...n", query, keys)
    return scores / keys.shape[-1] ** 0.5 if keys.shape[-1] > 4 else scores


def scaled_by_the_number_of_keys_without_root(query, keys):
    return torch.einsum("b...d,bnd->b...n", query, keys) / keys.shape[1]


def squeezed(query, keys):
    return (torch.einsum("b...d,bnd->b...n", query, keys) / keys.shape[-1] ** 0.5).squeeze()


def axis_kept(query, keys):
    q = query.unsqueeze(1) if query.dim() == 2 else query
    return q @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5


def transposed(query, keys):
    scores = torch.einsum("b...d,bnd->b...n", query, keys) / keys.shape[-1] ** 0.5
    return scores.transpose(-1, -2)


def sentences_paired_with_target_words(query, keys):
    return (keys @ query.unsqueeze(-1)).squeeze(-1) / keys.shape[-1] ** 0.5


def always_float32(query, keys):
    q, k = query.float(), keys.float()
    return torch.einsum("b...d,bnd->b...n", q, k) / keys.shape[-1] ** 0.5


def numpy_answer(query, keys):
    scores = np.einsum("b...d,bnd->b...n", query.numpy(), keys.numpy())
    return scores / np.sqrt(keys.shape[-1])


def returns_nothing(query, keys):
    torch.einsum("b...d,bnd->b...n", query, keys) / keys.shape[-1] ** 0.5


def query_overwritten(query, keys):
    query /= query.shape[-1] ** 0.5
    return torch.einsum("b...d,bnd->b...n", query, keys)


def query_cut(query, keys):
    return torch.einsum("b...d,bnd->b...n", query.detach(), keys) / keys.shape[-1] ** 0.5


WRONG = [
    scaled_by_sentences,
    whole_root,
    scaled_for_64,
    scaled_by_the_logarithm,
    scaled_by_half,
    root_of_the_scores,
    divided_by_their_deviation,
    divided_by_the_query_norm,
    mean_over_features,
    scaled_only_if_large,
    scaled_by_the_number_of_keys_without_root,
    squeezed,
    axis_kept,
    transposed,
    sentences_paired_with_target_words,
    always_float32,
    numpy_answer,
    returns_nothing,
    query_overwritten,
    query_cut,
]
