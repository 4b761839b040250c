"""Answers to `location_score`."""

import torch
import torch.nn.functional as F

# Right


def with_linear(query, W):
    return F.linear(query, W)


def position_by_position(query, W):
    return torch.stack([(query * row).sum(-1) for row in W], dim=-1)


def with_loops(query, W):
    sentences = []
    for q in query:
        words = [W.mv(q)] if q.dim() == 1 else [W.mv(word) for word in q]
        sentences.append(words[0] if q.dim() == 1 else torch.stack(words))
    return torch.stack(sentences)


def flattened(query, W):
    flat = query.reshape(-1, query.shape[-1])
    return torch.mm(flat, W.t()).reshape(*query.shape[:-1], W.shape[0])


def float64_kept(query, W):
    return query.double() @ W.double().T


RIGHT = [with_linear, position_by_position, with_loops, flattened, float64_kept]

# Wrong


def transposed_when_square(query, W):
    return query @ (W if W.shape[0] == W.shape[1] else W.T)


def positions_before_target_words(query, W):
    scores = query @ W.T
    return scores.transpose(1, 2) if query.dim() == 3 else scores


def first_target_word_only(query, W):
    return (query[:, 0] if query.dim() == 3 else query) @ W.T


def squeezed(query, W):
    return (query @ W.T).squeeze()


def matrix_cut(query, W):
    return query @ W.detach().T


WRONG = [
    transposed_when_square,
    positions_before_target_words,
    first_target_word_only,
    squeezed,
    matrix_cut,
]
