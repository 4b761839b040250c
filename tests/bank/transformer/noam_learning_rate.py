"""Answers to `noam_learning_rate`."""

import math
import sys
import warnings

import torch

# Right


def with_min(step, model_size, warmup):
    return model_size ** (-0.5) * min(step ** (-0.5), step * warmup ** (-1.5))


def with_branches(step, model_size, warmup):
    if step < warmup:
        return step / (math.sqrt(model_size) * warmup * math.sqrt(warmup))
    return 1 / math.sqrt(model_size * step)


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


def talkative(step, model_size, warmup):
    warnings.warn("warming up", UserWarning, stacklevel=2)
    print(step, file=sys.stderr)
    return with_min(step, model_size, warmup)


RIGHT = [
    with_min,
    with_branches,
    from_the_top,
    with_logarithms,
    safe_at_zero,
    as_a_tensor,
    float64_kept,
    talkative,
]

# Wrong


def constant(step, model_size, warmup):
    return (model_size * warmup) ** -0.5


def falls_with_the_step(step, model_size, warmup):
    return model_size**-0.5 * min(1 / step, step * warmup**-1.5)


def falls_in_a_line(step, model_size, warmup):
    peak = (model_size * warmup) ** -0.5
    return peak * min(step / warmup, max(0.0, 2 - step / warmup))


def falls_like_a_cosine(step, model_size, warmup):
    peak = (model_size * warmup) ** -0.5
    after = max(0, step - warmup)
    return peak * step / warmup if step < warmup else peak * 0.5 * (1 + math.cos(after / warmup))


def rises_with_the_root(step, model_size, warmup):
    return model_size**-0.5 * min(step**-0.5, (step / warmup) ** 0.5 * warmup**-0.5)


def sum_of_both(step, model_size, warmup):
    return model_size**-0.5 * (step**-0.5 + step * warmup**-1.5)


def product_of_both(step, model_size, warmup):
    return model_size**-0.5 * step**-0.5 * step * warmup**-1.5


def halved(step, model_size, warmup):
    return 0.5 * with_min(step, model_size, warmup)


def doubled(step, model_size, warmup):
    return 2 * with_min(step, model_size, warmup)


def warmup_and_size_swapped(step, model_size, warmup):
    return with_min(step, warmup, model_size)


def step_and_warmup_swapped(step, model_size, warmup):
    return with_min(warmup, model_size, step)


def step_one_before(step, model_size, warmup):
    return with_min(max(step - 1, 1e-9), model_size, warmup)


def line_too_steep(step, model_size, warmup):
    return model_size**-0.5 * min(step**-0.5, step / warmup)


def forgotten_brackets(step, model_size, warmup):
    return model_size**-0.5 * min(-(step**0.5), step * warmup**-1.5)


def whole_division(step, model_size, warmup):
    return min(1 // step**0.5, step // warmup**1.5) / model_size**0.5


def warmup_of_four_thousand(step, model_size, warmup):
    return with_min(step, model_size, 4000)


def size_of_the_paper(step, model_size, warmup):
    return with_min(step, 512, warmup)


def returns_both(step, model_size, warmup):
    return step**-0.5, step * warmup**-1.5


def returns_text(step, model_size, warmup):
    return f"{with_min(step, model_size, warmup):.6f}"


def returns_nothing(step, model_size, warmup):
    with_min(step, model_size, warmup)


WRONG = [
    constant,
    falls_with_the_step,
    falls_in_a_line,
    falls_like_a_cosine,
    rises_with_the_root,
    sum_of_both,
    product_of_both,
    halved,
    doubled,
    warmup_and_size_swapped,
    step_and_warmup_swapped,
    step_one_before,
    line_too_steep,
    forgotten_brackets,
    whole_division,
    warmup_of_four_thousand,
    size_of_the_paper,
    returns_both,
    returns_text,
    returns_nothing,
]
