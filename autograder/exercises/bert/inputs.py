"""Test cases of the exercises of the notebook `bert/inputs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from autograder.exercises._dropout_cases import add_training_cases
from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.exercises.bert._drawn_inputs import draw_ids, draw_syllables
from autograder.exercises.bert._mask_tokens import MASKING_NAMES, draw_masking_cases
from autograder.exercises.bert._next_sentence_pairs import draw_pair_cases
from autograder.spec.exercise import Call, Case, Exercise, Fake
from autograder.spec.seeded_inputs import SeededInputs, increase_variance

_RANDOM_WORDS = 10


def _written(draw: SeededInputs, letters: str, length: int) -> str:
    return "".join(letters[draw.integer(0, len(letters) - 1)] for _ in range(length))


def _wordpiece_cases(draw: SeededInputs) -> list[Case]:
    kept = {"pieces": "a list of strings"}

    def case(
        name: str, word: str, pieces: Sequence[str] | Fake, unknown: str = "", note: str = ""
    ) -> Case:
        vocabulary = pieces if isinstance(pieces, Fake) else list(pieces)
        given: dict[str, Any] = {"word": word, "vocabulary": vocabulary}
        if unknown:
            given["unknown"] = unknown
        return Case(
            name, {}, (Call("", tuple(given), ("pieces",), non_tensors=kept),), given, note=note
        )

    def random_case(number: int) -> Case:
        pieces = []
        for _ in range(9):
            piece = _written(draw, "abc", draw.integer(1, 3))
            pieces.append(piece if draw.integer(0, 1) else f"##{piece}")
        word = _written(draw, "abc", draw.integer(2, 7))
        return case(f"a word of a, b, c: number {number}", word, [*pieces, "a", "##b", "##c"])

    a, b, c, d = draw_syllables(draw, 4)
    first, second = a[0], a[1]
    hangul = "".join(chr(0xAC00 + draw.integer(0, 11_000)) for _ in range(5))
    times = draw.integer(3, 5)
    alone = "The vocabulary may be anything that knows `in`: no loop over it, no length, no index."
    long = "A word of more than 100 characters is unknown, whatever the vocabulary has."
    return [
        case("a word that is a piece", a + b, [a + b, a, f"##{b}", f"##{a + b}"]),
        case("a word of two pieces", a + b, [a, b, f"##{a}", f"##{b}", first]),
        case("a word of three pieces", a + b + c, ["[UNK]", f"##{c}", f"##{b}", a, c]),
        case("one letter", first, [second, first, f"##{first}"]),
        case("one letter that is not there", first, [second, f"##{first}"]),
        case("a word in single letters", a + b, [*a, *(f"##{letter}" for letter in a + b)]),
        case(
            "the longest first piece wins",
            a + b + c,
            [a, a + b, f"##{b}", f"##{c}", f"##{b + c}"],
            note="From the left, the longest piece is taken each time.",
        ),
        case(
            "the longest of the later pieces wins",
            a + b + c,
            [a, f"##{b}", f"##{c}", f"##{b + c}", f"##{b + c[0]}"],
        ),
        case(
            "the longest last piece would leave more to spell",
            a + b + c,
            [first, f"##{a[1:]}", a + b, f"##{c}", f"##{b + c}"],
            note="From the left, the longest piece is taken each time.",
        ),
        case(
            "the longest piece leads nowhere, a shorter one would",
            a + b + c,
            [a, a + b, f"##{b + c}"],
            note="What was taken is not given back: then the word is unknown.",
        ),
        case("a later piece that stands there only without ##", a + b, [a, b, first]),
        case("a first piece that stands there only with ##", a + b, [f"##{a}", f"##{b}", b]),
        case("the whole word only with ##", a + b, [f"##{a + b}", a, f"##{b}"]),
        case("the end of a word has no piece", a + b + c, [a, f"##{b}", c, a + b]),
        case("the middle of a word has no piece", a + b + c, [a, f"##{c}", b]),
        case("the beginning of a word has no piece", a + b + c, [b, f"##{b}", f"##{c}", b + c]),
        case("nothing fits", a + b, [d, f"##{d}"]),
        case("an empty vocabulary", a, []),
        case("a piece that comes again", b + a * times, [b, f"##{a}"]),
        case("a letter that comes again", first * times, [first, f"##{first}"]),
        case("capital letters", (a + b).capitalize(), [a, f"##{b}", a + b, "[UNK]"]),
        case(
            "letters of another script", hangul, [hangul[:2], f"##{hangul[2:4]}", f"##{hangul[4]}"]
        ),
        case("an empty word", "", [a, f"##{b}"]),
        case("an empty word, and a sign of its own", "", [a, f"##{b}"], f"<{c}>"),
        case("a sign of its own for what cannot be spelt", a + b, [a, b], f"<{c}>"),
        case("a sign of its own is not needed", a + b, [a, f"##{b}"], f"<{c}>"),
        case("100 characters", (first + second) * 50, [first + second, f"##{first + second}"]),
        case("100 characters of several bytes", hangul * 20, [hangul, f"##{hangul}"]),
        case(
            "101 characters",
            (first + second) * 50 + first,
            [first + second, f"##{first + second}", f"##{first}"],
            note=long,
        ),
        case("101 characters that are a piece", a[:1] * 101, [a[:1] * 101, a], note=long),
        case("101 characters, and a sign of its own", first * 101, [first, f"##{first}"], f"<{c}>"),
        case("a dict from pieces to ids", a + b, Fake("PieceIds", (a, f"##{b}", b))),
        case(
            "a vocabulary that can only be asked with `in`",
            a + b + c,
            Fake("PieceSet", (a, f"##{b}", f"##{b + c}", c)),
            note=alone,
        ),
        case(
            "a vocabulary that can only be asked with `in`, and lacks a piece",
            a + b + c,
            Fake("PieceSet", (a, f"##{b}", c)),
            note=alone,
        ),
        case(
            "a vocabulary that has ## itself",
            a + b,
            [a, "##"],
            note="A piece has letters: ## alone spells nothing.",
        ),
        *(random_case(number) for number in range(1, _RANDOM_WORDS + 1)),
    ]


WORDPIECE = Exercise(
    name="wordpiece",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(word, vocabulary, unknown='[UNK]')",
    axes={},
    cases=_wordpiece_cases,
)


def _embedding_cases(draw: SeededInputs) -> list[Case]:
    def case(
        name: str,
        b: int,
        n: int,
        d: int,
        longest: int,
        v: int = 11,
        kinds: int = 2,
        arguments: tuple[str, ...] = ("tokens", "segments"),
        in_segment: int | None = None,
        eps: float | None = None,
        scale: float = 1.0,
        note: str = "",
    ) -> Case:
        parts = draw_ids(draw, b, n, below=kinds)
        if in_segment is not None:
            parts = torch.full_like(parts, in_segment)
        inputs, given = {"tokens": draw_ids(draw, b, n, below=v), "segments": parts}, {}
        if "segments" not in arguments:
            del inputs["segments"]
        if "nothing" in arguments:
            given = {"nothing": None}
        upstream = {"embedded": draw.tensor(b, n, d)}
        construct: dict[str, Any] = {
            "vocabulary_size": v,
            "hidden_size": d,
            "max_length": longest,
            "segments": kinds,
        }
        if eps is not None:
            construct |= {"dropout": 0.0, "eps": eps}
        return Case(
            name,
            inputs,
            (Call("forward", arguments, ("embedded",)),),
            extra_arguments=given,
            init_arguments=construct,
            weights={
                "token.weight": draw.tensor(v, d, scale=scale),
                "segment.weight": draw.tensor(kinds, d, scale=0.8 * scale),
                "position.weight": increase_variance(
                    draw.tensor(longest, d, scale=0.9 * scale), by=4 * scale
                ),
                "norm.weight": draw.tensor(d, scale=0.4, shift=1.2),
                "norm.bias": draw.tensor(d, scale=0.5),
            },
            upstream=upstream,
            note=note,
        )

    b, n, d, longest = draw.sizes(4, 3, 9)
    n, longest = sorted((n, longest))
    zero = "Without segments every token is in segment 0, and gets its vector too."
    return [
        case("one text of one token", 1, 1, 4, 3),
        case("one text of three tokens", 1, 3, 4, 5),
        case("two texts of three tokens", 2, 3, 5, 4),
        case("all sizes different", b, n, d, longest, v=12),
        case("segments is None", b, n, d, longest, arguments=("tokens", "nothing"), note=zero),
        case("tokens alone", b, n, d, longest, arguments=("tokens",), note=zero),
        case("as many tokens as positions", b, longest, d, longest),
        case("as many texts as tokens", n, n, d, longest),
        case("as many tokens as numbers in a vector", b, d, d, d + 2),
        case("all sizes equal", 4, 4, 4, 4, v=4),
        case("three kinds of segments", b, n, d, longest, kinds=3),
        case("all tokens in the second segment", b, n, d, longest, in_segment=1),
        case("a large eps", b, n, d, longest, eps=0.75),
        case(
            "small numbers",
            b,
            n,
            d,
            longest,
            scale=2e-3,
            note="eps is that of the layer `norm`, 1e-12, not torch's 1e-5.",
        ),
        make_second_batch_case(case("", 2, 3, 4, 5), case("", 3, 5, 4, 5)),
        *add_training_cases(case("", 2, 3, 4, 5), "the result, behind the norm"),
    ]


BERT_EMBEDDINGS = Exercise(
    name="BertEmbeddings",
    points=3,
    difficulty=1,
    minutes=15,
    signature="(tokens, segments=None)",
    axes={"tokens": "B N", "segments": "B N", "embedded": "B N d"},
    cases=_embedding_cases,
    is_class=True,
)


MASK_TOKENS = Exercise(
    name="mask_tokens",
    points=4,
    difficulty=2,
    minutes=25,
    signature=("(tokens, special, vocabulary_size, mask_id, generator=None, probability=0.15)"),
    axes=dict.fromkeys(MASKING_NAMES, "..."),
    cases=draw_masking_cases,
)


NEXT_SENTENCE_PAIRS = Exercise(
    name="next_sentence_pairs",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(documents, generator=None)",
    axes={},
    cases=draw_pair_cases,
)
