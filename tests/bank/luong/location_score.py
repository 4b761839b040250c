"""Answers to `location_score`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor

# Right


def with_linear(query, W):
    return F.linear(query, W)


def with_einsum(query: Tensor, W: Tensor) -> Tensor:
    return torch.einsum("...q,nq->...n", query, W)


def position_by_position(query, W):
    return torch.stack([(query * row).sum(-1) for row in W], dim=-1)


def with_loops(query, W):
    sentences = []
    for q in query:
        words = [W.mv(q)] if q.dim() == 1 else [W.mv(word) for word in q]
        sentences.append(words[0] if q.dim() == 1 else torch.stack(words))
    return torch.stack(sentences)


def matrix_first(query, W):
    # (N, d) @ (..., d, 1)
    return (W @ query.unsqueeze(-1)).squeeze(-1)


def flattened(query, W):
    flat = query.reshape(-1, query.shape[-1])
    return torch.mm(flat, W.t()).reshape(*query.shape[:-1], W.shape[0])


def float64_kept(query, W):
    return query.double() @ W.double().T


def talkative(query, W):
    warnings.warn("no keys here?", stacklevel=1)
    print("W", W.shape, file=sys.stderr)
    return torch.tensordot(query, W, dims=([-1], [1]))


RIGHT = [
    with_linear,
    with_einsum,
    position_by_position,
    with_loops,
    matrix_first,
    flattened,
    float64_kept,
    talkative,
]

# Wrong


def transposed_when_square(query, W):
    return query @ (W if W.shape[0] == W.shape[1] else W.T)


def reshaped_for_transpose(query, W):
    return query @ W.reshape(W.shape[1], W.shape[0])


def positions_before_target_words(query, W):
    scores = query @ W.T
    return scores.transpose(1, 2) if query.dim() == 3 else scores


def positions_first(query, W):
    return (W @ query.reshape(-1, query.shape[-1]).T).reshape(W.shape[0], *query.shape[:-1])


def transposed_by_reshape(query, W):
    scores = W @ query.reshape(-1, query.shape[-1]).T  # (N, B) or (N, B T)
    return scores.reshape(*query.shape[:-1], W.shape[0])


def first_target_word_only(query, W):
    return (query[:, 0] if query.dim() == 3 else query) @ W.T


def squeezed(query, W):
    return (query @ W.T).squeeze()


def axis_added(query, W):
    return (query @ W.T).unsqueeze(1)


def mean_query(query, W):
    return query.mean(0, keepdim=True).expand_as(query) @ W.T


def log_of_the_softmax(query, W):
    return (query @ W.T).log_softmax(-1)


def positions_added(query, W):
    return query @ W.T + torch.arange(W.shape[0])


def relu_of_the_scores(query, W):
    return torch.relu(query @ W.T)


def scaled_by_positions(query, W):
    return query @ W.T / W.shape[0] ** 0.5


def padded_to_ten(query, W):
    return F.pad(query @ W.T, (0, 10 - W.shape[0]))


def new_linear_layer(query, W):
    return torch.nn.Linear(W.shape[1], W.shape[0], bias=False).to(query.dtype)(query)


def rows_normalised(query, W):
    return query @ F.normalize(W, dim=-1).T


def always_float32(query, W):
    return query.float() @ W.float().T


def numpy_answer(query, W):
    return query.numpy() @ W.numpy().T


def returns_nothing(query, W):
    print(query @ W.T)


def returns_a_list(query, W):
    return [q @ W.T for q in query]


def query_overwritten(query, W):
    query += 0.5
    return (query - 0.5) @ W.T


def matrix_cut(query, W):
    return query @ W.detach().T


def query_cut(query, W):
    return query.detach() @ W.T


WRONG = [
    transposed_when_square,
    reshaped_for_transpose,
    positions_before_target_words,
    positions_first,
    transposed_by_reshape,
    first_target_word_only,
    squeezed,
    axis_added,
    mean_query,
    log_of_the_softmax,
    positions_added,
    relu_of_the_scores,
    scaled_by_positions,
    padded_to_ten,
    new_linear_layer,
    rows_normalised,
    always_float32,
    numpy_answer,
    returns_nothing,
    returns_a_list,
    query_overwritten,
    matrix_cut,
    query_cut,
]
