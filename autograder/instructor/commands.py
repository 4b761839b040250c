"""Implements the subcommands of `autograder`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import torch
from nbgrader.api import Gradebook
from tqdm import tqdm

from autograder.instructor import deadlines
from autograder.instructor.collecting import command
from autograder.instructor.formatting import format_point_count, format_points
from autograder.instructor.grading import result_records
from autograder.instructor.grading.assignment_run import AssignmentRun, Summary
from autograder.instructor.grading.bwrap_command import SandboxError
from autograder.instructor.grading.course_folder import Course, CourseError
from autograder.instructor.grading.gradebook_scores import Score, read_scores
from autograder.instructor.grading.gradebook_writer import (
    LockRetrier,
    explain_errors,
    refresh_gradebook,
)
from autograder.instructor.grading.result_records import NotebookResult
from autograder.instructor.grading.sandbox_launcher import Sandbox
from autograder.instructor.sanitize import LINE_AT_MOST, sanitize_line, sanitize_lines


def run(given: argparse.Namespace, started: Sandbox | None) -> int:
    """Run a subcommand and return the exit status.

    Args:
        given: the parsed command line.
        started: a sandbox that is already starting, for grading.
    """
    try:
        if given.command == "grade":
            return grade(given, started)
        others = {
            "roster": command.roster,
            "collect": command.collect,
            "due": deadlines.due,
            "extend": deadlines.extend,
            "show": show,
            "feedback": feedback,
            "report": report,
            "bundle": bundle,
        }
        return others[given.command](given)
    except (CourseError, SandboxError) as error:
        print(f"autograder: {sanitize_line(str(error))}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.filename is None:  # not about a file, so it is our bug
            raise
        print(
            f"autograder: {sanitize_line(f'{error.filename}: {error.strerror}')}. Fix this and "
            "run the same command again; results so far are kept.",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print(
            "autograder: interrupted; results so far are kept, and the same command will resume "
            "from here.",
            file=sys.stderr,
        )
        return 130


def grade(given: argparse.Namespace, started: Sandbox | None = None) -> int:
    """Grade an assignment and print a summary."""
    torch.set_num_threads(1)  # leave the processors to the submissions
    course = Course(given.course.resolve(), given.db)
    if given.unsafe:
        course.settings.unsafe = True
    if given.workers:
        course.settings.workers = given.workers
    with explain_errors(course.db_url):
        return _grade(given, course, started)


def _grade(given: argparse.Namespace, course: Course, started: Sandbox | None) -> int:
    began = time.monotonic()
    work = AssignmentRun(course, given.assignment, given.student, given.exercise, given.force)
    if course.settings.unsafe:
        print("Students' code runs without a sandbox, with all your permissions.", file=sys.stderr)
    with _Progress(work) as progress:
        if given.scheduler:
            from autograder.instructor.grading.dask_cluster import DaskExecutor

            with DaskExecutor(given.scheduler, work) as cluster:
                summary = work.grade_all(cluster, progress.tick, progress.busy, progress.say)
        else:
            with work.open_local_executor(started) as machine:
                summary = work.grade_all(machine, progress.tick, progress.busy, progress.say)
    print(text(work, summary, time.monotonic() - began))
    status = 1 if summary.failed else 0
    if not given.no_feedback:  # including students whom an interrupted run graded
        graded = set(course.graded_students(given.assignment))
        mine = [student for student in work.students if student in graded]
        status = _write_feedback(course, given.assignment, mine) or status
    return status


SLOW = 5.0  # seconds after which the progress bar names a submission


class _Progress:
    """Shows the progress of a run, and whose submissions take long."""

    def __init__(self, work: AssignmentRun):
        # disable=None shows the bar only on a terminal.
        self._bar = tqdm(
            total=len(work.students), desc=work.assignment, unit="submission", disable=None
        )
        self._since: dict[str, float] = {}

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *given: object) -> None:
        self._bar.close()

    def tick(self, student: str) -> None:
        self._bar.update()

    def busy(self, students: Sequence[str]) -> None:
        now = time.monotonic()
        self._since = {student: self._since.get(student, now) for student in students}
        slow = [
            f"{sanitize_line(s)} {now - t:.0f} s" for s, t in self._since.items() if now - t > SLOW
        ]
        self._bar.set_postfix_str(", ".join(slow), refresh=bool(slow))

    def say(self, sentence: str) -> None:
        self._bar.write(sentence, file=sys.stderr)


def text(work: AssignmentRun, summary: Summary, seconds: float) -> str:
    """Return the summary that is printed after grading."""
    lines = [
        f"{work.assignment}: {len(summary.graded)} graded, {len(summary.unchanged)} unchanged, "
        f"{seconds:.1f} s."
    ]
    wanted = set(work.students)
    mine = [r for (student, _), r in summary.results.items() if student in wanted]
    names = [e.name for e in work.exercises] + [cell.id for _, cell in work.by_hand]
    width = max(map(len, names), default=0)
    for exercise in work.exercises:
        answers = [e for r in mine for e in r.exercises if e.exercise == exercise.name]
        outcomes = Counter(e.outcome for e in answers)
        counts = ", ".join(f"{outcomes[name]} {name}" for name in _ORDER if outcomes[name])
        mean = sum(e.points for e in answers) / max(1, len(answers))
        lines.append(f"  {exercise.name:{width}}  mean {mean:.1f} of {exercise.points:g}  {counts}")
    scores = [score for student, score in summary.scores.items() if student in wanted]
    for notebook, question in work.by_hand:
        found = [s.find_cell(notebook, question.id) for s in scores]
        cells = [cell for cell in found if cell is not None]
        left = sum(cell.pending for cell in cells)
        mean = sum(cell.points for cell in cells) / max(1, len(cells))
        state = f"{left} to grade by hand" if left else "nothing left to grade by hand"
        lines.append(f"  {question.id:{width}}  mean {mean:.1f} of {question.points:g}  {state}")
    lines += _describe_students(work, mine, summary.scores)
    if summary.penalty_changes:
        lines.append("Penalties that have changed:")
        lines += [_line(str(change)) for change in summary.penalty_changes]
    if summary.fewer_points:
        lines.append("Fewer points than before:")
        lines += [
            _line(
                f"{student}: {format_points(summary.scores[student].points)}, not "
                f"{format_points(before)}"
            )
            for student, before in sorted(summary.fewer_points.items())
        ]
    review = sorted((r for r in mine if r.review), key=lambda r: (r.student, r.notebook))
    if review:
        lines.append(f"{len(review)} to review:")
        lines += [_line(f"{r.student}, {r.notebook}: {r.review}") for r in review]
    if work.by_hand and (pending := sorted(s.student for s in scores if s.pending)):
        more = f" and {len(pending) - 20} more" if len(pending) > 20 else ""
        names_left = sanitize_line(", ".join(pending[:20]))
        lines.append(f"{len(pending)} to grade by hand, in the formgrader: {names_left}{more}")
    if summary.failed:
        lines.append(
            f"{len(summary.failed)} could not be graded and will be retried in the next run:"
        )
        lines += [_line(f"{student}: {why}") for student, why in sorted(summary.failed.items())]
    listed = {name.split(" (there is ")[0] for name in work.others}
    for what, names in (
        ("not in the gradebook, and now added", summary.strangers),
        ("handed in nothing", [name for name in summary.missing if name not in listed]),
        (f"have no folder {work.assignment!r}", work.others),
    ):
        if names:
            more = f" and {len(names) - 20} more" if len(names) > 20 else ""
            lines.append(f"{len(names)} {what}: {sanitize_line(', '.join(names[:20]))}{more}")
    if work.skipped:
        lines.append(f"{len(work.skipped)} folders were skipped; rename them:")
        lines += [_line(f"{name}: {why}") for name, why in sorted(work.skipped.items())]
    return "\n".join(lines)


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def _line(text: str) -> str:
    return "  " + sanitize_line(text)


def _describe_students(
    work: AssignmentRun, results: Sequence[NotebookResult], scores: Mapping[str, Score]
) -> list[str]:
    """Return a legend, and a line per student: what counts, marks, and why it is not their sum."""
    most = sum(e.points for e in work.exercises) + sum(cell.points for _, cell in work.by_hand)
    by_student: dict[str, list[NotebookResult]] = {student: [] for student in work.students}
    for result in results:
        by_student[result.student].append(result)
    width = max(map(len, by_student), default=0)
    legend = _MARKS | ({"to grade by hand": _PENDING} if work.by_hand else {})
    lines = [", ".join(f"{mark} {name}" for name, mark in legend.items())]
    for student, mine in by_student.items():
        outcomes = {e.exercise: e.outcome for r in mine for e in r.exercises}
        marks = "".join(_MARKS.get(outcomes.get(e.name, ""), " ") for e in work.exercises)
        score = scores.get(student)
        marks += "".join(_mark_by_hand(score, name, cell.id) for name, cell in work.by_hand)
        points = score.points if score else sum(result.points for result in mine)
        earned = f"{format_points(points):>4} of {most:g}"
        line = f"  {sanitize_line(student):{width}}  {earned}  {marks}"
        lines.append(f"{line}  {explain_score(score)}".rstrip() if score else line)
    return lines


def _mark_by_hand(score: Score | None, notebook: str, name: str) -> str:
    cell = score.find_cell(notebook, name) if score else None
    if cell is None:
        return " "
    if cell.pending:
        return _PENDING
    return _MARKS["right" if cell.points >= cell.max_points else "part" if cell.points else "wrong"]


def explain_score(score: Score) -> str:
    """Return how a score differs from the sum of the grader's points, or "" if it does not."""
    extra = sum(cell.extra or 0.0 for cell in score.cells)
    by_hand = any(cell.manual is not None for cell in score.cells)
    parts = [
        "points by hand" if by_hand else "",
        f"{format_points(extra)} extra" if extra else "",
        f"{format_points(score.penalty)} off for lateness" if score.penalty else "",
    ]
    return ", ".join(filter(None, parts))


_MARKS = {
    "right": "+",
    "part": "/",
    "wrong": "-",
    "unwritten": ".",
    "missing": "o",
    "stopped": "!",
    "refused": "x",
}
_PENDING = "?"
_ORDER = ("right", "part", "wrong", "unwritten", "missing", "stopped", "refused")


def show(given: argparse.Namespace) -> int:
    """Print the recorded results of a student's submissions."""
    course = Course(given.course.resolve(), given.db)
    with explain_errors(course.db_url):
        course.check_gradebook()
        results = LockRetrier(_say).retry_until_done(
            lambda: result_records.read(course.db_url, student=given.student)
        )
        wanted = [r for r in results if given.assignment in ("", r.assignment)]
        scores = _refresh(course, {r.assignment for r in wanted})
    if not wanted:
        raise CourseError(
            f"Nothing of {given.student} has been graded"
            f"{' in ' + given.assignment if given.assignment else ''}: run autograder grade first."
        )
    lines: list[str] = []
    for assignment in dict.fromkeys(result.assignment for result in wanted):
        if score := scores[assignment].get(given.student):
            why = explain_score(score)
            lines.append(
                f"{assignment}: {format_point_count(score.points)}{f' ({why})' if why else ''}"
            )
        mine = (result for result in wanted if result.assignment == assignment)
        lines += [line for result in mine for line in _describe(result, score)]
    for line in lines:
        print(" ".join(sanitize_lines(line, LINE_AT_MOST).splitlines()))
    return 0


def _refresh(course: Course, assignments: Iterable[str]) -> dict[str, dict[str, Score]]:
    """Bring penalties up to date, say which have changed, and return what counts."""
    found = {}
    for assignment in sorted(assignments):
        refresh = partial(refresh_gradebook, course, assignment)
        changes = LockRetrier(_say).retry_until_done(refresh)
        for change in changes:
            _say(sanitize_line(f"{assignment}: {change}."))
        with Gradebook(course.db_url, course.course_id) as gradebook:
            found[assignment] = read_scores(gradebook.db, assignment)
    return found


def _describe(result: NotebookResult, score: Score | None) -> list[str]:
    """Return the recorded result of a notebook as lines."""
    by_hand = [
        (answer, score.find_cell(result.notebook, answer.grade_id) if score else None)
        for answer in result.by_hand
    ]
    points = result.points + sum(cell.points for _, cell in by_hand if cell)
    most = sum(e.max_points for e in result.exercises)
    most += sum(answer.max_points for answer in result.by_hand)
    lines = [
        f"{result.assignment}/{result.notebook}: {points:g} of {most:g} points, graded "
        f"{result.graded_at or 'never'} in {result.seconds:.1f} s"
    ]
    lines += [f"  to review: {result.review}"] if result.review else []
    lines += [f"  remark: {remark}" for remark in result.remarks]
    for e in result.exercises:
        judged = e.cases and e.outcome != "unwritten"
        tried = f", tried on {e.cases} case{'s' * (e.cases > 1)}" if judged else ""
        lines.append(f"  {e.exercise}: {e.points:g} of {e.max_points:g}, {e.outcome}{tried}")
        lines += [f"    to be looked at: {e.review}"] if e.review else []
        if e.outcome != "right":
            known = f" [{e.misconception}]" if e.misconception else ""
            lines.append(f"    {e.headline}{known}")
            lines += [f"      {line}".rstrip() for line in e.details]
    for answer, cell in by_hand:
        earned = format_points(cell.points) if cell else "0"
        state = "to grade by hand" if cell and cell.pending else "graded by hand"
        state = state if answer.digest or (cell and cell.manual is not None) else "no response"
        lines.append(f"  {answer.grade_id}: {earned} of {answer.max_points:g}, {state}")
    return lines


def feedback(given: argparse.Namespace) -> int:
    """Write feedback pages and print a summary."""
    course = Course(given.course.resolve(), given.db)
    if given.workers:
        course.settings.workers = given.workers
    course.sources(given.assignment)
    graded = course.graded_students(given.assignment)
    if missing := [name for name in given.student if name not in graded]:
        raise CourseError(
            f"{missing[0]!r} has no graded notebooks: run autograder grade {given.assignment}."
        )
    with explain_errors(course.db_url):
        course.check_gradebook()
        _refresh(course, [given.assignment])
        return _write_feedback(course, given.assignment, given.student or graded, given.force)


def _write_feedback(
    course: Course, assignment: str, students: Sequence[str], force: bool = False
) -> int:
    """Write the feedback pages of some students and return the exit status."""
    from autograder.instructor.nbgrader.feedback_pages import write_pages

    began = time.monotonic()
    with tqdm(desc="feedback", unit="page", disable=None) as bar:

        def tick(done: int, of: int) -> None:
            bar.total = of
            bar.update()

        written = write_pages(course, assignment, students, force, tick, _say)
    print(
        f"feedback: {written.pages} pages written, {written.unchanged} unchanged, "
        f"{len(written.failed)} failed, {time.monotonic() - began:.1f} s."
    )
    for sentence in written.failed:
        print(_line(sentence))
    return 1 if written.failed else 0


def report(given: argparse.Namespace) -> int:
    """Write the instructor's report."""
    from autograder.instructor.report.class_statistics import collect_statistics
    from autograder.instructor.report.html_page import write

    course = Course(given.course.resolve(), given.db)
    course.sources(given.assignment)
    to = given.to or course.root / "reports" / f"{given.assignment}.html"
    with explain_errors(course.db_url):
        course.check_gradebook()
        _refresh(course, [given.assignment])
        about = course.directory, given.assignment, course.exercises
        write(LockRetrier(_say).retry_until_done(lambda: collect_statistics(*about)), to)
    print(f"Written: {to}")
    return 0


def bundle(given: argparse.Namespace) -> int:
    """Write the students' bundle."""
    from autograder.instructor.nbgrader import student_bundle as bundles

    print(f"Written: {bundles.write(given.folder, given.course.resolve(), given.last, given.only)}")
    return 0
