"""Answers to `sinusoidal_positions`."""

import math
import sys
import warnings

import numpy as np
import torch

# Right


def with_loops(length, size):
    table = torch.zeros(length, size)
    for pos in range(length):
        for i in range(size // 2):
            angle = pos / 10000 ** (2 * i / size)
            table[pos, 2 * i] = math.sin(angle)
            table[pos, 2 * i + 1] = math.cos(angle)
    return table


def with_slices(length, size):
    # the usual recipe, in float32 all the way
    pe = torch.zeros(length, size)
    position = torch.arange(0, length).float().unsqueeze(1)
    div_term = torch.exp(torch.arange(0, size, 2).float() * -(math.log(10000.0) / size))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def with_numpy(length, size):
    i = np.arange(size)
    angle = np.arange(length)[:, None] / 10000 ** (2 * (i // 2) / size)
    angle[:, 0::2], angle[:, 1::2] = np.sin(angle[:, 0::2]), np.cos(angle[:, 1::2])
    return torch.from_numpy(angle).float()


def cosine_as_shifted_sine(length, size):
    i = torch.arange(size)
    angle = torch.outer(torch.arange(length).double(), 10000.0 ** -((i - i % 2).double() / size))
    return torch.sin(angle + (i % 2) * math.pi / 2).to(torch.get_default_dtype())


def by_rotation(length, size):
    """Each row turns the pairs of the row before."""
    theta = 10000 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    pair, rows = torch.stack([torch.zeros_like(theta), torch.ones_like(theta)]), []
    for _ in range(length):
        rows.append(pair.T.reshape(-1))
        s, c = pair
        pair = torch.stack([s * theta.cos() + c * theta.sin(), c * theta.cos() - s * theta.sin()])
    return torch.stack(rows).float()


def complex_exponential(length, size):
    theta = 10000 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    turned = torch.exp(1j * torch.outer(torch.arange(length, dtype=torch.float64), theta))
    return torch.view_as_real(turned).flip(-1).flatten(1).float()


def larger_table_cut(length, size):
    return with_slices(max(64, length), size)[:length]


def float64_kept(length, size):
    return with_loops(length, size).double()


def talkative(length, size):
    warnings.warn("waves", UserWarning, stacklevel=2)
    print(length, size, file=sys.stderr)
    return with_slices(length, size)


RIGHT = [
    with_loops,
    with_slices,
    with_numpy,
    cosine_as_shifted_sine,
    by_rotation,
    complex_exponential,
    larger_table_cut,
    float64_kept,
    talkative,
]

# Wrong


def _pe(length, size, base=10000.0, shift=0.0):
    i = torch.arange(0, size, 2).double()
    angle = (torch.arange(length).double()[:, None] + shift) / base ** (i / size)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1).float()


def only_sines(length, size):
    i = torch.arange(size) // 2 * 2
    return torch.sin(torch.arange(length)[:, None] / 10000 ** (i / size))


def whole_exponents(length, size):
    i = torch.arange(0, size, 2)
    angle = torch.arange(length)[:, None] / 10000.0 ** (i // size)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def first_wave_for_all(length, size):
    angle = torch.arange(length).float()[:, None].expand(-1, size // 2)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def with_two_pi(length, size):
    # as if 10000 were a number of positions
    angle = torch.arange(length)[:, None] * 2 * math.pi / 10000 ** (torch.arange(0, size, 2) / size)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def in_degrees(length, size):
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, size, 2) / size)
    angle = torch.deg2rad(angle)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def normalised_positions(length, size):
    t = torch.arange(length)[:, None] / max(1, length - 1)
    angle = t / 10000 ** (torch.arange(0, size, 2) / size)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def natural_base(length, size):
    return _pe(length, size, base=math.e)


def backwards(length, size):
    return _pe(length, size).flip(0)


def waves_backwards(length, size):
    return _pe(length, size).flip(1)


def one_position_too_many(length, size):
    return _pe(length + 1, size)


def with_a_batch_axis(length, size):
    return _pe(length, size).unsqueeze(0)


def scaled(length, size):
    return _pe(length, size) / math.sqrt(size)


def learnt_in_place_of_given(length, size):
    torch.manual_seed(0)
    return torch.randn(length, size)


def half_a_position_late(length, size):
    return _pe(length, size, shift=0.5)


def as_numpy(length, size):
    return _pe(length, size).numpy()


def as_a_list(length, size):
    return _pe(length, size).tolist()


def whole_numbers(length, size):
    return _pe(length, size).round().long()


def returns_nothing(length, size):
    _pe(length, size)


def cosines_of_the_next_wave(length, size):
    # the exponent of an odd component is that of the component behind it
    k = torch.arange(size)
    k = k + k % 2
    angle = torch.arange(length)[:, None] / 10000 ** (k / size)
    return torch.where(k == torch.arange(size), angle.sin(), angle.cos())


WRONG = [
    only_sines,
    whole_exponents,
    first_wave_for_all,
    with_two_pi,
    in_degrees,
    normalised_positions,
    natural_base,
    backwards,
    waves_backwards,
    one_position_too_many,
    with_a_batch_axis,
    scaled,
    learnt_in_place_of_given,
    half_a_position_late,
    as_numpy,
    as_a_list,
    whole_numbers,
    returns_nothing,
    cosines_of_the_next_wave,
]
