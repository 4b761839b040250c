"""Answers to `hard_attention`: every right one draws in a way of its own."""

import sys
import warnings

import torch
import torch.nn.functional as F
from tqdm.auto import tqdm

# Right


def with_searchsorted(weights, values, generator=None):
    B, N, d = values.shape
    u = torch.rand((B, 1), generator=generator)
    edges = weights.detach().float().cumsum(-1).contiguous()
    place = torch.searchsorted(edges, u, right=True).clamp(max=N - 1)
    context = values.gather(1, place.unsqueeze(2).expand(B, 1, d)).squeeze(1)
    sample = torch.eye(N, dtype=weights.dtype)[place[:, 0]]
    return context, sample, torch.log((weights * sample).sum(1))


def race_of_exponentials(weights, values, generator=None):
    times = torch.empty_like(weights.detach()).exponential_(generator=generator)
    place = (times / weights.detach()).argmin(1)
    sample = torch.zeros_like(weights).index_put(
        (torch.arange(len(place)), place), torch.ones((), dtype=weights.dtype)
    )
    log_prob = torch.where(sample.bool(), weights, torch.ones_like(weights)).log().sum(1)
    return torch.einsum("bn,bnd->bd", sample, values), sample, log_prob


def one_picture_at_a_time(weights, values, generator=None):
    contexts, samples, logs = [], [], []
    for row, places in zip(weights, values, strict=True):
        i = int(torch.multinomial(row.detach(), 1, generator=generator))
        one = torch.zeros_like(row)
        one[i] = 1
        contexts.append(places[i])
        samples.append(one)
        logs.append(row[i].log())
    return torch.stack(contexts), torch.stack(samples), torch.stack(logs)


def talkative(weights, values, generator=None):
    warnings.warn("hard", stacklevel=1)
    print("generator", generator, file=sys.stderr)
    place = torch.multinomial(weights, 1, generator=generator)
    sample = F.one_hot(place[:, 0], weights.shape[1]).to(weights)
    context = 0
    for i in tqdm(range(weights.shape[1])):
        context = context + sample[:, i : i + 1] * values[:, i]
    return [context, sample, weights.gather(1, place).log().flatten()]


def float64_kept(weights, values, generator=None):
    place = torch.multinomial(weights.double(), 1, generator=generator)
    sample = torch.zeros(weights.shape, dtype=torch.float64).scatter(1, place, 1.0)
    context = torch.einsum("bn,bnd->bd", sample, values.double())
    return context, sample, weights.double().gather(1, place).squeeze(1).log()


RIGHT = [with_searchsorted, race_of_exponentials, one_picture_at_a_time, talkative, float64_kept]

# Wrong


def _results(weights, values, place):
    rows = torch.arange(len(place))
    sample = F.one_hot(place, weights.shape[1]).to(weights.dtype)
    return values[rows, place], sample, weights[rows, place].log()


def _drawn(weights, generator):
    return torch.multinomial(weights.detach(), 1, generator=generator)[:, 0]


def gumbel_upside_down(weights, values, generator=None):
    noise = torch.log(-torch.log(torch.rand(weights.shape, generator=generator)))
    return _results(weights, values, (weights.log() + noise).argmax(1))


def values_cut(weights, values, generator=None):
    return _results(weights, values.detach(), _drawn(weights, generator))


def generator_needed(weights, values, generator=None):
    u = torch.empty(len(weights), 1, dtype=weights.dtype)
    for b in range(len(u)):
        u[b] = torch.rand(1, generator=generator).item() + 0 * generator.initial_seed()
    return _results(weights, values, (weights.cumsum(1) <= u).sum(1))


def generator_required(weights, values, generator):
    return _results(weights, values, _drawn(weights, generator))


def log_prob_first(weights, values, generator=None):
    context, sample, log_prob = _results(weights, values, _drawn(weights, generator))
    return log_prob, sample, context


WRONG = [gumbel_upside_down, values_cut, generator_needed, generator_required, log_prob_first]
