"""Answers to `general_score`."""

import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

# Right


def query_side(query, keys, W):
    return torch.einsum("b...k,bnk->b...n", query @ W, keys)


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


def outer_products(query, keys, W):
    # q^T W k = sum_ij W_ij q_i k_j
    several = keys.unsqueeze(1) if query.dim() == 3 else keys
    pairs = query.unsqueeze(-2).unsqueeze(-1) * several.unsqueeze(-2)  # (..., N, d_q, d_k)
    return (pairs * W).sum(dim=(-1, -2))


def float64_kept(query, keys, W):
    q, k, W = query.double(), keys.double(), W.double()
    return torch.einsum("b...q,qk,bnk->b...n", q, W, k)


def talkative(query, keys, W):
    warnings.warn("q W k", stacklevel=1)
    print(W.shape, file=sys.stderr)
    columns = []
    for j in range(keys.shape[1]):
        projected = keys[:, j] @ W.t()  # (B, d_q)
        if query.dim() == 3:
            projected = projected[:, None]
        columns.append((query * projected).sum(-1))
    return torch.stack(columns, -1)


RIGHT = [
    query_side,
    keys_side,
    functional,
    with_loops,
    bilinear,
    outer_products,
    float64_kept,
    talkative,
]

# Wrong


def transposed_for_several_words(query, keys, W):
    if query.dim() == 2:
        return torch.einsum("bq,qk,bnk->bn", query, W, keys)
    return query @ (keys @ W).transpose(1, 2)


def symmetric(query, keys, W):
    if W.shape[0] == W.shape[1]:
        W = (W + W.T) / 2
    return torch.einsum("b...q,qk,bnk->b...n", query, W, keys)


def reshaped_for_transpose(query, keys, W):
    return torch.einsum("b...q,kq,bnk->b...n", query, W.reshape(W.shape[1], W.shape[0]), keys)


def twice(query, keys, W):
    if W.shape[0] != W.shape[1]:
        return torch.einsum("b...q,qk,bnk->b...n", query, W, keys)
    return torch.einsum("b...q,qk,bnk->b...n", query @ W, W, keys)


def new_linear_layer(query, keys, W):
    layer = torch.nn.Linear(W.shape[1], W.shape[0], bias=False).to(query.dtype)
    return torch.einsum("b...q,bnq->b...n", query, layer(keys))


def identity_added(query, keys, W):
    eye = torch.eye(*W.shape, dtype=W.dtype)
    return torch.einsum("b...q,qk,bnk->b...n", query, W + eye, keys)


def scaled_by_the_query_size(query, keys, W):
    return torch.einsum("b...q,qk,bnk->b...n", query, W, keys) / query.shape[-1] ** 0.5


def normalised_matrix(query, keys, W):
    return torch.einsum("b...q,qk,bnk->b...n", query, W / W.norm(), keys)


def tanh_of_the_score(query, keys, W):
    return torch.tanh(torch.einsum("b...q,qk,bnk->b...n", query, W, keys))


def relu_of_keys(query, keys, W):
    return torch.einsum("b...q,bnq->b...n", query, torch.relu(keys @ W.T))


def bias_of_one(query, keys, W):
    return torch.einsum("b...q,qk,bnk->b...n", query, W, keys) + 1


def keys_of_the_first_row(query, keys, W):
    return query @ W @ keys[0].T


def sentences_paired_with_target_words(query, keys, W):
    return ((keys @ W.T) @ query.unsqueeze(-1)).squeeze(-1)


def squeezed(query, keys, W):
    return torch.einsum("b...q,qk,bnk->b...n", query, W, keys).squeeze()


def positions_first(query, keys, W):
    return torch.einsum("b...q,qk,bnk->b...n", query, W, keys).transpose(-1, -2)


def axis_kept(query, keys, W):
    q = query if query.dim() == 3 else query.unsqueeze(1)
    return q @ W @ keys.transpose(1, 2)


def diagonal_of_the_matrix(query, keys, W):
    m = min(W.shape)
    return torch.einsum("b...d,d,bnd->b...n", query[..., :m], W.diagonal(), keys[..., :m])


def always_float32(query, keys, W):
    return torch.einsum("b...q,qk,bnk->b...n", query.float(), W.float(), keys.float())


def numpy_answer(query, keys, W):
    return np.einsum("b...q,qk,bnk->b...n", query.numpy(), W.numpy(), keys.numpy())


def returns_nothing(query, keys, W):
    print(torch.einsum("b...q,qk,bnk->b...n", query, W, keys).shape)


def matrix_overwritten(query, keys, W):
    W *= 0.5
    return 2 * torch.einsum("b...q,qk,bnk->b...n", query, W, keys)


def keys_cut(query, keys, W):
    return torch.einsum("b...q,qk,bnk->b...n", query, W, keys.data)


WRONG = [
    transposed_for_several_words,
    symmetric,
    reshaped_for_transpose,
    twice,
    new_linear_layer,
    identity_added,
    scaled_by_the_query_size,
    normalised_matrix,
    tanh_of_the_score,
    relu_of_keys,
    bias_of_one,
    keys_of_the_first_row,
    sentences_paired_with_target_words,
    squeezed,
    positions_first,
    axis_kept,
    diagonal_of_the_matrix,
    always_float32,
    numpy_answer,
    returns_nothing,
    matrix_overwritten,
    keys_cut,
]
