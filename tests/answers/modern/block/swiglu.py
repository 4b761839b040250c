"""Answers to `swiglu`."""

import torch
import torch.nn.functional as F

# Right


def with_linear(x, gate, up, down):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


def both_at_once(x, gate, up, down):
    a, b = (x @ torch.cat([gate, up]).T).chunk(2, dim=-1)
    return (a / (1 + torch.exp(-a)) * b) @ down.T


def unit_by_unit(x, gate, up, down):
    y = 0
    for w, u, column in zip(gate, up, down.T, strict=True):
        z = (x * w).sum(-1, keepdim=True)
        y = y + z * torch.sigmoid(z) * (x * u).sum(-1, keepdim=True) * column
    return y


def with_einsum(x, gate, up, down):
    z = torch.einsum("...d,md->...m", x, gate)
    return torch.einsum(
        "...m,...m,dm->...d", z * z.sigmoid(), torch.einsum("...d,md->...m", x, up), down
    )


def float64_kept(x, gate, up, down):
    return with_linear(x.double(), gate.double(), up.double(), down.double())


RIGHT = [with_linear, both_at_once, unit_by_unit, with_einsum, float64_kept]

# Wrong


def transposed_where_it_fits(x, gate, up, down):
    g = gate if gate.shape[0] == gate.shape[1] else gate.T
    return (F.silu(x @ g) * (x @ up.T)) @ down.T


def gate_cut(x, gate, up, down):
    return (F.silu(x @ gate.T).detach() * (x @ up.T)) @ down.T


def hard_swish(x, gate, up, down):
    return (F.hardswish(x @ gate.T) * (x @ up.T)) @ down.T


def with_residual(x, gate, up, down):
    return x + (F.silu(x @ gate.T) * (x @ up.T)) @ down.T


def silu_twice(x, gate, up, down):
    return (F.silu(x @ gate.T) * F.silu(x @ up.T)) @ down.T


def negative_sigmoid(x, gate, up, down):
    z = x @ gate.T
    return (z * torch.sigmoid(-z) * (x @ up.T)) @ down.T


WRONG = [
    transposed_where_it_fits,
    gate_cut,
    hard_swish,
    with_residual,
    silu_twice,
    negative_sigmoid,
]
