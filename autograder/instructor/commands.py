"""What the subcommands of `autograder` do."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import torch
from tqdm import tqdm

from autograder.instructor.grading.course import Course, CourseError
from autograder.instructor.grading.records import NotebookResult
from autograder.instructor.grading.running import Run, Summary
from autograder.instructor.grading.sandbox import Sandbox, SandboxError


def run(given: argparse.Namespace, started: Sandbox | None) -> int:
    """Run a subcommand; return the exit status.

    Args:
        given: the command line.
        started: a sandbox that is on its way up, for grading.
    """
    try:
        if given.command == "grade":
            return grade(given, started)
        return {"report": report, "bundle": bundle}[given.command](given)
    except (CourseError, SandboxError) as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "autograder: stopped; what is graded is kept, and the same command goes on from here.",
            file=sys.stderr,
        )
        return 130


def grade(given: argparse.Namespace, started: Sandbox | None = None) -> int:
    """Grade an assignment and print what came of it."""
    torch.set_num_threads(1)  # the processors are for the submissions
    course = Course(given.course.resolve(), given.db)
    if given.unsafe:
        course.settings.unsafe = True
    if given.workers:
        course.settings.workers = given.workers
    began = time.monotonic()
    work = Run(course, given.assignment, given.student, given.exercise, given.force)
    course.know(given.assignment)
    if course.settings.unsafe:
        print("Students' code runs without a sandbox, with all your rights.", file=sys.stderr)
    if given.scheduler:
        from autograder.instructor.grading.cluster import Cluster

        with Cluster(given.scheduler, work) as cluster, _bar(work) as bar:
            summary = work.start(cluster, lambda student: bar.update())
    else:
        with work.here(started) as machine, _bar(work) as bar:
            summary = work.start(machine, lambda student: bar.update())
    print(text(work, summary, time.monotonic() - began))
    return 0


def _bar(work: Run) -> tqdm:
    return tqdm(
        total=len(work.students),
        desc=work.assignment,
        unit="submission",
        disable=None,  # not where nobody watches
    )


def text(work: Run, summary: Summary, seconds: float) -> str:
    """Return what is printed after grading."""
    lines = [
        f"{work.assignment}: {len(summary.graded)} graded, {len(summary.unchanged)} unchanged, "
        f"{seconds:.1f} s."
    ]
    mine = [r for (student, _), r in summary.results.items() if student in set(work.students)]
    width = max(len(exercise.name) for exercise in work.exercises)
    for exercise in work.exercises:
        found = [e for r in mine for e in r.exercises if e.exercise == exercise.name]
        outcomes = Counter(e.outcome for e in found)
        counts = ", ".join(f"{outcomes[name]} {name}" for name in _ORDER if outcomes[name])
        mean = sum(e.points for e in found) / max(1, len(found))
        lines.append(f"  {exercise.name:{width}}  mean {mean:.1f} of {exercise.points:g}  {counts}")
    review = sorted((r for r in mine if r.review), key=lambda r: (r.student, r.notebook))
    if review:
        lines.append(f"{len(review)} to be looked at:")
        lines += [_reviewed(result) for result in review]
    return "\n".join(lines)


_ORDER = ("right", "part", "wrong", "unwritten", "missing", "stopped", "refused")


def _reviewed(result: NotebookResult) -> str:
    return f"  {result.student}, {result.notebook}: {result.review}"


def report(given: argparse.Namespace) -> int:
    """Write the instructor's page."""
    from autograder.instructor.reporting import report as reporting

    course = Course(given.course.resolve(), given.db)
    course.sources(given.assignment)
    to = given.to or course.root / "reports" / f"{given.assignment}.html"
    written: Path = reporting.write(course.db_url, course.root, given.assignment, to)
    print(f"Written: {written}")
    return 0


def bundle(given: argparse.Namespace) -> int:
    """Write the students' bundle."""
    from autograder.instructor import bundle as bundles

    print(f"Written: {bundles.write(given.folder, given.course.resolve())}")
    return 0
