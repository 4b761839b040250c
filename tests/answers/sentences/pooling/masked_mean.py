"""Answers to `masked_mean`."""

import numpy as np
import torch

# Right


def weights_first(states, mask):
    """A row of 1 / count on the words, and a matrix product."""
    weights = mask / mask.sum(1, keepdim=True).clamp(min=1)
    return torch.bmm(weights.to(states.dtype).unsqueeze(1), states).squeeze(1)


def sentence_by_sentence(states, mask):
    rows = []
    for s, m in zip(states, mask, strict=True):
        rows.append(s[m].mean(0) if m.any() else 0 * s[0])
    return torch.stack(rows)


def softmax_of_zeros(states, mask):
    """Attention that does not care: the mean."""
    scores = torch.zeros_like(states[..., 0]).masked_fill(~mask, -1e30)
    weights = scores.softmax(-1) * mask
    return (weights.unsqueeze(-1) * states).sum(1)


def nan_made_zero(states, mask):
    nan = torch.full_like(states, float("nan"))
    return torch.nan_to_num(torch.where(mask.unsqueeze(-1), states, nan).nanmean(1))


def float64_kept(states, mask):
    wide = states.double() * mask.unsqueeze(-1)
    return wide.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


RIGHT = [weights_first, sentence_by_sentence, softmax_of_zeros, nan_made_zero, float64_kept]

# Wrong


def _shown(states, mask):
    return states.masked_fill(~mask.unsqueeze(-1), 0.0)


def _count(mask):
    return mask.sum(1, keepdim=True).clamp(min=1)


def states_that_are_not_zero(states, mask):
    shown = _shown(states, mask)
    return shown.sum(1) / (shown != 0).sum(1).clamp(min=1)


def nan_hidden_behind(states, mask):
    """The values are right; the gradient of an empty sentence is NaN."""
    total = (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
    return torch.nan_to_num(total)


def prefix_for_mask(states, mask):
    """Takes for granted that words come first."""
    mask = torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)
    return _shown(states, mask).sum(1) / _count(mask)


def squeezed(states, mask):
    return (_shown(states, mask).sum(1) / _count(mask)).squeeze()


def through_numpy(states, mask):
    s, m = states.detach().numpy(), mask.numpy()
    return torch.from_numpy((s * m[..., None]).sum(1) / np.maximum(m.sum(1, keepdims=True), 1))


WRONG = [states_that_are_not_zero, nan_hidden_behind, prefix_for_mask, squeezed, through_numpy]
