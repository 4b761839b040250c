"""Answers to `masked_mean`."""

import sys
import warnings

import numpy as np
import torch
from torch import Tensor
from tqdm.auto import tqdm

# Right


def times_the_mask(states: Tensor, mask: Tensor) -> Tensor:
    m = mask.to(states.dtype)
    return torch.einsum("bn,bnd->bd", m, states) / m.sum(1, keepdim=True).clamp(min=1.0)


def weights_first(states, mask):
    """A row of 1 / count on the words, and a matrix product."""
    weights = mask / mask.sum(1, keepdim=True).clamp(min=1)
    return torch.bmm(weights.to(states.dtype).unsqueeze(1), states).squeeze(1)


def sentence_by_sentence(states, mask):
    rows = []
    for s, m in zip(states, mask, strict=True):
        rows.append(s[m].mean(0) if m.any() else 0 * s[0])
    return torch.stack(rows)


def running_mean(states, mask):
    """Welford: each word moves the mean a little."""
    mean = torch.zeros_like(states[:, 0])
    count = torch.zeros(len(states), 1, dtype=states.dtype)
    for j in range(states.shape[1]):
        real = mask[:, j, None].to(states.dtype)
        count = count + real
        mean = mean + real * (states[:, j] - mean) / count.clamp(min=1)
    return mean


def softmax_of_zeros(states, mask):
    """Attention that does not care: the mean."""
    scores = torch.zeros_like(states[..., 0]).masked_fill(~mask, -1e30)
    weights = scores.softmax(-1) * mask
    return (weights.unsqueeze(-1) * states).sum(1)


def small_number_in_the_count(states, mask):
    total = torch.where(mask[..., None], states, torch.zeros_like(states)).sum(1)
    return total / (mask.sum(1)[:, None] + 1e-9)


def nan_made_zero(states, mask):
    nan = torch.full_like(states, float("nan"))
    return torch.nan_to_num(torch.where(mask.unsqueeze(-1), states, nan).nanmean(1))


def float64_kept(states, mask):
    wide = states.double() * mask.unsqueeze(-1)
    return wide.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


def talkative(states, mask):
    print(states, mask)
    warnings.warn("mean", stacklevel=1)
    print("counting", file=sys.stderr)
    total = 0
    for j in tqdm(range(mask.shape[1])):
        total = total + states[:, j] * mask[:, j : j + 1]
    count = mask.sum(1, keepdim=True)
    return total / torch.where(count == 0, torch.ones_like(count), count)


RIGHT = [
    times_the_mask,
    weights_first,
    sentence_by_sentence,
    running_mean,
    softmax_of_zeros,
    small_number_in_the_count,
    nan_made_zero,
    float64_kept,
    talkative,
]

# Wrong


def _shown(states, mask):
    return states.masked_fill(~mask.unsqueeze(-1), 0.0)


def _count(mask):
    return mask.sum(1, keepdim=True).clamp(min=1)


def one_more_in_the_count(states, mask):
    return _shown(states, mask).sum(1) / (mask.sum(1, keepdim=True) + 1)


def one_less_in_the_count(states, mask):
    return _shown(states, mask).sum(1) / (mask.sum(1, keepdim=True) - 1).clamp(min=1)


def large_epsilon(states, mask):
    return _shown(states, mask).sum(1) / (mask.sum(1, keepdim=True) + 1e-3)


def root_of_the_count(states, mask):
    return _shown(states, mask).sum(1) / _count(mask).to(states.dtype).sqrt()


def states_that_are_not_zero(states, mask):
    shown = _shown(states, mask)
    return shown.sum(1) / (shown != 0).sum(1).clamp(min=1)


def counts_of_the_first_sentence(states, mask):
    return _shown(states, mask).sum(1) / _count(mask)[:1]


def mean_of_means(states, mask):
    found = _shown(states, mask).sum(1) / _count(mask)
    return found - 0.01 * found.mean(0)


def median(states, mask):
    nan = states.masked_fill(~mask.unsqueeze(-1), float("nan"))
    return torch.nan_to_num(nan.nanmedian(1).values)


def largest(states, mask):
    found = states.masked_fill(~mask.unsqueeze(-1), -1e9).amax(1)
    return found.masked_fill(~mask.any(1, keepdim=True), 0.0)


def empty_is_the_mean_of_padding(states, mask):
    mask = mask | ~mask.any(1, keepdim=True)
    return _shown(states, mask).sum(1) / _count(mask)


def empty_is_one(states, mask):
    found = _shown(states, mask).sum(1) / _count(mask)
    return found.masked_fill(~mask.any(1, keepdim=True), 1.0)


def empty_rows_left_out(states, mask):
    full = mask.any(1)
    return (_shown(states, mask).sum(1) / _count(mask))[full]


def nan_hidden_behind(states, mask):
    """The values are right; the gradient of an empty sentence is NaN."""
    total = (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
    return torch.nan_to_num(total)


def prefix_for_mask(states, mask):
    """Takes for granted that words come first."""
    mask = torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)
    return _shown(states, mask).sum(1) / _count(mask)


def every_word_of_the_batch(states, mask):
    found = states[mask].sum(0) / mask.sum().clamp(min=1)
    return found.expand(len(states), -1)


def axis_kept(states, mask):
    return _shown(states, mask).sum(1, keepdim=True) / _count(mask).unsqueeze(-1)


def squeezed(states, mask):
    return (_shown(states, mask).sum(1) / _count(mask)).squeeze()


def detached(states, mask):
    return _shown(states, mask).detach().sum(1) / _count(mask)


def through_numpy(states, mask):
    s, m = states.detach().numpy(), mask.numpy()
    return torch.from_numpy((s * m[..., None]).sum(1) / np.maximum(m.sum(1, keepdims=True), 1))


def zeroed_in_place(states, mask):
    states[~mask] = 0
    return states.sum(1) / _count(mask)


def in_float32(states, mask):
    return _shown(states, mask).float().sum(1) / _count(mask)


def whole_division(states, mask):
    return _shown(states, mask).sum(1) // _count(mask)


def boolean_arithmetic(states, mask):
    """-mask on a bool tensor is refused by torch."""
    return (states * (1 - mask).unsqueeze(-1)).sum(1) / _count(mask)


def normalised(states, mask):
    found = _shown(states, mask).sum(1) / _count(mask)
    return torch.nn.functional.normalize(found, dim=-1)


def nothing_returned(states, mask):
    _shown(states, mask).sum(1)


WRONG = [
    one_more_in_the_count,
    one_less_in_the_count,
    large_epsilon,
    root_of_the_count,
    states_that_are_not_zero,
    counts_of_the_first_sentence,
    mean_of_means,
    median,
    largest,
    empty_is_the_mean_of_padding,
    empty_is_one,
    empty_rows_left_out,
    nan_hidden_behind,
    prefix_for_mask,
    every_word_of_the_batch,
    axis_kept,
    squeezed,
    detached,
    through_numpy,
    zeroed_in_place,
    in_float32,
    whole_division,
    boolean_arithmetic,
    normalised,
    nothing_returned,
]
