"""Answers to `next_sentence_pairs`: every right one draws in a way of its own."""

import itertools

import numpy as np
import torch

# Right


def any_other_sentence(documents, generator=None):
    if len([d for d in documents if d]) < 2:
        raise ValueError
    pairs = []
    for i, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != i for s in other]
        for first, second in itertools.pairwise(document):
            is_next = torch.randint(2, (1,), generator=generator).item() == 1
            if not is_next:
                second = others[torch.randint(len(others), (1,), generator=generator).item()]
            pairs.append((first, second, is_next))
    return pairs


def all_numbers_at_once(documents, generator=None):
    full = [i for i, d in enumerate(documents) if len(d)]
    if len(full) < 2:
        raise ValueError("not enough documents")
    where = [(i, j) for i in full for j in range(len(documents[i]) - 1)]
    coins = torch.bernoulli(torch.full((len(where),), 0.5), generator=generator).bool()
    levels = torch.rand(len(where), 2, dtype=torch.float64, generator=generator)
    pairs = []
    for (i, j), coin, (a, b) in zip(where, coins.tolist(), levels.tolist(), strict=True):
        others = [k for k in full if k != i]
        other = documents[others[int(a * len(others))]]
        second = documents[i][j + 1] if coin else other[int(b * len(other))]
        pairs.append((documents[i][j], second, coin))
    return pairs


def shifted_number(documents, generator=None):
    # a number from 1 to n - 1, added to the document's own, never hits it
    kept = [document for document in documents if len(document) > 0]
    n = len(kept)
    if n < 2:
        raise ValueError("too few")
    pairs = []
    for i, document in enumerate(kept):
        for pair in itertools.pairwise(document):
            step = int(torch.randint(1, n, (), generator=generator))
            other = kept[(i + step) % n]
            place = int(torch.randint(len(other), (), generator=generator))
            coin = bool(torch.randint(2, (), generator=generator))
            pairs.append((*pair, True) if coin else (pair[0], other[place], False))
    return pairs


def lists_of_three(documents, generator=None):
    class NotEnough(ValueError):
        pass

    if sum(len(d) > 0 for d in documents) < 2:
        raise NotEnough("documents")
    return [list(pair) for pair in any_other_sentence(documents, generator)]


def through_numpy(documents, generator=None):
    # the generator seeds another one, which draws the rest
    if sum(len(d) > 0 for d in documents) < 2:
        raise ValueError("documents")
    seed = torch.randint(2**31, (1,), generator=generator).item()
    rng = np.random.default_rng(seed)
    pairs = []
    for i, document in enumerate(documents):
        others = [d for k, d in enumerate(documents) if k != i and len(d) > 0]
        for first, second in itertools.pairwise(document):
            coin = rng.random() < 0.5
            other = others[rng.integers(len(others))]
            pairs.append((first, second if coin else other[rng.integers(len(other))], coin))
    return pairs


RIGHT = [any_other_sentence, all_numbers_at_once, shifted_number, lists_of_three, through_numpy]

# Wrong


def _made(documents, generator, coin, second, enough=2):
    """The pairs, with a coin and a way of choosing the wrong second sentence."""
    if sum(len(d) > 0 for d in documents) < enough:
        raise ValueError("documents")
    pairs = []
    for i, document in enumerate(documents):
        for j in range(len(document) - 1):
            is_next = coin(i, j)
            other = document[j + 1] if is_next else second(i, j)
            pairs.append((document[j], other, is_next))
    return pairs


def _rand(generator):
    return torch.rand((), dtype=torch.float64, generator=generator).item()


def other_by_value(documents, generator=None):
    # documents with the same sentences count as one
    def second(i, j):
        others = [d for d in documents if d != documents[i] and d]
        other = others[int(_rand(generator) * len(others))]
        return other[int(_rand(generator) * len(other))]

    return _made(documents, generator, lambda i, j: _rand(generator) < 0.5, second)


def empty_documents_chosen(documents, generator=None):
    def second(i, j):
        others = [d for k, d in enumerate(documents) if k != i]
        other = others[int(_rand(generator) * len(others))]
        return other[int(_rand(generator) * len(other))]

    return _made(documents, generator, lambda i, j: _rand(generator) < 0.5, second)


def index_error(documents, generator=None):
    if sum(len(d) > 0 for d in documents) < 2:
        raise IndexError("documents")
    return any_other_sentence(documents, generator)


def nought_and_one(documents, generator=None):
    pairs = any_other_sentence(documents, generator)
    return [(first, second, int(is_next)) for first, second, is_next in pairs]


def reseeds(documents, generator=None):
    if generator is not None:
        generator.manual_seed(generator.initial_seed())
    return any_other_sentence(documents, generator)


def new_generator_if_none(documents, generator=None):
    return any_other_sentence(documents, generator or torch.Generator())


WRONG = [
    other_by_value,
    empty_documents_chosen,
    index_error,
    nought_and_one,
    reseeds,
    new_generator_if_none,
]
