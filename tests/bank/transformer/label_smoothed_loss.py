"""Answers to `label_smoothed_loss`."""

import sys
import warnings

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


def with_a_distribution(logits, targets, smoothing, pad_id=0):
    V = logits.shape[-1]
    goal = torch.full_like(logits, smoothing / V)
    goal.scatter_add_(-1, targets.unsqueeze(-1), torch.full_like(goal[..., :1], 1 - smoothing))
    each = -(goal * logits.log_softmax(-1)).sum(-1)
    real = targets != pad_id
    return each[real].sum() / max(1, int(real.sum()))


def with_soft_targets(logits, targets, smoothing, pad_id=0):
    """Cross entropy of torch, with probabilities for targets."""
    real = targets != pad_id
    if not real.any():
        return logits.sum() * 0
    V = logits.shape[-1]
    goal = F.one_hot(targets[real], V).to(logits.dtype) * (1 - smoothing) + smoothing / V
    return F.cross_entropy(logits[real], goal)


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


def float64_and_back(logits, targets, smoothing, pad_id=0):
    return with_gather(logits.double(), targets, smoothing, pad_id).to(logits.dtype)


def float64_kept(logits, targets, smoothing, pad_id=0):
    return with_gather(logits.double(), targets, smoothing, pad_id)


def talkative(logits, targets, smoothing, pad_id=0):
    warnings.warn("smoothing", UserWarning, stacklevel=2)
    print(smoothing, file=sys.stderr)
    return with_gather(logits, targets, smoothing, pad_id)


RIGHT = [
    with_gather,
    with_a_distribution,
    with_soft_targets,
    two_cross_entropies,
    with_logsumexp,
    with_loops,
    divergence_and_entropy,
    float64_and_back,
    float64_kept,
    talkative,
]

# Wrong


def _parts(logits, targets):
    log_p = logits.log_softmax(-1)
    return -log_p.gather(2, targets.unsqueeze(2)).squeeze(2), -log_p.mean(-1)


def _mean(each, real):
    return (each * real).sum() / real.sum().clamp(min=1)


def _right(logits, targets, smoothing, pad_id=0):
    true, flat = _parts(logits, targets)
    return _mean((1 - smoothing) * true + smoothing * flat, targets != pad_id)


def torchs_own(logits, targets, smoothing, pad_id=0):
    return F.cross_entropy(
        logits.transpose(1, 2), targets, ignore_index=pad_id, label_smoothing=smoothing
    )


def torchs_module(logits, targets, smoothing, pad_id=0):
    loss = torch.nn.CrossEntropyLoss(ignore_index=pad_id, label_smoothing=smoothing)
    return loss(logits.flatten(0, 1), targets.flatten())


def always_a_tenth(logits, targets, smoothing, pad_id=0):
    return _right(logits, targets, 0.1, pad_id)


def smoothing_taken_off(logits, targets, smoothing, pad_id=0):
    true, flat = _parts(logits, targets)
    return _mean((1 - smoothing) * true - smoothing * flat, targets != pad_id)


def smoothing_of_logits(logits, targets, smoothing, pad_id=0):
    true, _ = _parts(logits, targets)
    return _mean((1 - smoothing) * true - smoothing * logits.mean(-1), targets != pad_id)


def logarithm_of_softmax(logits, targets, smoothing, pad_id=0):
    p = logits.softmax(-1)
    log_p = p.log()
    true = -log_p.gather(2, targets.unsqueeze(2)).squeeze(2)
    return _mean((1 - smoothing) * true - smoothing * log_p.mean(-1), targets != pad_id)


def epsilon_in_the_logarithm(logits, targets, smoothing, pad_id=0):
    log_p = (logits.softmax(-1) + 1e-6).log()
    true = -log_p.gather(2, targets.unsqueeze(2)).squeeze(2)
    return _mean((1 - smoothing) * true - smoothing * log_p.mean(-1), targets != pad_id)


def logarithm_of_the_mean(logits, targets, smoothing, pad_id=0):
    # the mean of the probabilities is always 1/V
    true, _ = _parts(logits, targets)
    flat = -logits.softmax(-1).mean(-1).log()
    return _mean((1 - smoothing) * true + smoothing * flat, targets != pad_id)


def probabilities_smoothed(logits, targets, smoothing, pad_id=0):
    # the model's distribution is smoothed in place of the target
    p = (1 - smoothing) * logits.softmax(-1) + smoothing / logits.shape[-1]
    return _mean(-p.gather(2, targets.unsqueeze(2)).squeeze(2).log(), targets != pad_id)


def softmax_over_positions(logits, targets, smoothing, pad_id=0):
    log_p = logits.log_softmax(1)
    true = -log_p.gather(2, targets.unsqueeze(2)).squeeze(2)
    return _mean((1 - smoothing) * true - smoothing * log_p.mean(-1), targets != pad_id)


def mean_over_positions(logits, targets, smoothing, pad_id=0):
    log_p = logits.log_softmax(-1)
    true = -log_p.gather(2, targets.unsqueeze(2)).squeeze(2)
    return _mean(
        (1 - smoothing) * true - smoothing * log_p.mean((1, 2))[:, None], targets != pad_id
    )


def smaller_vocabulary(logits, targets, smoothing, pad_id=0):
    log_p = logits.log_softmax(-1)
    true = -log_p.gather(2, targets.unsqueeze(2)).squeeze(2)
    flat = -log_p.sum(-1) / (logits.shape[-1] - 1)
    return _mean((1 - smoothing) * true + smoothing * flat, targets != pad_id)


def half_of_the_smoothing(logits, targets, smoothing, pad_id=0):
    return _right(logits, targets, smoothing / 2, pad_id)


def mask_on_logits(logits, targets, smoothing, pad_id=0):
    real = targets != pad_id
    true, flat = _parts(logits * real.unsqueeze(-1), targets)
    return ((1 - smoothing) * true + smoothing * flat).mean()


def larger_ids_only(logits, targets, smoothing, pad_id=0):
    # right if padding is 0
    true, flat = _parts(logits, targets)
    return _mean((1 - smoothing) * true + smoothing * flat, targets > pad_id)


def padding_up_to_the_first(logits, targets, smoothing, pad_id=0):
    true, flat = _parts(logits, targets)
    real = (targets != pad_id).cumprod(1).bool()
    return _mean((1 - smoothing) * true + smoothing * flat, real)


def nan_without_words(logits, targets, smoothing, pad_id=0):
    true, flat = _parts(logits, targets)
    real = targets != pad_id
    return (((1 - smoothing) * true + smoothing * flat) * real).sum() / real.sum()


def one_more_in_the_denominator(logits, targets, smoothing, pad_id=0):
    true, flat = _parts(logits, targets)
    real = targets != pad_id
    return (((1 - smoothing) * true + smoothing * flat) * real).sum() / (real.sum() + 1)


def infinite_on_padding(logits, targets, smoothing, pad_id=0):
    padding = (targets == pad_id).unsqueeze(-1)
    return _right(logits.masked_fill(padding, float("-inf")), targets, smoothing, pad_id)


def one_loss_per_sentence(logits, targets, smoothing, pad_id=0):
    true, flat = _parts(logits, targets)
    real = targets != pad_id
    each = ((1 - smoothing) * true + smoothing * flat) * real
    return each.sum(1) / real.sum(1).clamp(min=1)


def perplexity(logits, targets, smoothing, pad_id=0):
    return _right(logits, targets, smoothing, pad_id).exp()


def as_a_number(logits, targets, smoothing, pad_id=0):
    return _right(logits, targets, smoothing, pad_id).item()


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


def always_float32(logits, targets, smoothing, pad_id=0):
    return _right(logits.float(), targets, smoothing, pad_id)


def targets_overwritten(logits, targets, smoothing, pad_id=0):
    loss = _right(logits, targets, smoothing, pad_id)
    targets[targets == pad_id] = -100
    return loss


def logits_overwritten(logits, targets, smoothing, pad_id=0):
    logits -= logits.amax(-1, keepdim=True)
    return _right(logits, targets, smoothing, pad_id)


def without_pad_id(logits, targets, smoothing):
    return _right(logits, targets, smoothing)


def returns_nothing(logits, targets, smoothing, pad_id=0):
    _right(logits, targets, smoothing, pad_id)


WRONG = [
    torchs_own,
    torchs_module,
    always_a_tenth,
    smoothing_taken_off,
    smoothing_of_logits,
    logarithm_of_softmax,
    epsilon_in_the_logarithm,
    logarithm_of_the_mean,
    probabilities_smoothed,
    softmax_over_positions,
    mean_over_positions,
    smaller_vocabulary,
    half_of_the_smoothing,
    mask_on_logits,
    larger_ids_only,
    padding_up_to_the_first,
    nan_without_words,
    one_more_in_the_denominator,
    infinite_on_padding,
    one_loss_per_sentence,
    perplexity,
    as_a_number,
    flat_part_detached,
    through_numpy,
    always_float32,
    targets_overwritten,
    logits_overwritten,
    without_pad_id,
    returns_nothing,
]
