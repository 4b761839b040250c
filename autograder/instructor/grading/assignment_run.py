"""Grades an assignment in resumable runs: parallel submissions, one gradebook writer."""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from sqlalchemy.exc import DatabaseError

from autograder.instructor.grading.course_folder import (
    Course,
    CourseError,
    find_name_problem,
    replace_folder_contents,
)
from autograder.instructor.grading.executors import (
    Executor,
    FailedSubmission,
    GradedSubmission,
    PreviousResults,
    SubmissionOutcome,
    SubmissionTask,
    is_disk_error,
)
from autograder.instructor.grading.gradebook_results import NotebookResult, merge
from autograder.instructor.grading.gradebook_scores import Person, Score
from autograder.instructor.grading.gradebook_writer import (
    GradebookWriter,
    LockRetrier,
    explain_errors,
)
from autograder.instructor.grading.late_penalties import PenaltyChange
from autograder.instructor.grading.notebook_grader import (
    GradedNotebook,
    digest_tests,
    make_failed_result,
)
from autograder.instructor.grading.source_notebook import (
    TEST_PREFIX,
    SourceNotebook,
    list_exercises,
)
from autograder.instructor.grading.submission_parser import (
    NotebookSubmission,
    Submission,
    read_nbgrader_files,
    read_permitted_submission,
)


@dataclass
class Summary:
    """Summary of a grading run.

    Attributes:
        graded: students whose submission was graded in this run.
        unchanged: students whose submission was graded before.
        failed: reason why a submission could not be graded or recorded, by student.
        results: all recorded results of the assignment, by student and notebook.
        scores: what counts in the gradebook, by student: with points by hand and penalties.
        penalty_changes: penalties of submissions that were not graded in this run, if they changed.
        people: students who were in the gradebook before this run.
        before: what counted before this run, by student.
        fewer_points: points before this run, of students who have fewer now.
        strangers: students who were not in the gradebook before this run.
        missing: students of the gradebook who have handed in nothing.
    """

    graded: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    results: dict[tuple[str, str], NotebookResult] = field(default_factory=dict)
    scores: dict[str, Score] = field(default_factory=dict)
    penalty_changes: list[PenaltyChange] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    before: dict[str, Score] = field(default_factory=dict)
    fewer_points: dict[str, float] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def find_fewer_points(self) -> None:
        """Note the students who were graded and have fewer points than before."""
        self.fewer_points = {
            student: score.points
            for student, score in self.before.items()
            if student in self.graded and self.scores[student].points < score.points - 1e-9
        }


class AssignmentRun:
    """Grades an assignment of a course.

    Args:
        course: the course.
        assignment: name of the assignment.
        students: students to grade; all who handed something in if empty.
        exercises: the only exercises to grade again, changed or not; no restriction if empty.
        force: grade everything again.

    Attributes:
        exercises: the exercises that are tested.
        by_hand: the cells that a person grades, each with the name of its notebook.
        skipped: folders whose name cannot be a student's, with the reason.
        others: students without a folder for the assignment; empty if `students` is given.

    Raises:
        CourseError: if there is no such assignment, student or exercise.
    """

    def __init__(
        self,
        course: Course,
        assignment: str,
        students: Sequence[str] = (),
        exercises: Sequence[str] = (),
        force: bool = False,
    ):
        self.course = course
        self.assignment = assignment
        self.sources: dict[str, SourceNotebook] = course.sources(assignment)
        self.exercises = list_exercises(self.sources)
        self.by_hand = [(name, c) for name, source in self.sources.items() for c in source.by_hand]
        self._only = frozenset(exercises)
        self._force = force
        names = {exercise.name for exercise in self.exercises}
        if unknown := self._only - names:
            raise CourseError(
                f"There is no exercise {sorted(unknown)[0]!r} in {assignment}; there are: "
                f"{', '.join(sorted(names))}."
            )
        there = course.students(assignment)
        faults = {name: find_name_problem(name) for name in there}
        self.skipped = {name: fault for name, fault in faults.items() if fault}
        there = [name for name in there if not faults[name]]
        if missing := [s for s in students if s not in there]:
            raise CourseError(
                f"{missing[0]} has not handed in {assignment}: there is no folder "
                f"{course.submitted(assignment, missing[0])}."
            )
        self.students = list(students) or there
        self.others = [] if students else course.list_folders_without_submission(assignment)
        if not self.students and not self.skipped:
            raise CourseError(
                f"Nobody has handed in {assignment}: put each student's notebooks into "
                f"{course.submitted(assignment, '<student>')}."
            )
        self.tests = digest_tests(self.sources)

    def grade_all(
        self,
        machine: Executor,
        on_finished: Callable[[str], object] = lambda student: None,
        busy: Callable[[Sequence[str]], object] = lambda students: None,
        say: Callable[[str], object] = print,
    ) -> Summary:
        """Grade all submissions that are new or have changed.

        Args:
            machine: executor that grades the submissions.
            on_finished: called with each student whose submission is done.
            busy: called periodically with the students whose submissions are being graded.
            say: called with a sentence if the gradebook is locked and the run has to wait.

        Raises:
            CourseError: if the gradebook or the disk cannot be written to.
            SandboxError: if the sandbox is no longer available.
        """
        summary = Summary()
        course = self.course
        with course.lock_grading(), explain_errors(course.db_url):
            waiting = LockRetrier(say)
            course.check_gradebook()
            pages = len(course.graded_students(self.assignment))
            waiting.retry_until_done(
                lambda: course.register_assignment(self.assignment, self.sources)
            )
            about = course.db_url, course.course_id, self.assignment, course.penalty_rule()
            with waiting.retry_until_done(lambda: GradebookWriter(*about)) as writer:
                # A killed run may leave one student's pages without a record.
                if pages > 1 and not waiting.retry_until_done(writer.count_submissions):
                    raise CourseError(course.lost_gradebook(pages))
                summary.results = waiting.retry_until_done(writer.records)
                summary.people = waiting.retry_until_done(writer.enrolled)
                summary.before = waiting.retry_until_done(writer.scores)
                given = ((s, self._before(summary, s)) for s in self.students)
                for student, outcome in machine.run(given, busy):
                    if outcome is None:
                        summary.unchanged.append(student)
                    else:
                        self._record(writer, waiting, summary, student, outcome)
                    on_finished(student)
                self._conclude(writer, waiting, summary)
        return summary

    def _conclude(self, writer: GradebookWriter, waiting: LockRetrier, summary: Summary) -> None:
        """Bring what depends on more than the submissions up to date, and compare the lists."""
        handed_in = self.course.students(self.assignment)
        times = self.course.submission_times(self.assignment)
        changes = waiting.retry_until_done(lambda: writer.refresh(times))
        summary.penalty_changes = [c for c in changes if c.student not in summary.graded]
        summary.scores = waiting.retry_until_done(writer.scores)
        summary.find_fewer_points()
        enrolled = {person.id for person in summary.people}
        summary.strangers = [s for s in summary.scores if s not in enrolled]
        summary.missing = sorted(enrolled - set(handed_in))

    def _record(
        self,
        writer: GradebookWriter,
        waiting: LockRetrier,
        summary: Summary,
        student: str,
        outcome: SubmissionOutcome,
    ) -> None:
        """Write the pages into their folder, then the grades into the gradebook."""
        done = outcome if isinstance(outcome, GradedSubmission) else None
        why = outcome.why if isinstance(outcome, FailedSubmission) else ""
        for attempt in (1, 2):
            try:
                done = done or self._fail(student, why, self._before(summary, student))
                replace_folder_contents(
                    self.course.autograded(self.assignment, student), done.files, self._permissions
                )
                given = student, done.results, done.untouched, done.timestamp
                waiting.retry_until_done(functools.partial(writer.write, *given))
                break
            except (CourseError, DatabaseError):
                raise  # fatal for the whole run, not just this student
            except Exception as error:  # it must not affect the other students
                if is_disk_error(error):
                    raise
                why = f"It could not be recorded: {type(error).__name__}: {str(error)[:300]}"
                done = None
                if attempt == 2:
                    summary.failed[student] = why
                    return
        assert done is not None
        for result in done.results:
            summary.results[student, result.notebook] = result
        failed = [result.review for result in done.results if not result.digest]
        if failed:
            summary.failed[student] = why or failed[0]
        else:
            summary.graded.append(student)

    @property
    def _permissions(self) -> int:
        return 0o664 if self.course.directory.groupshared else 0o444

    def _before(self, summary: Summary, student: str) -> PreviousResults:
        kept = {name: summary.results.get((student, name)) for name in self.sources}
        return {name: result for name, result in kept.items() if result is not None}

    def _fail(self, student: str, why: str, kept: PreviousResults) -> GradedSubmission:
        """Return what to record for a submission that could not be graded.

        Results of an earlier run are kept and marked for review; the next run tries again.
        """
        files = read_nbgrader_files(self.course.submitted(self.assignment, student))
        timestamp = self.course.timestamp(Submission({}, files))
        results = []
        for name, source in self.sources.items():
            failed = make_failed_result(source, self.assignment, student, why, self.tests)
            result, files[f"{name}.ipynb"] = self._keep_earlier(failed, kept.get(name))
            results.append(result)
        return GradedSubmission(tuple(results), files, frozenset(), timestamp)

    def _keep_earlier(
        self, failed: GradedNotebook, before: NotebookResult | None
    ) -> tuple[NotebookResult, bytes]:
        """Return the earlier result and page of a notebook that could not be graded, if any."""
        result = failed.result
        path = self.course.autograded(self.assignment, result.student) / f"{result.notebook}.ipynb"
        if before is None or not path.exists():
            return result, _as_bytes(failed.page)
        return replace(before, digest="", review=result.review), path.read_bytes()

    def plan_task(self, student: str, before: PreviousResults) -> SubmissionTask | None:
        """Return the task for a student, or None if there is nothing to do."""
        names = {name: source.identifiers for name, source in self.sources.items()}
        folder = self.course.submitted(self.assignment, student)
        submission = read_permitted_submission(folder, names)
        task = self._task(student, submission, before)
        return task if task.notebooks else None

    def _task(
        self, student: str, submission: Submission, before: PreviousResults
    ) -> SubmissionTask:
        notebooks: dict[str, NotebookSubmission] = {}
        only: dict[str, frozenset[str] | None] = {}
        for name, now in self.course.attach_digests(submission).items():
            old = before.get(name)
            wanted = self._choose_exercises(name, now, old, student)
            if wanted is None or wanted:
                notebooks[name], only[name] = now, wanted
        return SubmissionTask(student, notebooks, submission.other_files, only, before)

    def _choose_exercises(
        self, notebook: str, now: NotebookSubmission, old: NotebookResult | None, student: str
    ) -> frozenset[str] | None:
        """Return the exercises that need grading: None for all, the empty set for none."""
        page = self.course.autograded(self.assignment, student) / f"{notebook}.ipynb"
        mine = {c.exercise.name for c in self.sources[notebook].graded if c.exercise}
        if self._only:
            if old is None or old.digest != now.digest or not page.exists():
                return None if self._only & mine else frozenset()
            return frozenset(self._only & mine)
        if self._force or old is None or old.digest != now.digest or not page.exists():
            return None
        questions = {cell.id for cell in self.sources[notebook].by_hand}
        if questions != {answer.grade_id for answer in old.by_hand}:
            return None
        kept = {result.exercise: result.tests for result in old.exercises}
        changed = {name for name in mine if kept.get(name) != self.tests[name]}
        return None if changed and changed == mine else frozenset(changed)

    def build_record(
        self, task: SubmissionTask, graded: Sequence[GradedNotebook]
    ) -> GradedSubmission:
        """Return what to record for a submission: its results, and the files of its folder."""
        folder = self.course.autograded(self.assignment, task.student)
        files = self.course.list_files_to_keep(
            self.course.submitted(self.assignment, task.student), task.beside
        )
        results = []
        for name in self.sources:
            path = folder / f"{name}.ipynb"
            of_notebook = next((g for g in graded if g.result.notebook == name), None)
            if of_notebook is None:
                if path.exists():
                    files[path.name] = path.read_bytes()
                continue
            page, result, only = of_notebook.page, of_notebook.result, task.only.get(name)
            old = task.before.get(name)
            if not result.digest:
                result, files[path.name] = self._keep_earlier(of_notebook, old)
                results.append(result)
                continue
            if only is not None and old is not None:
                result = merge(old, result, only)
                page = _keep_old_cards(page, path, only)
            files[path.name] = _as_bytes(page)
            results.append(result)
        untouched = {
            i for g in graded for i in self.sources[g.result.notebook].list_untouched(g.page)
        }
        timestamp = self.course.timestamp(Submission({}, task.beside))
        return GradedSubmission(tuple(results), files, frozenset(untouched), timestamp)


def _as_bytes(page: NotebookNode) -> bytes:
    return (nbformat.writes(page) + "\n").encode("utf-8", "replace")


def _keep_old_cards(page: NotebookNode, path: Path, only: Collection[str]) -> NotebookNode:
    """Return the page with the old cards of the exercises that were not graded this time."""
    if not os.path.exists(path):
        return page
    page = copy.deepcopy(page)
    before = {c.get("id"): c for c in nbformat.read(path, 4).cells}
    for cell in page.cells:
        options = cell.metadata.get("nbgrader", {})
        if options.get("grade") and options["grade_id"].removeprefix(TEST_PREFIX) not in only:
            old = before.get(cell.get("id"))
            if old is not None and old.cell_type == "code":
                cell.outputs = old.outputs
    return page
