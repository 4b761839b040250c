"""Answers to `context_vector`."""

import sys
import warnings

import numpy as np
import torch
from tqdm.auto import tqdm

# Right


def with_broadcasting(alpha, h):
    return (alpha.unsqueeze(-1) * h).sum(dim=1)


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


RIGHT = [with_broadcasting, float64_kept, talkative, with_vmap, big_diagonal]

# Wrong


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


def through_numpy_and_back(weights, values):
    return torch.from_numpy(np.einsum("bn,bnd->bd", weights.detach(), values.detach()))


def values_overwritten(weights, values):
    values *= weights.unsqueeze(-1)
    return values.sum(1)


WRONG = [
    weights_on_features,
    weights_along_the_batch,
    squeezed,
    through_numpy_and_back,
    values_overwritten,
]
