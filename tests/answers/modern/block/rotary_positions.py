"""Answers to `rotary_positions`."""

import math

import torch

# Right


def by_complex_numbers(x, positions, base=10_000.0):
    d = x.shape[-1]
    theta = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = torch.outer(positions.double(), theta)
    turn = torch.polar(torch.ones_like(angle), angle)
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], d // 2, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)


def half_turned(x, positions, base=10_000.0):
    """x cos + (x with each pair turned by 90 degrees) sin, as libraries write it."""
    d = x.shape[-1]
    theta = torch.pow(torch.tensor(base, dtype=torch.float64), -torch.arange(0, d, 2).double() / d)
    angle = (positions[:, None] * theta).repeat_interleave(2, dim=-1)
    quarter = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(x.shape)
    return x * angle.cos().to(x.dtype) + quarter * angle.sin().to(x.dtype)


def with_matrices(x, positions, base=10_000.0):
    d = x.shape[-1]
    turned = []
    for n, p in enumerate(positions.tolist()):
        blocks = []
        for i in range(d // 2):
            a = p / base ** (2 * i / d)
            rows = [[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]
            blocks.append(torch.tensor(rows, dtype=x.dtype))
        turned.append(x[..., n, :] @ torch.block_diag(*blocks).T)
    return torch.stack(turned, dim=-2)


def number_by_number(x, positions, base=10_000.0):
    d = x.shape[-1]
    columns = []
    for k in range(d):
        angle = torch.tensor(
            [p / base ** ((k - k % 2) / d) for p in positions.tolist()], dtype=x.dtype
        )
        other = -x[..., k + 1] if k % 2 == 0 else x[..., k - 1]
        columns.append(x[..., k] * angle.cos() + other * angle.sin())
    return torch.stack(columns, dim=-1)


def float64_kept(x, positions, base=10_000.0):
    d = x.shape[-1]
    log = math.log(base)
    theta = torch.exp(-log * torch.arange(0, d, 2).double() / d)
    a = torch.einsum("n,i->ni", positions.double(), theta)
    even, odd = x.double().unflatten(-1, (-1, 2)).unbind(-1)
    y = torch.empty(x.shape, dtype=torch.float64)
    y[..., 0::2] = even * a.cos() - odd * a.sin()
    y[..., 1::2] = odd * a.cos() + even * a.sin()
    return y


RIGHT = [by_complex_numbers, half_turned, with_matrices, number_by_number, float64_kept]

# Wrong


def _theta(d, base):
    return base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)


def _turned(x, angle):
    a, b = x[..., 0::2], x[..., 1::2]
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


def degrees(x, positions, base=10_000.0):
    return _turned(x, positions[:, None] * _theta(x.shape[-1], base) * math.pi / 180)


def sorted_first(x, positions, base=10_000.0):
    return _turned(x, positions.sort().values[:, None] * _theta(x.shape[-1], base))


def writes_into_x(x, positions, base=10_000.0):
    with torch.no_grad():
        x.copy_(_turned(x, positions[:, None] * _theta(x.shape[-1], base)))
    return x * 1


def first_axis_of_positions(x, positions, base=10_000.0):
    angle = positions[:, None] * _theta(x.shape[-1], base)
    if x.dim() > 3 and x.shape[1] == x.shape[2]:
        angle = angle[:, None]
    return _turned(x, angle)


def last_pair_left(x, positions, base=10_000.0):
    if x.shape[-1] == 2:
        return _turned(x, positions[:, None] * _theta(2, base))
    y = _turned(x, positions[:, None] * _theta(x.shape[-1], base))
    return torch.cat([y[..., :-2], x[..., -2:]], -1)


def distance_to_the_first(x, positions, base=10_000.0):
    return _turned(x, (positions - positions[0])[:, None] * _theta(x.shape[-1], base))


def one_pair_too_slow(x, positions, base=10_000.0):
    d = x.shape[-1]
    theta = base ** (-torch.arange(2, d + 2, 2, dtype=torch.float64) / d)
    return _turned(x, positions[:, None] * theta)


WRONG = [
    degrees,
    sorted_first,
    writes_into_x,
    first_axis_of_positions,
    last_pair_left,
    distance_to_the_first,
    one_pair_too_slow,
]
