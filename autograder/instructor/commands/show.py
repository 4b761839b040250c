"""Implements `autograder show`."""

from __future__ import annotations

import argparse
from functools import partial

from autograder.instructor.commands.grading_summary import explain_score
from autograder.instructor.commands.output import refresh_and_read, say
from autograder.instructor.formatting import format_point_count, format_points
from autograder.instructor.grading import gradebook_results
from autograder.instructor.grading.course_folder import Course, CourseError
from autograder.instructor.grading.gradebook_results import NotebookResult
from autograder.instructor.grading.gradebook_scores import Score
from autograder.instructor.grading.gradebook_writer import LockRetrier, explain_errors
from autograder.instructor.grading.regrade_log import read_regrades
from autograder.instructor.sanitize import LINE_AT_MOST, sanitize_lines


def show(given: argparse.Namespace) -> int:
    """Print the recorded results of a student's submissions."""
    course = Course(given.course.resolve(), given.db)
    with explain_errors(course.db_url):
        course.check_gradebook()
        results = LockRetrier(say).retry_until_done(
            lambda: gradebook_results.read(course.db_url, student=given.student)
        )
        wanted = [r for r in results if given.assignment in ("", r.assignment)]
        scores = refresh_and_read(course, {r.assignment for r in wanted})
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
        regrades = LockRetrier(say).retry_until_done(
            partial(read_regrades, course, assignment, given.student)
        )
        lines += [f"  {regrade.describe(course.timezone)}" for regrade in regrades]
        mine = (result for result in wanted if result.assignment == assignment)
        lines += [line for result in mine for line in _describe(result, score)]
    for line in lines:
        print(" ".join(sanitize_lines(line, LINE_AT_MOST).splitlines()))
    return 0


def _describe(result: NotebookResult, score: Score | None) -> list[str]:
    """Return the recorded result of a notebook as lines."""
    by_hand = [
        (answer, score.find_cell(result.notebook, answer.grade_id) if score else None)
        for answer in result.by_hand
    ]
    points = result.points + sum(cell.points for _, cell in by_hand if cell)
    most = sum(e.max_points for e in result.exercises)
    most += sum(cell.max_points for _, cell in by_hand if cell)
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
        if cell is None:
            continue
        state = "to grade by hand" if cell.pending else "graded by hand"
        state = state if answer.digest or cell.manual is not None else "no response"
        earned = f"{format_points(cell.points)} of {format_points(cell.max_points)}"
        lines.append(f"  {answer.grade_id}: {earned}, {state}")
    return lines
