"""Answers to `negative_sampling_loss`."""

import sys
import warnings

import torch
import torch.nn.functional as F
from tqdm.auto import tqdm

# Right


def with_loops(center, context, negatives):
    total = center.new_zeros(())
    for b in range(center.size(0)):
        total = total - F.logsigmoid(center[b] @ context[b])
        for k in range(negatives.size(1)):
            total = total - F.logsigmoid(-(center[b] @ negatives[b, k]))
    return total / center.size(0) if len(center) else total


def with_cross_entropy(center, context, negatives):
    words = torch.cat([context.unsqueeze(1), negatives], dim=1)
    scores = torch.einsum("bwd,bd->bw", words, center)
    answers = torch.zeros_like(scores)
    answers[:, 0] = 1
    loss = F.binary_cross_entropy_with_logits(scores, answers, reduction="none")
    return loss.sum() / max(len(loss), 1)


def _log_sigmoid(x):
    # min(x, 0) - log(1 + e^-|x|)
    return torch.minimum(x, torch.zeros_like(x)) - torch.log1p(torch.exp(-x.abs()))


def own_log_sigmoid(center, context, negatives):
    yes = (center * context).sum(-1)
    no = (negatives * center.unsqueeze(1)).sum(-1)
    if yes.numel() == 0:
        return (yes.sum() + no.sum()) * 0
    return -_log_sigmoid(yes).mean() - _log_sigmoid(-no).sum(-1).mean()


def float64_kept(center, context, negatives):
    v, u, n = center.double(), context.double(), negatives.double()
    loss = F.softplus(-(v * u).sum(-1)) + F.softplus((n @ v[..., None])[..., 0]).sum(-1)
    return loss.mean() if len(loss) else loss.sum()


def talkative(center, context, negatives):
    warnings.warn("how many negatives?", UserWarning, stacklevel=2)
    print(negatives.shape, file=sys.stderr)
    losses = [center.new_zeros(())]
    for v, u, n in tqdm(list(zip(center, context, negatives, strict=True))):
        print("pair")
        losses.append(-F.logsigmoid(u @ v) - F.logsigmoid(-(n @ v)).sum())
    return torch.stack(losses).sum() / max(1, len(losses) - 1)


RIGHT = [with_loops, with_cross_entropy, own_log_sigmoid, float64_kept, talkative]

# Wrong


def _dots(center, context, negatives):
    return (center * context).sum(-1), (negatives @ center.unsqueeze(-1)).squeeze(-1)


def clamped_probability(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    p, q = (torch.sigmoid(x).clamp(1e-7, 1 - 1e-7) for x in (yes, -no))
    return -(p.log() + q.log().sum(1)).sum() / max(len(p), 1)


def quotient_overflows(center, context, negatives):
    yes, no = _dots(center, context, negatives)
    p = torch.exp(yes) / (1 + torch.exp(yes))
    q = 1 / (1 + torch.exp(no))
    return -(p.log() + q.log().sum(1)).sum() / max(len(p), 1)


def value_patched_gradient_not(center, context, negatives):
    # the value is right, the gradient of log at 0 is infinite
    def stable(x):
        return torch.where(x > -30, torch.sigmoid(x).log(), x)

    yes, no = _dots(center, context, negatives)
    return -(stable(yes) + stable(-no).sum(1)).sum() / max(len(yes), 1)


def squeezed_for_one_pair(center, context, negatives):
    # squeeze() takes away the batch too, if it is 1
    no = (negatives @ center.unsqueeze(-1)).squeeze()
    loss = -(F.logsigmoid((center * context).sum(-1)) + F.logsigmoid(-no).sum(1))
    return loss.sum() / max(len(center), 1)


def squeezed_for_one_negative(center, context, negatives):
    # squeeze() takes away k too, if it is 1, and the sum runs over the batch
    no = (negatives @ center.unsqueeze(-1)).squeeze()
    loss = -(F.logsigmoid((center * context).sum(-1)) + F.logsigmoid(-no).sum(-1))
    return loss.sum() / max(len(center), 1)


WRONG = [
    clamped_probability,
    quotient_overflows,
    value_patched_gradient_not,
    squeezed_for_one_pair,
    squeezed_for_one_negative,
]
