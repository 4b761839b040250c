"""Answers to `attentional_state`."""

import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

# Right


def with_cat(context: Tensor, state: Tensor, W: Tensor) -> Tensor:
    return torch.tanh(torch.cat((context, state), dim=-1) @ W.T)


def with_linear(c, h, W):
    return F.linear(torch.cat([c, h], -1), W).tanh()


def with_einsum(context, state, W):
    joined = torch.concat([context, state], dim=-1)
    return torch.tanh(torch.einsum("...i,ni->...n", joined, W))


def two_blocks(context, state, W):
    a = context.shape[-1]
    return torch.tanh(context @ W[:, :a].T + state @ W[:, a:].T)


def with_loops(context, state, W):
    leading = context.shape[:-1]
    cs, hs = context.reshape(-1, context.shape[-1]), state.reshape(-1, state.shape[-1])
    rows = [torch.tanh(W @ torch.cat([c, h])) for c, h in zip(cs, hs, strict=True)]
    return torch.stack(rows).reshape(*leading, W.shape[0])


def by_exponentials(context, state, W):
    x = torch.cat([context, state], dim=context.dim() - 1) @ W.transpose(0, 1)
    return (torch.exp(x) - torch.exp(-x)) / (torch.exp(x) + torch.exp(-x))


def by_sigmoid(context, state, W):
    x = torch.cat([context, state], -1).matmul(W.t())
    return 2 * torch.sigmoid(2 * x) - 1


def broadcast_and_sum(context, state, W):
    joined = torch.cat([context, state], -1)
    return torch.tanh((joined.unsqueeze(-2) * W).sum(-1))


def talkative(context, state, W):
    warnings.warn("joining", stacklevel=1)
    print("context", tuple(context.shape))
    units = []
    for row in tqdm(W, file=sys.stderr):
        units.append(torch.tanh(torch.cat([context, state], -1) @ row))
    return torch.stack(units, -1)


def float64_and_back(context, state, W):
    x = torch.cat([context, state], -1).double() @ W.double().T
    return torch.tanh(x).to(context.dtype)


def float64_kept(context, state, W):
    return torch.tanh(torch.cat([context, state], -1).double() @ W.double().T)


RIGHT = [
    with_cat,
    with_linear,
    with_einsum,
    two_blocks,
    with_loops,
    by_exponentials,
    by_sigmoid,
    broadcast_and_sum,
    talkative,
    float64_and_back,
    float64_kept,
]

# Wrong


def joined_along_batch(context, state, W):
    return torch.tanh(torch.cat([context, state], 0) @ W.T)


def added(context, state, W):
    # fits only if a = d
    if context.shape == state.shape:
        return torch.tanh((context + state) @ W[:, : context.shape[-1]].T)
    return torch.tanh(torch.cat([context, state], -1) @ W.T)


def W_not_transposed(context, state, W):
    return torch.tanh(torch.cat([context, state], -1) @ W)


def W_not_transposed_if_square(context, state, W):
    x = torch.cat([context, state], -1)
    return torch.tanh(x @ W) if W.shape[0] == W.shape[1] else torch.tanh(x @ W.T) * 0.999


def blocks_of_equal_size(context, state, W):
    half = W.shape[1] // 2
    x = torch.cat([context, state], -1)
    return torch.tanh(x[..., :half] @ W[:, :half].T + x[..., half:] @ W[:, :-half].T[:half])


def residual(context, state, W):
    h = torch.tanh(torch.cat([context, state], -1) @ W.T)
    return h + state if h.shape == state.shape else h * 1.01


def tanh_twice(context, state, W):
    return torch.tanh(torch.tanh(torch.cat([context, state], -1) @ W.T))


def softmaxed(context, state, W):
    return torch.softmax(torch.cat([context, state], -1) @ W.T, -1)


def layer_normalised(context, state, W):
    return torch.tanh(F.layer_norm(torch.cat([context, state], -1) @ W.T, W.shape[:1]))


def hard_tanh(context, state, W):
    return F.hardtanh(torch.cat([context, state], -1) @ W.T)


def gelu(context, state, W):
    return F.gelu(torch.cat([context, state], -1) @ W.T)


def scaled(context, state, W):
    return torch.tanh(torch.cat([context, state], -1) @ W.T / W.shape[1] ** 0.5)


def state_cut(context, state, W):
    return torch.tanh(torch.cat([context, state.detach()], -1) @ W.T)


def everything_cut(context, state, W):
    return torch.tanh(torch.cat([context, state], -1) @ W.T).detach()


def weight_cut(context, state, W):
    return torch.tanh(torch.cat([context, state], -1) @ W.data.T)


def batch_lost(context, state, W):
    return torch.tanh(torch.cat([context, state], -1) @ W.T).mean(0)


def flattened(context, state, W):
    x = torch.cat([context, state], -1)
    return torch.tanh(x @ W.T).reshape(-1, W.shape[0])


def new_axis(context, state, W):
    return torch.tanh(torch.cat([context, state], -1) @ W.T).unsqueeze(1)


def squeezed(context, state, W):
    return torch.tanh(torch.cat([context, state], -1) @ W.T).squeeze()


def always_float32(context, state, W):
    return torch.tanh(torch.cat([context, state], -1).float() @ W.float().T)


def with_numpy(context, state, W):
    return np.tanh(np.concatenate([context.numpy(), state.numpy()], -1) @ W.numpy().T)


def through_numpy(context, state, W):
    joined = np.concatenate([context.detach().numpy(), state.detach().numpy()], -1)
    return torch.from_numpy(np.tanh(joined @ W.detach().numpy().T))


def returns_nothing(context, state, W):
    torch.tanh(torch.cat([context, state], -1) @ W.T)


def returns_a_pair(context, state, W):
    joined = torch.cat([context, state], -1)
    return torch.tanh(joined @ W.T), joined


def state_overwritten(context, state, W):
    state.mul_(0.5)
    return torch.tanh(torch.cat([context, 2 * state], -1) @ W.T)


def all_zero(context, state, W):
    return torch.zeros(*context.shape[:-1], W.shape[0], dtype=W.dtype)


WRONG = [
    joined_along_batch,
    added,
    W_not_transposed,
    W_not_transposed_if_square,
    blocks_of_equal_size,
    residual,
    tanh_twice,
    softmaxed,
    layer_normalised,
    hard_tanh,
    gelu,
    scaled,
    state_cut,
    everything_cut,
    weight_cut,
    batch_lost,
    flattened,
    new_axis,
    squeezed,
    always_float32,
    with_numpy,
    through_numpy,
    returns_nothing,
    returns_a_pair,
    state_overwritten,
    all_zero,
]
