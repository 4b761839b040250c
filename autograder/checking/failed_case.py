"""Exposes the smallest failing case as tensors, so that a learner can inspect and rerun it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from autograder.diagnose.trial import Trial
from autograder.run.global_state import use_default_torch_settings
from autograder.run.guarded_call import CaseError
from autograder.run.runner import perform_calls
from autograder.spec import byte_codec
from autograder.spec.exercise import Case, Exercise, Fake


class FailedCase:
    """The smallest case that an answer failed.

    Attributes:
        inputs: the answer's inputs, by name; tensors have the dtype in which it failed.
        expected: the results of a right answer, by name, in float64; a random output, which has
            many right values, is zeros of the right shape.
        yours: the results of the answer, by name; empty if it stopped with an error.
        weights: tensors that are loaded into the module, by name; empty for a function.
    """

    def __init__(self, answer: Any, exercise: Exercise, trial: Trial):
        case = trial.case
        self._answer, self._exercise, self._case, self._dtype = answer, exercise, case, trial.dtype
        self.inputs: dict[str, Any] = {
            **{name: _cast(tensor, trial) for name, tensor in case.inputs.items()},
            **{
                n: value for n, value in case.extra_arguments.items() if not isinstance(value, Fake)
            },
        }
        self.weights = {name: _cast(tensor, trial) for name, tensor in case.weights.items()}
        self.expected = _decode_outputs(case, trial.expected.outputs)
        self.yours = _decode_outputs(case, trial.outcome.outputs)

    def run(self) -> dict[str, Any]:
        """Call the answer again, as it is now defined, and return its results by name.

        Errors propagate unchanged, so that a debugger can inspect them.
        """
        case = replace(self._case, upstream={})
        with use_default_torch_settings():
            try:
                outputs = perform_calls(self._current_answer(), self._exercise, case, self._dtype)
            except CaseError as problem:
                if problem.__cause__ is not None:
                    raise problem.__cause__ from None
                raise
        return _decode_outputs(case, outputs)

    def _current_answer(self) -> Any:
        """Return the answer's current definition, which a notebook may have changed."""
        if "IPython" in sys.modules:
            shell = sys.modules["IPython"].get_ipython()
            if shell is not None:
                return shell.user_ns.get(self._exercise.name, self._answer)
        return self._answer

    def __repr__(self) -> str:
        lines = [f"The case {self._case.name!r} of {self._exercise.name}:"]
        for label, things in (
            ("inputs", self.inputs),
            ("expected", self.expected),
            ("yours", self.yours),
        ):
            named = ", ".join(f"{name} {_summarize(thing)}" for name, thing in things.items())
            nothing = "nothing came back" if label == "yours" else "none"
            lines.append(f"  .{label}: {named or nothing}")
        return "\n".join([*lines, "  .run() calls your answer once more."])


def _cast(tensor: Tensor, trial: Trial) -> Tensor:
    return tensor.to(trial.dtype).clone() if tensor.is_floating_point() else tensor.clone()


def _decode_outputs(case: Case, outputs: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return the outputs with plain data decoded, leaving out what cannot be decoded."""
    found: dict[str, Any] = {}
    for name, tensor in outputs.items():
        with contextlib.suppress(ValueError):
            found[name] = byte_codec.decode_plain(tensor) if name in case.non_tensors else tensor
    return found


def _summarize(thing: Any) -> str:
    return str(tuple(thing.shape)) if isinstance(thing, Tensor) else byte_codec.show(thing, 40)
