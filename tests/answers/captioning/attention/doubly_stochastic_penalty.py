"""Answers to `doubly_stochastic_penalty`."""

import torch
import torch.nn.functional as F
from torch import Tensor

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


def with_loops(weights, mask):
    total = 0 * weights.sum()
    for b in range(weights.shape[0]):
        if not mask[b].any():
            continue
        for i in range(weights.shape[2]):
            looks = weights[b, mask[b], i].sum()
            total = total + (1 - looks) ** 2
    return total / weights.shape[0]


def norm_squared(weights, mask):
    looks = torch.where(mask.unsqueeze(2), weights, 0.0).sum(dim=1)
    missing = (1 - looks) * mask.any(dim=1, keepdim=True)
    return (missing * missing).sum() / weights.size(0)


def against_ones(weights, mask):
    target = mask.any(1, keepdim=True).to(weights.dtype).expand(-1, weights.shape[2])
    looks = (weights * mask[..., None]).sum(1)
    return F.mse_loss(looks, target, reduction="sum") / len(weights)


def float64_kept(weights, mask):
    looks = (weights.double() * mask.unsqueeze(2)).sum(1)
    return ((1 - looks) ** 2).sum(1).masked_fill(~mask.any(1), 0.0).mean()


RIGHT = [with_einsum, with_loops, norm_squared, against_ones, float64_kept]

# Wrong


def _looks(weights, mask):
    return (weights * mask.unsqueeze(2)).sum(1)


def _mean(each, mask):
    return each.masked_fill(~mask.any(1), 0.0).mean()


def first_caption_decides(weights, mask):
    return _mean((1 - _looks(weights, mask[:1])).square().sum(1), mask)


def first_picture_only(weights, mask):
    return _mean((1 - _looks(weights, mask)).square().sum(1)[:1], mask[:1])


def nan_for_empty(weights, mask):
    count = mask.sum(1, keepdim=True)
    looks = _looks(weights, mask) / count * count
    return (1 - looks).square().sum(1).mean()


def cut(weights, mask):
    return as_written(weights.detach(), mask)


def weights_zeroed(weights, mask):
    weights *= mask.unsqueeze(2)
    return _mean((1 - weights.sum(1)).square().sum(1), mask)


WRONG = [first_caption_decides, first_picture_only, nan_for_empty, cut, weights_zeroed]
