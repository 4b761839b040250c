"""Answers to `sinusoidal_positions`."""

import math

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


def cosine_as_shifted_sine(length, size):
    i = torch.arange(size)
    angle = torch.outer(torch.arange(length).double(), 10000.0 ** -((i - i % 2).double() / size))
    return torch.sin(angle + (i % 2) * math.pi / 2).to(torch.get_default_dtype())


def complex_exponential(length, size):
    theta = 10000 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    turned = torch.exp(1j * torch.outer(torch.arange(length, dtype=torch.float64), theta))
    waves = torch.view_as_real(turned).flip(-1).flatten(1)
    return waves.to(torch.get_default_dtype())


def larger_table_cut(length, size):
    return with_slices(max(64, length), size)[:length]


RIGHT = [with_loops, with_slices, cosine_as_shifted_sine, complex_exponential, larger_table_cut]

# Wrong


def _pe(length, size, base=10000.0, shift=0.0):
    i = torch.arange(0, size, 2).double()
    angle = (torch.arange(length).double()[:, None] + shift) / base ** (i / size)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1).to(torch.get_default_dtype())


def first_wave_for_all(length, size):
    angle = torch.arange(length).to(torch.get_default_dtype())[:, None].expand(-1, size // 2)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def in_degrees(length, size):
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, size, 2) / size)
    angle = torch.deg2rad(angle)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def learnt_in_place_of_given(length, size):
    torch.manual_seed(0)
    return torch.randn(length, size)


def always_float32(length, size):
    return with_slices(length, size).float()


def always_float64(length, size):
    return with_slices(length, size).double()


def as_numpy(length, size):
    return _pe(length, size).numpy()


def whole_numbers(length, size):
    return _pe(length, size).round().long()


WRONG = [
    first_wave_for_all,
    in_degrees,
    learnt_in_place_of_given,
    always_float32,
    always_float64,
    as_numpy,
    whole_numbers,
]
