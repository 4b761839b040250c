"""Test cases of the exercises of the notebook `embeddings/vectors`."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.exercises._padded_sequences import make_second_batch_case
from autograder.spec.exercise import Call, Case, Exercise
from autograder.spec.seeded_inputs import SeededInputs, round_to_float32


def _loss_cases(draw: SeededInputs) -> list[Case]:
    call = (Call("", ("center", "context", "negatives"), ("loss",)),)

    def case(name: str, center: Tensor, context: Tensor, negatives: Tensor, note: str = "") -> Case:
        inputs = {"center": center, "context": context, "negatives": negatives}
        return Case(name, inputs, call, upstream={"loss": draw.tensor(shift=3.0)}, note=note)

    def drawn(name: str, b: int, k: int, d: int, note: str = "") -> Case:
        return case(name, draw.tensor(b, d), draw.tensor(b, d), draw.tensor(b, k, d), note)

    def large() -> Case:
        """Dot products of about 200 and 1000 of both signs, for neighbours and negatives."""
        b, k, d = 4, 2, 3
        center = draw.tensor(b, d)
        wanted = torch.tensor([1000.0, -1000.0, 200.0, -200.0], dtype=torch.float64)
        others = torch.stack([wanted.roll(1), wanted.roll(2) / 2], dim=1)  # (B, K)
        along = center / (center**2).sum(-1, keepdim=True)  # (B, d): its dot product with v is 1
        return case(
            "large dot products",
            center,
            round_to_float32(wanted.unsqueeze(-1) * along + draw.tensor(b, d)),
            round_to_float32(others.unsqueeze(-1) * along.unsqueeze(1) + draw.tensor(b, k, d)),
            "Only large dot products go wrong: a probability of exp(-1000) rounds to 0, but its "
            "logarithm is an ordinary number. Compute log sigma in one step, without the "
            "probability in between.",
        )

    b, k, d = draw.sizes(3)
    return [
        drawn("one pair, one negative", 1, 1, 3),
        drawn("two pairs, three negatives", 2, 3, 4),
        drawn("all sizes different", b, k, d),
        drawn("one negative for each pair", b, 1, d),
        drawn("as many negatives as pairs", b, b, d),
        drawn("as many negatives as numbers in a vector", b, k, k),
        drawn("all sizes equal", b, b, b),
        large(),
        case(
            "every dot product is 0",
            torch.zeros(b, d, dtype=torch.float64),
            draw.tensor(b, d),
            draw.tensor(b, k, d),
        ),
        drawn("an empty batch", 0, 2, 3, "A batch without any pair has a loss of 0, not 0 / 0."),
    ]


NEGATIVE_SAMPLING_LOSS = Exercise(
    name="negative_sampling_loss",
    points=3,
    difficulty=2,
    minutes=15,
    signature="(center, context, negatives)",
    axes={"center": "B d", "context": "B d", "negatives": "B K d", "loss": ""},
    cases=_loss_cases,
)


def _model_cases(draw: SeededInputs) -> list[Case]:
    call = Call("forward", ("context",), ("logits",))

    def case(name: str, context: Tensor, v: int, m: int, h: int) -> Case:
        b, n = context.shape
        return Case(
            name,
            {"context": context},
            (call,),
            init_arguments={
                "vocabulary_size": v,
                "embedding_size": m,
                "window": n,
                "hidden_size": h,
            },
            weights={
                "embedding.weight": draw.tensor(v, m),
                "hidden.weight": draw.tensor(h, n * m, scale=0.5),
                "hidden.bias": draw.tensor(h, scale=0.5),
                "output.weight": draw.tensor(v, h),
                "output.bias": draw.tensor(v, scale=0.5),
                "direct.weight": draw.tensor(v, n * m, scale=0.7),
            },
            upstream={"logits": draw.tensor(b, v)},
        )

    def words(b: int, n: int, v: int) -> Tensor:
        return draw.tokens(b, n, vocabulary_size=v)

    b, n, m, h = draw.sizes(4, 2, 6)
    return [
        case("one context of one word", words(1, 1, 5), 5, 2, 3),
        case("two contexts of three words", words(2, 3, 7), 7, 2, 4),
        case("all sizes different", words(b, n, 11), 11, m, h),
        case("all sizes equal", words(4, 4, 4), 4, 4, 4),
        case("as many hidden units and words as numbers in x", words(2, 3, 6), 6, 2, 6),
        case("the same word all through the context", words(2, 1, 7).expand(2, 3).clone(), 7, 2, 4),
        make_second_batch_case(
            case("", words(2, 3, 7), 7, 2, 4), case("", words(4, 3, 7), 7, 2, 4)
        ),
    ]


NEURAL_LANGUAGE_MODEL = Exercise(
    name="NeuralLanguageModel",
    points=4,
    difficulty=2,
    minutes=20,
    signature="(context)",
    axes={"context": "B n", "logits": "B V"},
    cases=_model_cases,
    is_class=True,
)
