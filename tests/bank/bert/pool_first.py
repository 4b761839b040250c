"""Answers to `pool_first`."""

import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

# Right


def with_index(states: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return torch.tanh(states[:, 0] @ W.T + b)


def with_linear(states, W, b):
    return F.linear(states[:, 0, :], W, b).tanh()


def with_einsum(states, W, b):
    return torch.tanh(torch.einsum("bd,od->bo", states.select(1, 0), W) + b)


def all_then_first(states, W, b):
    # does too much work, and is right
    return torch.tanh(states @ W.mT + b)[:, 0]


def with_loops(states, W, b):
    rows = [torch.tanh(W @ sentence[0] + b) for sentence in states]
    return torch.stack(rows)


def by_sigmoid(states, W, b):
    x = torch.addmm(b, states[:, 0], W.t())
    return 2 * torch.sigmoid(2 * x) - 1


def with_one_hot(states, W, b):
    first = torch.zeros(states.shape[1], dtype=states.dtype)
    first[0] = 1
    return torch.tanh(torch.tensordot(first, states, ([0], [1])) @ W.T + b)


def with_split(states, W, b):
    cls, *_ = states.unbind(dim=1)
    return torch.tanh((cls[:, None] * W).sum(-1) + b)


def talkative(states, W, b):
    warnings.warn("pooling", stacklevel=1)
    print("states", tuple(states.shape))
    columns = [
        torch.tanh(states[:, 0] @ w + c)
        for w, c in tqdm(list(zip(W, b, strict=True)), file=sys.stderr)
    ]
    return torch.stack(columns, -1)


def float64_and_back(states, W, b):
    x = states[:, 0].double() @ W.double().T + b.double()
    return torch.tanh(x).to(states.dtype)


def float64_kept(states, W, b):
    return torch.tanh(states[:, 0].double() @ W.double().T + b.double())


RIGHT = [
    with_index,
    with_linear,
    with_einsum,
    all_then_first,
    with_loops,
    by_sigmoid,
    with_one_hot,
    with_split,
    talkative,
    float64_and_back,
    float64_kept,
]

# Wrong


def second_token(states, W, b):
    return torch.tanh(states[:, min(1, states.shape[1] - 1)] @ W.T + b)


def first_number(states, W, b):
    return torch.tanh(states[..., 0] @ W[:, : states.shape[1]].T + b)


def sum_of_states(states, W, b):
    return torch.tanh(states.sum(1) @ W.T + b)


def tanh_first(states, W, b):
    return torch.tanh(states[:, 0]) @ W.T + b


def tanh_twice(states, W, b):
    return torch.tanh(torch.tanh(states[:, 0] @ W.T + b))


def with_relu(states, W, b):
    return torch.relu(states[:, 0] @ W.T + b)


def with_gelu(states, W, b):
    return F.gelu(states[:, 0] @ W.T + b)


def with_sigmoid(states, W, b):
    return torch.sigmoid(states[:, 0] @ W.T + b)


def hard_tanh(states, W, b):
    return F.hardtanh(states[:, 0] @ W.T + b)


def axis_kept(states, W, b):
    return torch.tanh(states[:, :1] @ W.T + b)


def squeezed(states, W, b):
    return torch.tanh(states[:, 0] @ W.T + b).squeeze()


def batch_lost(states, W, b):
    return torch.tanh(states[:, 0] @ W.T + b).mean(0)


def bias_twice(states, W, b):
    return torch.tanh(F.linear(states[:, 0], W, b) + b)


def bias_subtracted(states, W, b):
    return torch.tanh(states[:, 0] @ W.T - b)


def scaled(states, W, b):
    return torch.tanh(states[:, 0] @ W.T / W.shape[1] ** 0.5 + b)


def layer_normalised(states, W, b):
    return torch.tanh(F.layer_norm(states[:, 0], states.shape[-1:]) @ W.T + b)


def residual(states, W, b):
    c = torch.tanh(states[:, 0] @ W.T + b)
    return c + states[:, 0] if c.shape == states[:, 0].shape else c * 1.01


def transposed_if_square(states, W, b):
    # a square matrix does not say which side is which
    return torch.tanh(states[:, 0] @ (W if W.shape[0] == W.shape[1] else W.T) + b)


def states_cut(states, W, b):
    return torch.tanh(states[:, 0].detach() @ W.T + b)


def weight_cut(states, W, b):
    return torch.tanh(states[:, 0] @ W.data.T + b)


def everything_cut(states, W, b):
    with torch.no_grad():
        return torch.tanh(states[:, 0] @ W.T + b)


def always_float32(states, W, b):
    return torch.tanh(states[:, 0].float() @ W.float().T + b.float())


def with_numpy(states, W, b):
    return np.tanh(states.numpy()[:, 0] @ W.numpy().T + b.numpy())


def states_overwritten(states, W, b):
    states[:, 0] = states[:, 0] * 2
    return torch.tanh(states[:, 0] / 2 @ W.T + b)


def returns_nothing(states, W, b):
    torch.tanh(states[:, 0] @ W.T + b)


def returns_a_pair(states, W, b):
    return torch.tanh(states[:, 0] @ W.T + b), states


WRONG = [
    second_token,
    first_number,
    sum_of_states,
    tanh_first,
    tanh_twice,
    with_relu,
    with_gelu,
    with_sigmoid,
    hard_tanh,
    axis_kept,
    squeezed,
    batch_lost,
    bias_twice,
    bias_subtracted,
    scaled,
    layer_normalised,
    residual,
    transposed_if_square,
    states_cut,
    weight_cut,
    everything_cut,
    always_float32,
    with_numpy,
    states_overwritten,
    returns_nothing,
    returns_a_pair,
]
