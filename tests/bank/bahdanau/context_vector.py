"""Answers to `context_vector`."""

import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

# Right


def with_einsum(weights, values):
    return torch.einsum("bn,bnd->bd", weights, values)


def with_bmm(weights: Tensor, values: Tensor) -> Tensor:
    return torch.bmm(weights[:, None, :], values)[:, 0, :]


def with_broadcasting(alpha, h):
    return (alpha.unsqueeze(-1) * h).sum(dim=1)


def with_loops(weights, values):
    contexts = []
    for b in range(len(weights)):
        c = torch.zeros(values.shape[-1], dtype=values.dtype)
        for j in range(weights.shape[1]):
            c = c + weights[b, j] * values[b, j]
        contexts.append(c)
    return torch.stack(contexts)


def values_transposed(weights, values):
    return values.transpose(1, 2).matmul(weights.unsqueeze(2)).squeeze(2)


def float64_and_back(weights, values):
    return (weights.double()[:, None] @ values.double()).squeeze(1).to(values.dtype)


def float64_kept(weights, values):
    return (weights.double()[:, None] @ values.double()).squeeze(1)


def talkative(weights, values):
    warnings.warn("summing", stacklevel=1)
    total = 0
    for j in tqdm(range(values.size(1)), file=sys.stderr):
        print("adding", j)
        total = total + weights[:, j : j + 1] * values[:, j]
    return total


def _one(a, h):
    return a @ h


def with_vmap(weights, values):
    return torch.vmap(_one)(weights, values)


def big_diagonal(weights, values):
    # every row of weights with every sentence, of which the diagonal is wanted
    return torch.tensordot(weights, values, dims=([1], [1])).diagonal(dim1=0, dim2=1).T


RIGHT = [
    with_einsum,
    with_bmm,
    with_broadcasting,
    with_loops,
    values_transposed,
    float64_and_back,
    float64_kept,
    talkative,
    with_vmap,
    big_diagonal,
]

# Wrong


def plain_matmul(weights, values):
    return weights @ values  # (B, N) @ (B, N, d) -> (B, B, d)


def plain_matmul_first(weights, values):
    return (weights @ values)[0]


def weights_of_the_first_row(weights, values):
    return weights[0] @ values


def values_of_the_first_row(weights, values):
    return weights @ values[0]


def weighted_not_summed(weights, values):
    return weights.unsqueeze(-1) * values


def summed_over_batch(weights, values):
    return (weights.unsqueeze(-1) * values).sum(0)


def summed_over_features(weights, values):
    return (weights.unsqueeze(-1) * values).sum(-1)


def weights_on_features(weights, values):
    # fits only if N = d_v
    if weights.shape[1] == values.shape[2]:
        return (weights.unsqueeze(1) * values).sum(1)
    return (weights.unsqueeze(-1) * values).sum(1)


def weights_along_the_batch(weights, values):
    # fits only if B = N
    w = weights.T if weights.shape[0] == weights.shape[1] else weights
    return (w.unsqueeze(-1) * values).sum(1)


def squeezed(weights, values):
    return (weights.unsqueeze(1) @ values).squeeze()


def axis_kept(weights, values):
    return weights.unsqueeze(1) @ values


def normalised_with_epsilon(weights, values):
    # the values come out right, since rows of weights sum to 1; the gradient does not
    w = weights / (weights.sum(-1, keepdim=True) + 1e-12)
    return (w.unsqueeze(1) @ values).squeeze(1)


def last_value_dropped(weights, values):
    return (weights[:, :-1].unsqueeze(-1) * values[:, :-1]).sum(1)


def maximum(weights, values):
    return (weights.unsqueeze(-1) * values).max(1).values


def one_minus_weights(weights, values):
    return ((1 - weights).unsqueeze(-1) * values).sum(1)


def weights_squared(weights, values):
    return (weights.square().unsqueeze(-1) * values).sum(1)


def tanh_of_values(weights, values):
    return (weights.unsqueeze(1) @ torch.tanh(values)).squeeze(1)


def tanh_of_context(weights, values):
    return torch.tanh(weights.unsqueeze(1) @ values).squeeze(1)


def layer_normalised(weights, values):
    c = (weights.unsqueeze(1) @ values).squeeze(1)
    return F.layer_norm(c, c.shape[-1:])


def divided_by_real_positions(weights, values):
    real = (weights != 0).sum(-1, keepdim=True).clamp(min=1)
    return (weights.unsqueeze(1) @ values).squeeze(1) / real


def always_float32(weights, values):
    return (weights.float().unsqueeze(1) @ values.float()).squeeze(1)


def preallocated_float32(weights, values):
    context = torch.zeros(values.shape[0], values.shape[2])
    for j in range(values.shape[1]):
        context += weights[:, j : j + 1] * values[:, j]
    return context


def numpy_answer(weights, values):
    return np.einsum("bn,bnd->bd", weights.numpy(), values.numpy())


def through_numpy_and_back(weights, values):
    return torch.from_numpy(np.einsum("bn,bnd->bd", weights.detach(), values.detach()))


def returns_nothing(weights, values):
    context = torch.einsum("bn,bnd->bd", weights, values)
    print(context.shape)


def returns_a_list(weights, values):
    return [w @ v for w, v in zip(weights, values, strict=True)]


def returns_context_and_weights(weights, values):
    return torch.einsum("bn,bnd->bd", weights, values), weights


def values_overwritten(weights, values):
    values *= weights.unsqueeze(-1)
    return values.sum(1)


def weights_overwritten(weights, values):
    context = torch.einsum("bn,bnd->bd", weights, values)
    weights[weights == 0] = 1e-9
    return context


def dropout_left_on(weights, values):
    return (F.dropout(weights, 0.1).unsqueeze(1) @ values).squeeze(1)


def hard_coded_size(weights, values):
    return (weights.unsqueeze(1) @ values).view(-1, 4)


def values_added_to_the_context(weights, values):
    return (weights.unsqueeze(1) @ values).squeeze(1) + values[:, 0]


def all_zero(weights, values):
    return torch.zeros_like(values[:, 0])


def view_for_transpose(weights, values):
    b, n, d = values.shape
    return (values.reshape(b, d, n) @ weights.unsqueeze(-1)).squeeze(-1)


def batch_averaged(weights, values):
    c = (weights.unsqueeze(1) @ values).squeeze(1)
    return c.mean(0, keepdim=True).expand_as(c)


WRONG = [
    plain_matmul,
    plain_matmul_first,
    weights_of_the_first_row,
    values_of_the_first_row,
    weighted_not_summed,
    summed_over_batch,
    summed_over_features,
    weights_on_features,
    weights_along_the_batch,
    squeezed,
    axis_kept,
    normalised_with_epsilon,
    last_value_dropped,
    maximum,
    one_minus_weights,
    weights_squared,
    tanh_of_values,
    tanh_of_context,
    layer_normalised,
    divided_by_real_positions,
    always_float32,
    preallocated_float32,
    numpy_answer,
    through_numpy_and_back,
    returns_nothing,
    returns_a_list,
    returns_context_and_weights,
    values_overwritten,
    weights_overwritten,
    dropout_left_on,
    hard_coded_size,
    values_added_to_the_context,
    all_zero,
    view_for_transpose,
    batch_averaged,
]
