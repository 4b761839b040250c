"""A temporary course in which cheats and two honest students are graded and inspected."""

from __future__ import annotations

import copy
import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from html import unescape
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.notebook_builder import list_masters, make_notebook
from tests.grading.stock_nbgrader import settings as settings_of_stock
from tests.submissions.cheats import ASSIGNMENT, After, Cheat, Files, Link, Pipe, Scene
from tests.submissions.cheats.cheat_builders import RIGHT
from tests.submissions.cheats.container import (
    PORT,
    ROOT,
    Command,
    Seen,
    bubblewrap,
    namespaces,
    run,
)
from tests.submissions.cheats.file_digests import changed, digests

FIRST, LAST = "aaron", "zoe"  # honest: all right, graded first; unwritten, graded last
POINTS = {e.name: e.points for e in EXERCISES.values() if e.assignment == ASSIGNMENT}
BYSTANDERS = {FIRST: dict(POINTS), LAST: dict.fromkeys(POINTS, 0.0)}
NBGRADER = (sys.executable, "-m", "nbgrader")
PYTHON = (sys.executable, "-m")
PAGE_AT_MOST = 30 << 20  # characters of feedback, far more than is readable
ANSWERS = "import torch\n" + "".join(RIGHT.values())

# Many cheats never end; short limits make grading a class of them faster.
IMPATIENT = """
c.Grading.cell_seconds = 12.0
c.Grading.exercise_seconds = 12.0
c.Grading.notebook_seconds = 60.0
"""


@dataclass(frozen=True)
class Result:
    """The points of a cheat, and the harm it did.

    Attributes:
        points: points by exercise; None if the gradebook is no longer readable.
        harm: descriptions of the harm, in a few words each.
        log: output of the grader.
    """

    points: Mapping[str, float] | None
    harm: tuple[str, ...] = ()
    log: str = ""

    def gained(self, cheat: Cheat) -> bool:
        """Whether it got more points for an exercise than it deserves."""
        return any(n > cheat.honest.get(name, 0.0) for name, n in (self.points or {}).items())

    def lost(self, cheat: Cheat) -> bool:
        """Whether it got fewer points than it deserves without breaking itself."""
        if cheat.own_risk:
            return False
        found = self.points or {}
        return any(n > found.get(name, 0.0) for name, n in cheat.honest.items())


@dataclass
class Course:
    """A course's folder and its surroundings."""

    place: Path
    word: str = field(default_factory=lambda: "m" + secrets.token_hex(5))
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.place / "course"

    @property
    def home(self) -> Path:
        return self.place / "home"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the grader's process, including a secret."""
        return os.environ | {
            "PATH": os.defpath,
            "OMP_NUM_THREADS": "1",
            "HOME": str(self.home),
            "COURSE_TOKEN": self.secrets["environment"],
        }

    def mark(self, cheat: Cheat) -> str:
        return f"{self.word}-{cheat.slug}"


def new(place: Path, stock: bool) -> Course:
    """Make a course with a released assignment and the two honest submissions."""
    course = Course(place)
    course.folder.mkdir(parents=True)
    course.home.mkdir()
    for where in ("environment", "home", "course", "student"):
        course.secrets[where] = f"secret-of-the-{where}-{secrets.token_hex(8)}"
    (course.home / "private.txt").write_text(course.secrets["home"], "utf-8")
    (course.folder / "notes-of-the-staff.txt").write_text(course.secrets["course"], "utf-8")
    if stock:
        (course.folder / "nbgrader_config.py").write_text(
            settings_of_stock() + "\nc.Execute.timeout = 30\n", "utf-8"
        )
    else:
        settings = (ROOT / "nbgrader_config.py").read_text("utf-8")
        (course.folder / "nbgrader_config.py").write_text(settings + IMPATIENT, "utf-8")
    left_out = shutil.ignore_patterns("*.ipynb", "__pycache__", ".ipynb_checkpoints")
    shutil.copytree(ROOT / "solutions", course.folder / "solutions", ignore=left_out)
    _plainly(course, "generate_assignment", ASSIGNMENT)
    pages = released(course)
    for name, page in pages.items():
        given = {cell.id: cell.source for cell in _answered()[name].cells if cell.id in POINTS}
        for student, answers in ((FIRST, given), (LAST, {})):
            if student == LAST and name != "scores":
                continue
            own = copy.deepcopy(page)
            for cell in own.cells:
                cell.source = answers.get(cell.id, cell.source)
            if answers:
                own.cells.append(nbformat.v4.new_markdown_cell(course.secrets["student"], id="own"))
            text = nbformat.writes(own).encode("utf-8")
            lay(course, student, {f"{name}.ipynb": text})
    return course


@cache
def _answered() -> dict[str, NotebookNode]:
    return {
        m.parent.name: make_notebook(m, EXERCISES)
        for m in list_masters()
        if m.parent.parent.name == ASSIGNMENT
    }


def _plainly(course: Course, *arguments: str) -> None:
    """Run an nbgrader command that executes no student code."""
    done = subprocess.run(
        [*NBGRADER, *arguments],
        cwd=course.folder,
        env=course.environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"nbgrader {' '.join(arguments)} failed:\n{done.stderr[-3000:]}")


def released(course: Course) -> dict[str, NotebookNode]:
    """Return the notebooks that students get."""
    folder = course.folder / "exercises" / ASSIGNMENT
    return {path.stem: nbformat.read(path, 4) for path in sorted(folder.glob("*.ipynb"))}


def lay(course: Course, student: str, files: Files) -> None:
    """Put a student's files in nbgrader's folder of submissions."""
    folder = course.folder / "submitted" / student / ASSIGNMENT
    folder.parent.mkdir(parents=True, exist_ok=True)
    if "." not in files:
        folder.mkdir(exist_ok=True)
    for name, content in files.items():
        path = folder if name == "." else folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Pipe):
            os.mkfifo(path)
        elif isinstance(content, Link) and content.hard:
            os.link(path.parent / content.target, path)
        elif isinstance(content, Link):
            path.symlink_to(content.target)
        else:
            path.write_bytes(content)


def hand_in(course: Course, cheat: Cheat) -> None:
    """Build a cheat and its friend's submission, and put both into the course."""
    builds = {cheat.slug: cheat.build}
    if cheat.friend:
        builds[friend_of(cheat)] = cheat.friend
    for student, build in builds.items():
        lay(course, student, build(Scene(student, released(course), course.mark(cheat), PORT)))


def friend_of(cheat: Cheat) -> str:
    """Return the name of a cheat's friend: a prefix of its own, to be sorted just before it."""
    return cheat.slug[:-1]


# Afterwards


def points(course: Course, student: str) -> dict[str, float]:
    """Return a student's points by exercise in the gradebook, of any origin."""
    found = dict.fromkeys(POINTS, 0.0)
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as book:
        try:
            pages = book.find_submission(ASSIGNMENT, student).notebooks
        except MissingEntry:
            return found
        for page in pages:
            for grade in page.grades:
                name = grade.cell.name.removeprefix("test-")
                found[name] = found.get(name, 0.0) + (grade.score or 0.0)
                found[name] += grade.extra_credit or 0.0
                if grade.max_score != POINTS.get(name):
                    raise ValueError(f"{name} is worth {grade.max_score} in the gradebook")
    return found


def feedback(course: Course, student: str) -> str:
    """Return a student's feedback pages as HTML."""
    pages = sorted((course.folder / "feedback" / student).rglob("*.html"))
    return "\n".join(page.read_text("utf-8", "replace") for page in pages)


@cache
def _secret_lines() -> tuple[str, ...]:
    """Return lines that are only in the instructor's files: solutions, hidden tests, the judge."""
    shown, hidden = "", []
    for page in _answered().values():
        text = "\n".join(cell.source for cell in page.cells)
        for part in re.split(r"(### BEGIN [A-Z ]+\n.*?### END [A-Z ]+)", text, flags=re.S):
            if part.startswith("### BEGIN"):
                hidden += part.splitlines()[1:-1]
            else:
                shown += part
    lines = {line.strip() for line in hidden}
    found = [line for line in lines if len(line) > 20 and line not in shown]
    return (*found, "Judge an answer on inputs nobody has seen", "Expected(outputs=")


def leaks(course: Course, text: str, written: str) -> list[str]:
    """Return the content of a page that its reader did not write and must not know."""
    found = []
    for where, word in course.secrets.items():
        if any(form in text for form in (word, word[::-1], word.encode().hex())):
            found.append(f"leaks the {where}'s secret")
    plain = " ".join(unescape(re.sub(r"<[^>]+>", "", text)).split())
    if any(" ".join(line.split()) in plain for line in _secret_lines() if line not in written):
        found.append("leaks what is hidden")
    if str(course.folder) in plain:
        found.append("leaks the course's place")
    return found


def text_of(course: Course, student: str) -> str:
    """Return all text that a student submitted in plain files."""
    folder = course.folder / "submitted" / student / ASSIGNMENT
    if folder.is_symlink():
        return ""
    texts = [p.read_text("utf-8", "replace") for p in folder.rglob("*") if _plain(p)]
    sources = []
    for path in folder.glob("*.ipynb"):
        if _plain(path):
            try:
                sources += [cell.source for cell in nbformat.read(path, 4).cells]
            except Exception:  # not a notebook, so no cells
                continue
    return "\n".join([*texts, *sources])


def _plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def aftermath(course: Course, cheat: Cheat, report: str) -> list[str]:
    """Return the harm visible in the feedback to the cheat's student."""
    page = feedback(course, cheat.slug)
    written = text_of(course, cheat.slug)
    harm = leaks(course, page, written)
    if len(page) > PAGE_AT_MOST:
        harm.append("floods the feedback page")
    if cheat.friend_deserves is not None:
        found = points(course, friend_of(cheat))
        if any(n > found[name] for name, n in cheat.friend_deserves.items()):
            harm.append("costs the neighbour points")
    if cheat.check:
        mark = course.mark(cheat)
        harm += cheat.check(After(course.folder, cheat.slug, mark, page, report, written))
    return harm


def left_behind(course: Course, cheat: Cheat, seen: Seen) -> list[str]:
    """Return what a cheat has left on the machine, found by its mark."""
    mark = course.mark(cheat)
    own = [f"/{name}/{cheat.slug}/" for name in ("submitted", "autograded", "feedback")]
    files = [path for path in seen.files if not any(place in path for place in own)]
    harm = []
    if any(mark in Path(path).name for path in files):
        harm.append("leaves files")
    if any(mark in line for line in seen.left):
        harm.append("leaves a process")
    return harm


def bystanders(course: Course, who: Iterable[str]) -> list[str]:
    """Return the honest students whose points are not those they deserve."""
    harm = []
    for student in who:
        try:
            right = points(course, student) == BYSTANDERS[student]
        except Exception:  # any error of a broken database
            right = False
        if not right:
            harm.append(f"changes {student}'s points")
    return harm


# The two sides


@dataclass(frozen=True)
class StockClass:
    """Stock nbgrader: each cheat alone, in a copy of a course, in a container.

    Attributes:
        template: the course, in which the first student is graded already.
    """

    template: Course

    @classmethod
    def made(cls, place: Path) -> StockClass:
        """Make the course and have the first student graded."""
        course = new(place, stock=True)
        _plainly(course, "autograde", ASSIGNMENT, "--student", FIRST)
        _plainly(course, "generate_feedback", ASSIGNMENT, "--student", FIRST)
        if wrong := bystanders(course, [FIRST]):
            raise RuntimeError(f"before anybody cheats: {wrong}")
        return cls(course)

    def grade(self, cheat: Cheat) -> Result:
        """Grade one cheat, and the last student after it if that may make a difference."""
        place = self.template.place.parent / cheat.slug
        try:
            shutil.copytree(self.template.place, place, symlinks=True)
            course = Course(place, self.template.word, self.template.secrets)
            return self._graded(course, cheat)
        finally:
            _remove(place)

    def _graded(self, course: Course, cheat: Cheat) -> Result:
        hand_in(course, cheat)
        own = [cheat.slug, LAST, friend_of(cheat)]
        before = digests(course.folder, own)
        commands = [_autograde(friend_of(cheat))] if cheat.friend else []
        commands.append(_autograde(cheat.slug, cheat.lingers))
        if cheat.touches_others:
            commands.append(_autograde(LAST))
        if cheat.is_read:
            arguments = ("generate_feedback", ASSIGNMENT, "--student", cheat.slug)
            commands.append(Command((*NBGRADER, *arguments), 60))
        box = bubblewrap(course.place)
        word = course.mark(cheat)
        seen = run(commands, course.folder, course.environment, ANSWERS, word, box, 6 << 30)
        harm = _ends(seen, len(commands) - cheat.is_read)
        harm += changed(before, digests(course.folder, own))
        harm += bystanders(course, BYSTANDERS if cheat.touches_others else [FIRST])
        harm += left_behind(course, cheat, seen) + aftermath(course, cheat, "")
        return _result(course, cheat, harm, seen.log)


def _autograde(student: str, lingers: float = 0.0) -> Command:
    return Command((*NBGRADER, "autograde", ASSIGNMENT, "--student", student), 150, lingers)


def _ends(seen: Seen, gradings: int) -> list[str]:
    if not seen.alive:
        return ["kills the grader"]
    statuses = seen.statuses[:gradings]
    if None in statuses:
        return ["hangs the grader"]
    if any(status is not None and status < 0 for status in statuses):
        return ["kills the grader"]
    return ["stops the grader"] if any(statuses) else []


def _result(course: Course, cheat: Cheat, harm: list[str], log: str) -> Result:
    found: dict[str, float] | None
    try:
        found = points(course, cheat.slug)
    except Exception:  # any error of a broken database
        found = None
        harm.append("breaks the gradebook")
    return Result(found, tuple(dict.fromkeys(harm)), log)


def _remove(place: Path) -> None:
    """Remove a course, also one whose files a cheat has made hard to remove."""
    for folder, folders, _ in os.walk(place):
        for name in folders:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o700)
    shutil.rmtree(place, ignore_errors=True)


@dataclass(frozen=True)
class OurClass:
    """Ours: all cheats and the two honest students in one run.

    Attributes:
        results: by the cheats' names.
        harm: what cannot be laid at one cheat's door.
        seen: what the driver saw.
    """

    results: Mapping[str, Result]
    harm: tuple[str, ...]
    seen: Seen


def graded_by_ours(place: Path, wanted: Iterable[Cheat], workers: int = 2) -> OurClass:
    """Hand in all cheats in one course and grade it with `autograder grade`."""
    bank = list(wanted)
    course = new(place, stock=False)
    for cheat in bank:
        hand_in(course, cheat)
    own = [*BYSTANDERS, *(c.slug for c in bank), *(friend_of(c) for c in bank)]
    before = digests(course.folder, own)
    grading = (
        *PYTHON,
        "autograder",
        "grade",
        ASSIGNMENT,
        "--no-feedback",
        "--workers",
        str(workers),
    )
    lingers = max((cheat.lingers for cheat in bank), default=0.0)
    commands = [
        Command(grading, 60 + 20 * len(bank), lingers),
        Command((*PYTHON, "autograder", "feedback", ASSIGNMENT), 60 + 10 * len(bank)),
        Command((*PYTHON, "autograder", "report", ASSIGNMENT), 120),
    ]
    run_it = partial(run, commands, course.folder, course.environment, ANSWERS, course.word)
    seen = run_it(namespaces())
    harm = (
        _ends(seen, 1)
        + changed(before, digests(course.folder, own))
        + bystanders(course, BYSTANDERS)
    )
    # Without its own namespaces, the run sees all processes of the machine.
    left = [line for line in seen.left if namespaces() or course.word in line]
    harm += [f"leaves a process: {line[:80]}" for line in left]
    # Status 1: a page that takes too long is named, and all the others are written.
    if seen.alive and (seen.statuses[1] not in (0, 1) or seen.statuses[2]):
        harm.append("stops the feedback or the report")
    harm += [f"{name} has no feedback" for name in BYSTANDERS if not feedback(course, name)]
    reports = [path.read_text("utf-8") for path in course.folder.glob("reports/*.html")]
    results = {}
    for cheat in bank:
        own_harm = left_behind(course, cheat, seen) + aftermath(course, cheat, "".join(reports))
        results[cheat.slug] = _result(course, cheat, own_harm, "")
    return OurClass(results, tuple(dict.fromkeys(harm)), seen)
