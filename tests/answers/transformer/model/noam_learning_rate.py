"""Answers to `noam_learning_rate`."""

import math

import torch

# Right


def with_min(step, model_size, warmup):
    return model_size ** (-0.5) * min(step ** (-0.5), step * warmup ** (-1.5))


def from_the_top(step, model_size, warmup):
    peak = (model_size * warmup) ** -0.5
    return peak * min(step / warmup, (warmup / step) ** 0.5)


def with_logarithms(step, model_size, warmup):
    line = math.log(step) - 1.5 * math.log(warmup)
    return math.exp(min(-0.5 * math.log(step), line) - 0.5 * math.log(model_size))


def safe_at_zero(step, model_size, warmup):
    step = max(step, 1)
    return with_min(step, model_size, warmup)


def as_a_tensor(step, model_size, warmup):
    step, warmup = torch.tensor(float(step)), torch.tensor(float(warmup))
    return model_size**-0.5 * torch.minimum(step.rsqrt(), step * warmup**-1.5)


def float64_kept(step, model_size, warmup):
    return torch.tensor(with_min(step, model_size, warmup), dtype=torch.float64)


RIGHT = [from_the_top, with_logarithms, safe_at_zero, as_a_tensor, float64_kept]

# Wrong


def constant(step, model_size, warmup):
    return (model_size * warmup) ** -0.5


def falls_in_a_line(step, model_size, warmup):
    peak = (model_size * warmup) ** -0.5
    return peak * min(step / warmup, max(0.0, 2 - step / warmup))


def product_of_both(step, model_size, warmup):
    return model_size**-0.5 * step**-0.5 * step * warmup**-1.5


WRONG = [constant, falls_in_a_line, product_of_both]
