"""Benchmarks of grading, without assertions.

    python -m tests.grading.benchmark                 all three parts
    python -m tests.grading.benchmark stock           stock nbgrader against `autograder grade`
    python -m tests.grading.benchmark growth          the last of 1,000 against the first
    python -m tests.grading.benchmark feedback        feedback pages against nbgrader's
    python -m tests.grading.benchmark stock --students 10

Every part prints ratios. Commands are timed from start to end, imports included.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

import nbformat
import psutil

from autograder.exercises import EXERCISES
from tests.answers import entries, source
from tests.conftest import ROOT, copy_course
from tests.grading import stock_nbgrader

ASSIGNMENT, NOTEBOOK = "bahdanau", "scores"
STUDENTS = {"stock": 40, "growth": 1000, "feedback": 82}
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def answers() -> dict[str, list[str]]:
    """Return the students' answers by exercise: right and wrong answers of the bank."""
    bank: dict[str, list[str]] = {}
    for entry in entries():
        if EXERCISES[entry.exercise].assignment == ASSIGNMENT:
            bank.setdefault(entry.exercise, []).append(source(entry))
    return bank


def make(folder: Path, students: int, notebooks: tuple[str, ...] = (NOTEBOOK,)) -> None:
    """Create a course with some notebooks of the assignment and with submissions."""
    copy_course(folder)
    for path in (folder / "solutions" / ASSIGNMENT).iterdir():
        if path.is_dir() and path.name not in notebooks:
            shutil.rmtree(path)
    bank = answers()
    for notebook in notebooks:
        released = nbformat.read(ROOT / "exercises" / ASSIGNMENT / f"{notebook}.ipynb", 4)
        for number in range(students):
            for cell in released.cells:
                if written := bank.get(cell.id):
                    # Makes all students' answers different.
                    cell.source = f"{written[number % len(written)]}\n# {number}"
            target = folder / "submitted" / f"student-{number:04d}" / ASSIGNMENT
            target.mkdir(parents=True, exist_ok=True)
            nbformat.write(released, target / f"{notebook}.ipynb")


def timed(folder: Path, *command: str) -> tuple[float, str]:
    """Run a command in a folder; return its seconds and output."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - started
    assert done.returncode == 0, done.stderr[-2000:]
    return seconds, done.stdout


def against_stock(students: int) -> None:
    """Print submissions per minute for stock nbgrader and for ours, and the ratio."""
    rates = {}
    for name, command in (
        ("stock", ("nbgrader", "autograde", ASSIGNMENT)),
        ("ours", ("autograder", "grade", ASSIGNMENT, "--no-feedback")),
    ):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            make(folder, students)
            if name == "stock":
                (folder / "nbgrader_config.py").write_text(stock_nbgrader.settings(), "utf-8")
            timed(folder, "nbgrader", "generate_assignment", ASSIGNMENT)
            seconds, _ = timed(folder, *command)
        rates[name] = 60 * students / seconds
        print(
            f"{' '.join(command):35} {students} submissions in {seconds:6.1f} s, "
            f"{rates[name]:6.1f} a minute",
            flush=True,
        )
    print(f"ratio {rates['ours'] / rates['stock']:.1f}", flush=True)


def memory(process: psutil.Process) -> float:
    """Return the megabytes of a process and its descendants; shared memory counts once."""
    found = 0
    for one in [process, *process.children(recursive=True)]:
        try:
            found += one.memory_full_info().pss
        except psutil.Error:  # it has ended
            continue
    return found / 1e6


def growth(students: int) -> None:
    """Print time and memory for the first and for the last hundred of a class."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make(folder, students)
        timed(folder, "nbgrader", "generate_assignment", ASSIGNMENT)
        samples = []
        command = [sys.executable, "-m", "autograder", "grade", ASSIGNMENT, "--no-feedback"]
        with (folder / "said").open("w+") as said:
            running = psutil.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=said, stderr=said)
            while running.poll() is None:
                samples.append((datetime.now(timezone.utc).replace(tzinfo=None), memory(running)))
                time.sleep(1)
            said.seek(0)
            assert running.returncode == 0, said.read()[-2000:]
        with sqlite3.connect(folder / "gradebook.db") as database:
            rows = database.execute("select graded_at from autograder_result order by graded_at")
            at = [datetime.fromisoformat(time) for (time,) in rows]
    few = min(100, len(at) // 2)
    took = []
    for name, part in (("first", at[:few]), ("last", at[-few:])):
        took.append((part[-1] - part[0]).total_seconds())
        peak = max((mb for when, mb in samples if part[0] <= when <= part[-1]), default=0.0)
        print(
            f"{name:5} {few} of {len(at)} submissions in {took[-1]:6.1f} s, "
            f"peak memory of all processes {peak:5.0f} MB",
            flush=True,
        )
    print(f"ratio {took[1] / took[0]:.2f}", flush=True)


def feedback(students: int) -> None:
    """Print the time for the feedback pages of a class, and the ratios.

    nbgrader needs a separate command for them; ours are part of grading, or a command.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        notebooks = ("scores", "translator")
        make(folder, students, notebooks)
        _, said = timed(folder, "autograder", "grade", ASSIGNMENT)
        pages = students * len(notebooks)
        told = re.search(r"^feedback: (\d+) pages written.* ([\d.]+) s\.$", said, re.M)
        assert told and int(told[1]) == pages, said[-2000:]
        took = {"in autograder grade": float(told[2])}
        for command in ("nbgrader generate_feedback", "autograder feedback"):
            shutil.rmtree(folder / "feedback")
            took[command], _ = timed(folder, *command.split(), ASSIGNMENT)
    stock_seconds = took["nbgrader generate_feedback"]
    for name, seconds in took.items():
        ratio = stock_seconds / seconds
        print(f"{name:27} {pages} pages in {seconds:6.1f} s, ratio {ratio:4.1f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("part", nargs="?", choices=STUDENTS, help="default: all")
    parser.add_argument("--students", type=int, metavar="N", help="instead of 40, 1,000 and 82")
    given = parser.parse_args()
    for part in [given.part] if given.part else STUDENTS:
        print(f"\n{part}")
        {"stock": against_stock, "growth": growth, "feedback": feedback}[part](
            given.students or STUDENTS[part]
        )
