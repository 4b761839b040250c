"""Answers to `masked_softmax`."""

import math
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
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


def softmax_then_renormalised(x, m):
    p = F.softmax(x, -1) * m.to(x.dtype)
    total = p.sum(dim=-1, keepdim=True)
    total = total + (total == 0).to(x.dtype)  # an empty row is divided by 1
    return p / total


def with_where(scores: Tensor, mask: Tensor) -> Tensor:
    lowest = torch.finfo(scores.dtype).min
    weights = torch.where(mask, scores, torch.tensor(lowest, dtype=scores.dtype)).softmax(-1)
    return torch.where(mask, weights, torch.zeros_like(weights))


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


def float64_and_back(scores, mask):
    wide = scores.double().masked_fill(~mask, -1e9)
    return (F.softmax(wide, dim=-1) * mask).to(scores.dtype)


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


def with_a_helper(scores, mask):
    def log_sum_exp(t):
        return torch.logsumexp(t, dim=-1, keepdim=True)

    filled = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min / 2)
    return (filled - log_sum_exp(filled)).exp().masked_fill(mask == 0, 0)


def log_softmax_first(scores, mask, dim=-1):
    filled = scores.masked_fill(~mask, -1e20)
    return F.log_softmax(filled, dim=dim).exp().mul(mask)


def empty_rows_apart(scores, mask):
    mask = mask.expand_as(scores)
    empty = ~mask.any(-1, keepdim=True)
    filled = scores.masked_fill(~(mask | empty), -math.inf)
    return filled.softmax(-1).masked_fill(empty, 0.0)


RIGHT = [
    filled_with_infinity,
    exponential_by_hand,
    softmax_then_renormalised,
    with_where,
    row_by_row,
    float64_and_back,
    float64_kept,
    talkative,
    with_a_helper,
    log_softmax_first,
    empty_rows_apart,
]

# Wrong


def filled_with_minus_100(scores, mask):
    return scores.masked_fill(~mask, -100.0).softmax(-1) * mask


def filled_with_minus_1000(scores, mask):
    return scores.masked_fill(~mask, -1000.0).softmax(-1) * mask


def filled_with_the_smallest_positive(scores, mask):
    # finfo.tiny is the smallest positive number, not the lowest
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).tiny).softmax(-1) * mask


def mask_added(scores, mask):
    return (scores + mask).softmax(-1)


def small_number_added(scores, mask):
    return (scores + (1.0 - mask.to(scores.dtype)) * -10.0).softmax(-1)


def zeros_taken_for_padding(scores, mask):
    scores = scores * mask
    weights = scores.masked_fill(scores == 0, -1e9).softmax(-1)
    return weights * mask


def mask_of_the_first_target_word(scores, mask):
    if mask.dim() == 3:
        mask = mask[:, :1]
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask


def mask_from_lengths(scores, mask):
    # takes for granted that real positions come first: wrong for masks with holes
    lengths = mask.sum(-1, keepdim=True)
    mask = torch.arange(scores.shape[-1]) < lengths
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask


def mask_of_the_first_row(scores, mask):
    return scores.masked_fill(~mask[0], -1e9).softmax(-1) * mask[0]


def large_epsilon(scores, mask):
    p = scores.softmax(-1) * mask
    return p / (p.sum(-1, keepdim=True) + 1e-6)


def clamped_sum(scores, mask):
    e = (scores - scores.amax(-1, keepdim=True)).exp() * mask
    return e / e.sum(-1, keepdim=True).clamp(min=1e-3)


def always_float32(scores, mask):
    scores = scores.float()
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask


def zeros_of_default_dtype(scores, mask):
    mask = mask.expand_as(scores)
    weights = torch.zeros(scores.shape)
    weights[mask] = (scores.masked_fill(~mask, -1e9).softmax(-1))[mask]
    return weights


def numpy_answer(scores, mask):
    e = np.exp(scores.numpy() - scores.numpy().max(-1, keepdims=True)) * mask.numpy()
    return e / np.maximum(e.sum(-1, keepdims=True), 1e-30)


def returns_nothing(scores, mask):
    weights = scores.masked_fill(~mask, -1e9).softmax(-1) * mask
    print(weights)


def returns_a_list(scores, mask):
    return [row.softmax(-1) for row in scores.masked_fill(~mask, -1e9)]


def returns_a_pair(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask, mask


def squeezed(scores, mask):
    return (scores.masked_fill(~mask, -1e9).softmax(-1) * mask).squeeze()


def sigmoid_for_softmax(scores, mask):
    return torch.sigmoid(scores) * mask


def sigmoid_normalised(scores, mask):
    s = torch.sigmoid(scores) * mask
    total = s.sum(-1, keepdim=True)
    return s / total.masked_fill(total == 0, 1)


def one_hot(scores, mask):
    best = scores.masked_fill(~mask, -torch.inf).argmax(-1)
    return F.one_hot(best, scores.shape[-1]).to(scores.dtype) * mask


def straight_through(scores, mask):
    soft = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1) * mask
    hard = F.one_hot(soft.argmax(-1), scores.shape[-1]).to(scores.dtype) * mask
    return hard + soft - soft.detach()


def only_real_scores_kept(scores, mask):
    # the softmax of all real scores of the batch together
    weights = torch.zeros_like(scores)
    mask = mask.expand_as(scores)
    weights[mask] = scores[mask].softmax(0)
    return weights


def wrong_shape_for_three_axes(scores, mask):
    # works for (B, N); with (B, T, N) the axes of the mask no longer meet those of the scores
    mask = mask.reshape(scores.shape[0], -1)
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask


def hard_coded_length(scores, mask):
    padded = F.pad(scores.masked_fill(~mask, -1e9), (0, 10 - scores.shape[-1]), value=-1e9)
    return padded.softmax(-1)


def temperature(scores, mask):
    return (scores.masked_fill(~mask, -1e30) / scores.shape[-1] ** 0.5).softmax(-1) * mask


def clamped_scores(scores, mask):
    return scores.clamp(-50, 50).masked_fill(~mask, -1e9).softmax(-1) * mask


def all_zero(scores, mask):
    return torch.zeros_like(scores)


def scores_unchanged(scores, mask):
    return scores


def dropout_left_on(scores, mask):
    return F.dropout(scores.masked_fill(~mask, -1e9).softmax(-1) * mask, 0.3)


def mask_overwritten(scores, mask):
    mask.logical_not_()
    weights = scores.masked_fill(mask, -1e9).softmax(-1)
    return weights.masked_fill(mask, 0.0)


def scores_shifted_in_place(scores, mask):
    scores -= scores.amax(-1, keepdim=True)
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask


def infinity_times_zero(scores, mask):
    return (scores + (1 - mask.to(scores.dtype)) * -math.inf).softmax(-1)


def log_of_the_mask(scores, mask):
    # the values are right after nan_to_num; the gradient of an empty row is NaN
    weights = (scores + mask.to(scores.dtype).log()).softmax(-1)
    return torch.nan_to_num(weights)


def half_precision(scores, mask):
    wide = scores.half().masked_fill(~mask, -6e4)
    return (wide.softmax(-1) * mask).to(scores.dtype)


def gumbel(scores, mask):
    return F.gumbel_softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask


def empty_rows_keep_their_gradient(scores, mask):
    # 0 * scores has the value 0, but 1 * scores does not: rows without a word leak their scores
    empty = ~mask.any(-1, keepdim=True)
    weights = scores.masked_fill(~mask, -1e9).softmax(-1) * mask
    return weights + (scores - scores.detach()) * empty


WRONG = [
    filled_with_minus_100,
    filled_with_minus_1000,
    filled_with_the_smallest_positive,
    mask_added,
    small_number_added,
    zeros_taken_for_padding,
    mask_of_the_first_target_word,
    mask_from_lengths,
    mask_of_the_first_row,
    large_epsilon,
    clamped_sum,
    always_float32,
    zeros_of_default_dtype,
    numpy_answer,
    returns_nothing,
    returns_a_list,
    returns_a_pair,
    squeezed,
    sigmoid_for_softmax,
    sigmoid_normalised,
    one_hot,
    straight_through,
    only_real_scores_kept,
    wrong_shape_for_three_axes,
    hard_coded_length,
    temperature,
    clamped_scores,
    all_zero,
    scores_unchanged,
    dropout_left_on,
    mask_overwritten,
    scores_shifted_in_place,
    infinity_times_zero,
    log_of_the_mask,
    half_precision,
    gumbel,
    empty_rows_keep_their_gradient,
]
