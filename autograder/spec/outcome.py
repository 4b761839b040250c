"""Defines the outcome of an answer on one case, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor


@dataclass
class Outcome:
    """The outcome of an answer on one case, as plain data.

    Attributes:
        outputs: results of the calls, as tensors by name.
        gradients: the gradient of each floating-point input and each weight, or None.
        problem: kind and sentence of the problem, if the case could not run to its end.
        mutated: names of inputs that the answer wrote into and of results that a later call wrote
            into.
        printed: the beginning of what the answer printed to stdout and stderr.
    """

    outputs: dict[str, Tensor] = field(default_factory=dict)
    gradients: dict[str, Tensor | None] = field(default_factory=dict)
    problem: tuple[str, str] | None = None
    mutated: tuple[str, ...] = ()
    printed: str = ""
