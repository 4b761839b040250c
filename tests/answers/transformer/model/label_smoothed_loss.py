"""Answers to `label_smoothed_loss`."""

import numpy as np
import torch
import torch.nn.functional as F

# Right


def with_gather(logits, targets, smoothing, pad_id=0):
    log_p = F.log_softmax(logits, dim=-1)
    nll = -log_p.gather(2, targets[..., None])[..., 0]
    each = (1 - smoothing) * nll - smoothing * log_p.mean(-1)
    real = (targets != pad_id).to(logits.dtype)
    return (each * real).sum() / real.sum().clamp(min=1)


def two_cross_entropies(logits, targets, smoothing, pad_id=0):
    real = targets != pad_id
    count = real.sum().clamp(min=1)
    hard = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=pad_id, reduction="sum")
    flat = (logits.logsumexp(-1) - logits.mean(-1)).masked_fill(~real, 0.0).sum()
    return ((1 - smoothing) * hard + smoothing * flat) / count


def with_logsumexp(logits, targets, smoothing, pad_id=0):
    true = logits.take_along_dim(targets.unsqueeze(-1), -1).squeeze(-1)
    wanted = (1 - smoothing) * true + smoothing * logits.mean(-1)
    each = torch.where(targets != pad_id, logits.logsumexp(-1) - wanted, 0.0)
    return each.sum() / (targets != pad_id).sum().clamp(min=1)


def with_loops(logits, targets, smoothing, pad_id=0):
    total, n = 0 * logits.sum(), 0
    for row, ids in zip(logits, targets, strict=True):
        for scores, y in zip(row, ids.tolist(), strict=True):
            if y != pad_id:
                log_p = scores.log_softmax(0)
                total = total - (1 - smoothing) * log_p[y] - smoothing * log_p.mean()
                n += 1
    return total / max(n, 1)


def divergence_and_entropy(logits, targets, smoothing, pad_id=0):
    V = logits.shape[-1]
    goal = F.one_hot(targets, V).to(logits.dtype) * (1 - smoothing) + smoothing / V
    apart = F.kl_div(logits.log_softmax(-1), goal, reduction="none").sum(-1)
    each = apart - torch.xlogy(goal, goal).sum(-1)
    real = targets != pad_id
    return (each * real).sum() / real.sum().clamp(min=1)


def float64_kept(logits, targets, smoothing, pad_id=0):
    return with_gather(logits.double(), targets, smoothing, pad_id)


RIGHT = [two_cross_entropies, with_logsumexp, with_loops, divergence_and_entropy, float64_kept]

# Wrong


def _parts(logits, targets):
    log_p = logits.log_softmax(-1)
    return -log_p.gather(2, targets.unsqueeze(2)).squeeze(2), -log_p.mean(-1)


def _mean(each, real):
    return (each * real).sum() / real.sum().clamp(min=1)


def _right(logits, targets, smoothing, pad_id=0):
    true, flat = _parts(logits, targets)
    return _mean((1 - smoothing) * true + smoothing * flat, targets != pad_id)


def padding_up_to_the_first(logits, targets, smoothing, pad_id=0):
    true, flat = _parts(logits, targets)
    real = (targets != pad_id).cumprod(1).bool()
    return _mean((1 - smoothing) * true + smoothing * flat, real)


def nan_without_words(logits, targets, smoothing, pad_id=0):
    true, flat = _parts(logits, targets)
    real = targets != pad_id
    return (((1 - smoothing) * true + smoothing * flat) * real).sum() / real.sum()


def flat_part_detached(logits, targets, smoothing, pad_id=0):
    true, flat = _parts(logits, targets)
    return _mean((1 - smoothing) * true + smoothing * flat.detach(), targets != pad_id)


def through_numpy(logits, targets, smoothing, pad_id=0):
    x, y = logits.detach().numpy(), targets.numpy()
    x = x - x.max(-1, keepdims=True)
    log_p = x - np.log(np.exp(x).sum(-1, keepdims=True))
    true = np.take_along_axis(log_p, y[..., None], -1)[..., 0]
    each = -(1 - smoothing) * true - smoothing * log_p.mean(-1)
    real = y != pad_id
    return torch.tensor((each * real).sum() / max(1, real.sum()), dtype=logits.dtype)


def without_pad_id(logits, targets, smoothing):
    return _right(logits, targets, smoothing)


WRONG = [
    padding_up_to_the_first,
    nan_without_words,
    flat_part_detached,
    through_numpy,
    without_pad_id,
]
