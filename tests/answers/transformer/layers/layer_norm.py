"""Answers to `layer_norm`."""

import torch

# Right


def with_var_mean(x, weight, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


def with_sums(x, weight, bias, eps=1e-5):
    d = x.size(-1)
    mean = x.sum(dim=-1, keepdim=True) / d
    gap = x - mean
    return weight * gap / ((gap**2).sum(-1, keepdim=True) / d + eps) ** 0.5 + bias


def vector_by_vector(x, weight, bias, eps=1e-5):
    rows = []
    for row in x.reshape(-1, x.shape[-1]):
        m = sum(row) / len(row)
        v = sum((one - m) ** 2 for one in row) / len(row)
        rows.append(weight * (row - m) / (v + eps).sqrt() + bias)
    return torch.stack(rows).reshape(x.shape)


def by_a_centring_matrix(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    centring = torch.eye(d, dtype=x.dtype) - 1 / d
    gap = x @ centring
    return gap * (gap.pow(2).mean(-1, keepdim=True) + eps).rsqrt() * weight + bias


def float64_and_back(x, weight, bias, eps=1e-5):
    return with_sums(x.double(), weight.double(), bias.double(), eps).to(x.dtype)


def float64_kept(x, weight, bias, eps=1e-5):
    return with_sums(x.double(), weight.double(), bias.double(), eps)


RIGHT = [with_var_mean, vector_by_vector, by_a_centring_matrix, float64_and_back, float64_kept]

# Wrong


def _normal(x, eps):
    gap = x - x.mean(-1, keepdim=True)
    return gap / (gap.square().mean(-1, keepdim=True) + eps).sqrt()


def larger_of_eps_and_deviation(x, weight, bias, eps=1e-5):
    gap = x - x.mean(-1, keepdim=True)
    return weight * gap / gap.square().mean(-1, keepdim=True).clamp(min=eps).sqrt() + bias


def eps_squared(x, weight, bias, eps=1e-5):
    return weight * _normal(x, eps**2) + bias


def eps_added_twice(x, weight, bias, eps=1e-5):
    gap = x - x.mean(-1, keepdim=True)
    return weight * gap / ((gap.square().mean(-1, keepdim=True) + eps).sqrt() + eps) + bias


def through_numpy(x, weight, bias, eps=1e-5):
    a = x.detach().numpy()
    a = (a - a.mean(-1, keepdims=True)) / (a.var(-1, keepdims=True) + eps) ** 0.5
    return torch.from_numpy(a * weight.detach().numpy() + bias.detach().numpy())


def without_eps_argument(x, weight, bias):
    return weight * _normal(x, 1e-5) + bias


WRONG = [
    larger_of_eps_and_deviation,
    eps_squared,
    eps_added_twice,
    through_numpy,
    without_eps_argument,
]
