"""Answers to `masked_max`."""

import math

import torch

# Right


def filled_with_the_smallest_number(states, mask):
    lowest = torch.finfo(states.dtype).min
    return states.masked_fill(~mask.unsqueeze(-1), lowest).amax(1) * mask.any(1, keepdim=True)


def running_maximum(states, mask):
    best = torch.full_like(states[:, 0], -1e30)
    for j in range(states.shape[1]):
        best = torch.where(mask[:, j, None] & (states[:, j] > best), states[:, j], best)
    return torch.where(mask.any(1)[:, None], best, torch.zeros_like(best))


def by_position(states, mask):
    """argmax, then gather."""
    hidden = torch.where(mask.unsqueeze(-1), states, torch.tensor(-1e30, dtype=states.dtype))
    at = hidden.argmax(1, keepdim=True)
    return states.gather(1, at).squeeze(1) * mask.any(1, keepdim=True).to(states.dtype)


def sorted_and_taken(states, mask):
    hidden = states - (~mask).unsqueeze(-1) * 1e9
    top = hidden.masked_fill(~mask.unsqueeze(-1), -1e9).topk(1, dim=1).values[:, 0]
    return top.masked_fill(~mask.any(1, keepdim=True), 0.0)


def float64_kept(states, mask):
    found = states.double().masked_fill(~mask.unsqueeze(-1), -math.inf).amax(1)
    return found.masked_fill(~mask.any(1, keepdim=True), 0.0)


RIGHT = [
    filled_with_the_smallest_number,
    running_maximum,
    by_position,
    sorted_and_taken,
    float64_kept,
]

# Wrong


def _hidden(states, mask, by=-math.inf):
    return states.masked_fill(~mask.unsqueeze(-1), by)


def _empty(found, mask):
    return found.masked_fill(~mask.any(1, keepdim=True), 0.0)


def filled_with_minus_100(states, mask):
    return _empty(_hidden(states, mask, -100.0).amax(1), mask)


def infinity_times_zero(states, mask):
    return _hidden(states, mask).amax(1) * mask.any(1, keepdim=True)


def empty_rows_left_out(states, mask):
    return _hidden(states, mask).amax(1)[mask.any(1)]


def prefix_for_mask(states, mask):
    mask = torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)
    return _empty(_hidden(states, mask).amax(1), mask)


def filled_in_place(states, mask):
    states[~mask] = -1e9
    return _empty(states.amax(1), mask)


WRONG = [
    filled_with_minus_100,
    infinity_times_zero,
    empty_rows_left_out,
    prefix_for_mask,
    filled_in_place,
]
