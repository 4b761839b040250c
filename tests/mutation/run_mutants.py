"""Mutation testing of the student's check: does it notice every change of a solution?

A changed solution is a *mutant*. A mutant that passes reveals a missing case, a promise of the stub
that no case tests, or a superfluous line of the solution. Equivalent mutants are listed in
`mutation_equivalents.txt`, each with its reason.

python -m tests.mutation.run_mutants [EXERCISE ...]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import torch

from autograder import expected_values
from autograder.diagnose.compare import find_difference
from autograder.diagnose.verdict import DTYPES
from autograder.exercises import EXERCISES
from autograder.instructor.mutation.mutant_fingerprints import limit_run_time
from autograder.instructor.mutation.operators import (
    Mutation,
    generate_mutants,
    load_solution_module,
)
from autograder.run.global_state import use_default_torch_settings
from autograder.run.runner import run_case
from autograder.spec.exercise import Exercise

LIST = Path(__file__).with_name("mutation_equivalents.txt")


@dataclass(frozen=True)
class Listed(Mutation):
    """A listed change that passes the check.

    Attributes:
        heading: the reason in a word.
        reason: the reason in a sentence.
    """

    heading: str = ""
    reason: str = ""


@cache
def _draw(name: str) -> list[tuple[Any, Any]]:
    """Return the cases of the student's check with expected values, the smallest first."""
    exercise = EXERCISES[name]
    with use_default_torch_settings():
        trials = [
            (case, expected_values.read_expected(exercise, seed, case))
            for seed in expected_values.SEEDS
            for case in exercise.draw(seed)
        ]
    return sorted(trials, key=lambda trial: trial[0].elements)


def is_refused(code: CodeType, exercise: Exercise) -> bool:
    """Return whether `verify` would reject a cell's answer, stopping at the first difference."""
    space = dict(vars(load_solution_module(exercise)))
    torch.manual_seed(0)  # a random mutant is judged the same in every run
    try:
        exec(code, space)
        for dtype in DTYPES:
            for case, right in _draw(exercise.name):
                with limit_run_time():
                    outcome = run_case(space[exercise.name], exercise, case, dtype)
                if find_difference(case, outcome, right, dtype):
                    return True
    except Exception:  # the cell fails, or the time limit strikes between calls
        return True
    return False


def find_survivors(exercise: Exercise, sample: bool = False) -> tuple[int, list[Mutation]]:
    """Return the number of mutants tried, and the survivors."""
    tried = [
        (change, code)
        for change, code in generate_mutants(exercise)
        if change.sampled or not sample
    ]
    return len(tried), [change for change, code in tried if not is_refused(code, exercise)]


@cache
def read_list() -> dict[tuple[str, ...], Listed]:
    """Read the list: headings (==), reasons (#), and below each reason its changes."""
    known: dict[tuple[str, ...], Listed] = {}
    heading, reason, where, before, last = "", "", "", "", ""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "==":
            heading = text
        elif mark == "#":
            reason = f"{reason} {text}" if last == "#" else text
        elif mark == "-":
            before = text
        elif mark == "+":
            change = Listed(where, before, text, heading=heading, reason=reason)
            known[change.key] = change
        elif line:
            where = line
        last = mark
    return known


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("exercise", nargs="*", help="names of exercises (default: all)")
    chosen = parser.parse_args().exercise or list(EXERCISES)
    print(f"{'exercise':<30}{'mutants':>9}{'refused':>9}{'listed':>9}{'not listed':>12}{'s':>7}")
    new: list[Mutation] = []
    total = [0, 0, 0, 0]
    for name in chosen:
        start = time.process_time()
        tried, passed = find_survivors(EXERCISES[name])
        unlisted = [change for change in passed if change.key not in read_list()]
        row = [tried, tried - len(passed), len(passed) - len(unlisted), len(unlisted)]
        total = [a + b for a, b in zip(total, row, strict=True)]
        new += unlisted
        _print(name, row, time.process_time() - start)
    _print("all", total, time.process_time())
    for change in new:
        print(f"\n{change.where}\n- {change.before}\n+ {change.after}")


def _print(name: str, row: list[int], seconds: float) -> None:
    print(f"{name:<30}{row[0]:>9}{row[1]:>9}{row[2]:>9}{row[3]:>12}{seconds:>7.1f}", flush=True)


if __name__ == "__main__":
    main()
