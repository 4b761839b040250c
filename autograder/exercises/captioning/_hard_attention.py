"""Test cases of `hard_attention`, whose correct output is random."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import torch
from torch import Tensor

from autograder.exercises.captioning._drawn_inputs import (
    draw_places,
    make_twin_generators,
    reverse_memory_order,
)
from autograder.spec.binomial_bounds import is_plausible
from autograder.spec.exercise import Call, Case, Fake
from autograder.spec.outcome import Outcome
from autograder.spec.seeded_inputs import SeededInputs
from autograder.spec.tolerances import TOLERANCE

# hard_attention: what a right answer returns depends on chance
_PARTS = 64


def _shares(numbers: Tensor, possible: Tensor | None = None) -> Tensor:
    """Return weights (B, N) that are multiples of 1/64: float32 adds them up to exactly 1.

    Args:
        numbers: the larger one is, the larger is the weight.
        possible: bool (B, N), where a weight may be above 0.
    """
    positive = numbers.exp()
    if possible is not None:
        positive = positive * possible
    parts = (_PARTS * positive / positive.sum(1, keepdim=True)).floor()
    parts = torch.where(positive > 0, parts.clamp(min=1), parts)
    missing = _PARTS - parts.sum(1)
    parts[torch.arange(len(parts)), parts.argmax(1)] += missing
    return parts / _PARTS


def _looks(call: Call, case: Case, outcome: Outcome) -> str:
    """Return what is wrong with the three results of one call, taken together."""
    context, sample, log_prob = (outcome.outputs[str(name)] for name in call.returns)
    near = TOLERANCE.get(sample.dtype, TOLERANCE[torch.float32])
    weights, values = case.inputs["weights"], case.inputs["values"]
    rows = sample.double()
    marked = (rows - 1).abs() < near
    if not ((marked.sum(1) == 1).all() and (marked | (rows.abs() < near)).all()):
        return (
            "sample is not one-hot: in each row one entry must be 1, at the place drawn, and all "
            "others 0."
        )
    at = marked.nonzero().unbind(1)  # rows, and the place marked in each
    shares = weights[at].tolist()
    if 0 in shares:
        if len(at[1].unique()) == 1 < len(shares):
            return (
                "sample marks the same place in every picture, also where its weight is exactly 0: "
                "each picture has weights of its own and needs a draw of its own."
            )
        return "sample marks a place whose weight is exactly 0; such a place is never drawn."
    if not torch.isfinite(log_prob).all():
        return "log_prob has NaN or infinite entries, although the weight drawn is never 0."
    right = torch.tensor([math.log(share) for share in shares], dtype=torch.float64)
    if (log_prob.double() > near).any():
        return "log_prob is above 0 somewhere, which the logarithm of a probability never is."
    if not _near(log_prob, right, near):
        return "log_prob is not the logarithm of the weight at the place that sample marks."
    if not _near(context, values[at], near):
        if _near(context, (weights.unsqueeze(2) * values).sum(1), near):
            return (
                "context is the mean of all values that soft attention gives; it must be the one "
                "value at the place drawn."
            )
        return (
            "context is not the value at the place that sample marks: draw once, and use that "
            "place for all three results."
        )
    return ""


def _near(actual: Tensor, right: Tensor, near: float) -> bool:
    return torch.allclose(actual.double(), right, rtol=near, atol=near)


def _drawn(case: Case, outcome: Outcome) -> str:
    """Each draw fits together, and gradients go to the weight and to the value drawn."""
    for call in case.calls:
        if said := _looks(call, case, outcome):
            return said
    return _gradients(case, outcome) if outcome.gradients else ""


def _gradients(case: Case, outcome: Outcome) -> str:
    sample, weights = outcome.outputs["sample"].double(), case.inputs["weights"]
    near = 10 * TOLERANCE.get(outcome.outputs["sample"].dtype, TOLERANCE[torch.float32])
    to_weights, to_values = (outcome.gradients[name] for name in ("weights", "values"))
    if to_weights is None and to_values is None:
        return (
            "The values are right, but no gradient reaches weights or values: something cuts the "
            "graph."
        )
    if to_weights is None or (to_weights == 0).all():
        return (
            "The values are right, but no gradient reaches weights: log_prob must be computed from "
            "weights themselves, not from a copy that is cut from the graph, and not without "
            "gradients."
        )
    ratio = torch.where(sample > 0.5, case.upstream["log_prob"].unsqueeze(1) / weights, 0.0)
    # Rows sum to 1, so the gradient is what it does to a softmax's scores: of two gradients that
    # differ by one number all along the row, both are right (torch.distributions gives the other).
    left = to_weights.double() - ratio
    middle = (weights * left).sum(1, keepdim=True)
    if ((weights * (left - middle)).abs() > near).any():
        elsewhere = (weights > 0) & (sample < 0.5)
        highest = left.masked_fill(~elsewhere, -torch.inf).amax(1)
        lowest = left.masked_fill(~elsewhere, torch.inf).amin(1)
        if (highest > lowest + near).any():
            return (
                "The values are right, but weights get a gradient at places that were not drawn: "
                "only log_prob leads back to weights, no gradient goes through the sample."
            )
        return (
            "The values are right, but the gradient with respect to weights is not that of the "
            "logarithm of the weight drawn."
        )
    if to_values is None:
        return "The values are right, but no gradient reaches values: something cuts the graph."
    if not _near(to_values, sample.unsqueeze(2) * case.upstream["context"].unsqueeze(1), near):
        return (
            "The values are right, but the gradient with respect to values is not: only the value "
            "at the place drawn gets one, the context's own."
        )
    return ""


def _follows_the_generator(case: Case, outcome: Outcome) -> str:
    """The generator decides, and nothing else."""
    if said := _drawn(case, outcome):
        return said
    first, twin, other, later = (
        outcome.outputs[f"{which}sample"].double() for which in ("", "twin_", "other_", "later_")
    )
    if not torch.equal(first.round(), twin.round()):
        return (
            "Two generators of the same seed give different places: all that is drawn must be "
            "drawn with the generator that is passed."
        )
    if torch.equal(first.round(), other.round()):
        return (
            "Generators of different seeds give the same places: the places must be drawn, with "
            "the generator that is passed."
        )
    if torch.equal(first.round(), later.round()):
        return (
            "A second call with the same generator gives the same places again: leave its seed "
            "alone, so that each call goes on where the one before has stopped."
        )
    return ""


def _goes_on_without_a_generator(case: Case, outcome: Outcome) -> str:
    """Two calls do not look at the same places."""
    if said := _drawn(case, outcome):
        return said
    first, again = (outcome.outputs[f"{which}sample"].double() for which in ("", "again_"))
    if torch.equal(first.round(), again.round()):
        return (
            "Two calls without a generator give the same places: torch's own generator has to draw "
            "them, and a new torch.Generator() always begins at the same seed."
        )
    return ""


def _as_often_as_the_weights_say(case: Case, outcome: Outcome) -> str:
    """Among pictures with the same weights, each place is drawn as often as its weight says."""
    if said := _drawn(case, outcome):
        return said
    drawn: dict[tuple[float, ...], Counter[int]] = defaultdict(Counter)
    places = outcome.outputs["sample"].double().round().nonzero()[:, 1].tolist()
    for row, place in zip(case.inputs["weights"].tolist(), places, strict=True):
        drawn[tuple(row)][place] += 1
    if all(len(counts) == 1 for counts in drawn.values()):
        if all(row[place] == max(row) for row, counts in drawn.items() for place in counts):
            return (
                "The place with the largest weight is always taken; it is drawn, and over many "
                "pictures each place comes as often as its weight says."
            )
        return (
            "Many pictures with the same weights all get the same place; each picture has a draw "
            "of its own."
        )
    for row, counts in drawn.items():
        pictures, best = sum(counts.values()), max(row)
        if all(is_plausible(counts[i], pictures, share) for i, share in enumerate(row)):
            continue
        how = "often" if counts[row.index(best)] > pictures * best else "seldom"
        return (
            "Over many pictures with the same weights, the places are not drawn as often as their "
            f"weights say: the one with the largest weight comes too {how}.\n"
            f"Measured in {pictures:,} pictures, place by place: "
            f"{', '.join(f'{counts[i] / pictures:.3f}' for i in range(len(row)))}; the weights: "
            f"{', '.join(f'{share:.3f}' for share in row)}."
        )
    return ""


def draw_hard_attention_cases(draw: SeededInputs) -> list[Case]:
    results = ("context", "sample", "log_prob")

    def call(generator: str = "", prefix: str = "") -> Call:
        arguments = ("weights", "values", generator) if generator else ("weights", "values")
        return Call("", arguments, tuple(prefix + name for name in results))

    def seeds(*names: str) -> dict[str, Fake]:
        # Far from each other, and never twice the same.
        generators = {}
        for number, name in enumerate(names):
            generators[name] = Fake("Generator", (number * 10**6 + draw.integer(1, 10**6),))
        return generators

    def chance(name: str, weights: Tensor, d_v: int, turned: bool = False) -> Case:
        b, n = weights.shape
        values = draw.tensor(b, n, d_v)
        return Case(
            name,
            {
                "weights": reverse_memory_order(weights) if turned else weights,
                "values": reverse_memory_order(values) if turned else values,
            },
            (call("generator"),),
            extra_arguments=seeds("generator"),
            upstream={
                "context": draw.tensor(b, d_v),
                "sample": draw.tensor(b, n),
                "log_prob": draw.tensor(b),
            },
            random_outputs=results,
            check_random_outputs=_drawn,
        )

    def flat(b: int, n: int) -> Tensor:
        return _shares(draw.tensor(b, n, scale=0.3))

    b, n, d_v = draw.sizes(3, 3, 7)
    holes = draw.random_mask(24, n)
    holes[0] = torch.arange(n) == 0  # one weight is 1 here, all others are 0
    holes[1] = torch.arange(n) == n - 1
    tall, wide = 40, 5
    several = {"weights": flat(tall, wide), "values": draw.tensor(tall, wide, 2)}
    turns = ("", "twin_", "other_", "later_")
    free = {"weights": flat(tall, wide), "values": draw.tensor(tall, wide, 2)}
    # The place without any weight is in the middle, where no rounding of a sum can reach it.
    patterns = torch.tensor([[5.0, 44.0, 0.0, 1.0, 14.0], [14.0, 1.0, 0.0, 44.0, 5.0]]) / _PARTS
    many = patterns.double().repeat(2_500, 1)
    return [
        Case(
            "one picture of one place",
            {"weights": torch.ones(1, 1).double(), "values": draw.tensor(1, 1, 2)},
            (call("generator"),),
            extra_arguments=seeds("generator"),
        ),
        # No gradients: where no other place could be drawn, they mean nothing.
        Case(
            "every row is one-hot already",
            {
                "weights": torch.eye(n).double()[draw_places(draw, b, n)],
                "values": draw.tensor(b, n, 2),
            },
            (call("generator"),),
            extra_arguments=seeds("generator"),
            random_outputs=results,
            check_random_outputs=_drawn,
        ),
        chance("one picture of three places", flat(1, 3), 2),
        chance("all sizes different", _shares(draw.tensor(b, n)), d_v),
        chance("some weights are exactly 0", _shares(draw.tensor(24, n), holes), d_v),
        chance("all sizes equal", flat(b, b), b),
        chance("weights and values that are not contiguous", flat(b, n), d_v, turned=True),
        Case(
            "generators of the same seed and of others",
            several,
            (
                call("generator", ""),
                call("twin", "twin_"),
                call("other", "other_"),
                call("generator", "later_"),
            ),
            extra_arguments=make_twin_generators(seeds("generator", "other")),
            random_outputs=tuple(turn + name for turn in turns for name in results),
            check_random_outputs=_follows_the_generator,
        ),
        Case(
            "no generator",
            free,
            (call(), call("nothing", "again_")),
            extra_arguments={"nothing": None},
            random_outputs=(*results, *(f"again_{name}" for name in results)),
            check_random_outputs=_goes_on_without_a_generator,
        ),
        Case(
            "many pictures with the same weights",
            {"weights": many, "values": draw.tensor(2, wide, 2).repeat(2_500, 1, 1)},
            (call("generator"),),
            extra_arguments=seeds("generator"),
            random_outputs=results,
            check_random_outputs=_as_often_as_the_weights_say,
        ),
    ]
