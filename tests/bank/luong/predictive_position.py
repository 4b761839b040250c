"""Answers to `predictive_position`."""

import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

# Right


def with_matmul(state: Tensor, lengths: Tensor, W: Tensor, v: Tensor) -> Tensor:
    return lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v)


def with_linear(h, S, W, v):
    share = F.linear(torch.tanh(F.linear(h, W)), v.unsqueeze(0)).squeeze(-1).sigmoid()
    return S.to(share.dtype) * share


def with_einsum(state, lengths, W, v):
    hidden = torch.einsum("bd,nd->bn", state, W).tanh()
    return torch.einsum("b,b->b", torch.sigmoid(torch.einsum("bn,n->b", hidden, v)), lengths + 0.0)


def with_loops(state, lengths, W, v):
    found = []
    for h, n in zip(state, lengths.tolist(), strict=True):
        found.append(n * torch.sigmoid(v @ torch.tanh(W @ h)))
    return torch.stack(found)


def by_exponentials(state, lengths, W, v):
    return lengths / (1 + torch.exp(-(v * torch.tanh(state @ W.T)).sum(dim=1)))


def by_tanh(state, lengths, W, v):
    # sigmoid(x) = (1 + tanh(x / 2)) / 2
    x = torch.tanh(state @ W.T).matmul(v)
    return 0.5 * lengths * (1 + torch.tanh(x / 2))


def by_softmax(state, lengths, W, v):
    x = torch.tanh(state @ W.T) @ v
    pair = torch.stack([x, torch.zeros_like(x)], -1)
    return pair.softmax(-1)[:, 0] * lengths


def float_lengths(state, lengths, W, v):
    return lengths.float() * torch.sigmoid(torch.tanh(state @ W.T) @ v)


def _one(h, n, W, v):
    return n * torch.sigmoid(torch.dot(v, torch.tanh(torch.mv(W, h))))


def with_vmap(state, lengths, W, v):
    return torch.vmap(_one, in_dims=(0, 0, None, None))(state, lengths, W, v)


def talkative(state, lengths, W, v):
    warnings.warn("predicting", stacklevel=1)
    x = 0
    for row, weight in tqdm(zip(W, v, strict=True), file=sys.stderr):
        print("unit")
        x = x + weight * torch.tanh(state @ row)
    return torch.sigmoid(x) * lengths


def float64_kept(state, lengths, W, v):
    return lengths * torch.sigmoid(torch.tanh(state.double() @ W.double().T) @ v.double())


RIGHT = [
    with_matmul,
    with_linear,
    with_einsum,
    with_loops,
    by_exponentials,
    by_tanh,
    by_softmax,
    float_lengths,
    with_vmap,
    talkative,
    float64_kept,
]

# Wrong


def plus_one(state, lengths, W, v):
    return (lengths + 1) * torch.sigmoid(torch.tanh(state @ W.T) @ v)


def counted_from_one(state, lengths, W, v):
    return 1 + lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v)


def softmax_over_batch(state, lengths, W, v):
    return lengths * torch.softmax(torch.tanh(state @ W.T) @ v, 0)


def mean_for_sum(state, lengths, W, v):
    return lengths * torch.sigmoid((torch.tanh(state @ W.T) * v).mean(-1))


def sigmoid_of_product(state, lengths, W, v):
    return torch.sigmoid(lengths * (torch.tanh(state @ W.T) @ v))


def sigmoid_inside(state, lengths, W, v):
    return lengths * (torch.sigmoid(torch.tanh(state @ W.T)) @ v)


def tanh_outside(state, lengths, W, v):
    return lengths * torch.sigmoid(torch.tanh(state @ W.T @ v))


def relu_hidden(state, lengths, W, v):
    return lengths * torch.sigmoid(torch.relu(state @ W.T) @ v)


def hard_sigmoid(state, lengths, W, v):
    return lengths * F.hardsigmoid(torch.tanh(state @ W.T) @ v)


def negated(state, lengths, W, v):
    return lengths * torch.sigmoid(-(torch.tanh(state @ W.T) @ v))


def from_the_end(state, lengths, W, v):
    return lengths - lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v) - 1


def W_not_transposed(state, lengths, W, v):
    # fits only if n = d
    if W.shape[0] == W.shape[1]:
        return lengths * torch.sigmoid(torch.tanh(state @ W) @ v)
    return lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v)


def first_state_for_all(state, lengths, W, v):
    return lengths * torch.sigmoid(torch.tanh(state[:1] @ W.T) @ v)


def every_length_for_every_state(state, lengths, W, v):
    return lengths[None] * torch.sigmoid(torch.tanh(state @ W.T) @ v)[:, None]


def axis_kept(state, lengths, W, v):
    return (lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v)).unsqueeze(1)


def whole_numbers(state, lengths, W, v):
    return (lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v)).long()


def floored(state, lengths, W, v):
    return (lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v)).floor()


def cut_at_the_last_word(state, lengths, W, v):
    p = lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v)
    return torch.minimum(p, (lengths - 1).clamp(min=0).to(p.dtype))


def mean_position(state, lengths, W, v):
    p = lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v)
    return p.mean().expand_as(p)


def list_of_numbers(state, lengths, W, v):
    return (lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v)).tolist()


def W_cut(state, lengths, W, v):
    return lengths * torch.sigmoid(torch.tanh(state @ W.detach().T) @ v)


def state_cut(state, lengths, W, v):
    return lengths * torch.sigmoid(torch.tanh(state.data @ W.T) @ v)


def always_float32(state, lengths, W, v):
    return lengths * torch.sigmoid(torch.tanh(state.float() @ W.float().T) @ v.float())


def with_numpy(state, lengths, W, v):
    x = np.tanh(state.detach().numpy() @ W.detach().numpy().T) @ v.detach().numpy()
    return lengths.numpy() / (1 + np.exp(-x))


def nan_without_words(state, lengths, W, v):
    p = lengths * torch.sigmoid(torch.tanh(state @ W.T) @ v)
    return p * lengths / lengths


def state_overwritten(state, lengths, W, v):
    state.tanh_()
    return lengths * torch.sigmoid(torch.tanh(state.atanh() @ W.T) @ v)


def returns_nothing(state, lengths, W, v):
    with_matmul(state, lengths, W, v)


WRONG = [
    plus_one,
    counted_from_one,
    softmax_over_batch,
    mean_for_sum,
    sigmoid_of_product,
    sigmoid_inside,
    tanh_outside,
    relu_hidden,
    hard_sigmoid,
    negated,
    from_the_end,
    W_not_transposed,
    first_state_for_all,
    every_length_for_every_state,
    axis_kept,
    whole_numbers,
    floored,
    cut_at_the_last_word,
    mean_position,
    list_of_numbers,
    W_cut,
    state_cut,
    always_float32,
    with_numpy,
    nan_without_words,
    state_overwritten,
    returns_nothing,
]
