"""The exercises of the notebook `captioning/attention`: what is called with which inputs."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import torch
from torch import Tensor

from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.spec.binomial_bounds import is_plausible
from autograder.spec.exercise import Call, Case, Exercise, Fake, Part
from autograder.spec.outcome import Outcome
from autograder.spec.seeded_inputs import SeededInputs, length_mask, round_to_float32
from autograder.spec.tolerances import TOLERANCE


def _turned(numbers: Tensor) -> Tensor:
    """Return the same numbers in another order of memory: the first two axes the other way."""
    return numbers.transpose(0, 1).contiguous().transpose(0, 1)


def _map_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("feature_map",), ("annotations",)),)

    def case(name: str, feature_map: Tensor, note: str = "") -> Case:
        b, c, h, w = feature_map.shape
        upstream = {"annotations": draw.tensor(b, h * w, c)}
        return Case(name, {"feature_map": feature_map}, call, upstream=upstream, note=note)

    b, c, h, w = draw.sizes(4, 2, 5)
    while h * w in (b, c):
        b, c, h, w = draw.sizes(4, 2, 5)
    return [
        case("one picture of one place", draw.tensor(1, 3, 1, 1)),
        case("one picture of two rows and three columns", draw.tensor(1, 4, 2, 3)),
        case("all sizes different", draw.tensor(b, c, h, w)),
        case("one row of places", draw.tensor(b, c, 1, w)),
        case("one column of places", draw.tensor(b, c, h, 1)),
        case("as many rows as columns", draw.tensor(b, c, h, h)),
        case("as many channels as places", draw.tensor(2, 6, 3, 2)),
        case("as many pictures as channels", draw.tensor(3, 3, h, w)),
        case("a map in another order of memory", _turned(draw.tensor(b, c, h, w))),
    ]


ANNOTATION_VECTORS = Exercise(
    name="annotation_vectors",
    points=1,
    difficulty=1,
    minutes=5,
    signature="(feature_map)",
    axes={"feature_map": "B C H W", "annotations": "B HW C"},
    cases=_map_cases,
)


def _attention_cases(draw: SeededInputs) -> list[Case]:
    calls = (
        Call("beta", ("query",), ("beta",)),
        Call("forward", ("query", "annotations"), ("context", "weights")),
    )

    def case(
        name: str,
        b: int,
        n: int,
        d_q: int,
        d_k: int,
        d: int,
        scale: float = 0.7,
        turned: bool = False,
    ) -> Case:
        inputs = {"query": draw.tensor(b, d_q), "annotations": draw.tensor(b, n, d_k)}
        if turned:
            inputs = {name: _turned(tensor) for name, tensor in inputs.items()}
        upstream = {
            "beta": draw.tensor(b),
            "context": draw.tensor(b, d_k),
            "weights": draw.tensor(b, n),
        }
        return Case(
            name,
            inputs,
            calls,
            construct={"query_size": d_q, "key_size": d_k, "hidden_size": d},
            weights={
                "W": draw.tensor(d, d_q, scale=scale),
                "U": draw.tensor(d, d_k, scale=scale),
                "v": draw.tensor(d, scale=1.2),
                "gate.weight": draw.tensor(1, d_q, scale=scale),
                "gate.bias": draw.tensor(1, scale=0.7),
            },
            upstream=upstream,
        )

    b, n, d_q, d_k, d = draw.sizes(5, 2, 7)
    return [
        case("one picture of one place", 1, 1, 2, 3, 4),
        case("one picture of three places", 1, 3, 2, 4, 5),
        case("all sizes different", b, n, d_q, d_k, d),
        case("as many places as pictures", b, b, d_q, d_k, d),
        case("state and annotation of one size", b, n, d_q, d_q, d),
        case("all sizes equal", b, b, b, b, b),
        case("large weights", b, n, d_q, d_k, d, scale=2.5),
        case("states and annotations in another order of memory", b, n, d_q, d_k, d, turned=True),
        make_second_batch_case(case("", 2, 3, 2, 4, 5), case("", 2, 3, 2, 4, 5)),
    ]


SOFT_ATTENTION = Exercise(
    name="SoftAttention",
    points=4,
    difficulty=2,
    minutes=20,
    signature="(query, annotations)",
    axes={
        "query": "B d_q",
        "annotations": "B N d_k",
        "beta": "B",
        "context": "B d_k",
        "weights": "B N",
    },
    cases=_attention_cases,
    is_class=True,
    parts=(Part("beta", ("beta",), 1), Part("forward", ("forward",), 3)),
)


def _rows_of_weights(numbers: Tensor) -> Tensor:
    positive = numbers.exp()
    return round_to_float32(positive / positive.sum(-1, keepdim=True))


def _penalty_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("weights", "mask"), ("penalty",)),)

    def case(name: str, weights: Tensor, mask: Tensor, note: str = "") -> Case:
        inputs = {"weights": weights, "mask": mask}
        return Case(name, inputs, call, upstream={"penalty": draw.tensor()}, note=note)

    def weights(b: int, t: int, n: int) -> Tensor:
        return _rows_of_weights(draw.tensor(b, t, n, scale=1.3))

    b, t, n = draw.sizes(3, 3, 7)
    lengths = draw.lengths(b, t)
    empty = length_mask(lengths, t)
    empty[0] = False
    ragged = length_mask(lengths, t)
    padded = torch.where(ragged.unsqueeze(-1), weights(b, t, n), draw.tensor(b, t, n, scale=3.0))
    one = torch.ones(1, 1, dtype=torch.bool)
    sparse = weights(b, t, n) * draw.holes(b, t, n)
    sparse = round_to_float32(sparse / sparse.sum(-1, keepdim=True))
    nothing = "A caption without any real word has a penalty of 0, and counts in the mean."
    return [
        case("one picture of one place, one word", torch.ones(1, 1, 1).double(), one),
        case("one picture of three places, one word", weights(1, 1, 3), one),
        case("one picture, two words", weights(1, 2, 3), torch.ones(1, 2, dtype=torch.bool)),
        case("captions of different length", weights(b, t, n), ragged),
        case("all sizes different", weights(b, t, n), torch.ones(b, t, dtype=torch.bool)),
        case(
            "any numbers where a caption has ended",
            padded,
            ragged,
            "Where a caption has ended anything may stand; it must not count.",
        ),
        case("a caption without any real word", weights(b, t, n), empty, nothing),
        case("no caption with a real word", weights(2, t, n), torch.zeros(2, t).bool(), nothing),
        case("weights that are exactly 0", sparse, length_mask(draw.lengths(b, t), t)),
        case("as many words as pictures", weights(b, b, n), length_mask(draw.lengths(b, b), b)),
        case("as many places as words", weights(b, t, t), length_mask(draw.lengths(b, t), t)),
        case("all sizes equal", weights(b, b, b), length_mask(draw.lengths(b, b), b)),
        case(
            "weights in another order of memory",
            weights(t, b, n).transpose(0, 1),
            length_mask(draw.lengths(b, t), t),
        ),
    ]


DOUBLY_STOCHASTIC_PENALTY = Exercise(
    name="doubly_stochastic_penalty",
    points=2,
    difficulty=2,
    minutes=15,
    signature="(weights, mask)",
    axes={"weights": "B T N", "mask": "B T", "penalty": ""},
    cases=_penalty_cases,
)


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
            f"weights say: the one with the largest weight comes too {how}."
        )
    return ""


def _hard_cases(draw: SeededInputs) -> list[Case]:
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
                "weights": _turned(weights) if turned else weights,
                "values": _turned(values) if turned else values,
            },
            (call("generator"),),
            given=seeds("generator"),
            upstream={
                "context": draw.tensor(b, d_v),
                "sample": draw.tensor(b, n),
                "log_prob": draw.tensor(b),
            },
            random=results,
            relation=_drawn,
        )

    def flat(b: int, n: int) -> Tensor:
        return _shares(draw.tensor(b, n, scale=0.3))

    b, n, d_v = draw.sizes(3, 3, 7)
    holes = draw.holes(24, n)
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
            given=seeds("generator"),
        ),
        # No gradients: where no other place could be drawn, they mean nothing.
        Case(
            "every row is one-hot already",
            {"weights": torch.eye(n).double()[_places(draw, b, n)], "values": draw.tensor(b, n, 2)},
            (call("generator"),),
            given=seeds("generator"),
            random=results,
            relation=_drawn,
        ),
        chance("one picture of three places", flat(1, 3), 2),
        chance("all sizes different", _shares(draw.tensor(b, n)), d_v),
        chance("some weights are exactly 0", _shares(draw.tensor(24, n), holes), d_v),
        chance("all sizes equal", flat(b, b), b),
        chance("weights and values in another order of memory", flat(b, n), d_v, turned=True),
        Case(
            "generators of the same seed and of others",
            several,
            (
                call("generator", ""),
                call("twin", "twin_"),
                call("other", "other_"),
                call("generator", "later_"),
            ),
            given=_twins(seeds("generator", "other")),
            random=tuple(turn + name for turn in turns for name in results),
            relation=_follows_the_generator,
        ),
        Case(
            "no generator",
            free,
            (call(), call("nothing", "again_")),
            given={"nothing": None},
            random=(*results, *(f"again_{name}" for name in results)),
            relation=_goes_on_without_a_generator,
        ),
        Case(
            "many pictures with the same weights",
            {"weights": many, "values": draw.tensor(2, wide, 2).repeat(2_500, 1, 1)},
            (call("generator"),),
            given=seeds("generator"),
            random=results,
            relation=_as_often_as_the_weights_say,
        ),
    ]


_LOOK = {"context": "B d_v", "sample": "B N", "log_prob": "B"}


HARD_ATTENTION = Exercise(
    name="hard_attention",
    points=3,
    difficulty=2,
    minutes=20,
    signature="(weights, values, generator=None)",
    axes={"weights": "B N", "values": "B N d_v"}
    | {
        prefix + name: axes
        for prefix in ("", "twin_", "other_", "later_", "again_")
        for name, axes in _LOOK.items()
    },
    cases=_hard_cases,
)


def _places(draw: SeededInputs, count: int, places: int) -> list[int]:
    """Return places that are not all the same."""
    first = draw.integer(0, places - 1)
    return [(first + step * step) % places for step in range(count)]


def _twins(seeds: dict[str, Fake]) -> dict[str, Fake]:
    return seeds | {"twin": seeds["generator"]}


def _reinforce_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("log_prob", "reward", "baseline", "mask"), ("loss",)),)

    def case(
        name: str,
        mask: Tensor,
        baseline: float | None = None,
        log_prob: Tensor | None = None,
        note: str = "",
    ) -> Case:
        b, t = mask.shape
        inputs = {
            "log_prob": _logs(b, t) if log_prob is None else log_prob,
            "reward": draw.tensor(b, scale=0.6, shift=0.8),
        }
        given = {}
        if baseline is None:
            inputs["baseline"] = draw.tensor(b, scale=0.5, shift=0.4)
        else:
            given["baseline"] = baseline
        return Case(
            name,
            inputs | {"mask": mask},
            call,
            given=given,
            upstream={"loss": draw.tensor()},
            note=note,
        )

    def _logs(b: int, t: int) -> Tensor:
        return round_to_float32(-draw.tensor(b, t, scale=1.2).exp())

    b, t = draw.sizes(2, 3, 7)
    lengths = draw.lengths(b, t)
    ragged = length_mask(lengths, t)
    empty = ragged.clone()
    empty[0] = False
    padded = torch.where(ragged, _logs(b, t), draw.tensor(b, t, scale=9.0))
    one = torch.ones(1, 1, dtype=torch.bool)
    several = "The baseline may be one number for all pictures or one for each, (B,)."
    nothing = "A caption without any real word adds 0 to the sum, and counts in the mean."
    return [
        case("one picture, one word", one, 0.25),
        case("one picture, one word, a baseline of its own", one),
        case("one picture, three words", torch.ones(1, 3, dtype=torch.bool), 0.5),
        case("captions of different length", ragged, 0.375, note=several),
        case("a baseline for each picture", length_mask(draw.lengths(b, t), t), note=several),
        case("all sizes different", torch.ones(b, t, dtype=torch.bool)),
        case("no baseline, which is a baseline of 0", length_mask(draw.lengths(b, t), t), 0.0),
        case("a whole number for a baseline", length_mask(draw.lengths(b, t), t), 1),
        case(
            "any numbers where a caption has ended",
            ragged,
            0.625,
            padded,
            "Where a caption has ended anything may stand; it must not count.",
        ),
        case("a caption without any real word", empty, note=nothing),
        case("no caption with a real word", torch.zeros(2, t).bool(), 0.5, note=nothing),
        case("as many words as pictures", length_mask(draw.lengths(b, b), b)),
        case(
            "numbers in another order of memory",
            length_mask(draw.lengths(b, t), t),
            log_prob=_turned(_logs(b, t)),
        ),
    ]


REINFORCE_LOSS = Exercise(
    name="reinforce_loss",
    points=3,
    difficulty=2,
    minutes=15,
    signature="(log_prob, reward, baseline, mask)",
    axes={"log_prob": "B T", "reward": "B", "baseline": "B", "mask": "B T", "loss": ""},
    cases=_reinforce_cases,
)
