"""Answers to `last_state`."""

import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

# Right


def gathered(states: Tensor, lengths: Tensor) -> Tensor:
    at = (lengths - 1).view(-1, 1, 1).expand(-1, 1, states.size(2))
    return states.gather(1, at).squeeze(1)


def sentence_by_sentence(states, lengths):
    return torch.stack([s[n - 1] for s, n in zip(states, lengths, strict=True)])


def one_hot_product(states, lengths):
    chosen = F.one_hot(lengths - 1, states.shape[1]).to(states.dtype)
    return torch.einsum("bn,bnd->bd", chosen, states)


def by_comparison(states, lengths):
    """The one position where j == L - 1, picked with a mask."""
    places = torch.arange(states.shape[1], device=states.device)
    return states[places == lengths.unsqueeze(1) - 1]


def from_the_flat_list(states, lengths):
    b, n, d = states.shape
    flat = states.reshape(b * n, d)
    return flat.index_select(0, torch.arange(b) * n + lengths - 1)


def along_dim(states, lengths):
    return torch.take_along_dim(states, (lengths - 1)[:, None, None], dim=1)[:, 0]


def difference_of_sums(states, lengths):
    """Everything up to L, less everything up to L - 1."""
    j = torch.arange(states.shape[1])
    upto = (j < lengths[:, None]).to(states.dtype)
    before = (j < lengths[:, None] - 1).to(states.dtype)
    return ((upto - before).unsqueeze(-1) * states).sum(1)


def float64_kept(states, lengths):
    return states.double()[torch.arange(len(lengths)), lengths - 1]


def talkative(states, lengths):
    print("states", states.shape)
    warnings.warn("indexing", stacklevel=1)
    sys.stderr.write("debug\n")
    rows = []
    for b in tqdm(range(len(states))):
        rows.append(states[b][: int(lengths[b])][-1])
    return torch.stack(rows)


RIGHT = [
    gathered,
    sentence_by_sentence,
    one_hot_product,
    by_comparison,
    from_the_flat_list,
    along_dim,
    difference_of_sums,
    float64_kept,
    talkative,
]

# Wrong


def mean_of_the_words(states, lengths):
    real = torch.arange(states.shape[1]) < lengths[:, None]
    return (states * real[..., None]).sum(1) / lengths[:, None]


def sum_of_the_words(states, lengths):
    real = torch.arange(states.shape[1]) < lengths[:, None]
    return (states * real[..., None]).sum(1)


def first_and_last(states, lengths):
    return states[:, 0] + states[torch.arange(len(states)), lengths - 1]


def counted_from_the_end(states, lengths):
    return states[torch.arange(len(states)), -lengths]


def shifted_by_one_and_wrapped(states, lengths):
    return states[torch.arange(len(states)), lengths % states.shape[1]]


def two_places_too_early(states, lengths):
    return states[torch.arange(len(states)), (lengths - 3).clamp(min=0)]


def shortest_length(states, lengths):
    return states[:, lengths.min() - 1]


def sorted_by_length(states, lengths):
    """Sorts for packing and never unsorts."""
    order = lengths.argsort(descending=True)
    return states[order, lengths[order] - 1]


def gathered_along_the_batch(states, lengths):
    at = (lengths - 1).clamp(max=len(states) - 1)[:, None, None].expand(-1, 1, states.shape[2])
    return states.gather(0, at).squeeze(1)


def axis_left_over(states, lengths):
    at = (lengths - 1).view(-1, 1, 1).expand(-1, 1, states.shape[2])
    return states.gather(1, at)


def squeezed_too_much(states, lengths):
    at = (lengths - 1).view(-1, 1, 1).expand(-1, 1, states.shape[2])
    return states.gather(1, at).squeeze()


def one_feature(states, lengths):
    return states.gather(1, (lengths - 1).view(-1, 1, 1)).squeeze(1)


def batch_second(states, lengths):
    return states[torch.arange(len(states)), lengths - 1].T


def tuple_of_rows(states, lengths):
    return tuple(s[n - 1] for s, n in zip(states, lengths, strict=True))


def numpy_array(states, lengths):
    return states.detach().numpy()[np.arange(len(states)), lengths.numpy() - 1]


def in_float32(states, lengths):
    out = torch.zeros(states.shape[0], states.shape[2])
    for b, n in enumerate(lengths):
        out[b] = states[b, n - 1]
    return out


def tanh_added(states, lengths):
    return torch.tanh(states[torch.arange(len(states)), lengths - 1])


def lengths_changed(states, lengths):
    lengths -= 1
    return states[torch.arange(len(states)), lengths]


def padding_zeroed_in_place(states, lengths):
    states[torch.arange(states.shape[1]) >= lengths[:, None]] = 0
    return states[torch.arange(len(states)), lengths - 1]


def half_gradient(states, lengths):
    found = states[torch.arange(len(states)), lengths - 1]
    return 0.5 * found + 0.5 * found.detach()


def nothing_returned(states, lengths):
    states[torch.arange(len(states)), lengths - 1]


def zeros(states, lengths):
    return states[:, 0] * 0


WRONG = [
    mean_of_the_words,
    sum_of_the_words,
    first_and_last,
    counted_from_the_end,
    shifted_by_one_and_wrapped,
    two_places_too_early,
    shortest_length,
    sorted_by_length,
    gathered_along_the_batch,
    axis_left_over,
    squeezed_too_much,
    one_feature,
    batch_second,
    tuple_of_rows,
    numpy_array,
    in_float32,
    tanh_added,
    lengths_changed,
    padding_zeroed_in_place,
    half_gradient,
    nothing_returned,
    zeros,
]
