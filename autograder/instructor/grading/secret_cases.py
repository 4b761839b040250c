"""Draws test cases from a secret seed and judges answers on them, for one grading run.

All submissions of a run are tried on the same cases, so that expected values and known mistakes are
computed only once. The seed is new for each run: what a student learns about the cases of one run
is worthless in the next.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from autograder.checking import card
from autograder.diagnose.compare import Expected
from autograder.diagnose.known_faults import KnownMistake
from autograder.diagnose.trial import Trial
from autograder.diagnose.verdict import DTYPES, Verdict, judge
from autograder.instructor.authoring.expected_values_digest import describe, read_code
from autograder.instructor.authoring.mistake_loader import load_mistakes
from autograder.instructor.authoring.reference_solution import compute_expected
from autograder.instructor.grading import forbidden_op_detection
from autograder.instructor.grading.hidden_tests import HIDDEN_DRAWS, load_known_mistakes
from autograder.instructor.sanitize import sanitize_lines
from autograder.sandbox.serialization import NO_USABLE_OUTPUT, deserialize_outcomes
from autograder.spec import binomial_bounds
from autograder.spec.exercise import Case, Exercise
from autograder.spec.outcome import Outcome
from autograder.spec.tolerances import TOLERANCE

_NAMES = {torch.float64: "float64", torch.float32: "float32"}


class SecretCases:
    """Draws the cases of an assignment's exercises and judges answers; several threads may use it.

    Args:
        exercises: all exercises that will be judged.
        seeds: seeds to draw the cases from; by default, fresh secret ones.
    """

    def __init__(self, exercises: Sequence[Exercise], seeds: Sequence[int | str] | None = None):
        self._seeds = list(seeds) if seeds else [secrets.randbits(128) for _ in range(HIDDEN_DRAWS)]
        self._exercises = {exercise.name: exercise for exercise in exercises}
        self.cases: dict[str, list[Case]] = {}
        for exercise in exercises:
            drawn = [case for seed in self._seeds for case in exercise.draw(seed)]
            self.cases[exercise.name] = drawn
            for number, part in enumerate(exercise.parts):
                some = [found for case in drawn if (found := part.restrict_case(case)) is not None]
                self.cases[name_part(exercise, number)] = some
        self._expected: dict[int, Expected] = {}
        self._mistakes: dict[str, list[KnownMistake]] = {}
        self._operators: dict[tuple[int, torch.dtype], Mapping[str, Tensor]] = {}
        # Only one thread at a time may use torch's gradients and the caches.
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Compute the expected values of all cases, which are otherwise computed on demand."""
        for exercise in self._exercises.values():
            for case in self.cases[exercise.name]:
                self._right(exercise, case)

    def judge(
        self, exercise: Exercise, header: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> Verdict:
        """Judge the outcomes that an answer's process sent back."""
        with self._lock:
            if exercise.name not in self._mistakes:
                self._mistakes[exercise.name] = load_known_mistakes(exercise)
            known = self._mistakes[exercise.name]
            return self._judge(exercise, self.cases[exercise.name], header, tensors, known)

    def passes(
        self,
        exercise: Exercise,
        part: int,
        header: Mapping[str, Any],
        tensors: Mapping[str, Tensor],
    ) -> bool:
        """Return whether an answer is right in one part of an exercise."""
        with self._lock:
            cases = self.cases[name_part(exercise, part)]
            return self._judge(exercise, cases, header, tensors, []).passed

    def matches_operator(
        self, exercise: Exercise, header: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> bool:
        """Return whether a right answer equals the forbidden operator's result to the last bit."""
        if exercise.operator is None:
            return False
        with self._lock:
            trials = self._trials(exercise, self.cases[exercise.name], header, tensors)
            theirs = [(t, self._by_operator(exercise, t.case, t.dtype)) for t in trials]
        return forbidden_op_detection.matches_operator([(t, found) for t, found in theirs if found])

    def _by_operator(
        self, exercise: Exercise, case: Case, dtype: torch.dtype
    ) -> Mapping[str, Tensor]:
        """Return the operator's outputs, or {} if their last bits equal the solution's."""
        key = id(case), dtype
        if key not in self._operators:
            found = forbidden_op_detection.compute_operator_outputs(exercise, case, dtype)
            telling = forbidden_op_detection.differs_from_solution(exercise, case, dtype, found)
            self._operators[key] = found if telling else {}
        return self._operators[key]

    def _judge(
        self,
        exercise: Exercise,
        cases: Sequence[Case],
        header: Mapping[str, Any],
        tensors: Mapping[str, Tensor],
        mistakes: Sequence[KnownMistake],
    ) -> Verdict:
        trials = self._trials(exercise, cases, header, tensors)
        try:
            return judge(exercise, trials, mistakes)
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            if "allocate memory" in str(error):  # torch raises no MemoryError
                raise MemoryError from error
            # Only data forged to break the comparison gets here.
            return make_untried_verdict(exercise, NO_USABLE_OUTPUT[1])

    def _trials(
        self,
        exercise: Exercise,
        cases: Sequence[Case],
        header: Mapping[str, Any],
        tensors: Mapping[str, Tensor],
    ) -> list[Trial]:
        outcomes = deserialize_outcomes(header["outcomes"], tensors, cases)
        # An unwritten answer is not tried on further cases.
        stopped = any(o.problem and o.problem[0] == "unwritten" for o in outcomes.values())
        trials = []
        for number, case in enumerate(cases):
            for dtype in DTYPES:
                outcome = outcomes.get((number, _NAMES[dtype]))
                if outcome is None and stopped:
                    continue
                outcome = outcome or Outcome(problem=NO_USABLE_OUTPUT)
                trials.append(Trial(case, dtype, self._right(exercise, case), outcome))
        return trials

    def _right(self, exercise: Exercise, case: Case) -> Expected:
        if id(case) not in self._expected:
            self._expected[id(case)] = compute_expected(exercise, case)
        return self._expected[id(case)]


def name_part(exercise: Exercise, number: int) -> str:
    """Return the key under which the cases of a part are stored."""
    return f"{exercise.name}/{number}"


def hash_tests(exercise: Exercise) -> str:
    """Return a fingerprint that changes when an exercise's tests or hints change.

    It covers the cases of two fixed seeds, their expected values, the points and the known
    mistakes, so that correcting one exercise does not affect the others.
    """
    sha = hashlib.sha256()

    def add(*things: Any) -> None:
        sha.update(json.dumps(things, default=str).encode())

    add(
        exercise.points,
        exercise.signature,
        exercise.forbidden,
        dict(exercise.normalized_outputs),
        HIDDEN_DRAWS,
    )
    add([(part.name, part.methods, part.points) for part in exercise.parts])
    add({str(dtype): bound for dtype, bound in TOLERANCE.items()})
    for seed in (1, 2):
        cases = exercise.draw(seed)
        add(describe(cases))
        for case in cases:
            right = compute_expected(exercise, case)
            if case.check_random_outputs:
                for module in (inspect.getmodule(case.check_random_outputs), binomial_bounds):
                    add(read_code(inspect.getsource(module or binomial_bounds)))
            # Rounded, so that another processor's last digits do not change the fingerprint.
            for values in (right.outputs, right.gradients):
                _add_tensors(sha, {n: (t * 1e4).round() + 0.0 for n, t in values.items()})
    for mistake in load_mistakes(exercise):
        add(mistake.slug, mistake.title, mistake.hint, read_code(inspect.getsource(mistake.code)))
    return sha.hexdigest()[:32]


def _add_tensors(found: Any, tensors: Mapping[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        found.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        found.update(tensor.detach().contiguous().numpy().tobytes())


def make_untried_verdict(exercise: Exercise, headline: str, *details: str) -> Verdict:
    """Return the verdict on an answer that could not be tried."""
    return Verdict(exercise, False, headline, details=details)


def make_card(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict's card as the output of a graded cell."""
    verdict = replace(
        verdict,
        headline=sanitize_lines(verdict.headline),
        details=tuple(map(sanitize_lines, verdict.details)),
        printed=sanitize_lines(verdict.printed),
    )
    data = {
        "text/html": card.format_card_html(verdict),
        "text/plain": card.format_card_text(verdict),
    }
    return {"output_type": "display_data", "data": data, "metadata": {}}
