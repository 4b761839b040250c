"""Answers to `scaled_dot_score`."""

import numpy as np
import torch
from torch import Tensor

# Right


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


def float64_kept(query, keys):
    return torch.einsum("b...d,bnd->b...n", query.double(), keys.double()) / keys.shape[-1] ** 0.5


RIGHT = [query_scaled_first, half_of_it_on_each, with_a_tensor_root, with_loops, float64_kept]

# Wrong


def scaled_only_if_large(query, keys):
    # "scaling is for large d"
    scores = torch.einsum("b...d,bnd->b...n", query, keys)
    return scores / keys.shape[-1] ** 0.5 if keys.shape[-1] > 4 else scores


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


WRONG = [scaled_only_if_large, squeezed, axis_kept, transposed, sentences_paired_with_target_words]
