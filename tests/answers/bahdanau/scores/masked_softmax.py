"""Answers to `masked_softmax`."""

import math
import sys
import warnings

import torch
import torch.nn.functional as F
from tqdm.auto import tqdm

# Right


def filled_with_infinity(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return torch.nan_to_num(weights, nan=0.0)


def exponential_by_hand(scores, mask):
    mask = mask.expand(scores.shape)
    # the largest real score of each row, 0 for rows without any
    highest = torch.where(mask, scores, torch.full_like(scores, -math.inf)).amax(-1, keepdim=True)
    highest = torch.where(torch.isinf(highest), torch.zeros_like(highest), highest)
    shifted = torch.where(mask, scores - highest, torch.zeros_like(scores))
    e = torch.exp(shifted) * mask
    z = e.sum(-1, keepdim=True)
    return e / torch.where(z > 0, z, torch.ones_like(z))


def row_by_row(scores, mask):
    n = scores.shape[-1]
    flat_scores = scores.reshape(-1, n)
    flat_mask = mask.expand_as(scores).reshape(-1, n)
    rows = []
    for i in range(flat_scores.shape[0]):
        row = torch.zeros(n, dtype=scores.dtype)
        if flat_mask[i].any():
            row[flat_mask[i]] = torch.softmax(flat_scores[i][flat_mask[i]], dim=0)
        else:
            row = row + 0 * flat_scores[i]
        rows.append(row)
    return torch.stack(rows).reshape(scores.shape)


def float64_kept(scores, mask):
    wide = scores.double().masked_fill(mask.logical_not(), -1e30)
    return F.softmax(wide, dim=-1) * mask


def talkative(scores, mask):
    print("scores", scores.shape, "mask", mask.shape)
    warnings.warn("am I doing this right?", stacklevel=1)
    sys.stderr.write("debug: in masked_softmax\n")
    for _ in tqdm(range(3), desc="thinking"):
        pass
    return (scores + (~mask) * -1e9).softmax(-1) * mask


RIGHT = [filled_with_infinity, exponential_by_hand, row_by_row, float64_kept, talkative]

# Wrong


def filled_with_minus_100(scores, mask):
    return scores.masked_fill(~mask, -100.0).softmax(-1) * mask


def clamped_sum(scores, mask):
    e = (scores - scores.amax(-1, keepdim=True)).exp() * mask
    return e / e.sum(-1, keepdim=True).clamp(min=1e-3)


def squeezed(scores, mask):
    return (scores.masked_fill(~mask, -1e9).softmax(-1) * mask).squeeze()


def infinity_times_zero(scores, mask):
    return (scores + (1 - mask.to(scores.dtype)) * -math.inf).softmax(-1)


def log_of_the_mask(scores, mask):
    # the values are right after nan_to_num; the gradient of an empty row is NaN
    weights = (scores + mask.to(scores.dtype).log()).softmax(-1)
    return torch.nan_to_num(weights)


WRONG = [filled_with_minus_100, clamped_sum, squeezed, infinity_times_zero, log_of_the_mask]
