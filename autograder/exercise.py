"""What an exercise is: data that say what is called with which inputs and what must come back.

Nothing here knows an answer. Expected values live apart, in the fixtures (students) or come from
the oracles (instructors), so that an answer can be run in one place and judged in another.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from autograder.drawing import Draw


@dataclass(frozen=True)
class Call:
    """One call of the answer.

    Attributes:
        method: the method of the module; "" calls a function itself, "forward" the module.
        arguments: names of inputs, or of what earlier calls returned, by position.
        returns: names given to what comes back; one name for a tensor, several for a tuple.
    """

    method: str
    arguments: tuple[str, ...]
    returns: tuple[str, ...]


@dataclass(frozen=True)
class StandIn:
    """A constructor argument that another exercise would build: a class of `stand_ins` by name."""

    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """One situation an answer is tried in.

    Attributes:
        name: what is special about it, in the words of a message.
        inputs: tensors by name; floating ones are drawn so that float32 holds them exactly, and
            are given to the answer in float32 and in float64.
        calls: in order.
        construct: the constructor's arguments, for classes.
        weights: what is loaded into the module, by the names of its state_dict.
        real: for an output of which only a part counts, a bool tensor of its leading axes.
        upstream: for each output through which gradients are sent, the gradient at the output.
        note: what it means if this case alone goes wrong, a sentence for the student, or "".
    """

    name: str
    inputs: Mapping[str, Tensor]
    calls: tuple[Call, ...]
    construct: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, Tensor] = field(default_factory=dict)
    real: Mapping[str, Tensor] = field(default_factory=dict)
    upstream: Mapping[str, Tensor] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        returned = {name for call in self.calls for name in call.returns}
        for name in (*self.real, *self.upstream):
            if name not in returned:
                raise ValueError(f"Case {self.name!r}: no call returns {name!r}.")

    @property
    def elements(self) -> int:
        """How many numbers go in: the size by which the smallest failing case is found."""
        return sum(tensor.numel() for tensor in self.inputs.values())


@dataclass(frozen=True)
class Part:
    """A share of an exercise that is earned by itself, when not all of the exercise is right.

    Attributes:
        name: in the words of the feedback.
        methods: what is called; the other methods' calls are left out of the cases.
        points: what it earns.
    """

    name: str
    methods: tuple[str, ...]
    points: float

    def of(self, case: Case) -> Case | None:
        """Return the case with this part's calls alone, or None if none of them can be made."""
        known, calls = set(case.inputs), []
        for call in case.calls:
            if call.method in self.methods and known.issuperset(call.arguments):
                calls.append(call)
                known.update(call.returns)
        if not calls:
            return None
        left = {name for call in calls for name in call.returns}
        return replace(
            case,
            calls=tuple(calls),
            real={name: mask for name, mask in case.real.items() if name in left},
            upstream={name: tensor for name, tensor in case.upstream.items() if name in left},
        )


@dataclass(frozen=True)
class Exercise:
    """An exercise, declared once.

    Attributes:
        name: the `__name__` of the student's function or class, the same everywhere.
        assignment: folder of the assignment.
        notebook: notebook the exercise is in.
        points: what a right answer earns.
        signature: what the stub looks like, as text: "(query, keys, W, U, v)".
        axes: for each input and output the names of its axes: {"keys": "B N d_k"}.
        cases: draws the cases of a seed.
        weights_over: outputs that are attention weights, with the input that masks them.
        is_class: True for a module.
        parts: shares of the points, for an answer of which only some methods are right.
        forbidden: operators that are the whole answer, by name ("scaled_dot_product_attention"),
            or with an argument that makes them so ("cross_entropy.label_smoothing"); the stub
            says so.

    Raises:
        ValueError: the parts do not add up to the points.
    """

    name: str
    assignment: str
    notebook: str
    points: float
    signature: str
    axes: Mapping[str, str]
    cases: Callable[[Draw], list[Case]]
    weights_over: Mapping[str, str] = field(default_factory=dict)
    is_class: bool = False
    parts: tuple[Part, ...] = ()
    forbidden: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.parts and sum(part.points for part in self.parts) != self.points:
            raise ValueError(f"{self.name}: the parts do not add up to {self.points} points.")

    def draw(self, seed: int | str) -> list[Case]:
        """Return the cases of a seed, always the same for the same seed."""
        return self.cases(Draw(f"{self.name} {seed}"))

    def shape(self, name: str, tensor: Tensor) -> str:
        """Return the shape of an input or output in the words of the course: (B=2, d_q=3).

        Axes for which "..." stands have no names: (2, 3, N=4).
        """
        sizes = tuple(tensor.shape)
        axes = self.axes.get(name, "").split()
        if axes[:1] == ["..."] and len(sizes) >= len(axes) - 1:
            axes = [""] * (len(sizes) - len(axes) + 1) + axes[1:]
        if len(axes) != len(sizes):
            return str(sizes)
        named = [f"{a}={n}" if a else str(n) for a, n in zip(axes, sizes, strict=True)]
        return f"({', '.join(named)})"


def takes(answer: Any, arguments: int) -> bool:
    """Tell whether a callable can be called with so many positional arguments."""
    try:
        inspect.signature(answer).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:  # built-in functions may not tell
        return True
    return True
