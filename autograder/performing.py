"""Runs an answer on a case and brings back plain data: no judgement here, and no expected value.

An answer is run twice: plainly, for its values, then with inputs and weights that ask for
gradients. So an answer that computes the right numbers outside torch's graph is told just that.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import linecache
import random
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from autograder import texts
from autograder.exercise import (
    WHOLE,
    Bundle,
    Call,
    Case,
    Exercise,
    filled,
    names_in,
    takes,
    written,
)
from autograder.stand_ins import USES, built

_HERE = __file__.rsplit("performing", 1)[0]
_STDLIB = sysconfig.get_paths()["stdlib"]
_PRINTED_AT_MOST = 2_000


class Problem(Exception):
    """Why a case could not be run to its end, in one sentence for the student."""

    def __init__(self, kind: str, sentence: str):
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence


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


def perform(
    answer: Any, exercise: Exercise, case: Case, dtype: torch.dtype = torch.float64
) -> Outcome:
    """Run the answer on one case and return what came back.

    Args:
        answer: the student's function or class.
        exercise: its exercise.
        case: what to do.
        dtype: float32 or float64, of all floating inputs and weights.
    """
    outcome = Outcome()
    try:
        with usual_settings(), _random_state_kept(), _captured(outcome), _refusing(exercise):
            outcome.outputs, outcome.changed = _values(answer, exercise, case, dtype)
            outcome.gradients = _gradients(answer, exercise, case, dtype)
    except Problem as problem:
        outcome.problem = (problem.kind, problem.sentence)
    return outcome


def _values(
    answer: Any, exercise: Exercise, case: Case, dtype: torch.dtype
) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    inputs = {name: _cast(tensor, dtype).clone() for name, tensor in case.inputs.items()}
    module = _construct(answer, exercise, case, dtype) if exercise.is_class else None
    with torch.no_grad():
        found, known, altered = _call_all(answer, module, exercise, case, inputs)
    before = {name: _cast(tensor, dtype) for name, tensor in case.inputs.items()} | found
    # Results that are no tensors are kept as bytes, which nobody else has.
    changed = [n for n in before if n not in case.plain and not _same(known[n], before[n])]
    lists = [name for name, value in case.given.items() if isinstance(value, list)]
    changed += [name for name in lists if not _equal(known[name], case.given[name])]
    return found, tuple(dict.fromkeys([*changed, *altered]))


def _gradients(
    answer: Any, exercise: Exercise, case: Case, dtype: torch.dtype
) -> dict[str, Tensor | None]:
    if not case.upstream:
        return {}
    leaves = {
        name: _cast(tensor, dtype).clone().requires_grad_()
        for name, tensor in case.inputs.items()
        if tensor.is_floating_point()
    }
    # The answer gets copies, not leaves: writing into a leaf raises an error nobody understands.
    given = {
        name: leaves[name].clone() if name in leaves else tensor.clone()
        for name, tensor in case.inputs.items()
    }
    module = _construct(answer, exercise, case, dtype) if exercise.is_class else None
    if module is not None:
        leaves |= dict(module.named_parameters())
    with torch.enable_grad():
        try:
            _, outputs, _ = _call_all(answer, module, exercise, case, given)
        except Problem as problem:
            if problem.kind != "raised":
                raise
            raise Problem(
                problem.kind,
                f"{problem.sentence}\nThis happened with inputs that require gradients, as they do "
                "in training. Use torch's operations all the way.",
            ) from problem
        if any(outputs[name].shape != upstream.shape for name, upstream in case.upstream.items()):
            return {}  # the shapes are what is wrong, and the values tell it
        total = torch.zeros((), dtype=dtype)
        for name, upstream in case.upstream.items():
            product = outputs[name] * _cast(upstream, outputs[name].dtype)
            if name in case.real:
                product = product[case.real[name]]
            total = total + product.sum()
        if not total.requires_grad:
            return dict.fromkeys(leaves)
        try:
            found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
        except Exception as error:
            raise Problem(
                "gradient",
                f"The values are right, but backward() raised {type(error).__name__}: "
                f"{_first_line(error)}",
            ) from error
    return {
        name: None if gradient is None else gradient.detach().clone()
        for name, gradient in zip(leaves, found, strict=True)
    }


def _construct(answer: Any, exercise: Exercise, case: Case, dtype: torch.dtype) -> nn.Module:
    arguments = [built(value) for value in case.construct.values()]
    names = ", ".join(case.construct)
    if not takes(answer, len(arguments)):
        raise Problem(
            "signature",
            f"{exercise.name}(...) must be constructed with ({names}); keep the __init__ of the "
            "stub.",
        )
    module = _guarded(answer, arguments, f"{exercise.name}({names})")
    if not isinstance(module, nn.Module):
        raise Problem("signature", f"{exercise.name} must be a class derived from nn.Module.")
    mine, wanted = dict(module.state_dict()), case.weights
    for name, tensor in wanted.items():
        if name not in mine:
            raise Problem(
                "weights",
                f"{exercise.name} has no parameter {name!r}; its docstring lists the parameters "
                "that the check loads.",
            )
        if mine[name].shape != tensor.shape:
            raise Problem(
                "weights",
                f"{exercise.name} has a parameter {name!r} of shape {tuple(mine[name].shape)}; it "
                f"must be {tuple(tensor.shape)} here. Keep the __init__ of the stub.",
            )
    extra = [name for name, _ in module.named_parameters() if name not in wanted]
    if extra:
        raise Problem(
            "weights",
            f"{exercise.name} has a parameter {extra[0]!r} that the docstring does not list; "
            "keep to those it lists.",
        )
    module.to(dtype)
    module.load_state_dict({n: _cast(t, dtype) for n, t in wanted.items()}, strict=False)
    return module.eval()


def _call_all(
    answer: Any, module: nn.Module | None, exercise: Exercise, case: Case, known: dict[str, Any]
) -> tuple[dict[str, Tensor], dict[str, Any], list[str]]:
    """Make the calls.

    Returns:
        copies of what came back, everything by name as it is now, and names of what is no longer
        where it was in a dict.
    """
    copies: dict[str, Tensor] = {}
    altered: list[str] = []
    dtype = next((t.dtype for t in known.values() if _is_floating(t)), torch.float32)
    known = dict(known) | {name: built(value, dtype) for name, value in case.given.items()}
    for call in case.calls:
        function, shown = _called(answer, module, exercise, call, known)
        # A module says (*args, **kwargs) of itself; its forward tells the signature.
        if not takes(getattr(function, "forward", function), len(call.arguments)):
            raise Problem(
                "signature",
                f"{shown} must take {len(call.arguments)} arguments here, "
                f"{written(call.arguments)}; keep the signature of the stub, "
                f"{exercise.signature if not call.method else 'with all its arguments'}.",
            )
        arguments = _arguments(call, known, shown)
        if call.raises:
            _refused(function, arguments, shown, call.raises)
        else:
            returned = _guarded(function, arguments, shown)
            tensors = _as_tensors(returned, call, shown, dtype)
            for name, tensor in zip(call.returned, tensors, strict=True):
                copies[name] = tensor.detach().clone()
                known[name] = tensor
            known |= _wholes(returned, _wanted(call))
        if call.intact:
            for bundle, argument in zip(call.arguments, arguments, strict=True):
                altered += _altered(bundle, argument, known)
    return copies, known, altered


def _called(
    answer: Any, module: nn.Module | None, exercise: Exercise, call: Call, known: Mapping[str, Any]
) -> tuple[Any, str]:
    """Return what is called, and its name in a message."""
    if module is not None:
        return _method(module, exercise, call), f"{exercise.name}.{call.method}"
    if call.method:
        owner, _, method = call.method.partition(".")
        return getattr(known[owner], method), f"After {exercise.name}, {call.method}"
    return answer, exercise.name


def _refused(function: Any, arguments: list[Any], shown: str, error: str) -> None:
    """Call what must raise an error."""
    try:
        _guarded(function, arguments, shown)
    except Problem as problem:
        if isinstance(problem.__cause__, getattr(builtins, error)):
            return
        if problem.kind == "raised":
            raise Problem(
                "raised", f"{problem.sentence}\nIt must raise {error} here."
            ) from problem.__cause__
        raise
    raise Problem("returned", f"{shown} must raise {error} here, but it raised nothing.")


def _altered(bundle: Bundle, argument: Any, known: Mapping[str, Any]) -> list[str]:
    """Return the names of what a dict no longer holds where it did; of all if it has other keys."""
    if not isinstance(bundle, Mapping):
        return []
    members = {key: name for key, name in bundle.items() if isinstance(name, str)}
    if list(argument) != list(bundle):
        return list(members.values())
    return [name for key, name in members.items() if argument[key] is not known[name]]


def _arguments(call: Call, known: Mapping[str, Any], shown: str) -> list[Any]:
    try:
        return [filled(bundle, known) for bundle in call.arguments]
    except Exception as error:  # rows are picked from something that has no such rows
        raise Problem(
            "returned",
            f"{shown} cannot go on with a choice of the hypotheses: every tensor in the state must "
            "have them on its axis 0.",
        ) from error


def _wanted(call: Call) -> Bundle:
    return call.returns if len(call.returns) > 1 else call.returns[0]


def _wholes(returned: Any, wanted: Bundle) -> dict[str, Any]:
    """Return the dicts that have a name of their own, as they came back."""
    found: dict[str, Any] = {}
    if isinstance(wanted, Mapping):
        for key, part in wanted.items():
            found |= {str(part): returned} if key == WHOLE else _wholes(returned[key], part)
    elif not isinstance(wanted, str):
        for member, part in zip(returned, wanted, strict=True):
            found |= _wholes(member, part)
    return found


def _method(module: nn.Module, exercise: Exercise, call: Call) -> Any:
    # The module is called as its users call it, so that hooks work.
    if call.method == "forward":
        return module
    method: Any = module
    for part in call.method.split("."):  # also a method of a part, such as "attention.project"
        method = getattr(method, part, None)
    if not callable(method):
        raise Problem(
            "signature", f"{exercise.name} has no method {call.method}; keep those of the stub."
        )
    return method


def _is_floating(thing: Any) -> bool:
    return isinstance(thing, Tensor) and thing.is_floating_point()


def _as_tensors(returned: Any, call: Call, shown: str, dtype: torch.dtype) -> tuple[Tensor, ...]:
    if returned is None:
        raise Problem("returned", f"{shown} returned None; does it end in a return statement?")
    wanted = _wanted(call)
    members = tuple(_members(returned, wanted, call, shown, dtype))
    for name, member in zip(names_in(wanted), members, strict=True):
        if not isinstance(member, Tensor):
            raise Problem(
                "returned",
                f"{shown} must return {name} as a torch.Tensor; it returned a "
                f"{_type_name(member)}. Compute with torch's operations, so that gradients flow.",
            )
    return members


def _members(
    returned: Any, wanted: Bundle, call: Call, shown: str, dtype: torch.dtype
) -> Iterator[Any]:
    """Yield what was returned, in the order of the names; plain numbers become tensors."""
    if isinstance(wanted, str):
        number = wanted in call.numbers and isinstance(returned, (int, float))
        if wanted in call.plain:
            yield _written_out(returned, wanted, call, shown)
        else:
            yield torch.tensor(returned, dtype=dtype) if number else returned
        return
    if isinstance(wanted, Mapping):
        keys = [key for key in wanted if key != WHOLE]
        if not isinstance(returned, dict) or not returned.keys() >= set(keys):
            said = " and ".join(", ".join(map(repr, keys)).rsplit(", ", 1))
            got = f"a {_type_name(returned)}"
            if isinstance(returned, dict):
                got = f"one with {', '.join(map(repr, returned)) or 'nothing'}"
            raise Problem("returned", f"{shown} must return a dict with {said}, not {got}.")
        for key in keys:
            yield from _members(returned[key], wanted[key], call, shown, dtype)
        return
    if not (isinstance(returned, (tuple, list)) and len(returned) == len(wanted)):
        got = (
            f"{len(returned)} things"
            if isinstance(returned, (tuple, list))
            else f"one {_type_name(returned)}"
        )
        nested = not all(isinstance(member, str) for member in wanted)
        things = written(wanted) if nested else ", ".join(names_in(wanted))
        raise Problem(
            "returned", f"{shown} must return {len(wanted)} tensors: {things}; it returned {got}."
        )
    for member, part in zip(returned, wanted, strict=True):
        yield from _members(member, part, call, shown, dtype)


def _written_out(returned: Any, name: str, call: Call, shown: str) -> Tensor:
    try:
        return texts.to_tensor(returned)
    except TypeError as error:
        inside = isinstance(returned, (list, tuple))
        got = f"a {_type_name(returned)}{f' that holds a {error}' if inside else ''}"
        raise Problem(
            "returned", f"{shown} must return {name} as {call.plain[name]}; it returned {got}."
        ) from error


def _type_name(thing: Any) -> str:
    kind = type(thing)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _guarded(function: Any, arguments: list[Any], shown: str) -> Any:
    try:
        return function(*arguments)
    except (KeyboardInterrupt, Problem):
        raise
    except SystemExit as error:
        raise Problem(
            "raised",
            f"{shown} calls exit() or quit(), which would end the whole notebook; return the "
            f"result instead.{_where(error.__traceback__)}",
        ) from error
    except NotImplementedError as error:
        if _text(error):  # torch's own, about a dtype or a missing forward; the stub's says nothing
            raise Problem("raised", _raised(shown, error)) from error
        raise Problem(
            "unwritten",
            f"{shown} is not written yet: replace raise NotImplementedError() by your code, "
            "run the cell, and check again.",
        ) from error
    except BaseException as error:
        raise Problem("raised", _raised(shown, error)) from error


def _raised(shown: str, error: BaseException) -> str:
    where = _where(error.__traceback__)
    sentence = f"{shown} raised {type(error).__name__}: {_first_line(error)}{where}"
    for name, use in USES.items():
        if f"'{name}' object " in _text(error) or f"object of type '{name}'" in _text(error):
            sentence += f"\nThe check passes {use}, and use nothing else of it."
    return sentence


def _first_line(error: BaseException) -> str:
    lines = _text(error).strip().splitlines()
    return lines[0] if lines else "(no message)"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an error of the student's own, whose __str__ is wrong too
        return ""


def _where(trace: TracebackType | None) -> str:
    """Return the student's own line in which the error arose, not one of torch's or ours."""
    frames = [
        frame
        for frame in traceback.extract_tb(trace)
        if not frame.filename.startswith((_HERE, _STDLIB))
        and "site-packages" not in frame.filename
        and "dist-packages" not in frame.filename  # Debian's and Colab's name for it
    ]
    if not frames or frames[-1].lineno is None:
        return ""
    line = linecache.getline(frames[-1].filename, frames[-1].lineno).strip()
    return f"\nin line {frames[-1].lineno} of {frames[-1].name}: {line}" if line else ""


def _cast(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # something was put in that cannot be compared
        return False


def _same(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.is_floating_point():
        return torch.allclose(one, other, rtol=0.0, atol=0.0, equal_nan=True)
    return torch.equal(one, other)


class _Refusing(TorchFunctionMode):
    """Ends the case when one of the operators is called, however it was imported."""

    def __init__(self, exercise: Exercise):
        super().__init__()
        self._exercise = exercise

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Look at the name of what is called."""
        called = getattr(func, "__name__", "").split(".")[0]
        kwargs = kwargs or {}
        for name in self._exercise.forbidden:
            operator, _, argument = name.partition(".")
            if called == operator and (not argument or kwargs.get(argument)):
                shown = f"{operator}({argument}=...)" if argument else operator
                raise Problem(
                    "forbidden",
                    f"{self._exercise.name} calls torch's own {shown}, which is the whole answer; "
                    "the task is to write it yourself.",
                )
        return func(*args, **kwargs)


def _refusing(exercise: Exercise) -> contextlib.AbstractContextManager[Any]:
    return _Refusing(exercise) if exercise.forbidden else contextlib.nullcontext()


def _default_device() -> torch.device:
    try:
        return torch.get_default_device()
    except (RuntimeError, AssertionError):  # set to a GPU that is not there
        torch.set_default_device("cpu")
        return torch.device("cpu")


@contextlib.contextmanager
def usual_settings() -> Iterator[None]:
    """Check with torch's usual settings, whatever a cell has switched on or off for good."""
    dtype, device = torch.get_default_dtype(), _default_device()
    anomaly = torch.is_anomaly_enabled()
    elsewhere = device.type != "cpu"
    torch.set_default_dtype(torch.float32)
    if elsewhere:
        torch.set_default_device("cpu")
    if anomaly:
        torch.autograd.set_detect_anomaly(False)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)
        if elsewhere:
            torch.set_default_device(device)
        if anomaly:
            torch.autograd.set_detect_anomaly(True)


@contextlib.contextmanager
def _random_state_kept() -> Iterator[None]:
    """Restore the generators: an answer may draw numbers, but a check leaves no trace."""
    numpy = sys.modules.get("numpy")
    states = torch.random.get_rng_state(), random.getstate()
    numpy_state = numpy.random.get_state() if numpy else None
    try:
        yield
    finally:
        torch.random.set_rng_state(states[0])
        random.setstate(states[1])
        if numpy and numpy_state:
            numpy.random.set_state(numpy_state)


@contextlib.contextmanager
def _captured(outcome: Outcome) -> Iterator[None]:
    """Keep what the answer prints or warns from the notebook: it is run many times."""
    page = io.StringIO()
    try:
        with (
            contextlib.redirect_stdout(page),
            contextlib.redirect_stderr(page),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        outcome.printed = page.getvalue()[:_PRINTED_AT_MOST]
