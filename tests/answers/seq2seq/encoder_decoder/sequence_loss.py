"""Answers to `sequence_loss`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

# Right


def with_gather(logits: Tensor, targets: Tensor, pad_id: int = 0) -> Tensor:
    log_p = logits.log_softmax(-1).gather(2, targets.unsqueeze(2)).squeeze(2)
    real = (targets != pad_id).to(logits.dtype)
    return -(log_p * real).sum() / real.sum().clamp(min=1)


def with_loops(logits, targets, pad_id=0):
    total, n = logits.new_zeros(()), 0
    for b in range(logits.size(0)):
        for t in range(logits.size(1)):
            y = targets[b, t].item()
            if y == pad_id:
                continue
            total = total - torch.log_softmax(logits[b, t], 0)[y]
            n += 1
    return total / n if n else 0.0 * logits.sum()


def with_logsumexp(logits, targets, pad_id=0):
    real = targets != pad_id
    losses = logits.logsumexp(-1) - logits.take_along_dim(targets[..., None], -1)[..., 0]
    return torch.where(real, losses, 0.0).sum() / real.sum().clamp(min=1)


def shifted_by_hand(logits, targets, pad_id=0):
    x = logits - logits.amax(-1, keepdim=True)
    log_p = x - x.exp().sum(-1, keepdim=True).log()
    real = targets != pad_id
    picked = log_p[torch.arange(len(x))[:, None], torch.arange(x.shape[1]), targets]
    return -(picked * real).sum() / real.sum().clamp(min=1)


def float64_kept(logits, targets, pad_id=0):
    return with_gather(logits.double(), targets, pad_id)


def talkative(logits, targets, pad_id=0):
    warnings.warn("padding", UserWarning, stacklevel=2)
    total, n = 0 * logits.sum(), 0
    for scores, ids in tqdm(list(zip(logits, targets, strict=True))):
        print(ids, file=sys.stderr)
        total = total + F.cross_entropy(scores, ids, ignore_index=pad_id, reduction="sum")
        n += int((ids != pad_id).sum())
    return total / max(n, 1)


RIGHT = [with_loops, with_logsumexp, shifted_by_hand, float64_kept, talkative]

# Wrong


def _each(logits, targets):
    return -logits.log_softmax(-1).gather(2, targets.unsqueeze(2)).squeeze(2)


def _mean(losses, real):
    return (losses * real).sum() / real.sum().clamp(min=1)


def clamped_probability(logits, targets, pad_id=0):
    p = logits.softmax(-1).gather(2, targets.unsqueeze(2)).squeeze(2)
    return _mean(-p.clamp(min=1e-7).log(), targets != pad_id)


def exponent_by_hand(logits, targets, pad_id=0):
    # exp of a large logit is infinite
    total = logits.exp().sum(-1).log()
    picked = logits.gather(2, targets.unsqueeze(2)).squeeze(2)
    return _mean(total - picked, targets != pad_id)


def padding_up_to_the_first(logits, targets, pad_id=0):
    # everything from the first padding on is left out
    real = (targets != pad_id).cumprod(1).bool()
    return _mean(_each(logits, targets), real)


def nan_for_nothing(logits, targets, pad_id=0):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)


def detached(logits, targets, pad_id=0):
    return _mean(_each(logits, targets), targets != pad_id).detach()


def without_pad_id(logits, targets):
    return _mean(_each(logits, targets), targets != 0)


WRONG = [
    clamped_probability,
    exponent_by_hand,
    padding_up_to_the_first,
    nan_for_nothing,
    detached,
    without_pad_id,
]
