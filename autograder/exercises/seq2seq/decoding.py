"""Test cases of the exercises of the notebook `seq2seq/decoding`."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.exercises._fakes import TableStep
from autograder.spec.exercise import Call, Case, Exercise, Fake, NameTree
from autograder.spec.seeded_inputs import SeededInputs, round_to_float32

_STATES: dict[str, NameTree] = {
    "tensor": "table",
    "tuple": ("table", "more"),
    "dict": {"tables": "table", "deep": ("more", "less")},
}
_APART = 5e-6  # what float32 rounds is less


def _tables(
    draw: SeededInputs, kind: str, v: int, scale: float, eos_id: int, end: float
) -> dict[str, Tensor]:
    """Return the state's tensors; `end` makes eos more or less probable than the other words.

    Probabilities are uneven enough for long sentences to have a chance against short ones.
    """
    table = draw.tensor(1, v, v, scale=scale)
    table[..., eos_id] += end
    tables = {"table": round_to_float32(table)}
    if kind != "tensor":
        tables["more"] = draw.tensor(1, v, v, scale=0.5)
    if kind == "dict":
        tables["less"] = draw.tensor(1, v, v, scale=0.5)
    return tables


def _sentences(
    table: Tensor, bos_id: int, eos_id: int, max_length: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the totals of all beginnings of 1, 2, ... words, and whether each is finished.

    Nothing is searched, all is written out: `TableStep` moves its rows on by y + 1 for each word y
    that it reads, so the total of these and the number of words say what comes next.
    """
    v = table.shape[-1]
    words = torch.arange(v)
    last, moved = torch.tensor([bos_id]), torch.zeros(1, dtype=torch.long)
    totals = torch.zeros(1, dtype=torch.float64)
    for length in range(1, max_length + 1):
        log_p = (TableStep.SHRINK ** (length - 1) * table[0]).log_softmax(-1)  # (V, V)
        totals = (totals.unsqueeze(1) + log_p[(last - moved) % v]).flatten()  # (N V,)
        moved = (moved + last + 1).repeat_interleave(v)
        last = words.repeat(len(last))
        ends = (last == eos_id) | (length == max_length)
        yield totals, ends
        last, moved, totals = last[~ends], moved[~ends], totals[~ends]


def _good(table: Tensor, ids: tuple[int, int], max_length: int, penalty: float) -> bool:
    """Tell whether a table makes a good case.

    No two good sentences may be so close that rounding could decide between them, and the best one
    is longer than a word.
    """
    scores, roundings = [], []
    for length, (totals, ends) in enumerate(_sentences(table, *ids, max_length), start=1):
        if _closest(totals, torch.full_like(totals, _APART)) < 1:
            return False
        scores.append(totals[ends] / length**penalty)
        roundings.append(torch.full_like(scores[-1], _APART / length**penalty))
    finished = torch.cat(scores)
    if _closest(finished, torch.cat(roundings)) < 1:
        return False
    return max_length == 1 or not (scores[0] == finished.max()).any()


def _closest(numbers: Tensor, roundings: Tensor) -> float:
    """Return the smallest gap between the best hundred numbers, in units of what is rounded."""
    best, order = numbers.topk(min(100, len(numbers)))
    if len(best) < 2:
        return 1.0
    rounding = roundings[order].unfold(0, 2, 1).amax(1)  # the larger of two neighbours'
    return float((-best.diff() / rounding).min())


def _beam_cases(draw: SeededInputs) -> list[Case]:
    def case(
        name: str,
        v: int,
        beam_size: int,
        max_length: int,
        penalty: float | None = None,
        ids: tuple[int, int] | None = None,
        kind: str = "tensor",
        scale: float = 1.8,
        end: float = 0.0,
        note: str = "",
    ) -> Case:
        if ids is None:
            bos_id = draw.integer(0, v - 1)
            ids = bos_id, (bos_id + draw.integer(1, v - 1)) % v
        sum_of = {"tensor": (1, 0, 0), "tuple": (1, 1, 0), "dict": (1, 1, -1)}[kind]
        for _ in range(50):  # a few are enough
            inputs = _tables(draw, kind, v, scale, ids[1], end)
            parts = zip(sum_of, inputs.values(), strict=False)
            table = sum((k * part for k, part in parts), torch.zeros(1))
            if _good(table, ids, max_length, penalty or 0.0):
                break
        given = {
            "step": Fake("TableStep", (kind,)),
            "beam_size": beam_size,
            "bos_id": ids[0],
            "eos_id": ids[1],
            "max_length": max_length,
        }
        if penalty is not None:
            given["length_penalty"] = penalty
        names = ("beam_size", "bos_id", "eos_id", "max_length", "length_penalty")
        arguments = ("step", _STATES[kind], *(name for name in names if name in given))
        call = Call("", arguments, ("tokens", "score"), numbers=("score",))
        return Case(name, inputs, (call,), extra_arguments=given, note=note)

    return [
        case("three words, two hypotheses", 3, 2, 3),
        case("a beam of one", 5, 1, 5, note="A beam of 1 is greedy decoding."),
        case("four words, two hypotheses", 4, 2, 5, ids=(2, 3)),
        case("five words, three hypotheses", 5, 3, 5),
        case("seven words, four hypotheses", 7, 4, 4, ids=(2, 3), end=-1.0),
        case("room for eight words", 3, 3, 8, end=1.0),
        case("sentences that all are cut off", 7, 3, 2, end=-2.0),
        case("sentences of one word at most", 5, 3, 1),
        case(
            "a beam larger than the vocabulary",
            4,
            6,
            5,
            note="The first step has only V extensions to choose from, fewer than beam_size.",
        ),
        case("the state is a tuple", 5, 3, 5, kind="tuple", end=-1.0, note=_NESTED),
        case("the state is a nested dict", 5, 4, 5, kind="dict", end=-1.0, note=_NESTED),
        case("a length penalty of 1", 5, 3, 5, 1.0, ids=(2, 3)),
        case("a length penalty of 1, a wider beam", 4, 5, 6, 1.0),
        case("a length penalty of 0.6", 5, 4, 5, 0.6),
        case("a length penalty of 2", 3, 3, 7, 2.0),
        case("a length penalty of 1, the beam wider than the vocabulary", 3, 5, 6, 1.0),
        case("a length penalty of 0.5, the state a tuple", 4, 3, 6, 0.5, kind="tuple"),
        case("a length penalty of exactly 0", 4, 3, 4, 0.0, ids=(1, 0)),
        *(
            case(f"long sentences, {k} hypotheses, {v} words, {n}", v, k, longest, scale=1.5)
            for v, k, longest in ((3, 2, 9), (3, 3, 9), (3, 4, 9), (4, 3, 7), (4, 4, 7), (5, 3, 6))
            for n in ("one", "two", "three")
        ),
        *(
            case(f"long sentences, {k} hypotheses, a length penalty of {alpha}", v, k, most, alpha)
            for v, k, most, alpha in (
                (3, 3, 9, 1.2),
                (4, 4, 7, 1.0),
                (5, 5, 6, 1.0),
                (3, 2, 9, 1.0),
                (3, 4, 9, 0.8),
                (4, 3, 7, 0.3),
                (4, 6, 7, 0.6),
            )
        ),
        # Short hypotheses end early, and the best one is the longest: rows are left out.
        *(case(f"some hypotheses end early, {n}", 4, 5, 7, 3.0, end=1.0) for n in range(1, 7)),
    ]


BEAM_SEARCH = Exercise(
    name="beam_search",
    points=5,
    difficulty=3,
    minutes=45,
    signature="(step, state, beam_size, bos_id, eos_id, max_length, length_penalty=0.0)",
    axes={"table": "K V V", "more": "K V V", "less": "K V V", "tokens": "L", "score": ""},
    cases=_beam_cases,
)


_NESTED = (
    "Every tensor in the state has the hypotheses on its axis 0, also inside a tuple or dict: all "
    "of them have to be put into the new order, as coursekit.models.greedy_decoding.choose does."
)
