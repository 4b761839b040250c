"""Runs an answer on a test case and returns its outputs and gradients as plain data.

An answer is run twice: first without gradients, for its values, then with inputs and weights that
require gradients. An answer that computes the right numbers outside torch's graph thus gets a
message that says exactly that.
"""

from __future__ import annotations

import builtins
import contextlib
import random
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from autograder.run.deterministic_dropout import make_dropout_deterministic
from autograder.run.forbidden_ops import ForbiddenCallRecorder
from autograder.run.global_state import (
    capture_output,
    keep_random_state,
    use_default_torch_settings,
)
from autograder.run.guarded_call import CaseError, call_guarded, get_first_line, get_message
from autograder.run.returned_values import convert_to_tensors, keep_named_dicts
from autograder.spec.exercise import (
    Call,
    Case,
    Exercise,
    NameTree,
    SelectedRows,
    accepts_positional_arguments,
    format_name_tree,
    resolve_names,
)
from autograder.spec.fakes import build_argument, find_usage_hint
from autograder.spec.outcome import Outcome


def run_case(
    answer: Any,
    exercise: Exercise,
    case: Case,
    dtype: torch.dtype = torch.float64,
    recorder: ForbiddenCallRecorder | None = None,
    limit: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
) -> Outcome:
    """Run the answer on one case and return the outcome.

    Args:
        answer: the student's function or class.
        exercise: the exercise that it answers.
        case: the case to run.
        dtype: dtype of all floating inputs and weights, float32 or float64.
        recorder: recorder of forbidden calls, if forbidden operators are disabled.
        limit: returns a context manager that may interrupt the answer at any line. Only the
            answer's code runs in it: an interrupt in code that restores torch's state would leave
            it unrestored.
    """
    outcome = Outcome()
    try:
        with (
            use_default_torch_settings(torch.float32 if case.floating else dtype),
            keep_random_state(),
            capture_output(outcome),
            make_dropout_deterministic(case.training_mode == "certain"),
            limit(),
        ):
            outcome.outputs, outcome.mutated = _run_for_values(answer, exercise, case, dtype)
            # A modified tensor changes the second run, so report only the modification.
            values = {} if outcome.mutated else outcome.outputs
            outcome.gradients = _run_for_gradients(answer, exercise, case, dtype, values)
    except CaseError as problem:
        sentence = problem.sentence
        passed = [*case.extra_arguments.values(), *case.init_arguments.values()]
        if problem.kind == "raised" and (use := find_usage_hint(passed, sentence)):
            sentence += f"\nThe check passes {use}; use nothing else of it."
        outcome.problem = (problem.kind, sentence)
    if recorder and recorder.problem:
        return Outcome(problem=recorder.problem, printed=outcome.printed)
    return outcome


def perform_calls(
    answer: Any, exercise: Exercise, case: Case, dtype: torch.dtype
) -> dict[str, Tensor]:
    """Make the calls of a case and return their results, without capturing printed output.

    Raises:
        CaseError: if the case cannot run to its end; its cause is the original error.
    """
    return _run_for_values(answer, exercise, case, dtype)[0]


Observe = Callable[[Mapping[str, Tensor], "nn.Module | None"], AbstractContextManager[None]]


def observe_calls(
    answer: Any, exercise: Exercise, case: Case, dtype: torch.dtype, observe: Observe
) -> dict[str, Any]:
    """Make the calls of a case and return inputs and results by name, as the answer has them.

    Args:
        answer: the student's function or class.
        exercise: the exercise that it answers.
        case: the case; one that precedes it is left out.
        dtype: dtype of all floating inputs and weights.
        observe: returns a context manager in which the calls are made, from the inputs and the
            module.

    Raises:
        CaseError: if the case cannot run to its end.
    """
    inputs = {name: _cast(tensor, dtype).clone() for name, tensor in case.inputs.items()}
    module = _construct(answer, exercise, case, dtype) if exercise.is_class else None
    with keep_random_state(), torch.set_grad_enabled(not case.upstream), observe(inputs, module):
        return _call_all(answer, module, exercise, case, inputs)[1]


@dataclass
class _CompletedCase:
    """A case whose calls have been made.

    Attributes:
        case: the case.
        before: the original inputs, and copies of the results as they were returned.
        known: inputs, extra arguments and results, as they are now.
        altered: names of dict members that the answer replaced.
    """

    case: Case
    before: dict[str, Tensor]
    known: dict[str, Any]
    altered: list[str]

    def list_changed(self) -> list[str]:
        """Return the names of inputs and results that have been modified since."""
        # Results that are not tensors are kept as bytes, which an answer cannot reach.
        plain, known = self.case.non_tensors, self.known
        changed = [n for n, t in self.before.items() if n not in plain and not _same(known[n], t)]
        lists = {
            n: value for n, value in self.case.extra_arguments.items() if isinstance(value, list)
        }
        changed += [name for name, value in lists.items() if not _equal(known[name], value)]
        return [*changed, *self.altered]


def _run_for_values(
    answer: Any, exercise: Exercise, case: Case, dtype: torch.dtype
) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    module = _construct(answer, exercise, case, dtype) if exercise.is_class else None
    # Even if no gradients are compared, an answer must work with tensors that require them.
    with torch.set_grad_enabled(not case.upstream):
        try:
            completed = _run_with_preceding_case(answer, module, exercise, case, dtype)
        except CaseError as problem:
            if not case.upstream and problem.kind == "raised" and "grad" in problem.sentence:
                problem.sentence += _ASKS_FOR_GRADIENTS
            raise
    changed = dict.fromkeys(name for one in completed for name in one.list_changed())
    returned = [name for call in case.calls for name in call.returned]
    return {name: completed[-1].before[name] for name in returned}, tuple(changed)


_ASKS_FOR_GRADIENTS = (
    "\nThis happened with parameters that require gradients, as they do in training: put code "
    "that only fills or reads them under torch.no_grad()."
)


def _run_with_preceding_case(
    answer: Any,
    module: nn.Module | None,
    exercise: Exercise,
    case: Case,
    dtype: torch.dtype,
    inputs: dict[str, Tensor] | None = None,
) -> list[_CompletedCase]:
    """Make the calls of a case, after those of its preceding case, if any."""
    completed = (
        _run_with_preceding_case(answer, module, exercise, case.preceding_case, dtype)
        if case.preceding_case
        else []
    )
    if inputs is None:
        inputs = {name: _cast(tensor, dtype).clone() for name, tensor in case.inputs.items()}
    copies, known, altered = _call_all(answer, module, exercise, case, inputs)
    before = {name: _cast(tensor, dtype) for name, tensor in case.inputs.items()} | copies
    return [*completed, _CompletedCase(case, before, known, altered)]


def _run_for_gradients(
    answer: Any, exercise: Exercise, case: Case, dtype: torch.dtype, values: Mapping[str, Tensor]
) -> dict[str, Tensor | None]:
    if not case.upstream:
        return {}
    leaves = {
        name: _cast(tensor, dtype).clone().requires_grad_()
        for name, tensor in case.inputs.items()
        if tensor.is_floating_point()
    }
    # The answer gets copies, not leaves: writing into a leaf raises an obscure error.
    given = {
        name: leaves[name].clone() if name in leaves else tensor.clone()
        for name, tensor in case.inputs.items()
    }
    module = _construct(answer, exercise, case, dtype) if exercise.is_class else None
    if module is not None:
        leaves |= dict(module.named_parameters())
    with torch.enable_grad():
        try:
            outputs = _run_with_preceding_case(answer, module, exercise, case, dtype, given)[
                -1
            ].known
        except CaseError as problem:
            if problem.kind != "raised":
                raise
            raise CaseError(
                problem.kind,
                f"{problem.sentence}\nThis happened with inputs that require gradients, as they do "
                "in training. Use torch's operations all the way.",
            ) from problem
        if not case.random_outputs and not _are_outputs_equal(outputs, values):
            raise CaseError("unsteady", _explain_unsteady(answer, exercise, case, dtype))
        if any(outputs[name].shape != upstream.shape for name, upstream in case.upstream.items()):
            return {}  # the shapes are wrong, which the comparison of values reports
        if frozen := [name for name, leaf in leaves.items() if not leaf.requires_grad]:
            raise CaseError(
                "gradient",
                f"The parameter {frozen[0]} does not require gradients: remove what freezes it, "
                "such as requires_grad=False or requires_grad_(False).",
            )
        total = torch.zeros((), dtype=dtype)
        for name, upstream in case.upstream.items():
            product = outputs[name] * _cast(upstream, outputs[name].dtype)
            if name in case.valid_masks:
                product = product[case.valid_masks[name]]
            total = total + product.sum()
        if not total.requires_grad:
            return dict.fromkeys(leaves)
        try:
            gradients = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
        except Exception as error:
            raise CaseError(
                "gradient",
                f"The values are right, but backward() raised {type(error).__name__}: "
                f"{get_first_line(error)}",
            ) from error
    return {
        name: None if gradient is None else gradient.detach().clone()
        for name, gradient in zip(leaves, gradients, strict=True)
    }


def _are_outputs_equal(outputs: Mapping[str, Any], values: Mapping[str, Tensor]) -> bool:
    """Return whether the second run gave the same values as the first."""
    return all(
        outputs[name].shape == value.shape
        and torch.allclose(outputs[name].double(), value.double(), 1e-6, 1e-6, equal_nan=True)
        for name, value in values.items()
        if isinstance(outputs[name], Tensor)
    )


def _explain_unsteady(answer: Any, exercise: Exercise, case: Case, dtype: torch.dtype) -> str:
    runs = []
    for _ in range(2):
        torch.manual_seed(1)
        random.seed(1)
        runs.append(_run_for_values(answer, exercise, case, dtype)[0])
    head = (
        f"Your {exercise.name} gives different results when it is called again with the same inputs"
    )
    if not _are_outputs_equal(*runs):
        return (
            f"{head}: it keeps something from the previous call, in a global variable, an "
            "attribute of the class, or a list or dict as a default argument."
        )
    if exercise.is_class and not case.training_mode:
        return (
            f"{head}, in evaluation mode: something is drawn at random. A dropout is applied that "
            "does not look at self.training; use nn.Dropout, or F.dropout(x, p, self.training)."
        )
    return f"{head}: something is drawn at random, and nothing here may depend on chance."


def _construct(answer: Any, exercise: Exercise, case: Case, dtype: torch.dtype) -> nn.Module:
    arguments = [build_argument(value) for value in case.init_arguments.values()]
    given = {n: a for n, a in zip(case.init_arguments, arguments, strict=True) if n in case.tied}
    names = ", ".join(case.init_arguments)
    if not accepts_positional_arguments(answer, len(arguments)):
        raise CaseError(
            "signature",
            f"{exercise.name}(...) must be constructed with ({names}); keep the __init__ of the "
            "stub.",
        )
    module = call_guarded(answer, arguments, f"{exercise.name}({names})")
    if not isinstance(module, nn.Module):
        raise CaseError("signature", f"{exercise.name} must be a class derived from nn.Module.")
    if type(module).__hash__ is None or "_parameters" not in vars(module):
        raise CaseError(
            "signature",
            f"torch cannot use this {exercise.name} as a module: write no @dataclass above the "
            "class, define no __eq__, and begin its __init__ with super().__init__().",
        )
    mine, wanted = dict(module.state_dict()), case.weights
    for name, tensor in wanted.items():
        if name not in mine:
            raise CaseError(
                "weights",
                f"{exercise.name} has no parameter {name!r}; its docstring lists the parameters "
                "that the check loads.",
            )
        if mine[name].shape != tensor.shape:
            raise CaseError(
                "weights",
                f"{exercise.name} has a parameter {name!r} of shape {tuple(mine[name].shape)}; it "
                f"must be {tuple(tensor.shape)} here. Keep the __init__ of the stub.",
            )
    extra = [name for name, _ in module.named_parameters() if name not in wanted]
    if extra:
        raise CaseError(
            "weights",
            f"{exercise.name} has a parameter {extra[0]!r} that the docstring does not list; "
            "keep to those it lists.",
        )
    own = {id(parameter) for parameter in module.parameters()}
    for name, part in given.items():
        if any(id(parameter) not in own for parameter in part.parameters()):
            raise CaseError(
                "weights",
                f"{exercise.name} has a copy of {name}; keep {name} itself, so that both share "
                "the same parameters.",
            )
    module.to(dtype)
    module.load_state_dict({n: _cast(t, dtype) for n, t in wanted.items()}, strict=False)
    return module.train(bool(case.training_mode))


def _call_all(
    answer: Any, module: nn.Module | None, exercise: Exercise, case: Case, known: dict[str, Any]
) -> tuple[dict[str, Tensor], dict[str, Any], list[str]]:
    """Make the calls of a case.

    Returns:
        copies of the results, by name; inputs, extra arguments and results as they are now, by
        name; and names of dict members that the answer replaced.
    """
    copies: dict[str, Tensor] = {}
    altered: list[str] = []
    dtype = next((t.dtype for t in known.values() if _is_floating(t)), torch.get_default_dtype())
    known = dict(known) | {
        name: build_argument(value, dtype) for name, value in case.extra_arguments.items()
    }
    for call in case.calls:
        function, shown = _find_callable(answer, module, exercise, call, known)
        # A module's own signature is (*args, **kwargs); its forward has the real one.
        if not accepts_positional_arguments(
            getattr(function, "forward", function), len(call.arguments)
        ):
            raise CaseError(
                "signature",
                f"{shown} must take {len(call.arguments)} arguments here, "
                f"{format_name_tree(call.arguments)}; keep the signature of the stub, "
                f"{exercise.signature if not call.method else 'with all its arguments'}.",
            )
        arguments = _fill_arguments(call, known, shown)
        if call.raises:
            _expect_error(function, arguments, shown, call)
        else:
            returned = call_guarded(function, arguments, shown)
            tensors = convert_to_tensors(returned, call, shown, dtype)
            for name, tensor in zip(call.returned, tensors, strict=True):
                copies[name] = tensor.detach().clone()
                known[name] = tensor
            known |= keep_named_dicts(returned, call.result)
        if call.intact:
            for bundle, argument in zip(call.arguments, arguments, strict=True):
                altered += _list_altered(bundle, argument, known)
    return copies, known, altered


def _find_callable(
    answer: Any, module: nn.Module | None, exercise: Exercise, call: Call, known: Mapping[str, Any]
) -> tuple[Any, str]:
    """Return the function to call, and its name in messages."""
    if module is not None:
        return _method(module, exercise, call), f"{exercise.name}.{call.method}"
    if call.method:
        owner, _, method = call.method.partition(".")
        return getattr(known[owner], method), f"After {exercise.name}, {call.method}"
    return answer, exercise.name


def _expect_error(function: Any, arguments: list[Any], shown: str, call: Call) -> None:
    """Make a call that must raise an error."""
    error = call.raises
    try:
        call_guarded(function, arguments, shown)
    except CaseError as problem:
        if isinstance(problem.__cause__, getattr(builtins, error)):
            if call.mentions and not any(
                m in get_message(problem.__cause__) for m in call.mentions
            ):
                raise CaseError(
                    "returned",
                    f"{shown} raises {error}, as it must, but the message does not mention what "
                    f"is wrong: {get_first_line(problem.__cause__)}",
                ) from problem.__cause__
            return
        if problem.kind == "raised":
            raise CaseError(
                "raised", f"{problem.sentence}\nIt must raise {error} here."
            ) from problem.__cause__
        raise
    raise CaseError("returned", f"{shown} must raise {error} here, but it raised nothing.")


def _list_altered(bundle: NameTree, argument: Any, known: Mapping[str, Any]) -> list[str]:
    """Return the names of a dict's replaced members, or of all members if its keys differ."""
    if not isinstance(bundle, Mapping):
        return []
    members = {key: name for key, name in bundle.items() if isinstance(name, str)}
    if list(argument) != list(bundle):
        return list(members.values())
    return [name for key, name in members.items() if argument[key] is not known[name]]


def _fill_arguments(call: Call, known: Mapping[str, Any], shown: str) -> list[Any]:
    try:
        return [resolve_names(bundle, known) for bundle in call.arguments]
    except Exception as error:  # rows were selected from an object that lacks them
        states = [bundle.state for bundle in call.arguments if isinstance(bundle, SelectedRows)]
        raise CaseError(
            "returned",
            f"{shown} cannot continue with only some rows of {' and '.join(states)}: every tensor "
            "in it must have the rows on axis 0.",
        ) from error


def _method(module: nn.Module, exercise: Exercise, call: Call) -> Any:
    # Call the module itself, as its users do, so that hooks work.
    if call.method == "forward":
        return module
    method: Any = module
    for part in call.method.split("."):  # may be a method of a submodule: "attention.project"
        method = getattr(method, part, None)
    if not callable(method):
        raise CaseError(
            "signature", f"{exercise.name} has no method {call.method}; keep those of the stub."
        )
    return method


def _is_floating(thing: Any) -> bool:
    return isinstance(thing, Tensor) and thing.is_floating_point()


def _cast(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # the answer inserted something that cannot be compared
        return False


def _same(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.is_floating_point():
        return torch.allclose(one, other, rtol=0.0, atol=0.0, equal_nan=True)
    return torch.equal(one, other)
