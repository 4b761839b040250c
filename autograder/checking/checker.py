"""Implements check(): runs an answer on the cases, judges it and shows a card."""

from __future__ import annotations

import difflib
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from autograder import expected_values
from autograder.checking import card
from autograder.checking.answer_trace import trace_answer
from autograder.checking.difference_map import draw_difference_map
from autograder.checking.failed_case import FailedCase
from autograder.checking.timeout import CASE_TIMEOUT_SECONDS, Watchdog
from autograder.diagnose.answer_identifiers import collect_identifiers, find_used_globals
from autograder.diagnose.compare import Difference
from autograder.diagnose.ignored_arguments import find_unused_arguments
from autograder.diagnose.method_results import format_method_results
from autograder.diagnose.trial import Trial
from autograder.diagnose.verdict import DTYPES, Verdict, choose_failure, judge
from autograder.run.forbidden_ops import forbid_operators
from autograder.run.global_state import catch_exit, run_uncompiled, use_default_torch_settings
from autograder.run.guarded_call import explain_timeout
from autograder.run.runner import run_case
from autograder.spec.exercise import Case, Exercise
from autograder.spec.outcome import Outcome
from autograder.trace.comparison import Trace
from autograder.trace.formatting import format_summary, format_values
from coursekit.notebook.settings import is_grading


class CheckFailed(AssertionError):
    """Raised when an answer is wrong; the message is the text of the card."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows this line below the card in place of a traceback. nbgrader's Validate, which
        # shows only errors, shows this line alone, so there it is the card's first line.
        if is_grading():
            return [f"CheckFailed: {str(self).splitlines()[0]}"]
        return ["CheckFailed: see the card above."]


_failed: list[FailedCase] = []
_traces: list[tuple[Trace, Case] | None] = []
_running = threading.local()


def check(
    answer: Any, exercises: Mapping[str, Exercise], variables: Mapping[str, Any] | None = None
) -> None:
    """Check an answer and show a card: either it is right, or what is wrong and where.

    Args:
        answer: the function or class itself.
        exercises: all exercises, by name.
        variables: global variables of the code that calls `check`. An answer without an exercise's
            `__name__`, such as a partial or one under a decorator, may be found here.

    Raises:
        CheckFailed: if the answer is wrong; the message is the text of the card.
        TypeError: if the argument is not the function or class that the exercise asks for.
        LookupError: if no exercise has this name.
        RuntimeError: if an answer that is being checked calls this.
    """
    if getattr(_running, "check", False):
        raise _make_plain_error(
            RuntimeError, "the answer calls check() itself: move that line below the answer."
        )
    _failed.clear()
    _traces.clear()
    exercise = find_exercise(answer, exercises, variables)
    verdict, trials, trace = _run_all_cases(answer, exercise, trace=True)
    extra = card.link_to_progress_page(exercise.name) if verdict.passed else ""
    if trials and verdict.details:
        trial = choose_failure(exercise, trials)
        _failed.append(FailedCase(answer, exercise, trial))
        extra = draw_difference_map(exercise, trials, trial)
        _traces.append(trace)
        lines = [*format_summary(trace[0]), _TRACE_HINT] if trace else []
        if verdict.misconception:  # its hint says more
            lines = lines[-1:]
        details = (*verdict.details, "", _FAILED_CASE_HINT)
        verdict = replace(verdict, details=details, trace=tuple(lines))
    if not (verdict.passed or verdict.misconception or verdict.kind in _KINDS_OF_THE_ANSWER_ALONE):
        verdict = _blame_wrong_helper(verdict, answer, exercises)
    card.display_card(verdict, extra)
    if not verdict.passed:
        raise CheckFailed(card.format_card_text(verdict))


_KINDS_OF_THE_ANSWER_ALONE = ("signature", "weights", "protocol", "forbidden")


def _blame_wrong_helper(
    verdict: Verdict, answer: Any, exercises: Mapping[str, Exercise]
) -> Verdict:
    """Return the verdict, naming an answer to another exercise that is wrong and used here."""
    for name, helper in find_used_globals(answer, exercises).items():
        if explain_unusable(helper, exercises[name]) or verify(helper, exercises[name]).passed:
            continue
        headline = (
            f"Your {verdict.exercise.name} uses {name}, and your {name} is not right yet: correct "
            f"that first, with check({name})."
        )
        return replace(verdict, headline=headline, hint=f"As it stands: {verdict.headline}")
    return verdict


_TRACE_HINT = "check.trace() shows up to which line your values are right, and which come next."
_FAILED_CASE_HINT = (
    "case = check.case() gives you this case: case.inputs, case.expected, case.yours, case.run()"
)


def find_failed_case() -> FailedCase:
    """Return the smallest case that the last checked answer failed.

    Raises:
        LookupError: if the last check had no failing case to show, or there was no check.
    """
    if not _failed:
        raise _make_plain_error(
            LookupError,
            "There is no failing case: check an answer first, as in check(masked_softmax).",
        )
    return _failed[0]


def show_trace() -> None:
    """Show up to which line the last checked answer has the values of a right answer.

    Raises:
        LookupError: if the last answer was right or not checked, or nothing can be said about it.
    """
    if not _traces:
        raise _make_plain_error(
            LookupError, "There is nothing to trace: check an answer first that is wrong."
        )
    if _traces[0] is None:
        raise _make_plain_error(
            LookupError,
            "No line can be named. That is so where results depend on chance or are texts, where "
            "only gradients, dropout or a shape are wrong, and where numbers leave torch.",
        )
    trace, case = _traces[0]
    card.display_lines(format_values(trace, case.name))


def verify(answer: Any, exercise: Exercise) -> Verdict:
    """Return the verdict on an answer without showing a card.

    An answer that is wrong in float64 is not tried in float32.
    """
    return _run_all_cases(answer, exercise)[0]


def _run_all_cases(
    answer: Any, exercise: Exercise, trace: bool = False
) -> tuple[Verdict, list[Trial], tuple[Trace, Case] | None]:
    """Return the verdict on an answer, its trials if one of them can be shown, and its trace.

    Args:
        answer: the answer.
        exercise: the exercise.
        trace: whether to trace it if it is wrong.
    """
    trials: list[Trial] = []
    watchdog = Watchdog(exercise.name, CASE_TIMEOUT_SECONDS)
    with (
        use_default_torch_settings(),  # also while the cases are drawn
        _use_one_thread(),
        run_uncompiled(),
        catch_exit(),
        _mark_running(),
    ):
        seeds = {seed: exercise.draw(seed) for seed in expected_values.SEEDS}
        with forbid_operators(exercise) as recorder:

            def act(case: Case, dtype: torch.dtype = torch.float64) -> Outcome:
                try:
                    return run_case(answer, exercise, case, dtype, recorder, watchdog.enforce)
                except KeyboardInterrupt as error:
                    watchdog.stop()
                    if not watchdog.fired:
                        raise  # the user pressed Ctrl-C
                    return Outcome(problem=explain_timeout(exercise, error, watchdog.at_most))

            for dtype in DTYPES:
                if any(trial.difference for trial in trials):
                    break
                for seed, cases in seeds.items():
                    for case in cases:
                        right = expected_values.read_expected(exercise, seed, case)
                        trials.append(Trial(case, dtype, right, act(case, dtype)))
                        if _is_hopeless(trials[-1]):
                            return _add_methods(judge(exercise, trials, []), trials, act), [], None
            known = expected_values.read_known_mistakes(exercise, seeds)
            mutants = replace(
                expected_values.read_mutant_fingerprints(exercise, seeds),
                names=collect_identifiers(answer),
            )
            first = seeds[expected_values.SEEDS[0]]

            def find_unused(fault: Difference) -> str:
                dependence = expected_values.read_dependence(exercise)
                return find_unused_arguments(trials, fault, first, dependence, act)

            verdict = judge(exercise, trials, known, mutants, find_unused)
            if verdict.passed:
                return verdict, [], None
            found = None
            if trace:
                found = _trace(answer, exercise, first, trials, watchdog)
            return _add_methods(verdict, trials, act), trials, found


def _trace(
    answer: Any,
    exercise: Exercise,
    cases: Sequence[Case],
    trials: Sequence[Trial],
    watchdog: Watchdog,
) -> tuple[Trace, Case] | None:
    """Return the trace of an answer, or None if there is none or anything goes wrong."""
    try:
        return trace_answer(answer, exercise, cases, trials, watchdog.enforce)
    except KeyboardInterrupt:
        watchdog.stop()
        if not watchdog.fired:
            raise
    except Exception:  # a trace only explains: it must not hide the verdict
        pass
    return None


def _is_hopeless(trial: Trial) -> bool:
    """Return whether trying further cases is pointless."""
    problem = trial.outcome.problem
    return problem is not None and problem[0] in ("unwritten", "time")


def _add_methods(
    verdict: Verdict, trials: Sequence[Trial], act: Callable[[Case], Outcome]
) -> Verdict:
    """Return the verdict with a list of which methods of a class are right."""
    if verdict.kind in ("forbidden", "signature", "weights", "protocol", "time"):
        return verdict
    if all(trial.case.training_mode for trial in trials if trial.difference):
        return verdict  # methods are tried without dropout, and there all are right
    seed = expected_values.SEEDS[0]
    cases = verdict.exercise.draw(seed)
    pairs = [
        (c, expected_values.read_expected(verdict.exercise, seed, c))
        for c in cases
        if not c.training_mode
    ]
    lines = format_method_results(verdict.exercise, pairs, act)
    right = any("✓" in line for line in lines)
    return replace(verdict, details=(*lines, "", *verdict.details)) if right else verdict


@contextmanager
def _mark_running() -> Iterator[None]:
    before = getattr(_running, "check", False)
    _running.check = True
    try:
        yield
    finally:
        _running.check = before


@contextmanager
def _use_one_thread() -> Iterator[None]:
    """Use one thread, which is faster for small tensors and leaves the other cores free."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def find_exercise(
    answer: Any, exercises: Mapping[str, Exercise], variables: Mapping[str, Any] | None = None
) -> Exercise:
    """Return the exercise that an answer belongs to: by its own name, or a variable's.

    Raises:
        TypeError: if the answer is not a function or class; the message says what to pass.
        LookupError: if no exercise has the answer's name; the message names similar exercises.
    """
    if isinstance(answer, str):
        raise _make_plain_error(
            TypeError, f"Pass the function itself, without quotes: check({answer})."
        )
    if isinstance(answer, Tensor) or not callable(answer):
        raise _make_plain_error(
            TypeError,
            f"check takes a function or class, not a {type(answer).__name__}: write its name "
            "without parentheses, as in check(masked_softmax).",
        )
    name = getattr(answer, "__name__", type(answer).__name__)
    owner = getattr(answer, "__qualname__", "").split(".")[-2:-1]
    if owner and owner[0] in exercises:
        raise _make_plain_error(
            TypeError, f"Pass the class itself, not its method: check({owner[0]})."
        )
    if name not in exercises:
        bound = [n for n, value in (variables or {}).items() if value is answer and n in exercises]
        name = bound[0] if len(bound) == 1 else name
    if name not in exercises:
        if name == "<lambda>" or not (hasattr(answer, "__name__") or isinstance(answer, nn.Module)):
            kind = "lambda" if name == "<lambda>" else type(answer).__name__
            raise _make_plain_error(
                TypeError,
                f"This {kind} has no name: give it the name of the stub, as in "
                "masked_softmax = ..., and check that.",
            )
        near = _guess_names(name, exercises)
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        raise _make_plain_error(
            LookupError, f"There is no exercise named {name!r}; keep the name of the stub.{guess}"
        )
    exercise = exercises[name]
    if exercise.is_class and isinstance(answer, nn.Module):
        raise _make_plain_error(
            TypeError, f"Pass the class itself, not an object of it: check({name})."
        )
    if sentence := explain_unusable(answer, exercise):
        raise _make_plain_error(TypeError, sentence)
    return exercise


def _guess_names(name: str, exercises: Mapping[str, Exercise]) -> list[str]:
    """Return up to three exercises that the name may mean; shared words count first."""
    words = set(_words(name))
    shared = {other: len(words.intersection(_words(other))) for other in exercises}
    most = max(shared.values(), default=0)
    if most:
        alike = [other for other, count in shared.items() if count == most]
        return difflib.get_close_matches(name, alike, n=3, cutoff=0.0)
    return difflib.get_close_matches(name, exercises, n=1, cutoff=0.6)


def _words(name: str) -> list[str]:
    """Return a name's words in lower case; my_mask and MyMask give the same words."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def explain_unusable(answer: Any, exercise: Exercise) -> str:
    """Return why the object with an exercise's name cannot be its answer, or ""."""
    name = exercise.name
    if exercise.is_class and not isinstance(answer, type):
        return f"{name} must be a class, as in the stub: class {name}(nn.Module)."
    if not callable(answer):
        kind = type(answer).__name__
        return f"{name} is a {kind}, not a function; did you reuse the name for something else?"
    return ""


def _make_plain_error(kind: type[Exception], sentence: str) -> Exception:
    """Return an error that a notebook shows as one sentence, without a traceback."""
    shown = type(
        kind.__name__,
        (kind,),
        {"_render_traceback_": lambda self: [f"{kind.__name__}: {self}"], "__module__": "builtins"},
    )
    return shown(sentence)
