"""Answers to `rms_norm`."""

import torch

# Right


def with_rsqrt(x, weight, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def by_the_length(x, weight, eps=1e-6):
    d = x.size(-1)
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return weight * x / (length**2 / d + eps) ** 0.5


def vector_by_vector(x, weight, eps=1e-6):
    rows = []
    for row in x.reshape(-1, x.shape[-1]):
        square = sum(one * one for one in row) / len(row)
        rows.append(weight * row / (square + eps).sqrt())
    return torch.stack(rows).reshape(x.shape)


def with_einsum(x, weight, eps=1e-6):
    square = torch.einsum("...d,...d->...", x, x) / weight.numel()
    return torch.einsum("d,...d,...->...d", weight, x, (square + eps).rsqrt())


def float64_kept(x, weight, eps=1e-6):
    return with_rsqrt(x.double(), weight.double(), eps)


RIGHT = [with_rsqrt, vector_by_vector, by_the_length, with_einsum, float64_kept]

# Wrong


def larger_of_eps_and_root(x, weight, eps=1e-6):
    return weight * x / x.square().mean(-1, keepdim=True).clamp(min=eps).sqrt()


def eps_squared(x, weight, eps=1e-6):
    return weight * x / (x.square().mean(-1, keepdim=True) + eps**2).sqrt()


def through_numpy(x, weight, eps=1e-6):
    a = x.detach().numpy()
    a = a / ((a**2).mean(-1, keepdims=True) + eps) ** 0.5
    return torch.from_numpy(a * weight.detach().numpy())


def without_eps_argument(x, weight):
    return weight * x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()


def in_place(x, weight, eps=1e-6):
    with torch.no_grad():
        x /= (x.square().mean(-1, keepdim=True) + eps).sqrt()
    return weight * x


def one_less(x, weight, eps=1e-6):
    square = x.square().sum(-1, keepdim=True) / (x.shape[-1] - 1)
    return weight * x / (square + eps).sqrt()


WRONG = [
    larger_of_eps_and_root,
    eps_squared,
    through_numpy,
    without_eps_argument,
    in_place,
    one_less,
]
