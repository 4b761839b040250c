"""The summary that `autograder grade` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from autograder.instructor.collecting.student_matching import StudentMatcher, suggest_owner
from autograder.instructor.commands.output import indent
from autograder.instructor.formatting import format_points
from autograder.instructor.grading.assignment_run import AssignmentRun, Summary
from autograder.instructor.grading.gradebook_results import NotebookResult
from autograder.instructor.grading.gradebook_scores import Score
from autograder.instructor.sanitize import sanitize_line


def summarise(work: AssignmentRun, summary: Summary, seconds: float) -> str:
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
        lines += [indent(str(change)) for change in summary.penalty_changes]
    if summary.fewer_points:
        lines.append("Fewer points than before:")
        lines += [
            indent(
                f"{student}: {format_points(summary.scores[student].points)}, not "
                f"{format_points(before)}"
            )
            for student, before in sorted(summary.fewer_points.items())
        ]
    review = sorted((r for r in mine if r.review), key=lambda r: (r.student, r.notebook))
    if review:
        lines.append(f"{len(review)} to review:")
        lines += [indent(f"{r.student}, {r.notebook}: {r.review}") for r in review]
    questions = {(notebook, question.id) for notebook, question in work.by_hand}
    pending = sorted(
        score.student
        for score in scores
        if any(cell.pending and (cell.notebook, cell.cell) in questions for cell in score.cells)
    )
    if pending:
        more = f" and {len(pending) - 20} more" if len(pending) > 20 else ""
        names_left = sanitize_line(", ".join(pending[:20]))
        lines.append(f"{len(pending)} to grade by hand, in the formgrader: {names_left}{more}")
    if summary.failed:
        lines.append(
            f"{len(summary.failed)} could not be graded and will be retried in the next run:"
        )
        lines += [indent(f"{student}: {why}") for student, why in sorted(summary.failed.items())]
    owners = StudentMatcher(summary.people, {})
    strangers = []
    for name in summary.strangers:
        likely = suggest_owner(owners, name)
        strangers.append(f"{name} (likely {likely})" if likely else name)
    listed = {name.split(" (there is ")[0] for name in work.others}
    for what, names in (
        ("not in the gradebook, and now added", strangers),
        ("handed in nothing", [name for name in summary.missing if name not in listed]),
        (f"have no folder {work.assignment!r}", work.others),
    ):
        if names:
            more = f" and {len(names) - 20} more" if len(names) > 20 else ""
            lines.append(f"{len(names)} {what}: {sanitize_line(', '.join(names[:20]))}{more}")
    if work.skipped:
        lines.append(f"{len(work.skipped)} folders were skipped; rename them:")
        lines += [indent(f"{name}: {why}") for name, why in sorted(work.skipped.items())]
    return "\n".join(lines)


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
