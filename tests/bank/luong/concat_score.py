"""Answers to `concat_score`."""

import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

# Right


def really_joined(query, keys, W, v):
    several = query if query.dim() == 3 else query.unsqueeze(1)
    b, t, _ = several.shape
    n = keys.shape[1]
    q = several.unsqueeze(2).expand(b, t, n, -1)
    k = keys.unsqueeze(1).expand(b, t, n, -1)
    scores = torch.tanh(torch.cat([q, k], dim=-1) @ W.T) @ v
    return scores if query.dim() == 3 else scores.squeeze(1)


def two_matrices(query, keys, W, v):
    d_q = query.shape[-1]
    a = query @ W[:, :d_q].T  # (B, d) or (B, T, d)
    b = keys @ W[:, d_q:].T  # (B, N, d)
    if query.dim() == 2:
        return torch.tanh(a[:, None] + b) @ v
    return torch.tanh(a[:, :, None] + b[:, None]) @ v


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


def target_word_by_target_word(query, keys, W, v):
    def one(q):
        q = q.unsqueeze(1).repeat(1, keys.shape[1], 1)
        return torch.tanh(torch.cat((q, keys), 2) @ W.t()).matmul(v)

    if query.dim() == 2:
        return one(query)
    return torch.stack([one(query[:, t]) for t in range(query.shape[1])], dim=1)


def float64_kept(query, keys, W, v):
    query, keys, W, v = (t.double() for t in (query, keys, W, v))
    of_query, of_keys = W.split([query.shape[-1], keys.shape[-1]], 1)
    b = keys @ of_keys.T
    b = b if query.dim() == 2 else b.unsqueeze(1)
    return torch.tanh((query @ of_query.T).unsqueeze(-2) + b) @ v


def talkative(query, keys, W, v):
    warnings.warn("many axes", stacklevel=1)
    print(query.shape, keys.shape, file=sys.stderr)
    d_q = query.shape[-1]
    columns = []
    for j in tqdm(range(keys.shape[1])):
        key = keys[:, j] @ W[:, d_q:].T
        if query.dim() == 3:
            key = key.unsqueeze(1)
        print("position", j)
        columns.append(torch.tanh(query @ W[:, :d_q].T + key) @ v)
    return torch.stack(columns, -1)


def padded_with_zeros(query, keys, W, v):
    # [q; 0] + [0; k] = [q; k]
    wide_query = F.pad(query, (0, keys.shape[-1]))
    wide_keys = F.pad(keys, (query.shape[-1], 0))
    if query.dim() == 3:
        wide_keys = wide_keys.unsqueeze(1)
    return torch.tanh((wide_query.unsqueeze(-2) + wide_keys) @ W.T) @ v


RIGHT = [
    really_joined,
    two_matrices,
    with_einsum,
    with_loops,
    functional,
    target_word_by_target_word,
    float64_kept,
    talkative,
    padded_with_zeros,
]

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


def cut_in_the_middle(query, keys, W, v):
    # right where d_q = d_k, an error elsewhere
    of_query, of_keys = W.chunk(2, dim=1)
    b = keys @ of_keys.T
    b = b.unsqueeze(1) if query.dim() == 3 else b
    return torch.tanh((query @ of_query.T).unsqueeze(-2) + b) @ v


def tanh_after_keys_only(query, keys, W, v):
    d_q = query.shape[-1]
    of_keys = torch.tanh(keys @ W[:, d_q:].T)
    if query.dim() == 3:
        of_keys = of_keys.unsqueeze(1)
    return ((query @ W[:, :d_q].T).unsqueeze(-2) + of_keys) @ v


def tanh_of_the_inputs(query, keys, W, v):
    return (torch.tanh(_join(query, keys)) @ W.T) @ v


def sigmoid_for_tanh(query, keys, W, v):
    return torch.sigmoid(_join(query, keys) @ W.T) @ v


def hard_tanh(query, keys, W, v):
    return F.hardtanh(_join(query, keys) @ W.T) @ v


def product_for_sum(query, keys, W, v):
    d_q = query.shape[-1]
    of_keys = keys @ W[:, d_q:].T
    if query.dim() == 3:
        of_keys = of_keys.unsqueeze(1)
    return torch.tanh((query @ W[:, :d_q].T).unsqueeze(-2) * of_keys) @ v


def keys_forgotten(query, keys, W, v):
    pairs = _join(query, torch.zeros_like(keys))
    return torch.tanh(pairs @ W.T) @ v


def v_normalised(query, keys, W, v):
    return torch.tanh(_join(query, keys) @ W.T) @ (v / v.norm())


def v_through_a_softmax(query, keys, W, v):
    return torch.tanh(_join(query, keys) @ W.T) @ v.softmax(0)


def difference(query, keys, W, v):
    return torch.tanh(_join(query, -keys) @ W.T) @ v


def bias_added(query, keys, W, v):
    return torch.tanh(_join(query, keys) @ W.T + 0.01) @ v


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


def first_target_word_only(query, keys, W, v):
    q = query[:, 0] if query.dim() == 3 else query
    return torch.tanh(_join(q, keys) @ W.T) @ v


def query_of_the_first_row(query, keys, W, v):
    q = query[:1].expand_as(query)
    return torch.tanh(_join(q, keys) @ W.T) @ v


def squeezed(query, keys, W, v):
    return (torch.tanh(_join(query, keys) @ W.T) @ v).squeeze()


def axis_kept(query, keys, W, v):
    return torch.tanh(_join(query, keys) @ W.T) @ v.unsqueeze(-1)


def positions_before_target_words(query, keys, W, v):
    scores = torch.tanh(_join(query, keys) @ W.T) @ v
    return scores.transpose(1, 2) if query.dim() == 3 else scores


def matrix_reshaped(query, keys, W, v):
    return torch.tanh(_join(query, keys) @ W.reshape(W.shape[1], W.shape[0])) @ v


def new_linear_layer(query, keys, W, v):
    layer = torch.nn.Linear(W.shape[1], W.shape[0], bias=False).to(query.dtype)
    return torch.tanh(layer(_join(query, keys))) @ v


def always_float32(query, keys, W, v):
    return torch.tanh(_join(query, keys).float() @ W.float().T) @ v.float()


def numpy_answer(query, keys, W, v):
    return np.tanh(_join(query, keys).numpy() @ W.numpy().T) @ v.numpy()


def returns_nothing(query, keys, W, v):
    print(torch.tanh(_join(query, keys) @ W.T) @ v)


def hidden_returned(query, keys, W, v):
    return torch.tanh(_join(query, keys) @ W.T)


def keys_overwritten(query, keys, W, v):
    scores = torch.tanh(_join(query, keys) @ W.T) @ v
    keys.zero_()
    return scores


def v_detached(query, keys, W, v):
    return torch.tanh(_join(query, keys) @ W.T) @ v.detach()


def matrix_cut(query, keys, W, v):
    return torch.tanh(_join(query, keys) @ W.data.T) @ v


WRONG = [
    cut_in_the_middle,
    tanh_after_keys_only,
    tanh_of_the_inputs,
    sigmoid_for_tanh,
    hard_tanh,
    product_for_sum,
    keys_forgotten,
    v_normalised,
    v_through_a_softmax,
    difference,
    bias_added,
    target_words_and_keys_in_step,
    repeated_the_wrong_way,
    first_target_word_only,
    query_of_the_first_row,
    squeezed,
    axis_kept,
    positions_before_target_words,
    matrix_reshaped,
    new_linear_layer,
    always_float32,
    numpy_answer,
    returns_nothing,
    hidden_returned,
    keys_overwritten,
    v_detached,
    matrix_cut,
]
