"""Declares exercises as data: cases, calls, inputs and parts, but no expected values.

Expected values are kept apart: students read them from `autograder.expected_values`, instructors
compute them from the solution. So an answer can be run in one place and judged in another.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from torch import Tensor

from autograder.spec.outcome import Outcome
from autograder.spec.seeded_inputs import SeededInputs


@dataclass(frozen=True)
class SelectedRows:
    """As an argument: the rows of a state that an input picks.

    Attributes:
        state: name of a tensor, or of something that holds tensors.
        rows: name of the input with the numbers of the rows.
    """

    state: str
    rows: str


@dataclass(frozen=True)
class NamedDict:
    """A dict that comes back and that a later call gets as it is.

    Attributes:
        name: of the whole dict.
        members: names of what must be in it, by key; whatever else it holds is not looked at.
    """

    name: str
    members: Mapping[str, NameTree] = field(default_factory=dict)


# A name, or several together: ("h", "c") stands for a tuple, {"memory": "m"} for a dict.
NameTree: TypeAlias = (
    "str | SelectedRows | NamedDict | tuple[NameTree, ...] | Mapping[str, NameTree]"
)


def list_members(bundle: NameTree) -> list[NameTree]:
    """Return what a bundle is made of; nothing for a single name."""
    if isinstance(bundle, str):
        return []
    if isinstance(bundle, SelectedRows):
        return [bundle.state, bundle.rows]
    if isinstance(bundle, NamedDict):
        bundle = bundle.members
    return list(bundle.values() if isinstance(bundle, Mapping) else bundle)


def list_names(bundle: NameTree) -> list[str]:
    """Return the names in a bundle, in order, without those of whole dicts."""
    if isinstance(bundle, str):
        return [bundle]
    return [name for member in list_members(bundle) for name in list_names(member)]


def list_named_dicts(bundle: NameTree) -> list[str]:
    """Return the names of whole dicts in a bundle."""
    own = [bundle.name] if isinstance(bundle, NamedDict) else []
    return own + [name for member in list_members(bundle) for name in list_named_dicts(member)]


def select_rows(state: Any, rows: Tensor) -> Any:
    """Return the rows of all tensors in a state, which may be tuples, lists and dicts of them."""
    if isinstance(state, Tensor):
        return state[rows]
    if isinstance(state, Mapping):
        return {key: select_rows(member, rows) for key, member in state.items()}
    if isinstance(state, (tuple, list)):
        members = [select_rows(member, rows) for member in state]
        return type(state)(*members) if hasattr(state, "_fields") else type(state)(members)
    return state


def resolve_names(bundle: NameTree, known: Mapping[str, Any]) -> Any:
    """Return what the names stand for, in the form of the bundle."""
    if isinstance(bundle, str):
        return known[bundle]
    if isinstance(bundle, SelectedRows):
        return select_rows(known[bundle.state], known[bundle.rows])
    if isinstance(bundle, Mapping):
        return {key: resolve_names(member, known) for key, member in bundle.items()}
    return tuple(resolve_names(member, known) for member in list_members(bundle))


def format_name_tree(bundle: NameTree) -> str:
    """Return a bundle as code shows it: (log_probs, (h, c))."""
    if isinstance(bundle, str):
        return bundle
    if isinstance(bundle, SelectedRows):
        return f"{bundle.state}[{bundle.rows}]"
    if isinstance(bundle, NamedDict):
        bundle = bundle.members
    if isinstance(bundle, Mapping):
        return "{" + ", ".join(f"{k!r}: {format_name_tree(v)}" for k, v in bundle.items()) + "}"
    return f"({', '.join(map(format_name_tree, bundle))})"


@dataclass(frozen=True)
class Call:
    """One call of the answer.

    Attributes:
        method: the method of the module; "" calls a function itself, "forward" the module. Where
            the answer is a function, "model.train" calls that method of the given thing `model`.
        arguments: names of inputs, of given things, or of what earlier calls returned, by position;
            a tuple or dict of names where the answer takes a tuple or dict of tensors.
        returns: names given to what comes back; one name for a tensor, several for a tuple, a tuple
            or dict of names inside for a tuple or dict inside.
        numbers: names of what may come back as a plain number.
        plain: names of what comes back as no tensor, such as strings, and what it is in words, "a
            list of strings"; it is kept as `texts` does.
        raises: the built-in error that a right answer raises here, or ""; then nothing comes back.
        mentions: texts of which the error's message must contain one.
        intact: whether the dicts among the arguments must be left as they are. (Tensors and lists
            always must.)
    """

    method: str
    arguments: tuple[NameTree, ...]
    returns: tuple[NameTree, ...]
    numbers: tuple[str, ...] = ()
    plain: Mapping[str, str] = field(default_factory=dict)
    raises: str = ""
    intact: bool = False
    mentions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.raises) == bool(self.returns):
            raise ValueError("A call either returns something or raises an error.")

    @property
    def needed(self) -> tuple[str, ...]:
        """Return the names of all arguments, also of those inside a tuple or dict."""
        return tuple(list_names(self.arguments))

    @property
    def returned(self) -> tuple[str, ...]:
        """Return the names of all tensors that come back, also of those inside a tuple or dict."""
        return tuple(list_names(self.returns))

    @property
    def known(self) -> tuple[str, ...]:
        """Return the names that later calls may use: those of tensors and of whole dicts."""
        return (*self.returned, *list_named_dicts(self.returns))


@dataclass(frozen=True)
class Fake:
    """An argument in place of another exercise's answer or the learner's data, see `fakes`."""

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
        given: arguments that are no tensors, by name: numbers, strings, None, lists of them, or a
            `Fake`.
        construct: the constructor's arguments, for classes.
        weights: what is loaded into the module, by the names of its state_dict.
        real: for an output of which only a part counts, a bool tensor of its leading axes.
        upstream: for each output through which gradients are sent, the gradient at the output.
        note: what it means if this case alone goes wrong, a sentence for the student, or "".
        random: outputs that depend on chance. Their shape, kind and finiteness are compared with
            the solution's, their values are not, and neither are the case's gradients.
        relation: judges random outputs instead: it gets the case and what came back, and returns ""
            or one sentence about what cannot be right, without numbers, so that two draws of the
            same mistake get the same sentence. Outputs have the right shapes and kinds when it is
            called, but may hold NaN. It is called once without gradients, then, if it said
            nothing, once with them. It must find (almost) never anything in a right answer,
            whatever the way it draws, see `chance`. It stays where answers are judged.
        after: a case that is played in the same module before. What it returns must stay as it is;
            nothing else of it is compared.
        training: "" is evaluation mode; "certain" is training mode, in which nothing is left to
            chance, see `certainty`; "random" is training mode as it is.
        tied: arguments of the constructor, modules whose parameters the answer must use themselves.
    """

    name: str
    inputs: Mapping[str, Tensor]
    calls: tuple[Call, ...]
    given: Mapping[str, Any] = field(default_factory=dict)
    construct: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, Tensor] = field(default_factory=dict)
    real: Mapping[str, Tensor] = field(default_factory=dict)
    upstream: Mapping[str, Tensor] = field(default_factory=dict)
    note: str = ""
    random: tuple[str, ...] = ()
    relation: Callable[[Case, Outcome], str] | None = None
    after: Case | None = None
    training: str = ""
    tied: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        returned = {name for call in self.calls for name in call.returned}
        for name in (*self.real, *self.upstream, *self.random):
            if name not in returned:
                raise ValueError(f"Case {self.name!r}: no call returns {name!r}.")
        if bool(self.random) != bool(self.relation):
            raise ValueError(f"Case {self.name!r}: random outputs and a relation go together.")

    @property
    def elements(self) -> int:
        """How many numbers go in: the size by which the smallest failing case is found."""
        plain = sum(_length(value) for value in self.given.values())
        before = self.after.elements if self.after else 0
        return before + plain + sum(tensor.numel() for tensor in self.inputs.values())

    @property
    def floating(self) -> bool:
        """Whether floating numbers go in; if none do, results have torch's default dtype."""
        return any(t.is_floating_point() for t in (*self.inputs.values(), *self.weights.values()))

    @property
    def plain(self) -> frozenset[str]:
        """Return the names of results that are no tensors."""
        return frozenset(name for call in self.calls for name in call.plain)


def _length(value: Any) -> int:
    """Return how much there is to read: characters of strings, members of lists."""
    if isinstance(value, list):
        return sum(1 + _length(member) for member in value)
    return len(value) if isinstance(value, str) else 0


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
        """Return the case with this part's calls alone, or None if none of them can be made.

        A relation needs all random outputs: a case that keeps only some of them is left out.
        """
        known, calls = {*case.inputs, *case.given}, []
        for call in case.calls:
            if call.method in self.methods and known.issuperset(call.needed):
                calls.append(call)
                known.update(call.known)
        if not calls:
            return None
        left = {name for call in calls for name in call.returned}
        random = tuple(name for name in case.random if name in left)
        if random and random != case.random:
            return None
        return replace(
            case,
            calls=tuple(calls),
            real={name: mask for name, mask in case.real.items() if name in left},
            upstream={name: tensor for name, tensor in case.upstream.items() if name in left},
            random=random,
            relation=case.relation if random else None,
            after=self.of(case.after) if case.after else None,
        )


@dataclass(frozen=True)
class Exercise:
    """An exercise, declared once.

    Attributes:
        name: the `__name__` of the student's function or class, the same everywhere.
        points: what a right answer earns.
        difficulty: 1 to 3.
        minutes: that it takes, roughly.
        signature: what the stub looks like, as text: "(query, keys, W, U, v)".
        axes: for each input and output the names of its axes: {"keys": "B N d_k"}.
        cases: draws the cases of a seed.
        weights_over: outputs whose rows are shares of 1, with the input that masks them.
        is_class: True for a module.
        parts: shares of the points, for an answer of which only some methods are right.
        forbidden: operators that are the whole answer, by the names that
            `autograder.run.forbidden_ops` has for them and for what computes the same; the stub
            says so.
        operator: what such an operator gives on a case, if its last bits tell that it was called.
            None where the plainest answer takes the operator's own steps.
        assignment: folder of the assignment, as `autograder.exercises` collects it.
        notebook: notebook the exercise is in, likewise.

    Raises:
        ValueError: the parts do not add up to the points, or an operator is not forbidden.
    """

    name: str
    points: float
    difficulty: int
    minutes: int
    signature: str
    axes: Mapping[str, str]
    cases: Callable[[SeededInputs], list[Case]]
    weights_over: Mapping[str, str] = field(default_factory=dict)
    is_class: bool = False
    parts: tuple[Part, ...] = ()
    forbidden: tuple[str, ...] = ()
    operator: Callable[[Case], Sequence[Tensor]] | None = None
    assignment: str = ""
    notebook: str = ""

    def __post_init__(self) -> None:
        if self.parts and sum(part.points for part in self.parts) != self.points:
            raise ValueError(f"{self.name}: the parts do not add up to {self.points} points.")
        if self.operator and not self.forbidden:
            raise ValueError(f"{self.name}: only a forbidden operator is looked for.")

    def draw(self, seed: int | str) -> list[Case]:
        """Return the cases of a seed, always the same for the same seed."""
        return self.cases(SeededInputs(f"{self.name} {seed}"))

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
        # An axis that always has one size is named by it: "B 1 S".
        named = [
            str(n) if not a or a.isdigit() else f"{a}={n}" for a, n in zip(axes, sizes, strict=True)
        ]
        return f"({', '.join(named)})"


def accepts_positional_arguments(answer: Any, arguments: int) -> bool:
    """Tell whether a callable can be called with so many positional arguments."""
    try:
        inspect.signature(answer).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:  # built-in functions may not tell
        return True
    return True
