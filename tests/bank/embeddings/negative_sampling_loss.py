"""Answers to `negative_sampling_loss`."""

import math
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm

# Right


def with_einsum(center, context, negatives):
    yes = torch.einsum("bd,bd->b", center, context)
    no = torch.einsum("bkd,bd->bk", negatives, center)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean()


def with_loops(center, context, negatives):
    total = 0.0
    for b in range(center.size(0)):
        total = total - F.logsigmoid(center[b] @ context[b])
        for k in range(negatives.size(1)):
            total = total - F.logsigmoid(-(center[b] @ negatives[b, k]))
    return total / center.size(0)


def with_softplus(v: Tensor, u: Tensor, n: Tensor) -> Tensor:
    yes = (u * v).sum(-1)
    no = torch.bmm(n, v.unsqueeze(2)).squeeze(2)
    return (F.softplus(-yes) + F.softplus(no).sum(-1)).mean()


def with_cross_entropy(center, context, negatives):
    words = torch.cat([context.unsqueeze(1), negatives], dim=1)
    scores = torch.einsum("bwd,bd->bw", words, center)
    answers = torch.zeros_like(scores)
    answers[:, 0] = 1
    loss = F.binary_cross_entropy_with_logits(scores, answers, reduction="none")
    return loss.sum(1).mean()


def with_a_loss_module(center, context, negatives):
    criterion = nn.BCEWithLogitsLoss(reduction="sum")
    yes = (center * context).sum(1)
    no = (negatives * center[:, None]).sum(2)
    total = criterion(yes, torch.ones_like(yes)) + criterion(no, torch.zeros_like(no))
    return total / center.shape[0]


def with_signs(center, context, negatives):
    words = torch.cat([context.unsqueeze(1), -negatives], dim=1)
    scores = (words @ center.unsqueeze(-1)).squeeze(-1)
    return -nn.LogSigmoid()(scores).sum(dim=1).mean(dim=0)


def _log_sigmoid(x):
    # min(x, 0) - log(1 + e^-|x|)
    return torch.minimum(x, torch.zeros_like(x)) - torch.log1p(torch.exp(-x.abs()))


def own_log_sigmoid(center, context, negatives):
    yes = (center * context).sum(-1)
    no = (negatives * center.unsqueeze(1)).sum(-1)
    return -_log_sigmoid(yes).mean() - _log_sigmoid(-no).sum(-1).mean()


def two_means(center, context, negatives):
    k = negatives.shape[1]
    yes = F.logsigmoid((center * context).sum(-1)).mean()
    no = F.logsigmoid(-(negatives @ center[:, :, None])).mean() * k
    return -(yes + no)


def outer_sum(center, context, negatives):
    # (B,) + (B, 1) is (B, B), but the mean of the outer sum is the sum of the means
    yes = F.logsigmoid((center * context).sum(-1))
    no = F.logsigmoid(-(negatives * center.unsqueeze(1)).sum(-1)).sum(-1, keepdim=True)
    return -(yes + no).mean()


def float64_and_back(center, context, negatives):
    v, u, n = center.double(), context.double(), negatives.double()
    loss = F.softplus(-(v * u).sum(-1)) + F.softplus((n @ v[..., None])[..., 0]).sum(-1)
    return loss.mean().to(center.dtype)


def float64_kept(center, context, negatives):
    v, u, n = center.double(), context.double(), negatives.double()
    loss = F.softplus(-(v * u).sum(-1)) + F.softplus((n @ v[..., None])[..., 0]).sum(-1)
    return loss.mean()


def talkative(center, context, negatives):
    warnings.warn("how many negatives?", UserWarning, stacklevel=2)
    print(negatives.shape, file=sys.stderr)
    losses = []
    for v, u, n in tqdm(list(zip(center, context, negatives, strict=True))):
        print("pair")
        losses.append(-F.logsigmoid(u @ v) - F.logsigmoid(-(n @ v)).sum())
    return torch.stack(losses).mean()


RIGHT = [
    with_einsum,
    with_loops,
    with_softplus,
    with_cross_entropy,
    with_a_loss_module,
    with_signs,
    own_log_sigmoid,
    two_means,
    outer_sum,
    float64_and_back,
    float64_kept,
    talkative,
]

# Wrong


def _dots(center, context, negatives):
    return (center * context).sum(-1), (negatives @ center.unsqueeze(-1)).squeeze(-1)


def epsilon_in_the_logarithm(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    eps = 1e-10
    return -(
        torch.log(torch.sigmoid(yes) + eps) + torch.log(torch.sigmoid(-no) + eps).sum(1)
    ).mean()


def clamped_probability(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    p, q = (torch.sigmoid(x).clamp(1e-7, 1 - 1e-7) for x in (yes, -no))
    return -(p.log() + q.log().sum(1)).mean()


def clamped_scores(center, context, negatives):
    # word2vec.c cuts off at 6 what it looks up in its table
    yes, no = (x.clamp(-6, 6) for x in _dots(center, context, negatives))
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean()


def quotient_overflows(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    p = torch.exp(yes) / (1 + torch.exp(yes))
    q = 1 / (1 + torch.exp(no))
    return -(p.log() + q.log().sum(1)).mean()


def nan_to_number(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    loss = -(torch.sigmoid(yes).log() + torch.sigmoid(-no).log().sum(1)).mean()
    return torch.nan_to_num(loss)


def value_patched_gradient_not(center, context, negatives):
    # the value is right, the gradient of log at 0 is infinite
    def stable(x):
        return torch.where(x > -30, torch.sigmoid(x).log(), x)

    yes, no = _dots(center, context, negatives)
    return -(stable(yes) + stable(-no).sum(1)).mean()


def one_tail_only(center, context, negatives):
    # log sigmoid is 0 beyond 20, x below -20: both are right, and the middle is in probabilities
    def stable(x):
        return torch.where(x.abs() < 1, torch.sigmoid(x).log(), x.clamp(max=0))

    yes, no = _dots(center, context, negatives)
    return -(stable(yes) + stable(-no).sum(1)).mean()


def mean_of_the_negatives_vectors(center, context, negatives):
    yes = (center * context).sum(-1)
    no = (center * negatives.mean(1)).sum(-1)
    return -(F.logsigmoid(yes) + negatives.shape[1] * F.logsigmoid(-no)).mean()


def sum_over_negatives_mean_over_nothing(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    return -F.logsigmoid(yes).mean() - F.logsigmoid(-no).sum()


def divided_by_negatives_too(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    loss = -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1))
    return loss.sum() / negatives.shape[1]


def first_negative_only(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no[:, 0])).mean()


def sum_of_the_wrong_axis(center, context, negatives):
    # the negatives' terms summed over the batch, then averaged over k
    yes, no = _dots(center, context, negatives)
    return -(F.logsigmoid(yes).mean() + F.logsigmoid(-no).sum(0).mean())


def all_pairs_are_neighbours(center, context, negatives):
    yes = center @ context.T
    _, no = _dots(center, context, negatives)
    return -(F.logsigmoid(yes).mean() + F.logsigmoid(-no).sum(1).mean())


def in_batch_negatives(center, context, negatives):
    scores = center @ context.T
    return F.cross_entropy(scores, torch.arange(len(center)))


def roles_swapped_throughout(center, context, negatives):
    yes, no = _dots(context, center, negatives)
    return -(F.logsigmoid(yes) + F.logsigmoid(no).sum(1)).mean()


def squared_distance(center, context, negatives):
    yes = -((center - context) ** 2).sum(-1)
    no = -((center.unsqueeze(1) - negatives) ** 2).sum(-1)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean()


def mean_over_dimensions(center, context, negatives):
    yes = (center * context).mean(-1)
    no = (negatives * center.unsqueeze(1)).mean(-1)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean()


def sigmoid_of_each_number(center, context, negatives):
    yes = F.logsigmoid(center * context).sum(-1)
    no = F.logsigmoid(-negatives * center.unsqueeze(1)).sum(-1)
    return -(yes + no.sum(1)).mean()


def hinge(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    return (1 - yes.unsqueeze(1) + no).clamp(min=0).sum(1).mean()


def tanh_for_sigmoid(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    return -(torch.tanh(yes) + torch.tanh(-no).sum(1)).mean()


def base_two(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean() / math.log(2)


def squeezed_for_one_pair(center, context, negatives):
    # squeeze() takes away the batch too, if it is 1
    no = (negatives @ center.unsqueeze(-1)).squeeze()
    return -(F.logsigmoid((center * context).sum(-1)) + F.logsigmoid(-no).sum(1)).mean()


def squeezed_for_one_negative(center, context, negatives):
    # squeeze() takes away k too, if it is 1, and the sum runs over the batch
    no = (negatives @ center.unsqueeze(-1)).squeeze()
    return -(F.logsigmoid((center * context).sum(-1)) + F.logsigmoid(-no).sum(-1)).mean()


def broadcast_along_the_wrong_axis(center, context, negatives):
    # (B, K, d) * (B, d): fits only if B = K, and then the centres meet the wrong negatives
    no = (negatives * center).sum(-1)
    return -(F.logsigmoid((center * context).sum(-1)) + F.logsigmoid(-no).sum(1)).mean()


def view_for_transpose(center, context, negatives):
    b, k, d = negatives.shape
    no = (center.unsqueeze(1) @ negatives.reshape(b, d, k)).squeeze(1)
    return -(F.logsigmoid((center * context).sum(-1)) + F.logsigmoid(-no).sum(1)).mean()


def terms_detached(center, context, negatives):
    yes, no = _dots(center.detach(), context, negatives)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean()


def context_cut_by_data(center, context, negatives):
    yes, no = _dots(center, context.data, negatives)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean()


def center_cut_in_the_negatives(center, context, negatives):
    yes, _ = _dots(center, context, negatives)
    _, no = _dots(center.detach(), context, negatives)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean()


def a_number(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean().item()


def a_tensor_of_numbers(center, context, negatives):
    losses = []
    for v, u, n in zip(center, context, negatives, strict=True):
        loss = -F.logsigmoid(u @ v)
        for other in n:
            loss -= F.logsigmoid(-(other @ v))
        losses.append(loss.item())
    return torch.tensor(sum(losses) / len(losses), dtype=center.dtype) + 0 * center.sum()


def numpy_answer(center, context, negatives):
    v, u, n = center.numpy(), context.numpy(), negatives.numpy()
    yes = np.logaddexp(0, -(v * u).sum(-1))
    return (yes + np.logaddexp(0, np.einsum("bkd,bd->bk", n, v)).sum(-1)).mean()


def returns_nothing(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean()


def both_terms_apart(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    return -F.logsigmoid(yes).mean(), -F.logsigmoid(-no).sum(1).mean()


def axis_kept(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean(0, keepdim=True)


def negatives_negated_in_place(center, context, negatives):
    no = (negatives.neg_() @ center.unsqueeze(-1)).squeeze(-1)
    return -(F.logsigmoid((center * context).sum(-1)) + F.logsigmoid(no).sum(1)).mean()


def always_float32(center, context, negatives):
    yes, no = _dots(center.float(), context.float(), negatives.float())
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean()


def weight_decay_added(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    loss = -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(1)).mean()
    return loss + 1e-3 * (center**2).sum()


WRONG = [
    epsilon_in_the_logarithm,
    clamped_probability,
    clamped_scores,
    quotient_overflows,
    nan_to_number,
    value_patched_gradient_not,
    one_tail_only,
    mean_of_the_negatives_vectors,
    sum_over_negatives_mean_over_nothing,
    divided_by_negatives_too,
    first_negative_only,
    sum_of_the_wrong_axis,
    all_pairs_are_neighbours,
    in_batch_negatives,
    roles_swapped_throughout,
    squared_distance,
    mean_over_dimensions,
    sigmoid_of_each_number,
    hinge,
    tanh_for_sigmoid,
    base_two,
    squeezed_for_one_pair,
    squeezed_for_one_negative,
    broadcast_along_the_wrong_axis,
    view_for_transpose,
    terms_detached,
    context_cut_by_data,
    center_cut_in_the_negatives,
    a_number,
    a_tensor_of_numbers,
    numpy_answer,
    returns_nothing,
    both_terms_apart,
    axis_kept,
    negatives_negated_in_place,
    always_float32,
    weight_decay_added,
]
