"""Answers to `doubly_stochastic_penalty`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

# Right


def as_written(weights: Tensor, mask: Tensor) -> Tensor:
    real = mask.unsqueeze(-1).to(weights.dtype)
    looks = (weights * real).sum(1)
    each = ((1 - looks) ** 2).sum(1)
    return (each * mask.any(1)).mean()


def with_einsum(weights, mask):
    looks = torch.einsum("btn,bt->bn", weights, mask.to(weights.dtype))
    some = mask.sum(1).clamp(max=1)
    return ((looks - 1).pow(2).sum(-1) * some).sum() / weights.shape[0]


def with_bmm(weights, mask):
    looks = torch.bmm(mask[:, None].to(weights.dtype), weights)[:, 0]
    penalty = (1 - looks).square().sum(-1)
    return torch.where(mask.any(-1), penalty, torch.zeros_like(penalty)).mean()


def with_loops(weights, mask):
    total = 0 * weights.sum()
    for b in range(weights.shape[0]):
        if not mask[b].any():
            continue
        for i in range(weights.shape[2]):
            looks = weights[b, mask[b], i].sum()
            total = total + (1 - looks) ** 2
    return total / weights.shape[0]


def captions_with_words_only(weights, mask):
    some = mask.any(dim=1)
    if not some.any():
        return weights.new_zeros(())
    looks = weights[some].masked_fill(~mask[some].unsqueeze(2), 0).sum(1)
    return (1 - looks).square().sum() / len(weights)


def norm_squared(weights, mask):
    looks = torch.where(mask.unsqueeze(2), weights, 0.0).sum(dim=1)
    missing = (1 - looks) * mask.any(dim=1, keepdim=True)
    return (missing * missing).sum() / weights.size(0)


def multiplied_out(weights, mask):
    # sum (1 - a)^2 = N - 2 sum a + sum a^2
    looks = (weights * mask.unsqueeze(2)).sum(1)
    each = weights.shape[2] - 2 * looks.sum(1) + looks.square().sum(1)
    return each.where(mask.any(1), 0.0).mean()


def against_ones(weights, mask):
    target = mask.any(1, keepdim=True).to(weights.dtype).expand(-1, weights.shape[2])
    looks = (weights * mask[..., None]).sum(1)
    return F.mse_loss(looks, target, reduction="sum") / len(weights)


def talkative(weights, mask):
    warnings.warn("doubly stochastic", stacklevel=1)
    looks = torch.zeros_like(weights[:, 0])
    for t in tqdm(range(weights.shape[1]), file=sys.stderr):
        print("word", t)
        looks = looks + weights[:, t] * mask[:, t : t + 1]
    return ((1 - looks) ** 2).sum(1).masked_fill(~mask.any(1), 0).mean()


def float64_kept(weights, mask):
    looks = (weights.double() * mask.unsqueeze(2)).sum(1)
    return ((1 - looks) ** 2).sum(1).masked_fill(~mask.any(1), 0.0).mean()


RIGHT = [
    as_written,
    with_einsum,
    with_bmm,
    with_loops,
    captions_with_words_only,
    norm_squared,
    multiplied_out,
    against_ones,
    talkative,
    float64_kept,
]

# Wrong


def _looks(weights, mask):
    return (weights * mask.unsqueeze(2)).sum(1)


def _mean(each, mask):
    return each.masked_fill(~mask.any(1), 0.0).mean()


def absolute_difference(weights, mask):
    return _mean((1 - _looks(weights, mask)).abs().sum(1), mask)


def root_of_the_sum(weights, mask):
    return _mean((1 - _looks(weights, mask)).norm(dim=1), mask)


def mean_squared_error(weights, mask):
    looks = _looks(weights, mask)
    return F.mse_loss(looks, torch.ones_like(looks))


def length_over_places(weights, mask):
    """Every place should get T / N."""
    wanted = mask.sum(1, keepdim=True) / weights.shape[2]
    return _mean((wanted - _looks(weights, mask)).square().sum(1), mask)


def share_of_places(weights, mask):
    """Every place should get 1 / N."""
    return _mean((1 / weights.shape[2] - _looks(weights, mask)).square().sum(1), mask)


def halved(weights, mask):
    return 0.5 * _mean((1 - _looks(weights, mask)).square().sum(1), mask)


def times_lambda(weights, mask):
    return 0.005 * _mean((1 - _looks(weights, mask)).square().sum(1), mask)


def square_of_the_total(weights, mask):
    return _mean((1 - _looks(weights, mask)).sum(1).square(), mask)


def square_of_the_mean(weights, mask):
    return _mean((1 - _looks(weights, mask)).square().sum(1), mask).square()


def inverted_mask(weights, mask):
    return _mean((1 - _looks(weights, ~mask)).square().sum(1), mask)


def looks_below_one_only(weights, mask):
    return _mean(F.relu(1 - _looks(weights, mask)).square().sum(1), mask)


def looks_above_one_only(weights, mask):
    return _mean(F.relu(_looks(weights, mask) - 1).square().sum(1), mask)


def largest_place(weights, mask):
    return _mean((1 - _looks(weights, mask)).square().amax(1), mask)


def per_word(weights, mask):
    each = (1 - _looks(weights, mask)).square().sum(1) / mask.sum(1).clamp(min=1)
    return _mean(each, mask)


def first_caption_decides(weights, mask):
    return _mean((1 - _looks(weights, mask[:1])).square().sum(1), mask)


def first_picture_only(weights, mask):
    return _mean((1 - _looks(weights, mask)).square().sum(1)[:1], mask[:1])


def one_word_too_many(weights, mask):
    longer = mask | torch.cat([mask[:, :1], mask[:, :-1]], 1)
    return _mean((1 - _looks(weights, longer)).square().sum(1), mask)


def one_word_too_few(weights, mask):
    shorter = mask & torch.cat([mask[:, 1:], torch.zeros_like(mask[:, :1])], 1)
    return _mean((1 - _looks(weights, shorter)).square().sum(1), mask)


def nan_for_empty(weights, mask):
    count = mask.sum(1, keepdim=True)
    looks = _looks(weights, mask) / count * count
    return (1 - looks).square().sum(1).mean()


def not_reduced(weights, mask):
    return (1 - _looks(weights, mask)).square().sum(1).masked_fill(~mask.any(1), 0.0)


def one_axis_left(weights, mask):
    return _mean((1 - _looks(weights, mask)).square().sum(1), mask).unsqueeze(0)


def cut(weights, mask):
    return as_written(weights.detach(), mask)


def plain_number(weights, mask):
    return as_written(weights, mask).item()


def weights_zeroed(weights, mask):
    weights *= mask.unsqueeze(2)
    return _mean((1 - weights.sum(1)).square().sum(1), mask)


def mask_written_into(weights, mask):
    found = as_written(weights, mask)
    mask |= True
    return found


def always_float32(weights, mask):
    return as_written(weights.float(), mask)


def returns_nothing(weights, mask):
    as_written(weights, mask)


def entropy(weights, mask):
    return -(weights.clamp(min=1e-9).log() * weights * mask.unsqueeze(2)).sum((1, 2)).mean()


WRONG = [
    absolute_difference,
    root_of_the_sum,
    mean_squared_error,
    length_over_places,
    share_of_places,
    halved,
    times_lambda,
    square_of_the_total,
    square_of_the_mean,
    inverted_mask,
    looks_below_one_only,
    looks_above_one_only,
    largest_place,
    per_word,
    first_caption_decides,
    first_picture_only,
    one_word_too_many,
    one_word_too_few,
    nan_for_empty,
    not_reduced,
    one_axis_left,
    cut,
    plain_number,
    weights_zeroed,
    mask_written_into,
    always_float32,
    returns_nothing,
    entropy,
]
