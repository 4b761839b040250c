"""Answers to `masked_max`."""

import math
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

# Right


def filled_with_infinity(states: Tensor, mask: Tensor) -> Tensor:
    found, _ = states.masked_fill(~mask[..., None], -math.inf).max(dim=1)
    return torch.where(mask.any(1)[:, None], found, torch.zeros_like(found))


def filled_with_the_smallest_number(states, mask):
    lowest = torch.finfo(states.dtype).min
    return states.masked_fill(~mask.unsqueeze(-1), lowest).amax(1) * mask.any(1, keepdim=True)


def sentence_by_sentence(states, mask):
    return torch.stack(
        [s[m].amax(0) if m.any() else 0 * s[0] for s, m in zip(states, mask, strict=True)]
    )


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


def pooled_by_torch(states, mask):
    hidden = states.masked_fill(~mask.unsqueeze(-1), -1e9).transpose(1, 2)
    found = F.adaptive_max_pool1d(hidden, 1).squeeze(-1)
    return found.masked_fill(~mask.any(1).unsqueeze(1), 0)


def sorted_and_taken(states, mask):
    hidden = states - (~mask).unsqueeze(-1) * 1e9
    top = hidden.masked_fill(~mask.unsqueeze(-1), -1e9).topk(1, dim=1).values[:, 0]
    return top.masked_fill(~mask.any(1, keepdim=True), 0.0)


def float64_kept(states, mask):
    found = states.double().masked_fill(~mask.unsqueeze(-1), -math.inf).amax(1)
    return found.masked_fill(~mask.any(1, keepdim=True), 0.0)


def talkative(states, mask):
    print(mask)
    warnings.warn("max", stacklevel=1)
    sys.stderr.write("looking\n")
    rows = []
    for b in tqdm(range(len(states))):
        words = [states[b, j] for j in range(mask.shape[1]) if mask[b, j]]
        rows.append(torch.stack(words).max(0)[0] if words else states[b].sum(0) * 0)
    return torch.stack(rows)


RIGHT = [
    filled_with_infinity,
    filled_with_the_smallest_number,
    sentence_by_sentence,
    running_maximum,
    by_position,
    pooled_by_torch,
    sorted_and_taken,
    float64_kept,
    talkative,
]

# Wrong


def _hidden(states, mask, by=-math.inf):
    return states.masked_fill(~mask.unsqueeze(-1), by)


def _empty(found, mask):
    return found.masked_fill(~mask.any(1, keepdim=True), 0.0)


def filled_with_minus_1(states, mask):
    return _empty(_hidden(states, mask, -1.0).amax(1), mask)


def filled_with_minus_100(states, mask):
    return _empty(_hidden(states, mask, -100.0).amax(1), mask)


def filled_with_minus_1000(states, mask):
    return _empty(_hidden(states, mask, -1000.0).amax(1), mask)


def ten_subtracted(states, mask):
    return _empty((states - 10.0 * ~mask.unsqueeze(-1)).amax(1), mask)


def zero_is_padding(states, mask):
    hidden = _hidden(states, mask)
    return _empty(hidden.masked_fill(hidden == 0, -math.inf).amax(1), mask).clamp(min=-1e9)


def mean_of_the_words(states, mask):
    return _hidden(states, mask, 0.0).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


def smooth_maximum(states, mask):
    return _empty(_hidden(states, mask, -1e9).logsumexp(1), mask)


def softmax_average(states, mask):
    weights = _hidden(states, mask, -1e9).softmax(1)
    return _empty((weights * states).sum(1), mask)


def places(states, mask):
    return _hidden(states, mask).argmax(1)


def places_as_floats(states, mask):
    return _hidden(states, mask).argmax(1).to(states.dtype)


def values_and_places(states, mask):
    return _hidden(states, mask).max(1)


def second_largest(states, mask):
    k = min(2, states.shape[1])
    return _empty(_hidden(states, mask, -1e9).topk(k, dim=1).values[:, -1], mask)


def empty_is_the_maximum_of_padding(states, mask):
    return _hidden(states, mask | ~mask.any(1, keepdim=True)).amax(1)


def empty_is_minus_a_billion(states, mask):
    return _hidden(states, mask, -1e9).amax(1)


def empty_is_minus_one(states, mask):
    return _hidden(states, mask).amax(1).masked_fill(~mask.any(1, keepdim=True), -1.0)


def infinity_times_zero(states, mask):
    return _hidden(states, mask).amax(1) * mask.any(1, keepdim=True)


def empty_rows_left_out(states, mask):
    return _hidden(states, mask).amax(1)[mask.any(1)]


def prefix_for_mask(states, mask):
    mask = torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)
    return _empty(_hidden(states, mask).amax(1), mask)


def over_the_batch(states, mask):
    found = _hidden(states, mask).amax((0, 1))
    return _empty(found.expand(len(states), -1), mask)


def one_number(states, mask):
    return _empty(_hidden(states, mask).amax((1, 2), keepdim=True)[:, 0], mask)


def axis_kept(states, mask):
    return _empty(_hidden(states, mask).amax(1), mask).unsqueeze(1)


def gradient_to_all(states, mask):
    """Adds a mean that is 0 in value."""
    found = _empty(_hidden(states, mask).amax(1), mask)
    mean = states.mean(1)
    return found + mean - mean.detach()


def filled_in_place(states, mask):
    states[~mask] = -1e9
    return _empty(states.amax(1), mask)


def in_float32(states, mask):
    return _empty(_hidden(states, mask).float().amax(1), mask)


def nothing_returned(states, mask):
    _hidden(states, mask).amax(1)


WRONG = [
    filled_with_minus_1,
    filled_with_minus_100,
    filled_with_minus_1000,
    ten_subtracted,
    zero_is_padding,
    mean_of_the_words,
    smooth_maximum,
    softmax_average,
    places,
    places_as_floats,
    values_and_places,
    second_largest,
    empty_is_the_maximum_of_padding,
    empty_is_minus_a_billion,
    empty_is_minus_one,
    infinity_times_zero,
    empty_rows_left_out,
    prefix_for_mask,
    over_the_batch,
    one_number,
    axis_kept,
    gradient_to_all,
    filled_in_place,
    in_float32,
    nothing_returned,
]
