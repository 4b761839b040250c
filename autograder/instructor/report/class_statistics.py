"""Collects the statistics of a graded class from the gradebook and the result records."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from sqlalchemy import create_engine, inspect
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session

from autograder.instructor.authoring.mistake_loader import load_mistakes
from autograder.instructor.collecting.student_matching import StudentMatcher, suggest_owner
from autograder.instructor.grading import gradebook_results
from autograder.instructor.grading.course_folder import CourseError
from autograder.instructor.grading.gradebook_results import OUTCOMES, ExerciseResult, NotebookResult
from autograder.instructor.grading.gradebook_scores import (
    Person,
    Score,
    read_max_points,
    read_people,
    read_scores,
)
from autograder.instructor.grading.lms_records import read_groups
from autograder.instructor.grading.source_notebook import TEST_PREFIX
from autograder.instructor.report import similarity
from autograder.instructor.report.nbgrader_paths import find_students
from autograder.spec import exercise as declared

_NO_FAILURE = ("right", "unwritten")


@dataclass(frozen=True)
class ExerciseStatistics:
    """Results of the class in one exercise.

    Attributes:
        name: name of the exercise.
        max_points: points for a right answer.
        outcomes: number of answers with each outcome, in the order of `OUTCOMES`.
        mean_share: mean share of the points, 0 to 1, after manual grading; an exercise that a
            student left out counts as 0.
    """

    name: str
    max_points: float
    outcomes: dict[str, int]
    mean_share: float

    @property
    def answers(self) -> int:
        """Return the number of answers."""
        return sum(self.outcomes.values())


@dataclass(frozen=True)
class CommonMistake:
    """A mistake that students made in the same way.

    Attributes:
        exercise: name of the exercise.
        title: title of the misconception, or the headline that the students read.
        hint: hint of the misconception; "" for failures that no known mistake explains.
        students: students who made the mistake.
        share: their share of the students graded in the exercise.
    """

    exercise: str
    title: str
    hint: str
    students: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class Review:
    """A submission that needs manual review."""

    student: str
    where: str
    reason: str
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class SimilarSubmissions:
    """Students whose submissions are near-identical.

    Attributes:
        students: two or more students, each similar to at least one other.
        likeness: likeness of the most similar pair, and of the least similar pair.
        exercises: exercises in which the most similar pair is similar, with the likeness in each.
    """

    students: tuple[str, ...]
    likeness: tuple[float, float]
    exercises: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class LateSubmission:
    """A submission that came late or lost points to a penalty."""

    student: str
    seconds: float
    penalty: float


@dataclass(frozen=True)
class ClassStatistics:
    """Statistics of a graded class.

    Attributes:
        assignment: name of the assignment.
        made_at: local time at which the statistics were collected.
        names: names of the students, by id.
        max_points: points available in the assignment.
        handed_in: number of students who handed something in.
        points: points of each graded submission, less penalties.
        pending: number of submissions that still need manual grading.
        missing: students of the gradebook who handed in nothing.
        ungraded: students who handed in something that is not graded yet, with the student of the
            gradebook who may be meant if the folder's name is nobody's.
        groups: members of the groups that handed in together, by group.
    """

    assignment: str
    made_at: datetime
    names: dict[str, str]
    max_points: float
    handed_in: int
    points: tuple[float, ...]
    pending: int
    exercises: tuple[ExerciseStatistics, ...]
    misconceptions: tuple[CommonMistake, ...]
    unexplained: tuple[CommonMistake, ...]
    reviews: tuple[Review, ...]
    alike: tuple[SimilarSubmissions, ...]
    late: tuple[LateSubmission, ...]
    missing: tuple[str, ...] = ()
    ungraded: tuple[tuple[str, str], ...] = ()
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def mean(self) -> float:
        """Return the mean of the points; 0 if there are none."""
        return statistics.fmean(self.points) if self.points else 0.0

    @property
    def median(self) -> float:
        """Return the median of the points; 0 if there are none."""
        return statistics.median(self.points) if self.points else 0.0


def collect_statistics(
    course: CourseDirectory, assignment: str, exercises: Mapping[str, declared.Exercise]
) -> ClassStatistics:
    """Return the statistics of an assignment.

    Args:
        course: the course, which gives the folders and the gradebook.
        assignment: name of the assignment.
        exercises: the course's exercises, by name.

    Raises:
        CourseError: if there is no gradebook, or no such assignment in it.
    """
    everyone, known, by_student, groups = _from_gradebook(course.db_url, assignment)
    results = gradebook_results.read(course.db_url, assignment)
    names = {person.id: person.name for person in everyone}
    handed_in = _handed_in(course, assignment, by_student, results)
    matcher, known_ids = StudentMatcher(everyone, {}), set(names)
    for student, group in groups.items():
        if group and student in names:
            names[student] = f"{names[student]} (group {group})"
    return ClassStatistics(
        assignment=assignment,
        made_at=datetime.now(),
        names=names,
        max_points=known[assignment],
        handed_in=len(handed_in),
        points=tuple(sorted(score.points for score in by_student.values())),
        pending=sum(score.pending for score in by_student.values()),
        exercises=_exercises(results, by_student),
        misconceptions=_misconceptions(results, exercises),
        unexplained=_unexplained(results),
        reviews=_reviews(results, by_student),
        alike=group_similar(similarity.compare_course(course, assignment, groups)),
        late=_late(by_student),
        missing=tuple(sorted(person.id for person in everyone if person.id not in handed_in)),
        ungraded=tuple(
            (student, "" if student in known_ids else suggest_owner(matcher, student))
            for student in sorted(handed_in - set(by_student))
        ),
        groups=_members(groups),
    )


def _members(groups: Mapping[str, str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    members: dict[str, list[str]] = {}
    for student, group in sorted(groups.items()):
        members.setdefault(group, []).append(student)
    return tuple((name, tuple(who)) for name, who in sorted(members.items()) if name)


def _from_gradebook(
    db_url: str, assignment: str
) -> tuple[list[Person], dict[str, float], dict[str, Score], dict[str, str]]:
    """Return the people, the points of all assignments, and an assignment's scores and groups."""
    url = make_url(db_url)
    file = url.database if url.get_backend_name() == "sqlite" else None
    if file and file != ":memory:" and not Path(file).is_file():  # connecting would create it
        raise CourseError(f"There is no gradebook at {file}; grade the assignment first.")
    engine = create_engine(url)
    try:
        if not inspect(engine).has_table("assignment"):
            raise CourseError("The gradebook is empty; grade the assignment first.")
        with Session(engine) as session:
            known = read_max_points(session)
            if assignment not in known:
                raise CourseError(
                    f"There is no assignment {assignment!r} in the gradebook; "
                    f"it has: {', '.join(known) or 'none'}."
                )
            groups = read_groups(session.connection(), assignment)
            return read_people(session), known, read_scores(session, assignment), groups
    finally:
        engine.dispose()


def _handed_in(
    course: CourseDirectory,
    assignment: str,
    by_student: Iterable[str],
    results: Iterable[NotebookResult],
) -> set[str]:
    return (
        set(find_students(course, "submitted", assignment))
        | set(by_student)
        | {result.student for result in results if result.digest}
    )


def _exercises(
    results: list[NotebookResult], by_student: dict[str, Score]
) -> tuple[ExerciseStatistics, ...]:
    outcomes: dict[tuple[str, str], Counter[str]] = {}
    names: dict[tuple[str, str], str] = {}
    most: dict[tuple[str, str], float] = {}
    shares: dict[tuple[str, str], list[float]] = {}
    for result in results:
        for entry in result.exercises:
            key = (result.notebook, entry.grade_id)
            names.setdefault(key, entry.exercise)
            most.setdefault(key, entry.max_points)
            outcomes.setdefault(key, Counter())[entry.outcome] += 1
    for score in by_student.values():
        for cell in score.cells:
            key = (cell.notebook, cell.cell)
            names.setdefault(key, cell.cell.removeprefix(TEST_PREFIX))
            most[key] = cell.max_points
            shares.setdefault(key, []).append(
                cell.points / cell.max_points if cell.max_points else 0.0
            )
    return tuple(
        ExerciseStatistics(
            name,
            most[key],
            {outcome: outcomes.get(key, Counter())[outcome] for outcome in OUTCOMES},
            statistics.fmean(shares[key]) if key in shares else 0.0,
        )
        for key, name in names.items()
    )


def _misconceptions(
    results: list[NotebookResult], exercises: Mapping[str, declared.Exercise]
) -> tuple[CommonMistake, ...]:
    students: dict[tuple[str, str], list[str]] = {}
    headlines: dict[tuple[str, str], str] = {}
    for student, entry in _entries(results):
        if entry.misconception:
            key = (entry.exercise, entry.misconception)
            students.setdefault(key, []).append(student)
            headlines.setdefault(key, entry.headline)
    texts = _texts([exercises[name] for name, _ in students if name in exercises])
    return _by_frequency(
        [(key[0], *texts.get(key, (headlines[key], "")), who) for key, who in students.items()],
        results,
    )


def _unexplained(results: list[NotebookResult]) -> tuple[CommonMistake, ...]:
    students: dict[tuple[str, str], list[str]] = {}
    for student, entry in _entries(results):
        if entry.outcome not in _NO_FAILURE and not entry.misconception:
            key = (entry.exercise, " ".join(entry.headline.split()))
            students.setdefault(key, []).append(student)
    return _by_frequency([(*key, "", who) for key, who in students.items()], results)


def _by_frequency(
    mistaken: list[tuple[str, str, str, list[str]]], results: list[NotebookResult]
) -> tuple[CommonMistake, ...]:
    answers = Counter(entry.exercise for _, entry in _entries(results))
    mistakes = [
        CommonMistake(
            exercise, title, hint, tuple(sorted(set(who))), len(set(who)) / answers[exercise]
        )
        for exercise, title, hint, who in mistaken
    ]
    return tuple(sorted(mistakes, key=lambda m: (-len(m.students), m.exercise, m.title)))


def _entries(results: list[NotebookResult]) -> list[tuple[str, ExerciseResult]]:
    return [(result.student, entry) for result in results for entry in result.exercises]


def _texts(exercises: Iterable[declared.Exercise]) -> dict[tuple[str, str], tuple[str, str]]:
    """Return title and hint of the known mistakes, by exercise and slug.

    Mistakes of an exercise that the course no longer has get no title or hint.
    """
    texts = {}
    for exercise in exercises:
        try:
            mistakes = load_mistakes(exercise)
        except (ImportError, AttributeError, KeyError, ValueError):
            continue
        texts.update({(exercise.name, m.slug): (m.title, m.hint) for m in mistakes})
    return texts


def _reviews(results: list[NotebookResult], by_student: dict[str, Score]) -> tuple[Review, ...]:
    reviews = [
        Review(result.student, result.notebook, result.review, result.remarks)
        for result in results
        if result.review
    ]
    for score in by_student.values():
        cells = [cell.cell.removeprefix(TEST_PREFIX) for cell in score.cells if cell.pending]
        if cells:
            reason = "It still has to be graded by hand in the formgrader."
            reviews.append(Review(score.student, ", ".join(cells), reason, ()))
    return tuple(sorted(reviews, key=lambda review: (review.student, review.where)))


def group_similar(pairs: Iterable[similarity.Pair]) -> tuple[SimilarSubmissions, ...]:
    """Return near-identical submissions as groups, the most similar first."""
    group_of: dict[str, set[str]] = {}
    kept = list(pairs)
    for pair in kept:
        joined = group_of.get(pair.first, {pair.first}) | group_of.get(pair.second, {pair.second})
        for student in joined:
            group_of[student] = joined
    pairs_of: dict[tuple[str, ...], list[similarity.Pair]] = {}
    for pair in kept:
        pairs_of.setdefault(tuple(sorted(group_of[pair.first])), []).append(pair)
    made = []
    for students, inside in pairs_of.items():
        best = max(inside, key=lambda pair: pair.likeness)
        least = min(pair.likeness for pair in inside)
        made.append(SimilarSubmissions(students, (best.likeness, least), best.exercises))
    return tuple(sorted(made, key=lambda g: (-g.likeness[0], -len(g.students), g.students)))


def _late(by_student: dict[str, Score]) -> tuple[LateSubmission, ...]:
    late_ones = [
        LateSubmission(score.student, score.seconds_late, score.penalty)
        for score in by_student.values()
        if score.seconds_late > 0 or score.penalty > 0
    ]
    return tuple(sorted(late_ones, key=lambda late: (-late.seconds, late.student)))
