"""Answers to `pretraining_loss`."""

import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm

# Right


def with_selected_rows(
    token_logits: Tensor, next_logits: Tensor, labels: Tensor, is_next: Tensor
) -> Tensor:
    chosen = labels != -100
    loss = F.cross_entropy(next_logits, 1 - is_next.long())
    if chosen.any():
        loss = loss + F.cross_entropy(token_logits[chosen], labels[chosen])
    return loss


def with_ignore_index(token_logits, next_logits, labels, is_next):
    total = F.cross_entropy(token_logits.transpose(1, 2), labels, reduction="sum")
    count = max(1, int((labels != -100).sum()))
    return total / count + F.cross_entropy(next_logits, torch.where(is_next, 0, 1))


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


def with_one_hot(token_logits, next_logits, labels, is_next):
    chosen = labels != -100
    wanted = F.one_hot(labels * chosen, token_logits.shape[-1]) * chosen.unsqueeze(-1)
    tokens = -(wanted * token_logits.log_softmax(-1)).sum() / chosen.sum().clamp(min=1)
    classes = torch.stack([is_next, ~is_next], 1).to(next_logits.dtype)
    return tokens + F.cross_entropy(next_logits, classes)


def talkative(token_logits, next_logits, labels, is_next):
    warnings.warn("two tasks", stacklevel=1)
    print("chosen:", int((labels != -100).sum()))
    total = 0 * token_logits.sum()
    for logits, row in tqdm(list(zip(token_logits, labels, strict=True)), file=sys.stderr):
        total = total + F.cross_entropy(logits, row, reduction="sum")
    tokens = total / (labels != -100).sum().clamp(min=1)
    return tokens + F.cross_entropy(next_logits, (~is_next).int().long())


def float64_and_back(token_logits, next_logits, labels, is_next):
    found = with_gather(token_logits.double(), next_logits.double(), labels, is_next)
    return found.to(token_logits.dtype)


def float64_kept(token_logits, next_logits, labels, is_next):
    return with_gather(token_logits.double(), next_logits.double(), labels, is_next)


def nan_taken_out(token_logits, next_logits, labels, is_next):
    tokens = F.cross_entropy(token_logits.flatten(0, 1), labels.flatten())
    pairs = F.cross_entropy(next_logits, (~is_next).long())
    return torch.where(torch.isnan(tokens), torch.zeros_like(tokens), tokens) + pairs


RIGHT = [
    nan_taken_out,
    with_selected_rows,
    with_ignore_index,
    with_gather,
    with_binary_cross_entropy,
    with_loops,
    nan_replaced,
    with_logsumexp,
    with_one_hot,
    talkative,
    float64_and_back,
    float64_kept,
]

# Wrong


def _each(token_logits, labels):
    return F.cross_entropy(token_logits.mT, labels, reduction="none")


def _tokens(token_logits, labels):
    return _each(token_logits, labels).sum() / (labels != -100).sum().clamp(min=1)


def _pairs(next_logits, is_next):
    return F.cross_entropy(next_logits, (~is_next).long())


def not_transposed(token_logits, next_logits, labels, is_next):
    total = F.cross_entropy(token_logits, labels, reduction="sum")
    return total / (labels != -100).sum().clamp(min=1) + _pairs(next_logits, is_next)


def reshaped_wrongly(token_logits, next_logits, labels, is_next):
    b, n, v = token_logits.shape
    return _tokens(token_logits.reshape(b, v, n).mT, labels) + _pairs(next_logits, is_next)


def one_more_in_the_denominator(token_logits, next_logits, labels, is_next):
    count = (labels != -100).sum() + 1
    return _each(token_logits, labels).sum() / count + _pairs(next_logits, is_next)


def epsilon_in_the_denominator(token_logits, next_logits, labels, is_next):
    count = (labels != -100).sum() + 1e-2
    return _each(token_logits, labels).sum() / count + _pairs(next_logits, is_next)


def divided_by_the_batch(token_logits, next_logits, labels, is_next):
    return _each(token_logits, labels).sum() / len(labels) + _pairs(next_logits, is_next)


def all_tokens_count(token_logits, next_logits, labels, is_next):
    # those without a label as if it were 0
    return _each(token_logits, labels.clamp(min=0)).mean() + _pairs(next_logits, is_next)


def pairs_summed(token_logits, next_logits, labels, is_next):
    pairs = F.cross_entropy(next_logits, (~is_next).long(), reduction="sum")
    return _tokens(token_logits, labels) + pairs


def pairs_per_token(token_logits, next_logits, labels, is_next):
    # one mean over everything
    pairs = F.cross_entropy(next_logits, (~is_next).long(), reduction="sum")
    count = (labels != -100).sum() + len(is_next)
    return (_each(token_logits, labels).sum() + pairs) / count


def true_neighbours_only(token_logits, next_logits, labels, is_next):
    # the masked tokens of pairs that do not belong together are left out
    labels = labels.masked_fill(~is_next[:, None], -100)
    return _tokens(token_logits, labels) + _pairs(next_logits, is_next)


def first_sentence_only(token_logits, next_logits, labels, is_next):
    return _tokens(token_logits[:1], labels[:1]) + _pairs(next_logits, is_next)


def first_pair_only(token_logits, next_logits, labels, is_next):
    return _tokens(token_logits, labels) + _pairs(next_logits[:1], is_next[:1])


def one_logit(token_logits, next_logits, labels, is_next):
    # a sigmoid of the first logit alone
    pairs = F.binary_cross_entropy_with_logits(next_logits[:, 0], is_next.to(next_logits.dtype))
    return _tokens(token_logits, labels) + pairs


def two_sigmoids(token_logits, next_logits, labels, is_next):
    classes = torch.stack([is_next, ~is_next], 1).to(next_logits.dtype)
    pairs = F.binary_cross_entropy_with_logits(next_logits, classes)
    return _tokens(token_logits, labels) + pairs


def inverted_as_a_number(token_logits, next_logits, labels, is_next):
    # ~1 is -2: inverted after it has become a number
    return _tokens(token_logits, labels) + F.cross_entropy(next_logits, ~is_next.long())


def nll_of_logits(token_logits, next_logits, labels, is_next):
    total = F.nll_loss(token_logits.mT, labels, reduction="sum")
    pairs = F.nll_loss(next_logits, (~is_next).long())
    return total / (labels != -100).sum().clamp(min=1) + pairs


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


def label_smoothed(token_logits, next_logits, labels, is_next):
    total = F.cross_entropy(token_logits.mT, labels, reduction="sum", label_smoothing=0.1)
    return total / (labels != -100).sum().clamp(min=1) + _pairs(next_logits, is_next)


def subtracted(token_logits, next_logits, labels, is_next):
    return _tokens(token_logits, labels) - _pairs(next_logits, is_next)


def multiplied(token_logits, next_logits, labels, is_next):
    return _tokens(token_logits, labels) * _pairs(next_logits, is_next)


def larger_part(token_logits, next_logits, labels, is_next):
    return torch.maximum(_tokens(token_logits, labels), _pairs(next_logits, is_next))


def perplexity(token_logits, next_logits, labels, is_next):
    return (_tokens(token_logits, labels) + _pairs(next_logits, is_next)).exp()


def nothing_is_nothing(token_logits, next_logits, labels, is_next):
    # without a chosen token the pairs are left out as well
    if (labels == -100).all():
        return 0 * (token_logits.sum() + next_logits.sum())
    return _tokens(token_logits, labels) + _pairs(next_logits, is_next)


def pairs_detached(token_logits, next_logits, labels, is_next):
    return _tokens(token_logits, labels) + _pairs(next_logits, is_next).detach()


def tokens_detached(token_logits, next_logits, labels, is_next):
    return _tokens(token_logits, labels).detach() + _pairs(next_logits, is_next)


def as_a_number(token_logits, next_logits, labels, is_next):
    return (_tokens(token_logits, labels) + _pairs(next_logits, is_next)).item()


def with_an_axis(token_logits, next_logits, labels, is_next):
    return (_tokens(token_logits, labels) + _pairs(next_logits, is_next)).reshape(1)


def both_parts(token_logits, next_logits, labels, is_next):
    return _tokens(token_logits, labels), _pairs(next_logits, is_next)


def through_numpy(token_logits, next_logits, labels, is_next):
    found = _tokens(token_logits, labels) + _pairs(next_logits, is_next)
    return torch.tensor(np.asarray(found.detach()), dtype=found.dtype)


def always_float32(token_logits, next_logits, labels, is_next):
    return _tokens(token_logits.float(), labels) + _pairs(next_logits.float(), is_next)


def labels_overwritten(token_logits, next_logits, labels, is_next):
    found = _tokens(token_logits, labels) + _pairs(next_logits, is_next)
    labels[labels == -100] = 0
    return found


def returns_nothing(token_logits, next_logits, labels, is_next):
    print(_tokens(token_logits, labels) + _pairs(next_logits, is_next))


WRONG = [
    not_transposed,
    reshaped_wrongly,
    one_more_in_the_denominator,
    epsilon_in_the_denominator,
    divided_by_the_batch,
    all_tokens_count,
    pairs_summed,
    pairs_per_token,
    true_neighbours_only,
    first_sentence_only,
    first_pair_only,
    one_logit,
    two_sigmoids,
    inverted_as_a_number,
    nll_of_logits,
    exponent_by_hand,
    epsilon_in_the_logarithm,
    label_smoothed,
    subtracted,
    multiplied,
    larger_part,
    perplexity,
    nothing_is_nothing,
    pairs_detached,
    tokens_detached,
    as_a_number,
    with_an_axis,
    both_parts,
    through_numpy,
    always_float32,
    labels_overwritten,
    returns_nothing,
]
