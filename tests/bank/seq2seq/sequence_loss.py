"""Answers to `sequence_loss`."""

import math
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm

# Right


def with_ignore_index(logits, targets, pad_id=0):
    total = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=pad_id, reduction="sum")
    return total / max(1, int((targets != pad_id).sum()))


def with_gather(logits: Tensor, targets: Tensor, pad_id: int = 0) -> Tensor:
    log_p = logits.log_softmax(-1).gather(2, targets.unsqueeze(2)).squeeze(2)
    real = (targets != pad_id).to(logits.dtype)
    return -(log_p * real).sum() / real.sum().clamp(min=1)


def with_selected_rows(logits, targets, pad_id=0):
    real = targets.ne(pad_id)
    if not real.any():
        return 0 * logits.sum()
    return F.cross_entropy(logits[real], targets[real])


def zero_without_a_graph(logits, targets, pad_id=0):
    real = targets != pad_id
    if not real.any():
        return logits.new_zeros(())
    return nn.CrossEntropyLoss(ignore_index=pad_id)(logits.flatten(0, 1), targets.flatten())


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


def log_softmax_twice(logits, targets, pad_id=0):
    # a log-softmax of a log-softmax is the same once more
    log_p = F.log_softmax(F.log_softmax(logits, -1), -1)
    total = F.nll_loss(log_p.mT, targets, ignore_index=pad_id, reduction="sum")
    return total / (targets != pad_id).sum().clamp(min=1)


def with_one_hot(logits, targets, pad_id=0):
    labels = F.one_hot(targets, logits.shape[-1]).to(logits.dtype)
    labels = labels * (targets != pad_id).unsqueeze(-1)
    return -(labels * logits.log_softmax(-1)).sum() / labels.sum().clamp(min=1)


def shifted_by_hand(logits, targets, pad_id=0):
    x = logits - logits.amax(-1, keepdim=True)
    log_p = x - x.exp().sum(-1, keepdim=True).log()
    real = targets != pad_id
    picked = log_p[torch.arange(len(x))[:, None], torch.arange(x.shape[1]), targets]
    return -(picked * real).sum() / real.sum().clamp(min=1)


def nan_replaced(logits, targets, pad_id=0):
    if (targets == pad_id).all():
        return (logits * 0).mean()
    loss = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), ignore_index=pad_id
    )
    return loss


def float64_and_back(logits, targets, pad_id=0):
    return with_gather(logits.double(), targets, pad_id).to(logits.dtype)


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


RIGHT = [
    with_ignore_index,
    with_gather,
    with_selected_rows,
    zero_without_a_graph,
    with_loops,
    with_logsumexp,
    log_softmax_twice,
    with_one_hot,
    shifted_by_hand,
    nan_replaced,
    float64_and_back,
    float64_kept,
    talkative,
]

# Wrong


def _each(logits, targets):
    return -logits.log_softmax(-1).gather(2, targets.unsqueeze(2)).squeeze(2)


def _mean(losses, real):
    return (losses * real).sum() / real.sum().clamp(min=1)


def not_transposed(logits, targets, pad_id=0):
    total = F.cross_entropy(logits, targets, ignore_index=pad_id, reduction="sum")
    return total / (targets != pad_id).sum().clamp(min=1)


def not_flattened(logits, targets, pad_id=0):
    total = F.cross_entropy(logits.flatten(0, 1), targets, ignore_index=pad_id, reduction="sum")
    return total / (targets != pad_id).sum().clamp(min=1)


def mask_on_logits(logits, targets, pad_id=0):
    # logits of 0 where padding is: log V for each of them
    real = (targets != pad_id).unsqueeze(-1)
    return _each(logits * real, targets).mean()


def epsilon_in_the_denominator(logits, targets, pad_id=0):
    real = targets != pad_id
    return (_each(logits, targets) * real).sum() / (real.sum() + 1e-2)


def one_more_in_the_denominator(logits, targets, pad_id=0):
    real = targets != pad_id
    return (_each(logits, targets) * real).sum() / (real.sum() + 1)


def epsilon_in_the_logarithm(logits, targets, pad_id=0):
    p = logits.softmax(-1).gather(2, targets.unsqueeze(2)).squeeze(2)
    return _mean(-torch.log(p + 1e-8), targets != pad_id)


def clamped_probability(logits, targets, pad_id=0):
    p = logits.softmax(-1).gather(2, targets.unsqueeze(2)).squeeze(2)
    return _mean(-p.clamp(min=1e-7).log(), targets != pad_id)


def exponent_by_hand(logits, targets, pad_id=0):
    # exp of a large logit is infinite
    total = logits.exp().sum(-1).log()
    picked = logits.gather(2, targets.unsqueeze(2)).squeeze(2)
    return _mean(total - picked, targets != pad_id)


def probability_for_logarithm(logits, targets, pad_id=0):
    p = logits.softmax(-1).gather(2, targets.unsqueeze(2)).squeeze(2)
    return _mean(1 - p, targets != pad_id)


def logits_as_log_probabilities(logits, targets, pad_id=0):
    picked = logits.gather(2, targets.unsqueeze(2)).squeeze(2)
    return _mean(-picked, targets != pad_id)


def nll_of_logits(logits, targets, pad_id=0):
    total = F.nll_loss(logits.mT, targets, ignore_index=pad_id, reduction="sum")
    return total / (targets != pad_id).sum().clamp(min=1)


def nll_of_probabilities(logits, targets, pad_id=0):
    total = F.nll_loss(logits.softmax(-1).mT, targets, ignore_index=pad_id, reduction="sum")
    return total / (targets != pad_id).sum().clamp(min=1)


def in_bits(logits, targets, pad_id=0):
    return _mean(_each(logits, targets), targets != pad_id) / math.log(2)


def perplexity(logits, targets, pad_id=0):
    return _mean(_each(logits, targets), targets != pad_id).exp()


def label_smoothed(logits, targets, pad_id=0):
    total = F.cross_entropy(
        logits.mT, targets, ignore_index=pad_id, reduction="sum", label_smoothing=0.1
    )
    return total / (targets != pad_id).sum().clamp(min=1)


def only_padding_counts(logits, targets, pad_id=0):
    return _mean(_each(logits, targets), targets == pad_id)


def larger_ids_only(logits, targets, pad_id=0):
    # right if padding is 0
    return _mean(_each(logits, targets), targets > pad_id)


def padding_up_to_the_first(logits, targets, pad_id=0):
    # everything from the first padding on is left out
    real = (targets != pad_id).cumprod(1).bool()
    return _mean(_each(logits, targets), real)


def first_sentence_only(logits, targets, pad_id=0):
    return _mean(_each(logits, targets)[:1], targets[:1] != pad_id)


def last_word_left_out(logits, targets, pad_id=0):
    real = (targets != pad_id).clone()
    last = real.sum(1) - 1
    for i, n in enumerate(last.tolist()):
        if n > 0:
            real[i, n] = False
    return _mean(_each(logits, targets), real)


def one_loss_per_sentence(logits, targets, pad_id=0):
    real = targets != pad_id
    return (_each(logits, targets) * real).sum(1) / real.sum(1).clamp(min=1)


def losses_not_averaged(logits, targets, pad_id=0):
    return _each(logits, targets) * (targets != pad_id)


def mean_of_positions(logits, targets, pad_id=0):
    # a mean over the sentences at each position, then over the positions
    real = targets != pad_id
    each = (_each(logits, targets) * real).sum(0) / real.sum(0).clamp(min=1)
    return each.mean()


def with_an_axis(logits, targets, pad_id=0):
    return _mean(_each(logits, targets), targets != pad_id).reshape(1)


def as_a_number(logits, targets, pad_id=0):
    return _mean(_each(logits, targets), targets != pad_id).item()


def detached(logits, targets, pad_id=0):
    return _mean(_each(logits, targets), targets != pad_id).detach()


def softmax_cut(logits, targets, pad_id=0):
    # the gradient misses the part through the normaliser
    losses = logits.logsumexp(-1).detach() - logits.gather(2, targets.unsqueeze(2)).squeeze(2)
    return _mean(losses, targets != pad_id)


def through_numpy(logits, targets, pad_id=0):
    x, y = logits.detach().numpy(), targets.numpy()
    x = x - x.max(-1, keepdims=True)
    log_p = x - np.log(np.exp(x).sum(-1, keepdims=True))
    picked = np.take_along_axis(log_p, y[..., None], -1)[..., 0]
    real = y != pad_id
    return torch.tensor(-(picked * real).sum() / max(1, real.sum()), dtype=logits.dtype)


def always_float32(logits, targets, pad_id=0):
    return _mean(_each(logits.float(), targets), targets != pad_id)


def logits_overwritten(logits, targets, pad_id=0):
    logits -= logits.amax(-1, keepdim=True)
    return _mean(_each(logits, targets), targets != pad_id)


def targets_overwritten(logits, targets, pad_id=0):
    real = targets != pad_id
    loss = _mean(_each(logits, targets), real)
    targets[~real] = -100
    return loss


def argmax_errors(logits, targets, pad_id=0):
    wrong = (logits.argmax(-1) != targets).to(logits.dtype)
    return _mean(wrong, targets != pad_id)


def returns_loss_and_count(logits, targets, pad_id=0):
    real = targets != pad_id
    return _mean(_each(logits, targets), real), real.sum()


def returns_nothing(logits, targets, pad_id=0):
    loss = _mean(_each(logits, targets), targets != pad_id)
    print(loss)


def without_pad_id(logits, targets):
    return _mean(_each(logits, targets), targets != 0)


def all_zero(logits, targets, pad_id=0):
    return 0 * logits.sum()


WRONG = [
    not_transposed,
    not_flattened,
    mask_on_logits,
    epsilon_in_the_denominator,
    one_more_in_the_denominator,
    epsilon_in_the_logarithm,
    clamped_probability,
    exponent_by_hand,
    probability_for_logarithm,
    logits_as_log_probabilities,
    nll_of_logits,
    nll_of_probabilities,
    in_bits,
    perplexity,
    label_smoothed,
    only_padding_counts,
    larger_ids_only,
    padding_up_to_the_first,
    first_sentence_only,
    last_word_left_out,
    one_loss_per_sentence,
    losses_not_averaged,
    mean_of_positions,
    with_an_axis,
    as_a_number,
    detached,
    softmax_cut,
    through_numpy,
    always_float32,
    logits_overwritten,
    targets_overwritten,
    argmax_errors,
    returns_loss_and_count,
    returns_nothing,
    without_pad_id,
    all_zero,
]
