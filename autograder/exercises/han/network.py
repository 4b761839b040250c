"""Test cases of the exercise of the notebook `han/network`."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.exercises._dropout_cases import add_training_cases
from autograder.exercises._padded_sequences import both_directions, make_second_batch_case
from autograder.spec.exercise import Call, Case, Exercise, Fake
from autograder.spec.seeded_inputs import SeededInputs


def _documents(
    draw: SeededInputs, words: list[list[int]], sentences: int, longest: int, v: int
) -> Tensor:
    """Return ids (B, L, T) for the numbers of words in each document's sentences."""
    documents = torch.zeros(len(words), sentences, longest, dtype=torch.int64)
    for document, counts in zip(documents, words, strict=True):
        for sentence, count in zip(document, counts, strict=False):
            sentence[:count] = draw.tokens(count, vocabulary_size=v)
    return documents


def _ragged(draw: SeededInputs, b: int, sentences: int, longest: int) -> list[list[int]]:
    """Return numbers of words: one document fills all sentences, one sentence is the longest."""
    words = []
    for length in draw.lengths(b, sentences).tolist():
        counts = [draw.integer(1, longest) for _ in range(length)]
        counts[draw.integer(0, length - 1)] = draw.integer(1, max(1, longest - 1))
        words.append(counts)
    words[-1][-1] = longest
    return words


def _network_cases(draw: SeededInputs) -> list[Case]:
    call = Call("forward", ("documents",), ("logits", "word_weights", "sentence_weights"))

    def case(
        name: str,
        words: list[list[int]],
        sentences: int,
        longest: int,
        v: int,
        e: int,
        d: int,
        c: int,
        note: str = "",
    ) -> Case:
        b = len(words)
        pool = Fake("PoolAttention", (2 * d, 3))
        return Case(
            name,
            {"documents": _documents(draw, words, sentences, longest, v)},
            (call,),
            init_arguments={
                "vocabulary_size": v,
                "embedding_size": e,
                "hidden_size": d,
                "word_attention": pool,
                "sentence_attention": pool,
                "classes": c,
            },
            weights={
                "embedding.weight": draw.tensor(v, e),  # the row of padding is not 0 either
                **both_directions(draw, "word_rnn.", 3, e, d),
                "word_attention.P": draw.tensor(1, 3, scale=1.5),
                "word_attention.R": draw.tensor(3, 2 * d, scale=2.0),
                **both_directions(draw, "sentence_rnn.", 3, 2 * d, d),
                "sentence_attention.P": draw.tensor(1, 3, scale=1.5),
                "sentence_attention.R": draw.tensor(3, 2 * d, scale=2.0),
                "output.weight": draw.tensor(c, 2 * d),
                "output.bias": draw.tensor(c, scale=0.5),
            },
            upstream={
                "logits": draw.tensor(b, c),
                "word_weights": draw.tensor(b, sentences, longest),
                "sentence_weights": draw.tensor(b, sentences),
            },
            note=note,
        )

    b, n, t, c = draw.sizes(4, 2, 5)
    e, d = draw.sizes(2, 2, 3)
    empty = _ragged(draw, b, n, t)
    empty[0] = []
    return [
        case("one document of one word", [[1]], 1, 1, 5, 3, 2, 4),
        case("one document of one sentence", [[3]], 1, 3, 6, 2, 3, 4),
        case("one document of two sentences", [[1, 2]], 2, 3, 6, 2, 3, 4),
        case("two documents, the first one shorter", [[2], [1, 3]], 2, 4, 6, 2, 3, 5),
        case("all sizes different", _ragged(draw, b, n, t), n, t, 9, e, d, c),
        case(
            "padding behind all words and all sentences",
            _ragged(draw, b, n, t),
            n + 1,
            t + 2,
            9,
            e,
            d,
            c,
            note="Padding that stands behind all documents changes nothing but the widths.",
        ),
        case(
            "empty sentences between others",
            [[2, 0, 3], [0, 1, 2], [1, 0, 0, 4], [3, 2]],
            4,
            5,
            9,
            e,
            d,
            2,
            note="A sentence without words between others is read by the sentence GRU as a vector "
            "of zeros, and gets no weight.",
        ),
        case(
            "empty sentences at the end",
            [[2, 3, 0], [1, 2, 4], [1, 0, 0]],
            4,
            5,
            9,
            e,
            d,
            2,
            note="A sentence without words at a document's end is padding: it is not read.",
        ),
        case(
            "an empty document",
            empty,
            n,
            t,
            9,
            e,
            d,
            c,
            note="A document without words has weights of 0, and its logits are the bias.",
        ),
        case(
            "one document, and it is empty",
            [[]],
            2,
            3,
            5,
            3,
            2,
            4,
            note="A document without words has weights of 0, and its logits are the bias.",
        ),
        case("all sizes equal", _ragged(draw, 3, 3, 3), 3, 3, 6, 3, 3, 3),
        make_second_batch_case(
            case("", [[2, 1], [3]], 2, 3, 6, 3, 2, 4), case("", [[1], [2, 2]], 2, 3, 6, 3, 2, 4)
        ),
        *add_training_cases(
            case("", [[2, 1], [3]], 2, 3, 5, 3, 2, 4), "the embedded words and on v"
        ),
    ]


HIERARCHICAL_ATTENTION_NETWORK = Exercise(
    name="HierarchicalAttentionNetwork",
    points=6,
    difficulty=3,
    minutes=60,
    signature="(documents)",
    axes={
        "documents": "B L T",
        "logits": "B C",
        "word_weights": "B L T",
        "sentence_weights": "B L",
    },
    cases=_network_cases,
    normalized_outputs={"word_weights": "documents", "sentence_weights": "documents"},
    is_class=True,
)
