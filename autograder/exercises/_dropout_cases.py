"""Adds cases in training mode to exercises with dropout."""

from __future__ import annotations

from dataclasses import replace

from autograder.spec.exercise import Case

_QUIET = (
    "In evaluation mode dropout does nothing: nn.Dropout knows the mode, F.dropout has to be told "
    "(training=self.training)."
)


def add_training_cases(case: Case, where: str) -> list[Case]:
    """Return three variants of a case with dropout: evaluation mode once, training mode twice.

    Args:
        case: a small case that has all constructor arguments up to `dropout`.
        where: what dropout acts on, in the words of the docstring: "the embedded words and u".
    """
    acts = f"In training, dropout acts on {where}."

    def dropping(p: float, name: str, training: str, note: str) -> Case:
        construct = {**case.init_arguments, "dropout": p}
        return replace(
            case,
            name=name,
            init_arguments=construct,
            upstream={},
            training_mode=training,
            note=note,
        )

    return [
        dropping(0.75, "evaluation mode, with a dropout of 0.75", "", _QUIET),
        dropping(0.25, "training mode, nothing is dropped, all is scaled", "certain", acts),
        dropping(0.75, "training mode, by chance everything is dropped", "certain", acts),
    ]
