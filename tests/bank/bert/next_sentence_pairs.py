"""Answers to `next_sentence_pairs`: every right one draws in a way of its own."""

import itertools
import sys
import warnings

import numpy as np
import torch

# Right


def document_then_sentence(documents, generator=None):
    if sum(len(d) > 0 for d in documents) < 2:
        raise ValueError("at least two documents with a sentence are needed")
    pairs = []
    for i in range(len(documents)):
        for j in range(len(documents[i]) - 1):
            first = documents[i][j]
            if torch.rand(1, generator=generator).item() < 0.5:
                pairs.append((first, documents[i][j + 1], True))
            else:
                k = i
                while k == i or len(documents[k]) == 0:
                    k = torch.randint(0, len(documents), (1,), generator=generator).item()
                n = torch.randint(0, len(documents[k]), (1,), generator=generator).item()
                pairs.append((first, documents[k][n], False))
    return pairs


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


def shuffled_negatives(documents, generator=None):
    if sum(1 for d in documents if d) < 2:
        raise ValueError("a single document has no other")
    pairs = []
    for i, document in enumerate(documents):
        others = [s for k in range(len(documents)) if k != i for s in documents[k]]
        for j in range(1, len(document)):
            order = torch.randperm(len(others), generator=generator)
            coin = torch.rand((), generator=generator) >= 0.5
            second = document[j] if coin else others[order[0]]
            pairs.append((document[j - 1], second, coin))
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


def talkative(documents, generator=None):
    warnings.warn("pairs", stacklevel=1)
    print(generator, file=sys.stderr)
    return document_then_sentence(documents, generator)


RIGHT = [
    document_then_sentence,
    any_other_sentence,
    all_numbers_at_once,
    shifted_number,
    shuffled_negatives,
    lists_of_three,
    through_numpy,
    talkative,
]

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


def _other(documents, i, generator):
    others = [s for k, d in enumerate(documents) if k != i for s in d]
    return others[int(_rand(generator) * len(others))]


def one_coin_for_all(documents, generator=None):
    side = _rand(generator) < 0.5
    return _made(
        documents, generator, lambda i, j: side, lambda i, j: _other(documents, i, generator)
    )


def one_coin_for_each_document(documents, generator=None):
    sides = [_rand(generator) < 0.5 for _ in documents]
    return _made(
        documents, generator, lambda i, j: sides[i], lambda i, j: _other(documents, i, generator)
    )


def every_second_pair(documents, generator=None):
    begin = int(_rand(generator) * 2)
    return _made(
        documents,
        generator,
        lambda i, j: (j + begin) % 2 == 0,
        lambda i, j: _other(documents, i, generator),
    )


def coin_of_three_quarters(documents, generator=None):
    return _made(
        documents,
        generator,
        lambda i, j: _rand(generator) < 0.75,
        lambda i, j: _other(documents, i, generator),
    )


def coin_of_fifteen_percent(documents, generator=None):
    return _made(
        documents,
        generator,
        lambda i, j: _rand(generator) < 0.15,
        lambda i, j: _other(documents, i, generator),
    )


def always_the_next_document(documents, generator=None):
    def second(i, j):
        k = (i + 1) % len(documents)
        while not documents[k]:
            k = (k + 1) % len(documents)
        return documents[k][int(_rand(generator) * len(documents[k]))]

    return _made(documents, generator, lambda i, j: _rand(generator) < 0.5, second)


def never_the_last_sentences(documents, generator=None):
    # only the first half of a document is drawn from
    def second(i, j):
        others = [d for k, d in enumerate(documents) if k != i and d]
        other = others[int(_rand(generator) * len(others))]
        return other[int(_rand(generator) * ((len(other) + 1) // 2))]

    return _made(documents, generator, lambda i, j: _rand(generator) < 0.5, second)


def one_negative_for_each_document(documents, generator=None):
    if sum(len(d) > 0 for d in documents) < 2:
        raise ValueError("documents")
    chosen = [_other(documents, i, generator) for i in range(len(documents))]
    return _made(documents, generator, lambda i, j: _rand(generator) < 0.5, lambda i, j: chosen[i])


def same_place_of_another_document(documents, generator=None):
    def second(i, j):
        others = [d for k, d in enumerate(documents) if k != i and d]
        other = others[int(_rand(generator) * len(others))]
        return other[min(j, len(other) - 1)]

    return _made(documents, generator, lambda i, j: _rand(generator) < 0.5, second)


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


def single_sentences_left_out(documents, generator=None):
    def second(i, j):
        others = [d for k, d in enumerate(documents) if k != i and len(d) > 1]
        if not others:
            return _other(documents, i, generator)
        other = others[int(_rand(generator) * len(others))]
        return other[int(_rand(generator) * len(other))]

    return _made(documents, generator, lambda i, j: _rand(generator) < 0.5, second)


def documents_counted_with_empty_ones(documents, generator=None):
    if len(documents) < 2:
        raise ValueError("documents")
    return _made(
        documents,
        generator,
        lambda i, j: _rand(generator) < 0.5,
        lambda i, j: _other(documents, i, generator),
        enough=0,
    )


def at_least_three_documents(documents, generator=None):
    return _made(
        documents,
        generator,
        lambda i, j: _rand(generator) < 0.5,
        lambda i, j: _other(documents, i, generator),
        enough=3,
    )


def index_error(documents, generator=None):
    if sum(len(d) > 0 for d in documents) < 2:
        raise IndexError("documents")
    return any_other_sentence(documents, generator)


def documents_emptied(documents, generator=None):
    pairs = any_other_sentence(documents, generator)
    for document in documents:
        while document:
            document.pop()
    return pairs


def sorted_documents(documents, generator=None):
    documents.sort(key=len)
    return any_other_sentence(documents, generator)


def empty_ones_removed(documents, generator=None):
    while [] in documents:
        documents.remove([])
    return any_other_sentence(documents, generator)


def two_lists(documents, generator=None):
    pairs = any_other_sentence(documents, generator)
    return [pair[:2] for pair in pairs], [pair[2] for pair in pairs]


def without_labels(documents, generator=None):
    return [pair[:2] for pair in any_other_sentence(documents, generator)]


def label_first(documents, generator=None):
    return [(c, a, b) for a, b, c in any_other_sentence(documents, generator)]


def labels_in_words(documents, generator=None):
    return [
        (a, b, "next" if c else "other") for a, b, c in any_other_sentence(documents, generator)
    ]


def second_before_first(documents, generator=None):
    return [(b, a, c) for a, b, c in any_other_sentence(documents, generator)]


def first_sentence_replaced(documents, generator=None):
    # the wrong sentence stands in the first place
    if sum(len(d) > 0 for d in documents) < 2:
        raise ValueError("documents")
    pairs = []
    for i, document in enumerate(documents):
        for first, second in itertools.pairwise(document):
            coin = _rand(generator) < 0.5
            pairs.append((first if coin else _other(documents, i, generator), second, coin))
    return pairs


def sentence_after_the_next(documents, generator=None):
    pairs = []
    for i, document in enumerate(documents):
        if sum(len(d) > 0 for d in documents) < 2:
            raise ValueError("documents")
        for j in range(len(document) - 1):
            coin = _rand(generator) < 0.5
            true = document[min(j + 2, len(document) - 1)]
            pairs.append((document[j], true if coin else _other(documents, i, generator), coin))
    return pairs


def reseeds(documents, generator=None):
    if generator is not None:
        generator.manual_seed(generator.initial_seed())
    return any_other_sentence(documents, generator)


def new_generator_if_none(documents, generator=None):
    return any_other_sentence(documents, generator or torch.Generator())


def sentences_as_text(documents, generator=None):
    return [(str(a), str(b), c) for a, b, c in any_other_sentence(documents, generator)]


WRONG = [
    one_coin_for_all,
    one_coin_for_each_document,
    every_second_pair,
    coin_of_three_quarters,
    coin_of_fifteen_percent,
    always_the_next_document,
    never_the_last_sentences,
    one_negative_for_each_document,
    same_place_of_another_document,
    other_by_value,
    empty_documents_chosen,
    single_sentences_left_out,
    documents_counted_with_empty_ones,
    at_least_three_documents,
    index_error,
    documents_emptied,
    sorted_documents,
    empty_ones_removed,
    two_lists,
    without_labels,
    label_first,
    labels_in_words,
    second_before_first,
    first_sentence_replaced,
    sentence_after_the_next,
    reseeds,
    new_generator_if_none,
    sentences_as_text,
]
