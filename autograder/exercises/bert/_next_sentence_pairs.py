"""Test cases of `next_sentence_pairs`, whose correct output is random."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from torch import Tensor

from autograder.exercises.bert._drawn_inputs import draw_syllables
from autograder.spec import byte_codec
from autograder.spec.binomial_bounds import is_plausible
from autograder.spec.exercise import Call, Case, Fake
from autograder.spec.outcome import Outcome
from autograder.spec.seeded_inputs import SeededInputs

_PAIRS = {"pairs": "a list of (first, second, is_next)"}
_MANY, _MANY_OF_ONE = 60, 45  # so many coins never show the same side
_A_COIN = "each pair tosses a coin of its own, so that about half of them are true ones."
_ALWAYS_TRUE = f"Every pair here is a true one: {_A_COIN}"
_NEVER_TRUE = f"No pair here is a true one: {_A_COIN}"
Documents = list[list[Any]]


def _key(sentence: Any) -> str:
    return json.dumps(sentence)


def _pairs(documents: Documents, text: Tensor) -> tuple[str, list[tuple[str, bool, int]]]:
    """Look at the pairs of one call.

    Returns:
        what is wrong with them whatever was drawn, or "", and for each pair the second sentence,
        whether it is the next one, and the number of the document.
    """
    try:
        pairs = byte_codec.decode_plain(text)
    except ValueError:
        pairs = None
    shape = "pairs must be a list of (first, second, is_next), and is_next True or False."
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 3 and isinstance(pair[2], bool) for pair in pairs
    ):
        return shape, []
    neighbours = [
        (_key(one), _key(two), number)
        for number, document in enumerate(documents)
        for one, two in pairwise(document)
    ]
    if len(pairs) < len(neighbours):
        return (
            "There are too few pairs: each two neighbours of a document give one, so that a "
            "document of n sentences gives n - 1.",
            [],
        )
    firsts, ends = {_key(pair[0]) for pair in pairs}, [d[-1] for d in documents[:-1] if d]
    if ends and firsts.issuperset(map(_key, ends)):
        return (
            "There are pairs that begin with the last sentence of a document, which no sentence of "
            "that document follows.",
            [],
        )
    if len(pairs) > len(neighbours):
        return "There are too many pairs: each two neighbours of a document give one.", []
    if [_key(first) for first, _, _ in pairs] != [one for one, _, _ in neighbours]:
        return (
            "The first sentences are not those of the documents in their order: all but the last "
            "of the first document, then those of the second, and so on.",
            [],
        )
    drawn = []
    wrong_next, own, foreign, invented = False, False, False, False
    everything = [{_key(sentence) for sentence in document} for document in documents]
    for (_, second, is_next), (_, following, number) in zip(pairs, neighbours, strict=True):
        key = _key(second)
        elsewhere = any(key in d for i, d in enumerate(everything) if i != number)
        if is_next:
            wrong_next |= key != following
        else:
            foreign |= elsewhere
            own |= key in everything[number] and not elsewhere
            invented |= key not in everything[number] and not elsewhere
        drawn.append((key, bool(is_next), number))
    if wrong_next:
        return "is_next is True where the second sentence is not the one that follows.", []
    if own and foreign:
        return "Where is_next is False, some second sentences are from the same document.", []
    if own:
        return "Where is_next is False, the second sentence is from the same document.", []
    if invented:
        return "A second sentence is no sentence of any document.", []
    coins = {is_next for _, is_next, _ in drawn}
    if len(drawn) >= _MANY and coins == {True}:
        return _ALWAYS_TRUE, []
    if len(drawn) >= _MANY and coins == {False}:
        return _NEVER_TRUE, []
    for number in range(len(documents)):
        own_coins = [is_next for _, is_next, where in drawn if where == number]
        if len(own_coins) >= _MANY_OF_ONE and len(set(own_coins)) == 1:
            return (
                "All pairs of a document get the same coin: each pair tosses a coin of its own.",
                [],
            )
    return "", drawn


def _paired(case: Case, outcome: Outcome) -> str:
    """Every call gives the pairs of its documents."""
    for call in case.calls:
        if call.returns:
            documents = case.extra_arguments[str(call.arguments[0])]
            if said := _pairs(documents, outcome.outputs[str(call.returns[0])])[0]:
                return said
    return ""


def _paired_by_the_generator(case: Case, outcome: Outcome) -> str:
    """The generator decides, and nothing else."""
    if said := _paired(case, outcome):
        return said
    first, twin, other, later = (
        outcome.outputs[name].tolist() for name in ("pairs", "twin", "other", "later")
    )
    if first != twin:
        return (
            "Two generators of the same seed give different pairs: coins and sentences must be "
            "drawn with the generator that is passed."
        )
    if first == other:
        return (
            "Generators of different seeds give the same pairs: coins and sentences must be drawn, "
            "with the generator that is passed."
        )
    if first == later:
        return (
            "A second call with the same generator gives the same pairs again: leave its seed "
            "alone, so that each call goes on where the one before has stopped."
        )
    return ""


def _paired_without_a_generator(case: Case, outcome: Outcome) -> str:
    """Two calls do not give the same."""
    if said := _paired(case, outcome):
        return said
    if outcome.outputs["pairs"].tolist() == outcome.outputs["again"].tolist():
        return (
            "Two calls without a generator give the same pairs: torch's own generator has to draw "
            "them, and a new torch.Generator() always begins at the same seed."
        )
    return ""


_SAME = "All wrong second sentences of a document are the same one; draw one for each pair."


def _fair(case: Case, outcome: Outcome) -> str:
    """Coins are fair and independent, and every sentence of another document has its chance.

    All documents are of one length and no sentence comes twice, so that it makes no difference
    whether a document is drawn first or a sentence at once.
    """
    documents = case.extra_arguments["documents"]
    said, drawn = _pairs(documents, outcome.outputs["pairs"])
    if said:
        return said
    coins = [is_next for _, is_next, _ in drawn]
    if all(coins):
        return _ALWAYS_TRUE
    if not any(coins):
        return _NEVER_TRUE
    if not is_plausible(sum(coins), len(coins), 0.5):
        how = "many" if sum(coins) > len(coins) / 2 else "few"
        return (
            f"Too {how} of the pairs are true ones: the coin is not fair.\n"
            f"Measured: {sum(coins)} of {len(coins)} pairs are true ones; expected about half."
        )
    turns = sum(one != two for one, two in pairwise(coins))
    if not is_plausible(turns, len(coins) - 1, 0.5):
        return (
            "The coins depend on each other: each pair needs one of its own.\n"
            f"Measured: {turns} of {len(coins) - 1} coins differ from the one before; expected "
            "about half."
        )
    places = {
        _key(sentence): (number, place)
        for number, document in enumerate(documents)
        for place, sentence in enumerate(document)
    }
    size, count = len(documents[0]), len(documents)
    for number in range(count):
        negatives = [places[key] for key, is_next, own in drawn if not is_next and own == number]
        if len(set(negatives)) == 1:
            return _SAME
        for other_number in range(count):
            times = sum(where == other_number for where, _ in negatives)
            if other_number != number and not is_plausible(times, len(negatives), 1 / (count - 1)):
                return (
                    "Not every other document is as often chosen as it should be.\n"
                    f"Measured: {times} of {len(negatives)} wrong second sentences for document "
                    f"{number} are from document {other_number}; expected about "
                    f"{len(negatives) / (count - 1):.0f}."
                )
    negatives = [places[key] for key, is_next, _ in drawn if not is_next]
    if len({place for _, place in negatives}) == 1:
        return "The wrong second sentences all stand at the same place of their documents."
    turned = [i % (size - 1) for i, (_, is_next, _) in enumerate(drawn) if not is_next]
    for step in (0, 1):
        times = sum(i + step == place for i, (_, place) in zip(turned, negatives, strict=True))
        if not is_plausible(times, len(negatives), 1 / size):
            return (
                "Which sentence of another document comes depends on the place of the first "
                "sentence; any of them may come with any other."
            )
    tenth = size // 10
    for part in range(10):
        times = sum(place // tenth == part for _, place in negatives)
        if not is_plausible(times, len(negatives), 1 / 10):
            return (
                "Not every sentence of the other documents is as often chosen as it should be: any "
                "of them may come, from the first to the last.\n"
                f"Measured: {times} of {len(negatives)} stand at places {part * tenth} to "
                f"{(part + 1) * tenth - 1} of {size}; expected about {len(negatives) / 10:.0f}."
            )
    return ""


def _single_ones_too(case: Case, outcome: Outcome) -> str:
    """Documents of one sentence give no pair, but their sentence may be chosen."""
    documents = case.extra_arguments["documents"]
    said, drawn = _pairs(documents, outcome.outputs["pairs"])
    if said:
        return said
    if all(is_next for _, is_next, _ in drawn):
        return _ALWAYS_TRUE
    # They are at least half of the sentences that may be chosen, and most of the documents.
    singles = {_key(document[0]) for document in documents if len(document) == 1}
    for number in range(len(documents)):
        chosen = [key for key, is_next, own in drawn if not is_next and own == number]
        if len(chosen) > 10 and len(set(chosen)) == 1:
            return _SAME
    if not any(key in singles for key, is_next, _ in drawn if not is_next):
        return "The sentence of a document of one sentence may be chosen like any other."
    return ""


def _first_and_last(case: Case, outcome: Outcome) -> str:
    """Of documents of two sentences, either may be chosen."""
    documents = case.extra_arguments["documents"]
    said, drawn = _pairs(documents, outcome.outputs["pairs"])
    if said:
        return said
    chosen = {key for key, is_next, _ in drawn if not is_next}
    if not chosen:
        return _ALWAYS_TRUE
    if not is_plausible(len(drawn) - sum(is_next for _, is_next, _ in drawn), len(drawn), 0.5):
        true = sum(is_next for _, is_next, _ in drawn)
        return (
            "About half of the pairs should be true ones, each by a coin of its own.\n"
            f"Measured: {true} of {len(drawn)} pairs are true ones."
        )
    for place, name in enumerate(("first", "last")):
        if chosen.isdisjoint(_key(document[place]) for document in documents):
            return f"The {name} sentence of another document may be chosen like any other."
    return ""


def draw_pair_cases(draw: SeededInputs) -> list[Case]:
    def call(generator: str = "", returns: str = "pairs", documents: str = "documents") -> Call:
        arguments = (documents, generator) if generator else (documents,)
        return Call("", arguments, (returns,), non_tensors={returns: _PAIRS["pairs"]})

    def seeds(*names: str) -> dict[str, Any]:
        return {
            name: Fake("Generator", (number * 10**6 + draw.integer(1, 10**6),))
            for number, name in enumerate(names)
        }

    def numbered(*lengths: int, first: int = 0) -> Documents:
        """Return documents whose sentences are numbers, all different, in no order."""
        numbers = list(range(first, first + sum(lengths)))
        left = [[numbers.pop(draw.integer(0, len(numbers) - 1)) for _ in range(n)] for n in lengths]
        return left

    def spoken(*lengths: int) -> Documents:
        """Return documents whose sentences are strings."""
        return [
            [f"{' '.join(draw_syllables(draw, 3))} {number}.{place}" for place in range(n)]
            for number, n in enumerate(lengths)
        ]

    def case(name: str, documents: Documents, relation: Any = _paired, note: str = "") -> Case:
        return Case(
            name,
            {},
            (call("generator"),),
            extra_arguments={"documents": documents, **seeds("generator")},
            random_outputs=("pairs",),
            check_random_outputs=relation,
            note=note,
        )

    def length() -> int:
        return draw.integer(47, 55)

    words = [[sentence.split() for sentence in document] for document in spoken(40, 1, 41)]
    again = numbered(length(), length())
    again[0][1:-1:2] = [again[0][1]] * len(again[0][1:-1:2])
    same = numbered(length())
    twins = seeds("generator", "other")
    refused = "With fewer than two documents that have a sentence there is nothing to draw from."
    return [
        case("two documents", numbered(length(), length())),
        case("three documents of different length", numbered(length(), 3, length())),
        case("sentences that are strings", spoken(length(), length(), 2)),
        case("sentences that are lists of words", words, note="A sentence may be anything."),
        case(
            "documents of one sentence, and of none",
            [[], *numbered(length(), 1, 0, length()), []],
            note="A document of one sentence gives no pair; an empty one gives no sentence at all.",
        ),
        case(
            "a sentence that comes again and again in its document",
            again,
            note="Go by the place of a sentence: index() finds the first one that is equal.",
        ),
        case(
            "two documents with the same sentences",
            [same[0], list(same[0])],
            note="Documents with the same sentences are two documents all the same.",
        ),
        Case(
            "fewer than two documents with a sentence",
            {},
            (
                Call("", ("no_documents",), (), raises="ValueError"),
                Call("", ("single", "generator"), (), raises="ValueError"),
                Call("", ("one_empty", "generator"), (), raises="ValueError"),
                call("generator"),
            ),
            extra_arguments={
                "no_documents": [],
                "single": numbered(4),
                "one_empty": [*numbered(3), []],
                "documents": numbered(length(), length()),
                **seeds("generator"),
            },
            random_outputs=("pairs",),
            check_random_outputs=_paired,
            note=refused,
        ),
        Case(
            "generators of the same seed and of others",
            {},
            (
                call("generator", "pairs"),
                call("twin", "twin"),
                call("other", "other"),
                call("generator", "later"),
            ),
            extra_arguments={
                "documents": numbered(length(), length(), length()),
                **twins,
                "twin": twins["generator"],
            },
            random_outputs=("pairs", "twin", "other", "later"),
            check_random_outputs=_paired_by_the_generator,
        ),
        Case(
            "no generator",
            {},
            (call(), call("nothing", "again")),
            extra_arguments={"documents": numbered(length(), length()), "nothing": None},
            random_outputs=("pairs", "again"),
            check_random_outputs=_paired_without_a_generator,
        ),
        case("many pairs", numbered(200, 200, 200), _fair),
        case(
            "a long document, and five of two sentences",
            numbered(length(), *[2] * 5),
            _first_and_last,
        ),
        case("many documents of one sentence", numbered(60, 60, *[1] * 60), _single_ones_too),
    ]
