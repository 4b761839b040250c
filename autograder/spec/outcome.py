"""What came back from an answer on one case, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor


@dataclass
class Outcome:
    """What came back from one case, as plain data.

    Attributes:
        outputs: tensors by the names that the calls give them.
        gradients: for each floating input and each weight its gradient; None if none arrived.
        problem: kind and sentence, if the case could not be run to its end.
        changed: inputs that the answer wrote into, and results that a later call wrote into.
        printed: the beginning of what it printed, to stdout and stderr.
    """

    outputs: dict[str, Tensor] = field(default_factory=dict)
    gradients: dict[str, Tensor | None] = field(default_factory=dict)
    problem: tuple[str, str] | None = None
    changed: tuple[str, ...] = ()
    printed: str = ""
