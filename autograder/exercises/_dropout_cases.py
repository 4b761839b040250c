"""Helper for exercises with dropout: adds cases in training mode."""

from __future__ import annotations

from dataclasses import replace

from autograder.spec.exercise import Case

_QUIET = (
    "In evaluation mode dropout does nothing: nn.Dropout knows the mode, F.dropout has to be told "
    "(training=self.training)."
)


def add_training_cases(case: Case, where: str) -> list[Case]:
    """Return a case with dropout three times: in evaluation mode, and in training mode twice.

    Args:
        case: small, with all that the constructor takes up to `dropout`.
        where: what dropout acts on, in the docstring's words: "the embedded words and u".
    """
    acts = f"In training, dropout acts on {where}."

    def dropping(p: float, name: str, training: str, note: str) -> Case:
        construct = {**case.construct, "dropout": p}
        return replace(
            case, name=name, construct=construct, upstream={}, training=training, note=note
        )

    return [
        dropping(0.75, "evaluation mode, with a dropout of 0.75", "", _QUIET),
        dropping(0.25, "training mode, nothing is dropped, all is scaled", "certain", acts),
        dropping(0.75, "training mode, by chance everything is dropped", "certain", acts),
    ]
