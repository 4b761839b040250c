"""Course folder as nbgrader configures it: paths, students, sources and gradebook."""

from __future__ import annotations

import copy
import glob
import hashlib
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import IO

from nbformat import NotebookNode
from nbgrader.api import Assignment, Grade, Gradebook, MissingEntry
from nbgrader.apps.baseapp import NbGrader
from nbgrader.apps.generateassignmentapp import GenerateAssignmentApp
from nbgrader.preprocessors import (
    AssignLatePenalties,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
    SaveCells,
)
from nbgrader.utils import is_ignored
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError
from traitlets import TraitError

from autograder.instructor.authoring.notebook_parser import SourceError
from autograder.instructor.grading.course_error import CourseError
from autograder.instructor.grading.late_penalties import PenaltyRule
from autograder.instructor.grading.settings import Grading
from autograder.instructor.grading.source_notebook import SourceNotebook, read_sources
from autograder.instructor.grading.submission_parser import (
    NotebookSubmission,
    Submission,
    add_review,
    read_nbgrader_files,
)
from autograder.instructor.timestamps import TimeError, parse_time

EARLIER = "earlier_submissions"
"""Folder of a course for submissions that do not count, because a later or a better one does."""

NAME_AT_MOST = 255  # bytes of a file name, on nearly all file systems
_UNTIMED = (
    "timestamp.txt contains no valid time, so lateness is unknown and nbgrader cannot list the "
    "submissions: correct or remove the file."
)


class _App(NbGrader):
    """Reads nbgrader_config.py as every nbgrader command does."""

    name = "nbgrader-autograder"


class Course:
    """A course folder.

    Args:
        folder: the folder with nbgrader_config.py.
        db_url: URL of a gradebook to use instead of the configured one.

    Raises:
        CourseError: if there is no course in the folder.
    """

    def __init__(self, folder: Path, db_url: str | None = None):
        if not (folder / "nbgrader_config.py").exists():
            raise CourseError(
                f"There is no nbgrader_config.py in {folder}: run this in the course's folder."
            )
        with _in_folder(folder):
            app = _App()
            app.raise_config_file_errors = True
            try:
                app.initialize([])
            except SourceError as error:  # reading the settings reads all masters
                raise CourseError(str(error)) from error
            except Exception as error:  # any error that a Python file can contain
                raise CourseError(
                    f"{folder / 'nbgrader_config.py'} cannot be used: {type(error).__name__}: "
                    f"{error}; correct it."
                ) from error
        self.app = app
        self.directory = app.coursedir
        if db_url:
            self.directory.db_url = db_url
        self.root = Path(self.directory.root)
        self._locked = False
        try:
            make_url(self.db_url)
            self.settings = Grading(parent=app)
            self.exercises = self.settings.load_exercises()
        except (TraitError, ArgumentError, ImportError, AttributeError) as error:
            raise CourseError(f"A setting in nbgrader_config.py is wrong: {error}") from error

    @property
    def db_url(self) -> str:
        """Return the URL of the gradebook."""
        return str(self.directory.db_url)

    @property
    def course_id(self) -> str:
        """Return nbgrader's name of the course."""
        return str(self.directory.course_id)

    @property
    def timezone(self) -> str:
        """Return the zone in which times are shown and read if they name none; "" is UTC."""
        return str(self.app.config.Exchange.get("timezone", "") or "")

    def sources(self, assignment: str) -> dict[str, SourceNotebook]:
        """Return the source notebooks of an assignment, by name.

        Raises:
            CourseError: if there is no such assignment, or one of its notebooks cannot be used.
        """
        folder = self._path(self.directory.source_directory, ".", assignment)
        stub = ClearSolutions(parent=self.app).code_stub.get("python", "")
        try:
            sources = read_sources(folder, stub, self.exercises)
        except SourceError as error:
            raise CourseError(str(error)) from error
        if not sources:
            there = sorted(p.name for p in folder.parent.glob("*") if list(p.glob("*/notebook.md")))
            raise CourseError(
                f"There is no assignment {assignment!r} in {folder.parent}; there are: "
                f"{', '.join(there) or 'none'}."
            )
        return sources

    def submitted(self, assignment: str, student: str) -> Path:
        """Return the folder with a student's files for an assignment."""
        return self._path(self.directory.submitted_directory, student, assignment)

    def earlier(self, assignment: str, student: str) -> Path:
        """Return the folder with a student's submissions that do not count."""
        return self.root / EARLIER / student / assignment

    def students_with_earlier(self, assignment: str) -> list[str]:
        """Return the students who have submissions that do not count."""
        found = (self.root / EARLIER).glob(f"*/{glob.escape(assignment)}")
        return sorted(path.parent.name for path in found if path.is_dir())

    def name_earlier(self, assignment: str, student: str, time: datetime | None) -> Path:
        """Return a new path for a submission that does not count, in a folder that exists."""
        parent = self.earlier(assignment, student)
        parent.mkdir(parents=True, exist_ok=True)
        if time is not None and not (folder := parent / f"{time:%Y-%m-%d_%H-%M-%S}").exists():
            return folder
        number = 1
        while (parent / f"{number}").exists():
            number += 1
        return parent / f"{number}"

    def autograded(self, assignment: str, student: str) -> Path:
        """Return the folder for a student's graded notebooks."""
        return self._path(self.directory.autograded_directory, student, assignment)

    def feedback(self, assignment: str, student: str) -> Path:
        """Return the folder for a student's feedback pages."""
        return self._path(self.directory.feedback_directory, student, assignment)

    def _path(self, folder: str, student: str, assignment: str) -> Path:
        return Path(self.directory.format_path(folder, student, assignment))

    def students(self, assignment: str) -> list[str]:
        """Return the students who have handed something in."""
        return self._students(self.directory.submitted_directory, assignment)

    def graded_students(self, assignment: str) -> list[str]:
        """Return the students who have been graded."""
        return self._students(self.directory.autograded_directory, assignment)

    def _students(self, folder: str, assignment: str) -> list[str]:
        parent = self.root / folder
        if not parent.is_dir():
            return []
        excluded = set(filter(None, self.directory.student_id_exclude.split(",")))
        return sorted(
            path.name
            for path in parent.iterdir()
            if path.name not in excluded and _is_there(self._path(folder, path.name, assignment))
        )

    def list_folders_without_submission(self, assignment: str) -> list[str]:
        """Return students without a folder for an assignment, with any similar file or folder."""
        parent = self.root / self.directory.submitted_directory
        if not parent.is_dir():
            return []
        there = {path.name for path in parent.iterdir() if path.is_dir()}
        found = []
        for name in sorted(there - set(self.students(assignment))):
            try:
                beside = [p.name for p in self.submitted(assignment, name).parent.iterdir()]
            except OSError:
                beside = []
            alike = [
                other
                for other in beside
                if other.casefold() == assignment.casefold() or other.endswith(".ipynb")
            ]
            found.append(f"{name} (there is {sorted(alike)[0]})" if alike else name)
        return found

    def check_gradebook(self) -> None:
        """Check that the gradebook exists if anything has been graded.

        Raises:
            CourseError: if there are graded pages, but the gradebook's file is empty or missing.
        """
        folder = self.root / self.directory.autograded_directory
        pages = len({path.parent.name for path in folder.glob("*/*")})
        if pages and self._has_lost_gradebook():
            raise CourseError(self.lost_gradebook(pages))

    def lost_gradebook(self, pages: int) -> str:
        """Return what to do if the gradebook has lost the grades of this many students."""
        url = make_url(self.db_url).render_as_string(hide_password=True)
        return (
            f"There are graded pages of {pages} students, but the gradebook {url} has no grades "
            "for them. Restore a backup, because it is the only place that holds manual grades. "
            "To start over, move the graded pages away."
        )

    def _has_lost_gradebook(self) -> bool:
        """Return whether the gradebook's file is empty or missing."""
        url = make_url(self.db_url)
        if url.get_backend_name() != "sqlite" or not url.database:
            return False
        path = self.root / url.database
        return not path.exists() or path.stat().st_size == 0

    def submission_times(self, assignment: str) -> dict[str, datetime | None]:
        """Return when each student handed in: a UTC time, or None if it is not known."""
        times = {}
        for student in self.students(assignment):
            files = read_nbgrader_files(self.submitted(assignment, student))
            times[student] = self.timestamp(Submission({}, files))
        return times

    def timestamp(self, submission: Submission) -> datetime | None:
        """Return the UTC time at which a submission was handed in, if its folder records it."""
        text = (
            submission.other_files.get("timestamp.txt", b"")[:100]
            .decode("utf-8", "replace")
            .strip()
        )
        try:
            return parse_time(text, self.timezone) if text else None
        except TimeError:
            return None

    def attach_digests(self, submission: Submission) -> dict[str, NotebookSubmission]:
        """Return the submission of each notebook, with a digest that identifies it."""
        untimed = "timestamp.txt" in submission.other_files and not self.timestamp(submission)
        found = {}
        for name, handed in submission.notebooks.items():
            handed = add_review(handed, _UNTIMED) if untimed else handed
            found[name] = replace(handed, digest=compute_digest(handed, submission.other_files))
        return found

    @contextmanager
    def lock_grading(self) -> Iterator[None]:
        """Keep another process from grading in this folder; may be nested.

        Raises:
            CourseError: if another run is grading.
        """
        if self._locked:
            yield
            return
        import fcntl  # missing on Windows, where grading has already been refused

        with open(self.root / ".autograder.lock", "a+b") as page:
            try:
                fcntl.flock(page, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise CourseError(
                    "Another run is grading in this folder: wait for it, or end it first."
                ) from error
            self._locked = True
            try:
                yield
            finally:
                self._locked = False

    def penalty_rule(self) -> PenaltyRule:
        """Return how the course takes points off for lateness."""
        preprocessor = AssignLatePenalties(parent=self.app)
        preprocessor.init_plugin()
        return PenaltyRule(preprocessor.plugin_inst, self.settings.penalty_per_assignment)

    def register_assignment(self, assignment: str, sources: Mapping[str, SourceNotebook]) -> None:
        """Make sure that the gradebook has the assignment with all its notebooks and cells.

        nbgrader writes the cells one by one, so a killed run may have left only some of them.

        Args:
            assignment: name of the assignment.
            sources: its source notebooks, by name.

        Raises:
            CourseError: if nbgrader cannot read the sources.
        """
        cells = {
            (name, *cell) for name, source in sources.items() for cell in source.gradebook_cells
        }
        with Gradebook(self.db_url, self.course_id) as gradebook:
            try:
                known = gradebook.find_assignment(assignment)
            except MissingEntry:
                pass
            else:
                there = {
                    (notebook.name, kind, cell.name)
                    for notebook in known.notebooks
                    for kind in ("grade", "solution", "task", "source")
                    for cell in getattr(notebook, f"{kind}_cells")
                }
                _update_points(gradebook, known, sources)
                if cells <= there:
                    return
                if known.submissions:  # nbgrader adds nothing once there are submissions
                    for source in sources.values():
                        self._add_cells(assignment, source)
                    return
        with tempfile.TemporaryDirectory() as folder, _in_folder(self.root):
            app = GenerateAssignmentApp()
            app.initialize([assignment])
            app.log_level = logging.WARNING
            # Only the gradebook is filled here; the released notebooks stay as they are.
            app.coursedir.release_directory = os.path.relpath(folder, self.root)
            app.coursedir.db_url = self.db_url
            if make_url(self.db_url).get_backend_name() == "sqlite":  # it may be locked for long
                app.coursedir.db_url += "?timeout=600"
            try:
                app.start()
            except SystemExit as error:
                raise CourseError(
                    f"nbgrader cannot read the sources of {assignment}: run "
                    f"nbgrader generate_assignment {assignment} to see why."
                ) from error

    def _add_cells(self, assignment: str, source: SourceNotebook) -> None:
        """Add a notebook's cells to the gradebook as nbgrader does, and keep existing ones."""
        about = {"notebook": source.name, "assignment": assignment, "db_url": self.db_url}
        page = copy.deepcopy(source.page)
        for step in (LockCells, ClearSolutions, ComputeChecksums, _AddCells):
            page, _ = step(parent=self.app).preprocess(page, {"nbgrader": about})

    def list_files_to_keep(self, folder: Path, beside: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the files beside the notebooks that nbgrader would also copy.

        A name that is not valid UTF-8 becomes longer when it is decoded, and may be too long.
        """
        return {
            name: content
            for name, content in beside.items()
            if not name.endswith(".ipynb")
            and len(name.encode("utf-8", "replace")) <= NAME_AT_MOST
            and not is_ignored(str(folder / name), self.directory.ignore)
        }


def _update_points(
    gradebook: Gradebook, assignment: Assignment, sources: Mapping[str, SourceNotebook]
) -> None:
    """Give the graded cells in the gradebook the points that the sources give them now."""
    for notebook in assignment.notebooks:
        source = sources.get(notebook.name)
        points = {c.id: c.points for c in (*source.graded, *source.by_hand)} if source else {}
        for cell in (*notebook.grade_cells, *notebook.task_cells):
            most = points.get(cell.name, 0.0)  # a cell that the source has no more counts nothing
            if cell.max_score != most:
                cell.max_score = most
            if cell.name not in points:
                gradebook.db.query(Grade).filter(
                    Grade.cell_id == cell.id, Grade.needs_manual_grade
                ).update({"needs_manual_grade": False})
    gradebook.db.commit()


class _AddCells(SaveCells):
    """Adds a notebook's cells to the gradebook, and keeps existing ones."""

    def _create_notebook(self, nb: NotebookNode) -> None:
        where = self.notebook_id, self.assignment_id
        self.gradebook.update_or_create_notebook(*where)
        for kind in ("grade", "solution", "task", "source"):
            write = getattr(self.gradebook, f"update_or_create_{kind}_cell")
            for name, about in getattr(self, f"new_{kind}_cells").items():
                write(name, *where, **about)


def _is_there(path: Path) -> bool:
    """Return whether a path exists, even if it cannot be inspected."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True


def find_name_problem(student: str) -> str:
    """Return why a folder's name cannot be a student's name in the gradebook, or "" if it can."""
    try:
        student.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    if not student.isprintable():
        return "its name has a character that cannot be shown, such as a line break"
    if set(student) & set('<>"'):
        return 'its name contains <, > or ", which some nbgrader pages would treat as HTML'
    if student.startswith("."):
        return "its name begins with a dot, and nbgrader ignores such folders"
    if student != student.strip():
        return "its name begins or ends with a space"
    if len(student) > 128:
        return "its name is longer than the gradebook's limit of 128 characters"
    return ""


def compute_digest(handed: NotebookSubmission, beside: Mapping[str, bytes]) -> str:
    """Return a digest that changes when the submission of a notebook changes."""
    sha = hashlib.sha256()
    for part in (handed.digest, *handed.remarks, handed.review):
        sha.update(part.encode("utf-8", "replace") + b"\0")
    for name, content in sorted(beside.items()):
        if not name.endswith(".ipynb") and name != "timestamp.txt":  # it only makes late
            sha.update(name.encode("utf-8", "replace") + b"\0")
            sha.update(hashlib.sha256(content).digest())
    return sha.hexdigest()


def replace_folder_contents(folder: Path, files: Mapping[str, bytes], permissions: int) -> None:
    """Write files into a folder, each atomically, and remove all other files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if (folder / name).is_dir() and not (folder / name).is_symlink():
            shutil.rmtree(folder / name)  # left by an earlier submission
        write_atomically(folder / name, content, permissions)
    for path in folder.iterdir():
        if path.name not in files and stat.S_ISREG(path.lstat().st_mode):
            path.unlink()


def write_atomically(path: Path, content: bytes, permissions: int | None = None) -> None:
    """Write a file atomically, see `replace_atomically`."""
    with replace_atomically(path, permissions) as page:
        page.write(content)


@contextmanager
def replace_atomically(path: Path, permissions: int | None = None) -> Iterator[IO[bytes]]:
    """Yield a file that takes the place of another one at the end, if nothing is raised.

    A program that has the old file open still reads the old content.

    Args:
        path: path of the file.
        permissions: its mode; if None, 666 less the user's umask, as with `open`.
    """
    if permissions is None:
        os.umask(mask := os.umask(0o077))
        permissions = 0o666 & ~mask
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as page:
            yield page
        os.chmod(temporary, permissions)
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError) and error.filename in (None, temporary):
            error.filename = str(path)
        raise


@contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
