"""Writes feedback pages as `nbgrader generate_feedback` does, but many times faster.

nbgrader asks its gradebook for each cell of each page, and tidies each page's HTML as a whole. Here
the gradebook is asked once for all pages, and what is the same in many pages is made once.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import nbconvert
import nbgrader
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat import NotebookNode
from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor
from nbgrader.utils import find_all_files, is_grade, is_solution, is_task
from sqlalchemy import func, select

from autograder.instructor.grading.course_folder import Course, write_atomically
from autograder.instructor.grading.gradebook_writer import LockRetrier
from autograder.instructor.grading.worker_pool import WorkerPool

Resources = dict[str, Any]


# The facts


@dataclass
class NotebookGrades:
    """What the gradebook says of a notebook that was handed in.

    Attributes:
        score: points for all cells.
        max_score: points that there are.
        late_penalty: points to be taken off.
        cells: points and most points of each cell, by grade_id.
        comments: of each cell, by grade_id.
    """

    score: float
    max_score: float
    late_penalty: float
    cells: dict[str, tuple[float, float]] = field(default_factory=dict)
    comments: dict[str, str | None] = field(default_factory=dict)


def read_grades(
    db_url: str, course_id: str, assignment: str
) -> dict[tuple[str, str], NotebookGrades]:
    """Read an assignment's grades and comments, by student and notebook."""
    with Gradebook(db_url, course_id) as gradebook:
        read = gradebook.db.execute
        most = {
            identity: points
            for kind in (GradeCell, TaskCell)
            for identity, points in read(select(kind.id, kind.max_score))
        }
        of_notebook = dict(map(tuple, read(select(Notebook.id, Notebook.max_score))))
        scores = dict(
            map(
                tuple,
                read(select(Grade.notebook_id, func.sum(Grade.score)).group_by("notebook_id")),
            )
        )
        found: dict[tuple[str, str], NotebookGrades] = {}
        by_page: dict[str, NotebookGrades] = {}
        handed_in = (
            select(SubmittedNotebook)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .where(Assignment.name == assignment)
        )
        for student, name, page, notebook, penalty in read(
            handed_in.with_only_columns(
                SubmittedAssignment.student_id,
                Notebook.name,
                SubmittedNotebook.id,
                Notebook.id,
                SubmittedNotebook.late_submission_penalty,
            )
        ):
            late = penalty or 0
            grades = NotebookGrades((scores.get(page) or 0.0) - late, of_notebook[notebook], late)
            found[student, name] = by_page[page] = grades
        for page, name, cell, score in read(
            handed_in.join(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .join(BaseCell, BaseCell.id == Grade.cell_id)
            .with_only_columns(SubmittedNotebook.id, BaseCell.name, BaseCell.id, Grade.score)
        ):
            by_page[page].cells[name] = score, most.get(cell) or 0.0
        for page, name, text in read(
            handed_in.join(Comment, Comment.notebook_id == SubmittedNotebook.id)
            .join(BaseCell, BaseCell.id == Comment.cell_id)
            .with_only_columns(SubmittedNotebook.id, BaseCell.name, Comment.comment)
        ):
            by_page[page].comments[name] = text
    return found


class InsertGrades(NbGraderPreprocessor):
    """Put grades and comments into a page, as nbgrader's GetGrades does, without its gradebook."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Give them to the cells, and the sums to the page."""
        grades: NotebookGrades = resources["nbgrader"]["grades"]
        for cell in nb.cells:
            if not (is_solution(cell) or is_grade(cell) or is_task(cell)):
                continue
            about = cell.metadata.nbgrader
            try:
                if is_solution(cell) or is_task(cell):
                    about["comment"] = grades.comments[about.grade_id]
                if is_grade(cell) or is_task(cell):
                    about["score"], about["points"] = grades.cells[about.grade_id]
            except KeyError as error:
                raise LookupError(f"the gradebook has no cell {error}; grade it again") from error
        resources["nbgrader"].update(
            score=grades.score, max_score=grades.max_score, late_penalty=grades.late_penalty
        )
        return nb, resources


class CachedStyle(CSSHTMLHeaderPreprocessor):
    """Write the colours of code once."""

    _header: list[str] | None = None

    def _generate_header(self, resources: Resources) -> list[str]:
        if self._header is None:
            self._header = super()._generate_header(resources)
        return self._header


_FASTER = {GetGrades: InsertGrades, CSSHTMLHeaderPreprocessor: CachedStyle}


# A page


class PageExporter(HTMLExporter):
    """nbconvert's exporter, which makes the HTML of cells that are alike once.

    The page is rendered and tidied with a mark in each cell's place. A cell is tidied alone, with a
    mark in its code's place: what it opens is closed in it, and what it closes is what it opened.
    """

    _most_kept, _longest_kept = 2000, 50_000  # pieces; characters of a piece and its key

    def __init__(self, **given: Any):
        super().__init__(**given)
        self.raw_template = (
            "{%- extends 'index.html.j2' -%}"
            "{%- block any_cell scoped -%}{{ cell | once(super) }}{%- endblock any_cell -%}"
        )
        self.register_filter("once", self._show_once)
        self._kept: dict[str, str] = {}
        self._cells: list[str] = []
        self._code: list[str] = []
        # Not to be guessed by who writes a cell.
        self._mark, self._code_mark = (f"<{tag}></{tag}>" for tag in (_new_tag(), _new_tag()))
        self._language = ""
        self.template  # noqa: B018 (loaded here, before any process is forked)

    def from_notebook_node(  # type: ignore[override]  # nbconvert's own classes differ in it, too
        self, nb: NotebookNode, resources: Resources | None = None, **given: Any
    ) -> tuple[str, Resources]:
        """Make a page."""
        self._nb_metadata.clear()  # nbconvert would keep that of all pages
        self._cells = []
        self._language = json.dumps(nb.metadata.get("language_info"))
        page, resources = super().from_notebook_node(nb, resources, **given)
        return _fill(page, self._mark, self._cells), resources

    def register_filter(self, name: str, jinja_filter: Any) -> Any:
        """Register a filter; nbconvert does so with that for code, for each page."""
        if name == "highlight_code":
            jinja_filter = partial(self._show_code, jinja_filter)
        return super().register_filter(name, jinja_filter)

    def _preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Run the preprocessors on the copy that there is; nbconvert makes two more."""
        for preprocessor in self._preprocessors:
            nb, resources = preprocessor(nb, resources)
        self._validate_preprocessor(nb, "all")  # once, not after each of them
        return nb, resources

    def _show_code(self, highlight: Callable[..., str], source: str, **given: Any) -> str:
        """Return a mark for code: all those spans are tidy but for a few characters."""
        language = given.get("metadata", {}).get("magics_language")
        key = f"{self._language}{language}\0{source}"
        html = self._kept.get(key) or self._keep(key, highlight(source, **given))
        found = _HIGHLIGHTED.fullmatch(html)
        if found is None:
            return html
        text = found["code"].replace("&quot;", '"').replace("&#39;", "'")
        self._code.append(f'<div class="highlight {found["language"]}">{text}</div>')
        return self._code_mark + found["after"]

    def _keep(self, key: str, html: str) -> str:
        if len(self._kept) >= self._most_kept:
            self._kept.clear()
        if len(key) + len(html) <= self._longest_kept:
            self._kept[key] = html
        return html

    def _show_once(self, cell: NotebookNode, render: Callable[[], str]) -> str:
        """Return a mark for the cell; white space around it is a part of what surrounds it."""
        key = self._language + json.dumps(cell, sort_keys=True)
        html = self._kept.get(key)
        if html is None:
            self._code = []
            html = _fill(_tidy(str(render())), self._code_mark, self._code)
            # Scripts and widgets have a number of their own in each place, images are a student's.
            if not ('"application/' in key or self.embed_images):
                self._keep(key, html)
        if cell.cell_type == "raw":  # text, a part of the text around it
            return html
        self._cells.append(html.strip())
        before = html[: len(html) - len(html.lstrip())]
        after = html[len(html.rstrip()) :]
        return before + self._mark + after


# What pygments writes of a cell, as far as it is known how it is tidied.
_HIGHLIGHTED = re.compile(
    r'<div class=" highlight (?P<language>hl-[\w-]+)">'
    r'(?P<code><pre>[^<]*(?:</?span(?: class="[\w-]+")?>[^<]*)*</pre>)</div>(?P<after>\s*)'
)


def _new_tag() -> str:
    return f"mark-{uuid.uuid4().hex}"


def _fill(html: str, mark: str, pieces: Sequence[str]) -> str:
    """Return the HTML with the pieces in the places of the marks."""
    between = html.split(mark)
    return "".join(a + b for a, b in zip(between, [*pieces, ""], strict=True))


def _tidy(html: str) -> str:
    """Return the HTML as nbconvert tidies that of a page."""
    inner = html.strip()
    soup = BeautifulSoup(inner, features="html.parser")
    for image in soup.find_all("img") if "<img" in inner.lower() else ():
        image.attrs.setdefault("alt", "No description has been provided for this image")
    return html.replace(inner, str(soup), 1) if inner else html


@dataclass(frozen=True)
class Page:
    """A page to be written.

    Attributes:
        student: nbgrader's name.
        notebook: its name.
        source: the graded notebook.
        to: the page.
        grades: what the gradebook says.
    """

    student: str
    notebook: str
    source: Path
    to: Path
    grades: NotebookGrades


def write_page(exporter: PageExporter, assignment: str, page: Page) -> None:
    """Write a page whole, or not at all."""
    html, _ = exporter.from_filename(
        str(page.source),
        {
            "unique_key": page.notebook,
            "output_files_dir": f"{page.notebook}_files",
            "nbgrader": {
                "student": page.student,
                "assignment": assignment,
                "notebook": page.notebook,
                "grades": page.grades,
            },
        },
    )
    # nbgrader's permissions follow when all are written.
    write_atomically(page.to, html.encode(), 0o644)


# The pages of a class


@dataclass
class FeedbackSummary:
    """What came of it.

    Attributes:
        pages: how many were written.
        unchanged: how many were as they are to be.
        failed: a sentence for each page, or student, that failed.
    """

    pages: int = 0
    unchanged: int = 0
    failed: list[str] = field(default_factory=list)


def write_pages(
    course: Course,
    assignment: str,
    students: Iterable[str] | None = None,
    force: bool = False,
    tick: Callable[[int, int], object] = lambda done, of: None,
    say: Callable[[str], object] = print,
) -> FeedbackSummary:
    """Write the pages of those whose notebook or grades have changed since theirs were written.

    Args:
        course: the course; its settings say how many processes there are, and how long a page may
            take.
        assignment: the assignment.
        students: whose pages; all who were graded if None.
        force: write pages that have not changed, too.
        tick: called with the number of pages that are done, and of all pages to be written.
        say: called with a sentence if the gradebook has to be waited for.

    Raises:
        CourseError: the gradebook has been lost.
    """
    return _Class(course, assignment, say).write(students, force, tick)


class _Class:
    def __init__(self, course: Course, assignment: str, say: Callable[[str], object]):
        self._course = course
        self._waiting = LockRetrier(say)
        self._assignment = assignment
        # It knows nbgrader's settings and permissions.
        course.app.log_level = logging.ERROR  # it would tell of each of them
        self._nbgrader = GenerateFeedback(coursedir=course.directory, parent=course.app)
        self._record = (
            course.root / course.directory.feedback_directory / f".{assignment}-pages.json"
        )

    def write(
        self, students: Iterable[str] | None, force: bool, tick: Callable[[int, int], object]
    ) -> FeedbackSummary:
        written = FeedbackSummary()
        self._course.check_gradebook()
        wanted = self._course.graded_students(self._assignment) if students is None else students
        pages = list(self._list_pages(wanted, written))
        before = {} if force else self._read_record()
        now = {str(page.to): _digest(page) for page in pages}
        changed = [
            page
            for page in pages
            if before.get(str(page.to)) != [now[str(page.to)], _time(page.to)]
        ]
        written.unchanged = len(pages) - len(changed)
        if not changed:
            return written
        for student in {page.student for page in changed}:
            self._copy_beside(student)
        record = self._read_record()
        try:
            for number, (page, why) in enumerate(self._run(changed), start=1):
                record.pop(str(page.to), None)
                if why:
                    page.to.unlink(missing_ok=True)  # one of other grades would be wrong
                    written.failed.append(f"{page.student}, {page.notebook}: {why}")
                else:
                    written.pages += 1
                    record[str(page.to)] = [now[str(page.to)], _time(page.to)]
                tick(number, len(changed))
        finally:
            for student in {page.student for page in changed}:
                self._nbgrader.set_permissions(self._assignment, student)
            write_atomically(self._record, json.dumps(record, indent=0).encode(), 0o644)
        return written

    def _copy_beside(self, student: str) -> None:
        """Copy what nbgrader copies, but for what a browser would run.

        nbgrader's own function takes a name's brackets for a pattern.
        """
        folder = self._course.autograded(self._assignment, student)
        to = self._course.feedback(self._assignment, student)
        to.mkdir(parents=True, exist_ok=True)
        for name in find_all_files(str(folder), self._course.directory.ignore):
            path = Path(name)
            # A folder that is called as a page would stand in its place.
            if path.parent == folder and path.suffix.lower() not in (".ipynb", *_ACTIVE):
                _clear(to / path.name)
                write_atomically(to / path.name, path.read_bytes(), 0o644)

    def _list_pages(self, students: Iterable[str], written: FeedbackSummary) -> Iterator[Page]:
        """Yield what pages there are to be, and remove those that are not to be."""
        about = self._course.db_url, self._course.course_id, self._assignment
        known = self._waiting.until_done(lambda: read_grades(*about))
        for student in students:
            if not student.isprintable():
                written.failed.append(
                    f"{student!r}: a name with such characters is none for nbgrader; rename the "
                    "folder and grade again."
                )
                continue
            folder = self._course.autograded(self._assignment, student)
            to = self._course.feedback(self._assignment, student)
            names = sorted(path.stem for path in folder.glob("*.ipynb"))
            for path in to.glob("*.html"):
                _clear(path)
                if path.stem not in names:
                    path.unlink(missing_ok=True)
            for name in names:
                if (grades := known.get((student, name))) is None:
                    written.failed.append(
                        f"{student}, {name}: there are no grades in the gradebook; grade it again."
                    )
                else:
                    yield Page(student, name, folder / f"{name}.ipynb", to / f"{name}.html", grades)

    def _run(self, pages: Sequence[Page]) -> Iterator[tuple[Page, str]]:
        """Write pages in processes; yield each with a sentence if it failed."""
        exporter, settings = self._open_exporter(), self._course.settings
        count = min(settings.at_a_time(), len(pages))
        with WorkerPool(count, settings.page_seconds, lambda: _exporters.append(exporter)) as guard:
            waiting = {guard.submit(_write, self._assignment, page): page for page in pages}
            for future in as_completed(waiting):
                error = future.exception()
                yield waiting[future], guard.explain(error) if error else ""

    def _open_exporter(self) -> PageExporter:
        exporter = PageExporter(parent=self._nbgrader, config=self._nbgrader.config)
        for preprocessor in self._nbgrader.preprocessors:
            exporter.register_preprocessor(_FASTER.get(preprocessor, preprocessor))
        return exporter

    def _read_record(self) -> dict[str, list[Any]]:
        try:
            return dict(json.loads(self._record.read_text("utf-8")))
        except (OSError, ValueError):
            return {}


def _clear(path: Path) -> None:
    """Remove a folder that is in a file's place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)


_ACTIVE = (".html", ".htm", ".xhtml", ".xht", ".shtml", ".mhtml", ".svg", ".xml", ".xsl")
_exporters: list[PageExporter] = []  # of a process under guard


def _write(assignment: str, page: Page) -> None:
    write_page(_exporters[-1], assignment, page)


def _digest(page: Page) -> str:
    """Return what changes when a page has to be written anew."""
    sha = hashlib.sha256(page.source.read_bytes())
    about = [asdict(page.grades), nbgrader.__version__, nbconvert.__version__]
    sha.update(json.dumps(about, sort_keys=True).encode())
    return sha.hexdigest()


def _time(path: Path) -> int:
    """Return when a file was last written, which tells whether it is still ours."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
