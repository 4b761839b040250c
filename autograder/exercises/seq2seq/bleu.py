"""Test cases of the exercises of the notebook `seq2seq/bleu`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.spec.exercise import Call, Case, Exercise
from autograder.spec.seeded_inputs import SeededInputs

_WORDS = ("the", "a", "cat", "dog", "sees", "sleeps", "on", "mat", "garden", "red")
_CONTIGUOUS = "An n-gram is n words that stand next to each other."
_AT_MOST_ONCE = (
    "An n-gram counts at most as often as it occurs in the one reference where it occurs most."
)
_CORPUS = "Counts and lengths are summed over all sentences before anything is divided."
_CLOSEST = "r sums, for each hypothesis, the length of the reference that is closest in length."
_ZERO = "log 0 is minus infinity: where one of the precisions is 0, BLEU is 0."


def _split(text: str) -> list[str]:
    return text.split()


def _draw_sentence(draw: SeededInputs, words: Sequence[str], length: int) -> list[str]:
    return [words[draw.integer(0, len(words) - 1)] for _ in range(length)]


def _change_sentence(draw: SeededInputs, sentence: Sequence[str], changes: int) -> list[str]:
    """Return the sentence with words replaced, left out, or written twice."""
    changed = list(sentence)
    for _ in range(changes):
        place = draw.integer(0, len(changed) - 1)
        kind = draw.integer(0, 2)
        if kind == 0:
            changed[place] = _WORDS[draw.integer(0, len(_WORDS) - 1)]
        elif kind == 1 and len(changed) > 1:
            del changed[place]
        else:
            changed.insert(place, changed[place])
    return changed


def _count_cases(draw: SeededInputs) -> list[Case]:
    def case(
        name: str,
        hypothesis: str | Sequence[str],
        references: Sequence[str | Sequence[str]],
        n: int,
        note: str = "",
    ) -> Case:
        def read(sentence: str | Sequence[str]) -> list[str]:
            return _split(sentence) if isinstance(sentence, str) else list(sentence)

        given = {
            "hypothesis": read(hypothesis),
            "references": [read(reference) for reference in references],
            "n": n,
        }
        names = ("matches", "total")
        return Case(name, {}, (Call("", tuple(given), names, numbers=names),), given, note=note)

    def random_case(number: int, n: int) -> Case:
        few = _WORDS[: draw.integer(2, 3)]
        hypothesis = _draw_sentence(draw, few, draw.integer(4, 9))
        references = [
            _draw_sentence(draw, few, draw.integer(4, 9)) for _ in range(draw.integer(1, 3))
        ]
        return case(
            f"sentences of a few words, {n}-grams: number {number}", hypothesis, references, n
        )

    a, b, c, d = (_WORDS[(draw.integer(0, 9) + k) % 10] + str(k) for k in range(4))
    return [
        case("one word, found", [a], [[b, a]], 1),
        case("one word, not found", [a], [[b, c]], 1),
        case("each word once, in another order", [a, b, c], [[c, a, b]], 1),
        case("word pairs, in another order", [a, b, c, d], [[c, d, a, b]], 2, _CONTIGUOUS),
        case("a word pair with a word between", [a, b, c], [[a, c, b]], 2, _CONTIGUOUS),
        case("three words in a row", [a, b, c, d], [[d, a, b, c]], 3),
        case("four words in a row", [a, b, c, d, a], [[b, a, b, c, d]], 4),
        case(
            "a word more often than in the reference",
            "the the the the the the the",
            ["the cat is on the mat"],
            1,
            _AT_MOST_ONCE,
        ),
        case("a word less often than in the reference", [a, b], [[a, a, b, a]], 1),
        case(
            "a word pair more often than in the reference",
            [a, b, a, b, a, b],
            [[a, b, c, a, b]],
            2,
            _AT_MOST_ONCE,
        ),
        case(
            "a word in both references",
            [a, a, a, a, b],
            [[a, c, a], [a, b, c, d]],
            1,
            "Clip by the largest of the references' counts, not by their sum.",
        ),
        case(
            "each word in another reference", [a, b], [[a, c], [c, b]], 1, "Any reference will do."
        ),
        case(
            "the first reference has more of a word, the second of another",
            [a, a, b, b],
            [[a, a, c, b], [b, a, b]],
            1,
            "The largest count is looked up for each n-gram by itself.",
        ),
        case("two references that are the same", [a, a, b], [[a, c], [a, c]], 1),
        case(
            "a pair that is split between two references",
            [a, b],
            [[c, a], [b, d]],
            2,
            "References are not joined: a pair across their border does not exist.",
        ),
        case("as many words as the n-gram has", [a, b, c], [[a, b, c]], 3),
        case("fewer words than the n-gram has", [a, b], [[a, b, c]], 3, "Then there are none."),
        case("a reference shorter than the n-gram", [a, b, c], [[a, b]], 3),
        case("an empty hypothesis", [], [[a, b]], 1),
        case("an empty reference", [a, b], [[]], 1),
        case(
            "capital letters",
            "The cat sees The dog",
            ["the cat sees the dog"],
            1,
            "'The' and 'the' are two words here; who wants them to be one lower-cases before.",
        ),
        case(
            "the same letters, cut into other words",
            ["on", "ly", "a"],
            [["o", "nly", "a"]],
            2,
            "Compare tuples of words, not strings: 'on ly' and 'o nly' are different pairs.",
        ),
        *(random_case(number, n) for number in (1, 2, 3) for n in (1, 2, 3)),
    ]


CLIPPED_NGRAM_COUNTS = Exercise(
    name="clipped_ngram_counts",
    points=2,
    difficulty=1,
    minutes=15,
    signature="(hypothesis, references, n)",
    axes={"matches": "", "total": ""},
    cases=_count_cases,
)


def _bleu_cases(draw: SeededInputs) -> list[Case]:
    def case(
        name: str,
        pairs: Sequence[tuple[list[str], list[list[str]]]],
        max_order: int | None = None,
        note: str = "",
    ) -> Case:
        given: dict[str, Any] = {
            "hypotheses": [hypothesis for hypothesis, _ in pairs],
            "references": [references for _, references in pairs],
        }
        if max_order is not None:
            given["max_order"] = max_order
        call = Call("", tuple(given), ("bleu",), numbers=("bleu",))
        return Case(name, {}, (call,), given, note=note)

    def sentence(length: int) -> list[str]:
        return _draw_sentence(draw, _WORDS, length)

    def pair(length: int, added: str = "") -> tuple[list[str], list[list[str]]]:
        """Return a hypothesis with one changed word, and its reference; then lengths differ."""
        reference = sentence(length)
        hypothesis = [*reference[:-1], "moon"]
        if added == "longer":
            hypothesis += ["and", "stars"]
        if added == "shorter":
            hypothesis = reference[:-2]
        return hypothesis, [reference]

    def with_references(length: int, *lengths: int) -> tuple[list[str], list[list[str]]]:
        """Return a hypothesis and references of given lengths that begin like it."""
        words = sentence(max(length, *lengths))
        return words[:length], [words[:other] for other in lengths]

    def random_case(number: int, count: int, most: int) -> Case:
        pairs = []
        for _ in range(count):
            reference = sentence(draw.integer(6, 10))
            others = [
                _change_sentence(draw, reference, 2) for _ in range(draw.integer(0, most - 1))
            ]
            pairs.append((_change_sentence(draw, reference, 2), [reference, *others]))
        # A pair of its own, so that no precision is 0.
        pairs.append(with_references(6, 6))
        words = "one reference each" if most == 1 else f"up to {most} references each"
        return case(f"{count + 1} sentences, {words}: number {number}", pairs)

    perfect = sentence(7)
    swapped = sentence(6)
    return [
        case("one sentence with a wrong word", [pair(7)]),
        case("one sentence, word for word", [(perfect, [list(perfect)])]),
        case("one sentence, words alone", [pair(5)], 1),
        case("one sentence, words and pairs", [pair(6)], 2),
        case("one sentence, up to five words in a row", [pair(9)], 5),
        case(
            "a sentence shorter than its reference",
            [pair(9, "shorter")],
            note="BP = exp(1 - r/c) where the hypotheses are shorter.",
        ),
        case(
            "a sentence longer than its reference",
            [pair(7, "longer")],
            note="Nothing is gained or lost by length where the hypotheses are longer: BP = 1.",
        ),
        case("two sentences of different lengths", [pair(5), pair(9)], note=_CORPUS),
        case("three sentences, all of them shorter", [pair(9, "shorter")] * 2 + [pair(8)]),
        case(
            "one sentence shorter, another longer",
            [pair(8, "shorter"), pair(7, "longer")],
            note=_CORPUS,
        ),
        case(
            "one sentence without any n-gram of four words",
            [pair(8), (list(reversed(swapped)), [swapped])],
            note=_CORPUS,
        ),
        case(
            "a sentence of two words among others",
            [pair(8), (["the", "cat"], [["the", "cat"]])],
            note="It has no n-grams of three words; its words and its pair count as all others.",
        ),
        case("a sentence of no words among others", [pair(8), ([], [sentence(4)])], note=_CORPUS),
        case(
            "no four words in a row are found",
            [
                (
                    ["the", "red", "moon", "sees", "a", "cat"],
                    [["the", "red", "dog", "sees", "a", "cat"]],
                )
            ],
            note=_ZERO,
        ),
        case("nothing is found", [(["moon"] * 5, [sentence(5)])], note=_ZERO),
        case(
            "all sentences shorter than four words",
            [(["the", "cat"], [["the", "cat"]])] * 2,
            note=_ZERO,
        ),
        case("no words at all", [([], [sentence(4)])], note="Without words BLEU is 0."),
        case(
            "several references, the closest is longer",
            [with_references(7, 4, 8, 12)],
            note=_CLOSEST,
        ),
        case(
            "several references, the closest is the first",
            [with_references(7, 8, 11)],
            note=_CLOSEST,
        ),
        case(
            "several references, the closest is the last",
            [with_references(6, 12, 10, 7)],
            note=_CLOSEST,
        ),
        case(
            "two references that are equally close",
            [with_references(8, 10, 6), pair(7)],
            note="Of two references that are equally close, the shorter one counts.",
        ),
        case(
            "two references that are equally close, the shorter one first",
            [with_references(8, 7, 9)],
            note="Of two references that are equally close, the shorter one counts.",
        ),
        case(
            "one sentence with three references, one with one",
            [with_references(7, 5, 9, 8), pair(8)],
        ),
        *(random_case(number, 3, 1) for number in (1, 2, 3)),
        *(random_case(number, 2, 3) for number in (1, 2, 3)),
    ]


CORPUS_BLEU = Exercise(
    name="corpus_bleu",
    points=3,
    difficulty=2,
    minutes=30,
    signature="(hypotheses, references, max_order=4)",
    axes={"bleu": ""},
    cases=_bleu_cases,
)
