"""Answers to `mask_tokens`: every right one draws in a way of its own."""

import sys
import warnings

import numpy as np
import torch
from torch import Tensor

# Right


def one_number_for_all(
    tokens: Tensor, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    # one uniform number decides about choice and fate
    u = torch.rand(tokens.shape, generator=generator)
    chosen = (u < probability) & ~special
    inputs = tokens.clone()
    inputs[chosen & (u < 0.8 * probability)] = mask_id
    other = torch.randint(0, vocabulary_size, tokens.shape, generator=generator)
    swap = chosen & (u >= 0.9 * probability)
    inputs[swap] = other[swap]
    labels = torch.full_like(tokens, -100)
    labels[chosen] = tokens[chosen]
    return inputs, labels


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


def fate_of_the_chosen_only(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = (torch.rand(tokens.shape, generator=generator) < probability).logical_and(~special)
    true = tokens[chosen]
    fate = torch.randint(10, (len(true),), generator=generator)
    other = torch.randint(vocabulary_size, (len(true),), generator=generator)
    seen = torch.where(fate == 0, true, other)
    seen = torch.where(fate > 1, torch.full_like(true, mask_id), seen)
    labels = torch.full(tokens.shape, -100)
    labels[chosen] = true
    return tokens.masked_scatter(chosen, seen), labels


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


def talkative(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    warnings.warn("masking", stacklevel=1)
    print(generator, file=sys.stderr)
    return one_number_for_all(tokens, special, vocabulary_size, mask_id, generator, probability)


RIGHT = [
    one_number_for_all,
    with_bernoulli,
    fate_of_the_chosen_only,
    with_multinomial,
    token_by_token,
    torchs_own_if_none,
    through_numpy,
    talkative,
]

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


def ten_percent(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = _choice(tokens, special, generator, probability * 2 / 3)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def default_of_a_fifth(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.2):
    chosen = _choice(tokens, special, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def the_others_are_chosen(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, 1 - probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def seventy_percent_hidden(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, hide=0.7)


def thirds(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = _choice(tokens, special, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, hide=1 / 3, stay=1 / 3)


def fifteen_random_five_stay(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, stay=0.05)


def five_random_fifteen_stay(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, stay=0.15)


def ninety_percent_hidden(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, hide=0.9, stay=0.05)


def one_fate_for_all(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = _choice(tokens, special, generator, probability)
    fate = torch.rand((), generator=generator)
    other = torch.randint(vocabulary_size, tokens.shape, generator=generator)
    seen = mask_id if fate < 0.8 else other if fate < 0.9 else tokens
    return torch.where(chosen, seen, tokens), torch.where(chosen, tokens, -100)


def one_fate_for_each_row(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    fate = torch.rand((*tokens.shape[:-1], 1), generator=generator)
    other = torch.randint(vocabulary_size, tokens.shape, generator=generator)
    seen = torch.where(fate < 0.9, other, tokens)
    seen = torch.where(fate < 0.8, mask_id, seen)
    return torch.where(chosen, seen, tokens), torch.where(chosen, tokens, -100)


def first_ones_hidden(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    # the first 80 % of the chosen tokens are hidden, then come 10 % random ones
    chosen = _choice(tokens, special, generator, probability)
    rank = chosen.flatten().cumsum(0).reshape(tokens.shape) / chosen.sum().clamp(min=1)
    other = torch.randint(vocabulary_size, tokens.shape, generator=generator)
    inputs = torch.where(chosen & (rank <= 0.8), mask_id, tokens)
    inputs = torch.where(chosen & (rank > 0.8) & (rank <= 0.9), other, inputs)
    return inputs, torch.where(chosen, tokens, -100)


def one_random_token(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = _choice(tokens, special, generator, probability)
    other = torch.randint(vocabulary_size, (), generator=generator)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, other=other)


def one_random_token_for_each_row(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    other = torch.randint(vocabulary_size, (*tokens.shape[:-1], 1), generator=generator)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, other=other)


def random_token_never_padding(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    other = torch.randint(1, vocabulary_size, tokens.shape, generator=generator)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, other=other)


def random_token_never_the_last(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    other = torch.randint(0, vocabulary_size - 1, tokens.shape, generator=generator)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, other=other)


def random_token_beyond_the_last(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    other = torch.randint(0, vocabulary_size + 1, tokens.shape, generator=generator)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, other=other)


def random_token_of_the_text(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    order = torch.randperm(tokens.numel(), generator=generator)
    other = tokens.flatten()[order].reshape(tokens.shape)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, other=other)


def random_token_always_another(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    # as if the random token could be small numbers only
    chosen = _choice(tokens, special, generator, probability)
    normal = torch.randn(tokens.shape, generator=generator).abs() * vocabulary_size / 4
    other = normal.long().clamp(max=vocabulary_size - 1)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, other=other)


def fixed_number_of_the_batch(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    level = torch.rand(tokens.shape, generator=generator).masked_fill(special, 2.0).flatten()
    count = max(1, round(probability * int((~special).sum())))
    chosen = torch.zeros(tokens.numel(), dtype=torch.bool)
    chosen[level.argsort()[:count]] = True
    chosen = chosen.reshape(tokens.shape) & ~special
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def fixed_number_rounded_down(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    count = (probability * tokens.shape[-1]).__floor__()
    level = torch.rand(tokens.shape, generator=generator).masked_fill(special, 2.0)
    rank = level.argsort(-1).argsort(-1)
    return _hidden(tokens, (rank < count) & ~special, vocabulary_size, mask_id, generator)


def every_seventh(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    n = tokens.shape[-1]
    step = round(1 / probability) if probability else n + 1
    begin = torch.randint(step, (*tokens.shape[:-1], 1), generator=generator)
    chosen = ((torch.arange(n) - begin) % step == 0) & ~special
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def whole_columns(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = (torch.rand(tokens.shape[-1], generator=generator) < probability) & ~special
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator, hide=0.8, stay=0.2)


def spans_of_three(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    # three neighbours are chosen together
    n = tokens.shape[-1]
    level = torch.rand((*tokens.shape[:-1], (n + 2) // 3), generator=generator)
    chosen = (level < probability).repeat_interleave(3, -1)[..., :n] & ~special
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def ids_below_five_are_special(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, tokens < 5, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def padding_is_special_too(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special | (tokens == 0), generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def mask_is_four(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = _choice(tokens, special, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, 4, generator)


def labels_of_minus_one(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    inputs, labels = _hidden(tokens, chosen, vocabulary_size, mask_id, generator)
    return inputs, labels.masked_fill(~chosen, -1)


def labels_where_not_chosen(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    inputs, _ = _hidden(tokens, chosen, vocabulary_size, mask_id, generator)
    return inputs, torch.where(chosen, -100, tokens)


def labels_of_hidden_ones_only(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    inputs, _ = _hidden(tokens, chosen, vocabulary_size, mask_id, generator)
    return inputs, torch.where(chosen & (inputs == mask_id), tokens, -100)


def labels_of_special_tokens(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    inputs, labels = _hidden(tokens, chosen, vocabulary_size, mask_id, generator)
    return inputs, torch.where(special, tokens, labels)


def chosen_for_labels(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = _choice(tokens, special, generator, probability)
    inputs, _ = _hidden(tokens, chosen, vocabulary_size, mask_id, generator)
    return inputs, chosen


def labels_first(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = _choice(tokens, special, generator, probability)
    inputs, labels = _hidden(tokens, chosen, vocabulary_size, mask_id, generator)
    return labels, inputs


def floating_labels(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = _choice(tokens, special, generator, probability)
    inputs, labels = _hidden(tokens, chosen, vocabulary_size, mask_id, generator)
    return inputs, labels.float()


def inputs_only(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = _choice(tokens, special, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)[0]


def flattened(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    chosen = _choice(tokens, special, generator, probability)
    inputs, labels = _hidden(tokens, chosen, vocabulary_size, mask_id, generator)
    return inputs.flatten(), labels.flatten()


def two_axes_only(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    b, n = tokens.shape
    chosen = (torch.rand(b, n, generator=generator) < probability) & ~special
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def special_written_into(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    chosen = _choice(tokens, special, generator, probability)
    special |= ~chosen
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def written_and_restored(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    # the special ones are not restored
    chosen = _choice(tokens, special, generator, probability)
    inputs, labels = _hidden(tokens, chosen, vocabulary_size, mask_id, generator)
    tokens[special] = mask_id
    return inputs, labels


def reseeds(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15):
    if generator is not None:
        generator.manual_seed(generator.initial_seed())
    chosen = _choice(tokens, special, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


def new_generator_if_none(
    tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15
):
    generator = generator or torch.Generator()
    chosen = _choice(tokens, special, generator, probability)
    return _hidden(tokens, chosen, vocabulary_size, mask_id, generator)


WRONG = [
    ten_percent,
    default_of_a_fifth,
    the_others_are_chosen,
    seventy_percent_hidden,
    thirds,
    fifteen_random_five_stay,
    five_random_fifteen_stay,
    ninety_percent_hidden,
    one_fate_for_all,
    one_fate_for_each_row,
    first_ones_hidden,
    one_random_token,
    one_random_token_for_each_row,
    random_token_never_padding,
    random_token_never_the_last,
    random_token_beyond_the_last,
    random_token_of_the_text,
    random_token_always_another,
    fixed_number_of_the_batch,
    fixed_number_rounded_down,
    every_seventh,
    whole_columns,
    spans_of_three,
    ids_below_five_are_special,
    padding_is_special_too,
    mask_is_four,
    labels_of_minus_one,
    labels_where_not_chosen,
    labels_of_hidden_ones_only,
    labels_of_special_tokens,
    chosen_for_labels,
    labels_first,
    floating_labels,
    inputs_only,
    flattened,
    two_axes_only,
    special_written_into,
    written_and_restored,
    reseeds,
    new_generator_if_none,
]
