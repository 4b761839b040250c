"""Answers to `mask_tokens`: every right one draws in a way of its own."""

import numpy as np
import torch

# Right


def with_bernoulli(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    # masked_fill, then one half of the rest, as many programs do it
    rates = torch.full(tokens.shape, probability).masked_fill(special, 0.0)
    chosen = torch.bernoulli(rates, generator=generator).bool()
    labels = tokens.masked_fill(~chosen, -100)
    inputs = tokens.clone()
    hide = torch.bernoulli(torch.full(tokens.shape, 0.8), generator=generator).bool() & chosen
    inputs[hide] = mask_id
    half = torch.bernoulli(torch.full(tokens.shape, 0.5), generator=generator).bool()
    replace = half & chosen & ~hide
    words = torch.randint(vocabulary_size, tokens.shape, dtype=torch.long, generator=generator)
    inputs[replace] = words[replace]
    return inputs, labels


def with_multinomial(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    p = probability
    shares = torch.tensor([1 - p, 0.8 * p, 0.1 * p, 0.1 * p])
    n = tokens.numel()
    fate = torch.multinomial(shares, n, replacement=True, generator=generator).view(tokens.shape)
    fate = fate * ~special
    other = (
        torch.randint_like(tokens, vocabulary_size)
        if generator is None
        else torch.randint(vocabulary_size, tokens.shape, generator=generator)
    )
    inputs = (
        (fate == 0) * tokens + (fate == 1) * mask_id + (fate == 2) * other + (fate == 3) * tokens
    )
    return inputs, torch.where(fate > 0, tokens, torch.tensor(-100))


def token_by_token(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    inputs, labels = [], []
    rows = torch.rand(tokens.numel(), 3, dtype=torch.float64, generator=generator).tolist()
    for token, marked, (a, b, c) in zip(
        tokens.flatten().tolist(), special.flatten().tolist(), rows, strict=True
    ):
        if marked or a >= probability:
            inputs.append(token)
            labels.append(-100)
            continue
        labels.append(token)
        inputs.append(mask_id if b < 0.8 else int(c * vocabulary_size) if b < 0.9 else token)
    return torch.tensor(inputs).view_as(tokens), torch.tensor(labels).view_as(tokens)


def torchs_own_if_none(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    generator = generator or torch.default_generator
    u = torch.empty(3, *tokens.shape).uniform_(generator=generator)
    chosen = u[0].lt(probability) * special.logical_not()
    other = (u[2].double() * vocabulary_size).floor().long().clamp(max=vocabulary_size - 1)
    inputs = torch.where(chosen & (u[1] > 0.2), mask_id, tokens)
    inputs = torch.where(chosen & (u[1] <= 0.1), other, inputs)
    return [inputs, torch.where(chosen, tokens, -100)]


def through_numpy(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    seed = torch.randint(2**31, (1,), generator=generator).item()
    rng = np.random.default_rng(seed)
    chosen = (rng.random(tokens.shape) < probability) & ~special.numpy()
    fate = rng.random(tokens.shape)
    inputs = tokens.numpy().copy()
    inputs[chosen & (fate < 0.8)] = mask_id
    swap = chosen & (fate >= 0.8) & (fate < 0.9)
    inputs[swap] = rng.integers(0, vocabulary_size, swap.sum())
    labels = np.where(chosen, tokens.numpy(), -100)
    return torch.from_numpy(inputs), torch.from_numpy(labels)


RIGHT = [with_bernoulli, with_multinomial, token_by_token, torchs_own_if_none, through_numpy]

# Wrong


def _choice(tokens, special, generator, probability):
    return (torch.rand(tokens.shape, generator=generator) < probability) & ~special


def _hidden(tokens, chosen, v, mask_id, generator, hide=0.8, stay=0.1, other=None):
    fate = torch.rand(tokens.shape, generator=generator)
    if other is None:
        other = torch.randint(v, tokens.shape, generator=generator)
    inputs = torch.where(chosen & (fate < hide), mask_id, tokens)
    inputs = torch.where(chosen & (fate >= hide) & (fate < 1 - stay), other, inputs)
    return inputs, torch.where(chosen, tokens, -100)


def default_of_a_fifth(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.2):
    chosen = _choice(tokens, special, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def one_fate_for_all(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = _choice(tokens, special, generator, probability)
    fate = torch.rand((), generator=generator)
    other = torch.randint(vocabulary_size, tokens.shape, generator=generator)
    seen = mask_id if fate < 0.8 else other if fate < 0.9 else tokens
    return torch.where(chosen, seen, tokens), torch.where(chosen, tokens, -100)


def flattened(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = _choice(tokens, special, generator, probability)
    inputs, labels = _hidden(tokens, chosen, vocabulary_size, mask_id, generator)
    return inputs.flatten(), labels.flatten()


def two_axes_only(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    b, n = tokens.shape
    chosen = (torch.rand(b, n, generator=generator) < probability) & ~special
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def never_the_true_token(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    steps = torch.randint(1, vocabulary_size, tokens.shape, generator=generator)
    other = (tokens + steps) % vocabulary_size
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, other=other)


def new_generator_if_none(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    generator = generator or torch.Generator()
    chosen = _choice(tokens, special, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


WRONG = [
    default_of_a_fifth,
    one_fate_for_all,
    flattened,
    two_axes_only,
    never_the_true_token,
    new_generator_if_none,
]
