"""Writes feedback pages as `nbgrader generate_feedback` does, but many times faster.

nbgrader queries its gradebook for each cell of each page, and tidies each page's HTML as a whole.
This module queries the gradebook once for all pages, and renders shared cells only once.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
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
from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import ClearHiddenTests, GetGrades, NbGraderPreprocessor
from nbgrader.utils import find_all_files, is_grade, is_solution, is_task

from autograder.instructor.grading.course_folder import Course, write_atomically
from autograder.instructor.grading.gradebook_writer import LockRetrier
from autograder.instructor.grading.worker_pool import WorkerPool
from autograder.instructor.nbgrader.clear_hidden_tests import ClearOwnHiddenTests
from autograder.instructor.nbgrader.notebook_grades import NotebookGrades, read_grades

Resources = dict[str, Any]


class InsertGrades(NbGraderPreprocessor):
    """Adds grades and comments to a page as nbgrader's GetGrades does, without any query."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Add the grades to the cells, and the totals to the page."""
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
    """Generates the style sheet for highlighted code only once."""

    _header: list[str] | None = None

    def _generate_header(self, resources: Resources) -> list[str]:
        if self._header is None:
            self._header = super()._generate_header(resources)
        return self._header


# The same result, faster, or without failing on what a student wrote.
_REPLACEMENTS = {
    GetGrades: InsertGrades,
    CSSHTMLHeaderPreprocessor: CachedStyle,
    ClearHiddenTests: ClearOwnHiddenTests,
}


# One page


class PageExporter(HTMLExporter):
    """Exports HTML as nbconvert does, but renders identical cells only once.

    The page is rendered and tidied with a marker in place of each cell. Each cell is tidied by
    itself, with a marker in place of its code: a cell closes all tags that it opens, and no others.
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
        # Random, so that the author of a cell cannot guess them.
        self._mark, self._code_mark = (f"<{tag}></{tag}>" for tag in (_new_tag(), _new_tag()))
        self._language = ""
        self.template  # noqa: B018 (loaded here, before any process is forked)

    def from_notebook_node(  # type: ignore[override]  # nbconvert's own classes differ too
        self, nb: NotebookNode, resources: Resources | None = None, **given: Any
    ) -> tuple[str, Resources]:
        """Return the HTML page of a notebook, and its resources."""
        self._nb_metadata.clear()  # nbconvert would keep the metadata of all pages
        self._cells = []
        self._language = json.dumps(nb.metadata.get("language_info"))
        page, resources = super().from_notebook_node(nb, resources, **given)
        return _fill(improve_frame(page), self._mark, self._cells), resources

    def register_filter(self, name: str, jinja_filter: Any) -> Any:
        """Register a filter, and wrap the one for code, which nbconvert registers for each page."""
        if name == "highlight_code":
            jinja_filter = partial(self._show_code, jinja_filter)
        return super().register_filter(name, jinja_filter)

    def _preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Run the preprocessors on the existing copy; nbconvert would make two more."""
        for preprocessor in self._preprocessors:
            nb, resources = preprocessor(nb, resources)
        self._validate_preprocessor(nb, "all")  # once, not after each preprocessor
        return nb, resources

    def _show_code(self, highlight: Callable[..., str], source: str, **given: Any) -> str:
        """Return a marker for code, whose HTML is already tidy except for a few characters."""
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
        """Return a marker for the cell, surrounded by the cell's white space."""
        key = self._language + json.dumps(cell, sort_keys=True)
        html = self._kept.get(key)
        if html is None:
            self._code = []
            html = _fill(_tidy(str(render())), self._code_mark, self._code)
            # Scripts and widgets get a new number each time; images belong to one student.
            if not ('"application/' in key or self.embed_images):
                self._keep(key, html)
        if cell.cell_type == "raw":  # plain text, part of the text around it
            return html
        self._cells.append(html.strip())
        before = html[: len(html) - len(html.lstrip())]
        after = html[len(html.rstrip()) :]
        return before + self._mark + after


# Cells of tables have no padding in nbgrader's page, so that the titles of columns run together.
_STYLE = "<style>.rendered_html td, .rendered_html th { padding: 0.2em 0.6em; }</style>\n"
# nbgrader's table of contents says "Test cell" for each exercise.
_CONTENTS_ENTRY = re.compile(
    r'(?P<link><a href="#(?P<comment>comment-)?(?:test-)?(?P<name>[^"]+)">)'
    r"(?P<kind>Test cell|Coding free-response|Written response|Task|Comment)</a>"
)


def improve_frame(page: str) -> str:
    """Return nbgrader's page with the exercises' names in its contents and padding in tables."""

    def name(entry: re.Match[str]) -> str:
        what = "Comment on " if entry["comment"] else ""
        return f"{entry['link']}{what}<code>{entry['name']}</code></a>"

    return _CONTENTS_ENTRY.sub(name, page).replace("</head>", f"{_STYLE}</head>", 1)


# HTML that Pygments writes for a cell, in the form that we know how to tidy.
_HIGHLIGHTED = re.compile(
    r'<div class=" highlight (?P<language>hl-[\w-]+)">'
    r'(?P<code><pre>[^<]*(?:</?span(?: class="[\w-]+")?>[^<]*)*</pre>)</div>(?P<after>\s*)'
)


def _new_tag() -> str:
    return f"mark-{uuid.uuid4().hex}"


def _fill(html: str, mark: str, pieces: Sequence[str]) -> str:
    """Return the HTML with each marker replaced by its piece."""
    between = html.split(mark)
    return "".join(a + b for a, b in zip(between, [*pieces, ""], strict=True))


def _tidy(html: str) -> str:
    """Return the HTML, tidied as nbconvert tidies a page."""
    inner = html.strip()
    soup = BeautifulSoup(inner, features="html.parser")
    for image in soup.find_all("img") if "<img" in inner.lower() else ():
        image.attrs.setdefault("alt", "No description has been provided for this image")
    return html.replace(inner, str(soup), 1) if inner else html


@dataclass(frozen=True)
class Page:
    """A page to write.

    Attributes:
        student: nbgrader's name of the student.
        notebook: name of the notebook.
        source: path of the graded notebook.
        to: path of the page.
        grades: grades that the gradebook holds for the notebook.
    """

    student: str
    notebook: str
    source: Path
    to: Path
    grades: NotebookGrades


def write_page(exporter: PageExporter, assignment: str, page: Page) -> None:
    """Write a page atomically."""
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
    # nbgrader's permissions are set once all pages are written.
    write_atomically(page.to, html.encode(), 0o644)


# The pages of a class


@dataclass
class FeedbackSummary:
    """Summary of what `write_pages` did.

    Attributes:
        pages: number of pages that were written.
        unchanged: number of pages that were already up to date.
        failed: a sentence for each page or student that failed.
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
    """Write the pages whose notebook or grades have changed since they were last written.

    Args:
        course: the course, whose settings give the number of processes and the time limit for a
            page.
        assignment: name of the assignment.
        students: students whose pages are written; all graded students if None.
        force: also write pages that have not changed.
        tick: called with the number of finished pages and the total number of pages to write.
        say: called with a sentence if the gradebook is locked and the run has to wait.

    Raises:
        CourseError: if the gradebook has been lost.
    """
    return _PageWriter(course, assignment, say).write(students, force, tick)


class _PageWriter:
    def __init__(self, course: Course, assignment: str, say: Callable[[str], object]):
        self._course = course
        self._waiting = LockRetrier(say)
        self._assignment = assignment
        # Knows nbgrader's settings, and sets its permissions.
        course.app.log_level = logging.ERROR  # otherwise it logs every student
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
        now = {self._name(page): _digest(page) for page in pages}
        changed = [
            page
            for page in pages
            if before.get(self._name(page)) != [now[self._name(page)], _time(page.to)]
        ]
        written.unchanged = len(pages) - len(changed)
        if not changed:
            return written
        for student in {page.student for page in changed}:
            self._copy_beside(student)
        record = self._read_record()
        try:
            for number, (page, why) in enumerate(self._run(changed), start=1):
                record.pop(self._name(page), None)
                if why:
                    page.to.unlink(missing_ok=True)  # a page with old grades would be wrong
                    written.failed.append(f"{page.student}, {page.notebook}: {why}")
                else:
                    written.pages += 1
                    record[self._name(page)] = [now[self._name(page)], _time(page.to)]
                tick(number, len(changed))
        finally:
            for student in {page.student for page in changed}:
                self._nbgrader.set_permissions(self._assignment, student)
            write_atomically(self._record, json.dumps(record, indent=0).encode(), 0o644)
        return written

    def _name(self, page: Page) -> str:
        """Return a page's name in the record, which holds after the class's folder has moved."""
        return Path(os.path.relpath(page.to, self._course.root)).as_posix()

    def _copy_beside(self, student: str) -> None:
        """Copy the files that nbgrader copies, except those that a browser would run.

        nbgrader's own function mistakes brackets in a name for a pattern.
        """
        folder = self._course.autograded(self._assignment, student)
        to = self._course.feedback(self._assignment, student)
        to.mkdir(parents=True, exist_ok=True)
        for name in find_all_files(str(folder), self._course.directory.ignore):
            path = Path(name)
            # Leave out subfolders: one with a page's name would block the page.
            if path.parent == folder and path.suffix.lower() not in (".ipynb", *_ACTIVE):
                _clear(to / path.name)
                write_atomically(to / path.name, path.read_bytes(), 0o644)

    def _list_pages(self, students: Iterable[str], written: FeedbackSummary) -> Iterator[Page]:
        """Yield the pages that should exist, and remove those that should not."""
        about = self._course.db_url, self._course.course_id, self._assignment
        known = self._waiting.retry_until_done(lambda: read_grades(*about))
        for student in students:
            if not student.isprintable():
                written.failed.append(
                    f"{student!r}: nbgrader does not accept a name with such characters; rename "
                    "the folder and grade again."
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
        """Write pages in worker processes; yield each with an error sentence, or "" if none."""
        exporter, settings = self._open_exporter(), self._course.settings
        count = min(settings.count_workers(), len(pages))
        with WorkerPool(count, settings.page_seconds, lambda: _exporters.append(exporter)) as guard:
            waiting = {guard.submit(_write, self._assignment, page): page for page in pages}
            for future in as_completed(waiting):
                error = future.exception()
                yield waiting[future], guard.explain_failure(error) if error else ""

    def _open_exporter(self) -> PageExporter:
        exporter = PageExporter(parent=self._nbgrader, config=self._nbgrader.config)
        for preprocessor in self._nbgrader.preprocessors:
            exporter.register_preprocessor(_REPLACEMENTS.get(preprocessor, preprocessor))
        return exporter

    def _read_record(self) -> dict[str, list[Any]]:
        try:
            return dict(json.loads(self._record.read_text("utf-8")))
        except (OSError, ValueError):
            return {}


def _clear(path: Path) -> None:
    """Remove a folder that blocks a file's path."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)


_ACTIVE = (".html", ".htm", ".xhtml", ".xht", ".shtml", ".mhtml", ".svg", ".xml", ".xsl")
_exporters: list[PageExporter] = []  # this worker process's exporter


def _write(assignment: str, page: Page) -> None:
    write_page(_exporters[-1], assignment, page)


def _digest(page: Page) -> str:
    """Return a digest that changes when a page must be rewritten."""
    sha = hashlib.sha256(page.source.read_bytes())
    about = [asdict(page.grades), nbgrader.__version__, nbconvert.__version__]
    sha.update(json.dumps(about, sort_keys=True).encode())
    return sha.hexdigest()


def _time(path: Path) -> int:
    """Return a file's modification time in ns, which shows whether the file is still ours."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
