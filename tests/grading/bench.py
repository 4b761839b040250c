"""Measures grading: stock nbgrader against `autograder grade`, on the same submissions, in one run.

    python -m tests.grading.bench            40 submissions of bahdanau/scores, both ways
    python -m tests.grading.bench --growth   ours alone, on 40 and on 1,000

The last line is `ratio N`: how many times the submissions per minute ours grades, or with --growth
how much more memory and time per submission 1,000 take than 40.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from autograder.exercises import EXERCISES
from tests.bank import entries, source
from tests.conftest import ROOT, copy_course
from tests.grading import stock

ASSIGNMENT, NOTEBOOK = "bahdanau", "scores"


def answers() -> list[dict[str, str]]:
    """Return what students write: the right and wrong answers of the bank, in turn."""
    bank: dict[str, list[str]] = {}
    for entry in entries():
        exercise = EXERCISES[entry.exercise]
        if (exercise.assignment, exercise.notebook) == (ASSIGNMENT, NOTEBOOK):
            bank.setdefault(entry.exercise, []).append(source(entry))
    most = max(len(texts) for texts in bank.values())
    return [{name: texts[n % len(texts)] for name, texts in bank.items()} for n in range(most)]


def make(folder: Path, students: int) -> None:
    """Fill a folder with a course of one notebook and its submissions."""
    copy_course(folder)
    for path in (folder / "solutions" / ASSIGNMENT).glob("*.py"):
        if path.stem not in (NOTEBOOK, "misconceptions", "__init__"):
            path.unlink()
    released = nbformat.read(ROOT / "exercises" / ASSIGNMENT / f"{NOTEBOOK}.ipynb", 4)
    written = answers()
    for number in range(students):
        for cell in released.cells:
            cell.source = written[number % len(written)].get(cell.id, cell.source)
        target = folder / "submitted" / f"student-{number:04d}" / ASSIGNMENT
        target.mkdir(parents=True)
        nbformat.write(released, target / f"{NOTEBOOK}.ipynb")


def timed(folder: Path, *command: str) -> tuple[float, float]:
    """Run a command in a folder; return seconds, and the peak memory of its processes in MB."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - started
    assert done.returncode == 0, done.stderr[-2000:]
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return seconds, max(before, after) / 1024


def against_stock(students: int) -> None:
    """Print submissions per minute, both ways, and the ratio."""
    rates = {}
    for name in ("stock", "ours"):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            make(folder, students)
            if name == "stock":
                stock.use(folder)
            timed(folder, "nbgrader", "generate_assignment", ASSIGNMENT)
            command = {
                "stock": ("nbgrader", "autograde", ASSIGNMENT),
                "ours": ("autograder", "grade", ASSIGNMENT),
            }[name]
            seconds, _ = timed(folder, *command)
            rates[name] = 60 * students / seconds
            shown = " ".join(command)
            print(
                f"{shown:28} {students} submissions in {seconds:6.1f} s, "
                f"{rates[name]:6.1f} a minute, with everything from start to end",
                flush=True,
            )
    print(f"ratio {rates['ours'] / rates['stock']:.1f}")


def growth(sizes: tuple[int, ...] = (40, 1000)) -> None:
    """Print time per submission and peak memory for classes of different size."""
    found = []
    for students in sizes:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            make(folder, students)
            timed(folder, "nbgrader", "generate_assignment", ASSIGNMENT)
            seconds, memory = timed(folder, "autograder", "grade", ASSIGNMENT)
        found.append((seconds / students, memory))
        print(
            f"{students:5} submissions in {seconds:6.1f} s, "
            f"{1000 * seconds / students:6.1f} ms each, peak memory of a process {memory:.0f} MB",
            flush=True,
        )
    (time_before, memory_before), (time_after, memory_after) = found[0], found[-1]
    print(
        f"ratio {time_after / time_before:.2f} in time, "
        f"{memory_after / memory_before:.2f} in memory"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--growth", action="store_true")
    given = parser.parse_args()
    growth() if given.growth else against_stock(given.students)
