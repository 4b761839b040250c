"""Defines exercises as data: cases, calls, inputs and parts, but no expected values.

Expected values are kept separately: students read them from `autograder.expected_values`, and
instructors compute them from the solution. An answer can therefore run in one process and be judged
in another.
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
    """An argument made of the rows of a state that an input selects.

    Attributes:
        state: name of a tensor, or of a container of tensors.
        rows: name of the input that holds the row indices.
    """

    state: str
    rows: str


@dataclass(frozen=True)
class NamedDict:
    """A dict that an answer returns and a later call receives unchanged.

    Attributes:
        name: name of the whole dict.
        members: names of the members that it must have, by key; other members are ignored.
    """

    name: str
    members: Mapping[str, NameTree] = field(default_factory=dict)


# A name or a structure of names: ("h", "c") stands for a tuple, {"memory": "m"} for a dict.
NameTree: TypeAlias = (
    "str | SelectedRows | NamedDict | tuple[NameTree, ...] | Mapping[str, NameTree]"
)


def list_members(tree: NameTree) -> list[NameTree]:
    """Return the members of a tree, or an empty list for a single name."""
    if isinstance(tree, str):
        return []
    if isinstance(tree, SelectedRows):
        return [tree.state, tree.rows]
    if isinstance(tree, NamedDict):
        tree = tree.members
    return list(tree.values() if isinstance(tree, Mapping) else tree)


def list_names(tree: NameTree) -> list[str]:
    """Return the names in a tree, in order, without the names of whole dicts."""
    if isinstance(tree, str):
        return [tree]
    return [name for member in list_members(tree) for name in list_names(member)]


def list_named_dicts(tree: NameTree) -> list[NamedDict]:
    """Return the whole dicts in a tree, in order."""
    own = [tree] if isinstance(tree, NamedDict) else []
    return own + [whole for member in list_members(tree) for whole in list_named_dicts(member)]


def select_rows(state: Any, rows: Tensor) -> Any:
    """Return the given rows of every tensor in a state of nested tuples, lists and dicts."""
    if isinstance(state, Tensor):
        return state[rows]
    if isinstance(state, Mapping):
        return {key: select_rows(member, rows) for key, member in state.items()}
    if isinstance(state, (tuple, list)):
        members = [select_rows(member, rows) for member in state]
        return type(state)(*members) if hasattr(state, "_fields") else type(state)(members)
    return state


def resolve_names(tree: NameTree, known: Mapping[str, Any]) -> Any:
    """Return the tree with each name replaced by its value."""
    if isinstance(tree, str):
        return known[tree]
    if isinstance(tree, SelectedRows):
        return select_rows(known[tree.state], known[tree.rows])
    if isinstance(tree, Mapping):
        return {key: resolve_names(member, known) for key, member in tree.items()}
    return tuple(resolve_names(member, known) for member in list_members(tree))


def format_name_tree(tree: NameTree) -> str:
    """Return a tree as it is written in code: (log_probs, (h, c))."""
    if isinstance(tree, str):
        return tree
    if isinstance(tree, SelectedRows):
        return f"{tree.state}[{tree.rows}]"
    if isinstance(tree, NamedDict):
        tree = tree.members
    if isinstance(tree, Mapping):
        return "{" + ", ".join(f"{k!r}: {format_name_tree(v)}" for k, v in tree.items()) + "}"
    return f"({', '.join(map(format_name_tree, tree))})"


@dataclass(frozen=True)
class Call:
    """One call of the answer.

    Attributes:
        method: method of the module to call; "" calls a function itself, "forward" calls the
            module. If the answer is a function, "model.train" calls that method of the given
            argument `model`.
        arguments: names of inputs, of given arguments, or of results of earlier calls, by position;
            a tuple or dict of names where the answer takes a tuple or dict of tensors.
        returns: names of the results; one name for a tensor, several names for a tuple, and a
            nested tuple or dict of names for a nested tuple or dict.
        numbers: names of results that may be plain numbers.
        non_tensors: names of results that are not tensors, such as strings, with their descriptions
            in words, "a list of strings"; `byte_codec` stores them as tensors.
        raises: the built-in error that a right answer raises here, or ""; the call then returns
            nothing.
        mentions: texts, at least one of which the error's message must contain.
        intact: whether dicts among the arguments must stay unchanged; tensors and lists always
            must.
    """

    method: str
    arguments: tuple[NameTree, ...]
    returns: tuple[NameTree, ...]
    numbers: tuple[str, ...] = ()
    non_tensors: Mapping[str, str] = field(default_factory=dict)
    raises: str = ""
    intact: bool = False
    mentions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.raises) == bool(self.returns):
            raise ValueError("A call either returns something or raises an error.")

    @property
    def needed(self) -> tuple[str, ...]:
        """Return the names of all arguments, including those inside a tuple or dict."""
        return tuple(list_names(self.arguments))

    @property
    def returned(self) -> tuple[str, ...]:
        """Return the names of all returned tensors, including those inside a tuple or dict."""
        return tuple(list_names(self.returns))

    @property
    def result(self) -> NameTree:
        """Return the names of the results in the structure in which the answer returns them."""
        return self.returns if len(self.returns) > 1 else self.returns[0]

    @property
    def available_names(self) -> tuple[str, ...]:
        """Return the names that later calls may use: names of tensors and of whole dicts."""
        return (*self.returned, *(whole.name for whole in list_named_dicts(self.returns)))


@dataclass(frozen=True)
class Fake:
    """A stand-in argument for another exercise's answer or the learner's data; see `fakes`."""

    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """One test case of an exercise.

    Attributes:
        name: what is special about the case, in words that a message can quote.
        inputs: tensors by name; floating-point ones are exactly representable in float32, and the
            answer gets them in float32 and in float64.
        calls: the calls, in order.
        extra_arguments: arguments that are not tensors, by name: numbers, strings, None, lists of
            these, or a `Fake`.
        init_arguments: the constructor's arguments by name, for classes.
        weights: tensors to load into the module, by their names in its state_dict.
        valid_masks: for an output that counts only in part, a bool mask over its leading axes.
        upstream: the gradient to backpropagate from each output, by name.
        note: a sentence for the student that says what it means if only this case fails, or "".
        random_outputs: outputs that depend on chance. Their shape, kind and finiteness are compared
            with the solution's, but their values and the case's gradients are not.
        check_random_outputs: judges random outputs instead: it gets the case and the outcome, and
            returns "" or one sentence about what cannot be right. The sentence has no numbers, so
            that two draws of the same mistake get the same sentence; what was measured may follow
            on a second line. When it is called, outputs have the right shapes and kinds but may
            hold NaN. It is called once without gradients and then, if it returned "", once with
            them. It must (almost) never reject a right answer, however that answer draws; see
            `binomial_bounds`. It never enters the sandbox.
        preceding_case: a case that runs before this one in the same module. Its results must stay
            unchanged; nothing else about it is compared.
        training_mode: "" is evaluation mode; "certain" is training mode without randomness, see
            `deterministic_dropout`; "random" is ordinary training mode.
        tied: names of constructor arguments that are modules whose parameters the answer must use
            directly, not copy.
    """

    name: str
    inputs: Mapping[str, Tensor]
    calls: tuple[Call, ...]
    extra_arguments: Mapping[str, Any] = field(default_factory=dict)
    init_arguments: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, Tensor] = field(default_factory=dict)
    valid_masks: Mapping[str, Tensor] = field(default_factory=dict)
    upstream: Mapping[str, Tensor] = field(default_factory=dict)
    note: str = ""
    random_outputs: tuple[str, ...] = ()
    check_random_outputs: Callable[[Case, Outcome], str] | None = None
    preceding_case: Case | None = None
    training_mode: str = ""
    tied: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        returned = {name for call in self.calls for name in call.returned}
        for name in (*self.valid_masks, *self.upstream, *self.random_outputs):
            if name not in returned:
                raise ValueError(f"Case {self.name!r}: no call returns {name!r}.")
        if bool(self.random_outputs) != bool(self.check_random_outputs):
            raise ValueError(
                f"Case {self.name!r}: random_outputs and check_random_outputs go together."
            )

    @property
    def elements(self) -> int:
        """Return the total size of the inputs, which ranks cases for the smallest failing one."""
        plain = sum(_length(value) for value in self.extra_arguments.values())
        before = self.preceding_case.elements if self.preceding_case else 0
        return before + plain + sum(tensor.numel() for tensor in self.inputs.values())

    @property
    def floating(self) -> bool:
        """Return whether any input is floating-point; if not, results have the default dtype."""
        return any(t.is_floating_point() for t in (*self.inputs.values(), *self.weights.values()))

    @property
    def non_tensors(self) -> frozenset[str]:
        """Return the names of results that are not tensors."""
        return frozenset(name for call in self.calls for name in call.non_tensors)


def _length(value: Any) -> int:
    """Return the size of plain data: characters of strings, members of lists."""
    if isinstance(value, list):
        return sum(1 + _length(member) for member in value)
    return len(value) if isinstance(value, str) else 0


@dataclass(frozen=True)
class Part:
    """A part of an exercise that earns points by itself if the answer as a whole is wrong.

    Attributes:
        name: name of the part, as shown in the feedback.
        methods: methods that belong to it; calls of other methods are left out of the cases.
        points: points that the part earns.
    """

    name: str
    methods: tuple[str, ...]
    points: float

    def restrict_case(self, case: Case) -> Case | None:
        """Return the case with only this part's calls, or None if no such call can be made.

        `check_random_outputs` needs all random outputs; a case that keeps only some gives None.
        """
        known, calls = {*case.inputs, *case.extra_arguments}, []
        for call in case.calls:
            if call.method in self.methods and known.issuperset(call.needed):
                calls.append(call)
                known.update(call.available_names)
        if not calls:
            return None
        left = {name for call in calls for name in call.returned}
        random = tuple(name for name in case.random_outputs if name in left)
        if random and random != case.random_outputs:
            return None
        return replace(
            case,
            calls=tuple(calls),
            valid_masks={name: mask for name, mask in case.valid_masks.items() if name in left},
            upstream={name: tensor for name, tensor in case.upstream.items() if name in left},
            random_outputs=random,
            check_random_outputs=case.check_random_outputs if random else None,
            preceding_case=self.restrict_case(case.preceding_case) if case.preceding_case else None,
        )


@dataclass(frozen=True)
class Exercise:
    """The declaration of an exercise.

    Attributes:
        name: the `__name__` of the student's function or class, the same everywhere.
        points: points that a right answer earns.
        difficulty: 1 to 3.
        minutes: approximate time that the exercise takes.
        signature: signature of the stub, as text: "(query, keys, W, U, v)".
        axes: names of the axes of each input and output: {"keys": "B N d_k"}.
        cases: draws the cases of a seed.
        normalized_outputs: outputs whose rows sum to 1, each with the input that masks it: a bool
            mask, lengths, or ids whose padding is 0; "" if nothing is masked.
        is_class: True if the answer is a module.
        parts: parts that earn points by themselves if only some methods are right.
        forbidden: operators that would be the whole answer, by their names in
            `autograder.run.forbidden_ops`; a name covers everything that computes the same. The
            stub says that they are forbidden.
        operator: computes the result of a forbidden operator on a case, if the result's last bits
            reveal a call of the operator. None if the plainest answer takes the operator's steps.
        assignment: folder of the assignment; `autograder.exercises` sets it.
        notebook: notebook that contains the exercise; `autograder.exercises` sets it, too.

    Raises:
        ValueError: if the parts do not add up to the points, or if `operator` is given but nothing
            is forbidden.
    """

    name: str
    points: float
    difficulty: int
    minutes: int
    signature: str
    axes: Mapping[str, str]
    cases: Callable[[SeededInputs], list[Case]]
    normalized_outputs: Mapping[str, str] = field(default_factory=dict)
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
        """Return the cases of a seed; the same seed always gives the same cases."""
        return self.cases(SeededInputs(f"{self.name} {seed}"))

    def shape(self, name: str, tensor: Tensor) -> str:
        """Return the shape of an input or output with the course's axis names: (B=2, d_q=3).

        Axes matched by "..." have no names: (2, 3, N=4).
        """
        sizes = tuple(tensor.shape)
        axes = self.axes.get(name, "").split()
        if axes[:1] == ["..."] and len(sizes) >= len(axes) - 1:
            axes = [""] * (len(sizes) - len(axes) + 1) + axes[1:]
        if len(axes) != len(sizes):
            return str(sizes)
        # The name of an axis with a fixed size is that size: "B 1 S".
        named = [
            str(n) if not a or a.isdigit() else f"{a}={n}" for a, n in zip(axes, sizes, strict=True)
        ]
        return f"({', '.join(named)})"


def accepts_positional_arguments(answer: Any, arguments: int) -> bool:
    """Return whether a callable accepts the given number of positional arguments."""
    try:
        inspect.signature(answer).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:  # some built-in functions have no signature
        return True
    return True
