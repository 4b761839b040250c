"""Test cases of `mask_tokens`, whose correct output is random."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.exercises.bert._drawn_inputs import draw_ids
from autograder.spec.binomial_bounds import is_plausible
from autograder.spec.exercise import Call, Case, Fake
from autograder.spec.outcome import Outcome
from autograder.spec.seeded_inputs import SeededInputs

_CHOSEN = 0.15
_MASKED, _RANDOM = 0.8, 0.1  # of the chosen tokens; the others stay as they are
_SHORT, _TIMES = 20, 40  # texts of so many tokens, so often
_HARDLY = 0.03  # a share that may come about by chance alone, where a random token is the true one


def _probability(call: Call, case: Case) -> float:
    return case.extra_arguments[str(call.arguments[5])] if len(call.arguments) > 5 else _CHOSEN


def _read(call: Call, case: Case, outcome: Outcome) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return tokens, special, inputs and labels of one call."""
    tokens, special = (case.inputs[str(name)] for name in call.arguments[:2])
    inputs, labels = (outcome.outputs[str(name)].long() for name in call.returns)
    return tokens, special, inputs, labels


def _fits(call: Call, case: Case, outcome: Outcome) -> str:
    """Return what is wrong with inputs and labels of one call, whatever was drawn."""
    tokens, special, inputs, labels = _read(call, case, outcome)
    chosen = labels.ne(-100)
    if (chosen & (labels != tokens)).any():
        if torch.equal(labels[chosen], inputs[chosen]):
            return (
                "labels holds what the model sees; what it has to find are the true ids, those of "
                "tokens."
            )
        if set(labels[chosen & (labels != tokens)].tolist()) == {0}:
            return "labels holds 0 where no token was chosen; it must hold -100 there."
        return (
            "labels holds something else than true ids and -100: where a token was chosen stands "
            "its id, everywhere else -100."
        )
    if (chosen & special).any():
        return "A special token is chosen; those are never hidden and never predicted."
    if (special & (inputs != tokens)).any():
        return "inputs has another id at a special token, which is never hidden or replaced."
    if ((inputs != tokens) & ~chosen).any():
        return (
            "inputs differs from tokens where labels is -100: only chosen tokens are hidden or "
            "replaced, and each chosen one has a label."
        )
    if ((inputs < 0) | (inputs >= case.extra_arguments["vocabulary_size"])).any():
        return "inputs holds an id that is not in the vocabulary."
    return ""


def _masked(case: Case, outcome: Outcome) -> str:
    """Every call fits together; a token that must be chosen or must not be is treated so."""
    for call in case.calls:
        if said := _fits(call, case, outcome):
            return said
        _, special, _, labels = _read(call, case, outcome)
        if _probability(call, case) == 1 and ((labels == -100) & ~special).any():
            return "With a probability of 1 every token that is not special is chosen."
        if _probability(call, case) == 0 and (labels != -100).any():
            return "With a probability of 0 no token is chosen."
    return ""


def _masked_by_the_generator(case: Case, outcome: Outcome) -> str:
    """The generator decides, and nothing else."""
    if said := _masked(case, outcome):
        return said
    drawn = {
        which: torch.stack([outcome.outputs[f"{which}{name}"].long() for name in _RESULTS])
        for which in _TURNS
    }
    if not torch.equal(drawn[""], drawn["twin_"]):
        return (
            "Two generators of the same seed give different results: all that is drawn must be "
            "drawn with the generator that is passed."
        )
    if torch.equal(drawn[""], drawn["other_"]):
        return (
            "Generators of different seeds give the same result: the tokens must be drawn, with "
            "the generator that is passed."
        )
    if torch.equal(drawn[""], drawn["later_"]):
        return (
            "A second call with the same generator gives the same result again: leave its seed "
            "alone, so that each call goes on where the one before has stopped."
        )
    return ""


def _masked_without_a_generator(case: Case, outcome: Outcome) -> str:
    """Two calls do not give the same."""
    if said := _masked(case, outcome):
        return said
    if torch.equal(outcome.outputs["labels"].long(), outcome.outputs["again_labels"].long()):
        return (
            "Two calls without a generator choose the same tokens: torch's own generator has to "
            "draw them, and a new torch.Generator() always begins at the same seed."
        )
    return ""


def _binomial(k: int, n: int, p: float) -> float:
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def _chosen_as_often_as_they_should(case: Case, outcome: Outcome) -> str:
    """In a text of equal rows without special tokens, each token is chosen by itself."""
    if said := _masked(case, outcome):
        return said
    for call in case.calls:
        p = _probability(call, case)
        _, _, _, labels = _read(call, case, outcome)
        chosen = labels.ne(-100)
        if chosen.all():
            return (
                "Every token has a label, although only some are to be predicted: labels is -100 "
                "where a token was not chosen."
            )
        rows, columns = chosen.sum(1).tolist(), chosen.sum(0).tolist()
        b, n = chosen.shape
        if set(columns) <= {0, b}:
            return (
                "The same places are chosen in all rows: each token of each row is chosen or not "
                "by itself."
            )
        if set(rows) <= {0, n}:
            return (
                "Whole rows are chosen, or nothing of them: each token is chosen or not by itself."
            )
        share = sum(rows) / (b * n)
        if not is_plausible(sum(rows), b * n, p):
            how = "often" if share > p else "seldom"
            return (
                f"Tokens are chosen too {how}: each with the given probability, 0.15 if none is.\n"
                f"Measured: {100 * share:.1f} % of {b * n:,} tokens are chosen; expected about "
                f"{100 * p:.0f} %."
            )
        counts = Counter(rows)
        if not all(is_plausible(counts[k], b, _binomial(k, n, p)) for k in range(n + 1)):
            return f"{_NOT_BY_ITSELF}\n{_measure_spread(rows, n, p)}"
        if not all(is_plausible(count, b, p) for count in columns):
            often, seldom = max(columns), min(columns)
            return (
                "Some places are chosen more often than others; no place in a text counts more.\n"
                f"Measured: place {columns.index(often)} is chosen in {often} of {b} texts, place "
                f"{columns.index(seldom)} in {seldom}."
            )
    return ""


_NOT_BY_ITSELF = (
    "The number of chosen tokens does not vary as it should: no number of them is fixed. Each "
    "token is chosen or not by itself, so that some texts get more and some fewer."
)
_ALL_HIDDEN = "All chosen tokens become [MASK]; it should be 80 % of them."


def _measure_spread(counts: Sequence[int], tokens: int, p: float) -> str:
    """Describe how the numbers of chosen tokens vary over texts of equal length."""
    least, most = min(counts), max(counts)
    variance = float(torch.tensor(counts, dtype=torch.float64).var(correction=0))
    return (
        f"Measured: in each of {len(counts)} texts of {tokens} tokens "
        f"{least if least == most else f'{least} to {most}'} are chosen, a variance of "
        f"{variance:.2f}; expected a variance of about {tokens * p * (1 - p):.2f}."
    )


def _number_not_fixed(case: Case, outcome: Outcome) -> str:
    """Over many calls, the number of chosen tokens varies as a binomial number does."""
    if said := _masked(case, outcome):
        return said
    numbers = []
    hidden = 0
    for call in case.calls:
        _, _, inputs, labels = _read(call, case, outcome)
        chosen = labels.ne(-100)
        numbers.append(int(chosen.sum()))
        hidden += int((chosen & (inputs == case.extra_arguments["mask_id"])).sum())
    total, counts = sum(numbers), Counter(numbers)
    if total == _SHORT * _TIMES:
        return "Every token has a label, although only some are to be predicted."
    if hidden == total > 2 * _TIMES:
        return _ALL_HIDDEN
    for k in range(_SHORT + 1):
        if not is_plausible(counts[k], _TIMES, _binomial(k, _SHORT, _CHOSEN)):
            return f"{_NOT_BY_ITSELF}\n{_measure_spread(numbers, _SHORT, _CHOSEN)}"
    return ""


def _fates_as_they_should(case: Case, outcome: Outcome) -> str:
    """All tokens are chosen here: 80 % become [MASK], 10 % any token, 10 % stay."""
    if said := _masked(case, outcome):
        return said
    (call,) = case.calls
    tokens, _, inputs, _ = _read(call, case, outcome)
    v, mask_id = case.extra_arguments["vocabulary_size"], case.extra_arguments["mask_id"]
    hidden, same = inputs == mask_id, inputs == tokens
    replaced = ~hidden & ~same
    total = tokens.numel()

    def share(where: Tensor) -> str:
        return f"{100 * float(where.sum()) / total:.1f} %"

    measured = (
        f"Measured: of {total:,} chosen tokens {share(hidden)} become [MASK], "
        f"{share(replaced)} another id, {share(same)} stay."
    )
    if hidden.all():
        return _ALL_HIDDEN
    for where in (hidden, replaced, same):
        p = float(where.sum()) / total
        for axis in (0, 1):
            size = tokens.shape[axis]
            if not all(is_plausible(n, size, p) for n in where.sum(axis).tolist()):
                return (
                    "What happens to chosen tokens is decided for several at once; it is drawn for "
                    "each one."
                )
    # A random token may happen to be [MASK], or the true one.
    shares = {
        "become [MASK]": (hidden, _MASKED + _RANDOM / v, "80 %"),
        "become another token": (replaced, _RANDOM * (v - 2) / v, "10 %"),
        "stay as they are": (same, 1 - _MASKED - _RANDOM + _RANDOM / v, "10 %"),
    }
    for what, (where, _, meant) in shares.items():
        if where.sum() < _HARDLY * total:
            some = "None" if not where.any() else "Hardly any"
            return f"{some} of the chosen tokens {what}; it should be {meant} of them.\n{measured}"
    for what, (where, p, meant) in shares.items():
        count = int(where.sum())
        if not is_plausible(count, total, p):
            how = "many" if count > total * p else "few"
            return (
                f"Too {how} of the chosen tokens {what}; it should be {meant} of them.\n{measured}"
            )
    for row, where in zip(inputs, replaced, strict=True):
        if where.sum() > 12 and len(row[where].unique()) == 1:
            return "All tokens that are replaced get the same one; draw one for each."
    for token in range(v):
        if token == mask_id:
            continue
        count, others = int((replaced & (inputs == token)).sum()), int((tokens != token).sum())
        if not is_plausible(count, others, _RANDOM / v):
            return (
                "The random tokens are not uniform: each id from 0 to vocabulary_size - 1 is as "
                "probable as any other, special ones and those that are not in the text too.\n"
                f"Measured: id {token} replaces {count} of {others:,} other tokens; expected about "
                f"{others * _RANDOM / v:.0f}."
            )
    return ""


def _few_ids(case: Case, outcome: Outcome) -> str:
    """All tokens are 0 and chosen here: where there are few ids, a random one often is the true."""
    if said := _masked(case, outcome):
        return said
    (call,) = case.calls
    _, _, inputs, _ = _read(call, case, outcome)
    v, mask_id = case.extra_arguments["vocabulary_size"], case.extra_arguments["mask_id"]
    stay = 1 - _MASKED - _RANDOM
    for token in range(v):
        p = _RANDOM / v + _MASKED * (token == mask_id) + stay * (token == 0)
        share = float((inputs == token).sum()) / inputs.numel()
        if not is_plausible(int((inputs == token).sum()), inputs.numel(), p):
            return (
                "The shares are not right: of the chosen tokens 80 % become [MASK], 10 % any id "
                "from 0 to vocabulary_size - 1, the true one and [MASK] among them, 10 % stay. "
                "Draw one number for each token and cut its range: two draws are independent.\n"
                f"Measured: {100 * share:.1f} % of the inputs are {token}, where all tokens are 0 "
                f"and [MASK] is {mask_id}; expected about {100 * p:.1f} %."
            )
    return ""


_RESULTS = ("inputs", "labels")
_TURNS = ("", "twin_", "other_", "later_")


def draw_masking_cases(draw: SeededInputs) -> list[Case]:
    def call(*more: str, prefix: str = "") -> Call:
        arguments = ("tokens", "special", "vocabulary_size", "mask_id", *more)
        return Call("", arguments, tuple(prefix + name for name in _RESULTS))

    def seeds(*names: str) -> dict[str, Fake]:
        # Far from each other, and never twice the same.
        return {
            name: Fake("Generator", (number * 10**6 + draw.integer(1, 10**6),))
            for number, name in enumerate(names)
        }

    def case(
        name: str,
        tokens: Tensor,
        v: int,
        mask_id: int,
        special: Tensor | None = None,
        probability: float | None = None,
        relation: Any = _masked,
        note: str = "",
    ) -> Case:
        given: dict[str, Any] = {"vocabulary_size": v, "mask_id": mask_id, **seeds("generator")}
        arguments = ["generator"]
        if probability is not None:
            given["probability"] = probability
            arguments.append("probability")
        if special is None:
            special = torch.zeros_like(tokens, dtype=torch.bool)
        return Case(
            name,
            {"tokens": tokens, "special": special},
            (call(*arguments),),
            extra_arguments=given,
            random_outputs=_RESULTS,
            check_random_outputs=relation,
            note=note,
        )

    def framed(b: int, n: int, v: int) -> tuple[Tensor, Tensor]:
        """Texts [CLS] ... [SEP] with padding behind, ids 0, 2 and 3; and which tokens those are."""
        tokens = draw_ids(draw, b, n, below=v - 5) + 5
        lengths = torch.tensor([draw.integer(n // 2, n - 1) for _ in range(b)]).unsqueeze(1)
        places = torch.arange(n)
        tokens = tokens.masked_fill(places == 0, 2)
        tokens = tokens.masked_fill(places == lengths - 1, 3).masked_fill(places >= lengths, 0)
        return tokens, tokens < 5

    b, n = draw.integer(6, 9), draw.integer(300, 340)
    v = draw.integer(30, 60)
    texts_, marks = framed(b, n, v)
    # What is special is said by the mask, not by the id.
    anything = draw_ids(draw, b, n, below=v)
    anywhere = draw.random_mask(b, n)
    short = [draw_ids(draw, 1, _SHORT, below=v) for _ in range(_TIMES)]
    # So many that not even whole texts, or the same places in all, are chosen alike twice.
    some, some_marks = framed(64, draw.integer(60, 70), v)
    several = {"tokens": some, "special": some_marks}
    sizes = {"vocabulary_size": v, "mask_id": 4}
    # Larger than the case before them, whose shares say more: the smallest failing case is shown.
    nought = torch.zeros(80, 140, dtype=torch.long)
    twins = seeds("generator", "other")
    return [
        case("everything is special", texts_, v, 4, torch.ones_like(marks), 0.9),
        case("a probability of 0", texts_, v, 4, marks, 0.0),
        case("one text, a probability of 1", draw_ids(draw, 1, 450, below=v), v, 4, None, 1.0),
        case("ids in one row", draw_ids(draw, 460, below=v), v, 4, None, 1.0),
        case("ids with three axes", draw_ids(draw, 5, 3, 31, below=v), v, 4, None, 1.0),
        case("texts with marks and padding", texts_, v, 4, marks),
        case("texts with marks and padding, a probability of 1", texts_, v, 4, marks, 1.0),
        case(
            "any token may be special, whatever its id",
            anything,
            v,
            v - 1,
            anywhere,
            1.0,
            note="What is special is said by the mask, not by the id.",
        ),
        Case(
            "generators of the same seed and of others",
            several,
            tuple(
                call(which, prefix=prefix)
                for which, prefix in zip(
                    ("generator", "twin", "other", "generator"), _TURNS, strict=True
                )
            ),
            extra_arguments={**sizes, **twins, "twin": twins["generator"]},
            random_outputs=tuple(turn + name for turn in _TURNS for name in _RESULTS),
            check_random_outputs=_masked_by_the_generator,
        ),
        Case(
            "no generator",
            several,
            (call(), call("nothing", prefix="again_")),
            extra_arguments={**sizes, "nothing": None},
            random_outputs=tuple(turn + name for turn in ("", "again_") for name in _RESULTS),
            check_random_outputs=_masked_without_a_generator,
        ),
        case(
            "many texts of equal length",
            draw_ids(draw, 340, 25, below=v),
            v,
            4,
            relation=_chosen_as_often_as_they_should,
        ),
        case(
            "another probability",
            draw_ids(draw, 75, 24, below=v),
            v,
            4,
            None,
            0.4,
            _chosen_as_often_as_they_should,
        ),
        Case(
            "many short texts, one after the other",
            {f"tokens_{i}": tokens for i, tokens in enumerate(short)}
            | {"special": torch.zeros(1, _SHORT, dtype=torch.bool)},
            tuple(
                Call(
                    "",
                    (f"tokens_{i}", "special", "vocabulary_size", "mask_id", "generator"),
                    (f"inputs_{i}", f"labels_{i}"),
                )
                for i in range(_TIMES)
            ),
            extra_arguments={**sizes, **seeds("generator")},
            random_outputs=tuple(f"{name}_{i}" for i in range(_TIMES) for name in _RESULTS),
            check_random_outputs=_number_not_fixed,
        ),
        case(
            "what becomes of many chosen tokens",
            draw_ids(draw, 40, 250, below=6) + 2,  # ids 0, 1 and 8 to 10 are in no text
            11,
            9,
            None,
            1.0,
            _fates_as_they_should,
        ),
        *(case(f"a vocabulary of {v} ids", nought, v, v - 1, None, 1.0, _few_ids) for v in (2, 3)),
    ]


MASKING_NAMES = [
    "tokens",
    "special",
    *(turn + name for turn in (*_TURNS, "again_") for name in _RESULTS),
    *(f"{name}_{i}" for i in range(_TIMES) for name in ("tokens", *_RESULTS)),
]
