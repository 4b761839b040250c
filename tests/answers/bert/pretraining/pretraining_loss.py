"""Answers to `pretraining_loss`."""

import torch
import torch.nn.functional as F
from torch import nn

# Right


def with_gather(token_logits, next_logits, labels, is_next):
    chosen = labels >= 0
    log_p = token_logits.log_softmax(-1).gather(2, labels.clamp(min=0)[..., None])[..., 0]
    tokens = -(log_p * chosen).sum() / chosen.sum().clamp(min=1)
    classes = (~is_next).to(torch.int64).unsqueeze(1)
    return tokens - next_logits.log_softmax(-1).gather(1, classes).mean()


def with_binary_cross_entropy(token_logits, next_logits, labels, is_next):
    # two classes: the softmax is a sigmoid of the difference
    difference = next_logits[:, 0] - next_logits[:, 1]
    pairs = F.binary_cross_entropy_with_logits(difference, is_next.to(difference.dtype))
    losses = F.cross_entropy(token_logits.mT, labels, ignore_index=-100, reduction="none")
    return losses.sum() / labels.ne(-100).sum().clamp(min=1) + pairs


def with_loops(token_logits, next_logits, labels, is_next):
    total, n = 0 * token_logits.sum(), 0
    for logits, row in zip(token_logits, labels, strict=True):
        for x, y in zip(logits, row, strict=True):
            if y.item() != -100:
                total = total - torch.log_softmax(x, 0)[y]
                n += 1
    pairs = sum(
        F.cross_entropy(x[None], torch.tensor([0 if follows else 1]))
        for x, follows in zip(next_logits, is_next, strict=True)
    )
    return total / max(n, 1) + pairs / len(is_next)


def nan_replaced(token_logits, next_logits, labels, is_next):
    pairs = nn.CrossEntropyLoss()(next_logits, is_next.logical_not().long())
    if (labels == -100).all():
        return pairs + token_logits.sum() * 0
    tokens = nn.CrossEntropyLoss()(token_logits.flatten(0, 1), labels.flatten())
    return tokens + pairs


def with_logsumexp(token_logits, next_logits, labels, is_next):
    chosen = (labels != -100).nonzero(as_tuple=True)
    x = token_logits[chosen]
    each = x.logsumexp(-1) - x[torch.arange(len(x)), labels[chosen]]
    right = torch.where(is_next, next_logits[:, 0], next_logits[:, 1])
    pairs = (next_logits.logsumexp(1) - right).mean()
    return each.sum() / max(1, len(each)) + pairs


def float64_kept(token_logits, next_logits, labels, is_next):
    return with_gather(token_logits.double(), next_logits.double(), labels, is_next)


RIGHT = [with_binary_cross_entropy, with_loops, nan_replaced, with_logsumexp, float64_kept]

# Wrong


def _each(token_logits, labels):
    return F.cross_entropy(token_logits.mT, labels, reduction="none")


def _tokens(token_logits, labels):
    return _each(token_logits, labels).sum() / (labels != -100).sum().clamp(min=1)


def _pairs(next_logits, is_next):
    return F.cross_entropy(next_logits, (~is_next).long())


def exponent_by_hand(token_logits, next_logits, labels, is_next):
    chosen = labels != -100
    x = token_logits[chosen]
    each = x.exp().sum(-1).log() - x.gather(1, labels[chosen][:, None])[:, 0]
    return each.sum() / chosen.sum().clamp(min=1) + _pairs(next_logits, is_next)


def epsilon_in_the_logarithm(token_logits, next_logits, labels, is_next):
    chosen = labels != -100
    p = token_logits[chosen].softmax(-1).gather(1, labels[chosen][:, None])
    tokens = -(p + 1e-7).log().sum() / chosen.sum().clamp(min=1)
    return tokens + _pairs(next_logits, is_next)


def nothing_is_nothing(token_logits, next_logits, labels, is_next):
    # without a chosen token the pairs are left out as well
    if (labels == -100).all():
        return 0 * (token_logits.sum() + next_logits.sum())
    return _tokens(token_logits, labels) + _pairs(next_logits, is_next)


def tokens_detached(token_logits, next_logits, labels, is_next):
    return _tokens(token_logits, labels).detach() + _pairs(next_logits, is_next)


WRONG = [exponent_by_hand, epsilon_in_the_logarithm, nothing_is_nothing, tokens_detached]
