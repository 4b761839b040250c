"""Tests of the instructor's guide: each command is executed and its output compared.

The walk through one assignment is run as a whole, and each of its sections after those alone that
it says it comes after. The pages about platforms are run with archives as the platforms make them.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.notebook_builder import write_sources
from tests.conftest import needs_bubblewrap

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
GUIDE = BOOK / "teaching.md"
PLATFORMS = ("moodle", "canvas")
ASSIGNMENT = "bahdanau"
AT_THE_END = " (at the end)"
IN_AN_ARCHIVE = ", by its files"


@dataclass(frozen=True)
class Command:
    """A command, and its output as shown in the guide."""

    line: str
    shown: tuple[str, ...]


@dataclass(frozen=True)
class File:
    """A file that the reader writes or appends to."""

    name: str
    text: str
    at_the_end: bool


def steps(page: str) -> list[Command | File]:
    """Return the reader's steps in order; other blocks are only for reading."""
    found: list[Command | File] = []
    for kind, block in re.findall(r"^```(\S.*?)\n(.*?)^```$", page, re.M | re.S):
        caption = re.match(r":caption: (.*)\n\n?", block)
        if caption:
            name = caption[1].removesuffix(AT_THE_END)
            found.append(File(name, block[caption.end() :], name != caption[1]))
        elif kind == "console":
            parts = re.split(r"^\$ ", block, flags=re.M)
            assert parts[0] == "", f"output before any command: {parts[0]!r}"
            for part in parts[1:]:
                line, *shown = part.rstrip("\n").split("\n")
                found.append(Command(line, tuple(shown)))
    return found


def sections(page: str) -> dict[str, tuple[list[str], list[Command | File]]]:
    """Return for each section with steps the sections it comes after, and its steps."""
    found: dict[str, tuple[list[str], list[Command | File]]] = {}
    for part in re.split(r"^## ", page, flags=re.M)[1:]:
        title, text = part.split("\n", 1)
        after = re.match(r"\s*\*Needs\* (.*)\n", text)
        slugs = re.findall(r"\(#(.*?)\)", after[1]) if after else []
        if steps(text):
            found[title.lower().replace(" ", "-")] = slugs, steps(text)
    return found


def all_before(section: str) -> list[str]:
    """Return the sections that have to come before one, in the order of the page."""
    needed: set[str] = set()
    waiting = [section]
    while waiting:
        new = set(SECTIONS[waiting.pop()][0]) - needed
        needed |= new
        waiting += new
    return [name for name in SECTIONS if name in needed]


def not_shown(lines: tuple[str, ...], output: str) -> list[str]:
    """Return the lines missing from the output, in order; "..." matches anything."""
    missing, rest = [], output.splitlines()
    for line in lines:
        parts = (re.escape(" ".join(part.split())) for part in line.split("..."))
        pattern = re.compile(".*".join(parts))
        at = next((i for i, o in enumerate(rest) if pattern.search(" ".join(o.split()))), None)
        if at is None:
            missing.append(line)
        elif line.strip() != "...":
            rest = rest[at + 1 :]
    return missing


SECTIONS = sections(GUIDE.read_text("utf-8"))


class Reader:
    """Follows the guide in a shell with the course's environment."""

    def __init__(self, folder: Path, home: Path):
        self.folder = folder
        self.environment = os.environ | {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "OMP_NUM_THREADS": "1",
            "PYTHONUTF8": "1",
            "COLUMNS": "100",
            "JUPYTER_CONFIG_DIR": str(home / "no-settings-of-the-user"),
            "JUPYTER_DATA_DIR": str(home / "no-data-of-the-user"),
        }

    def write(self, file: File) -> None:
        with (self.folder / file.name).open("a" if file.at_the_end else "x", encoding="utf-8") as f:
            f.write(("\n" if file.at_the_end else "") + file.text)

    def follow(self, given: Iterable[Command | File]) -> dict[str, tuple[list[str], str]]:
        """Take steps; return what a command should have printed and did not, and its output."""
        wrong = {}
        for step in given:
            if isinstance(step, File):
                self.write(step)
            elif missing := not_shown(step.shown, printed := self.run(step.line)):
                wrong[step.line] = missing, printed
        return wrong

    def run(self, line: str) -> str:
        """Run a line and return what it printed; `cd` stays in effect for the next one."""
        where = self.folder / ".where-the-reader-is"
        script = f"{line}\nstatus=$?\npwd > {shlex.quote(str(where))}\nexit $status"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=600,
        )
        self.folder = Path(where.read_text("utf-8").strip())
        where.unlink()
        assert done.returncode == 0, f"$ {line}\n{done.stdout}"
        return done.stdout


def clone_in(place: Path) -> Path:
    """Copy the files that the reader needs; the packages are installed."""
    clone = place / "clone"
    clone.mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", clone)
    shutil.copytree(
        ROOT / "solutions",
        clone / "solutions",
        ignore=shutil.ignore_patterns("*.ipynb", "__pycache__", ".ipynb_checkpoints"),
    )
    return clone


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """Return the class's folder after the guide, and what was not as the page says."""
    place = tmp_path_factory.mktemp("guide")
    reader = Reader(clone_in(place), place)
    given = steps(GUIDE.read_text("utf-8"))
    assert len(given) > 30, "the test would run nothing"
    return reader, reader.follow(given)


def test_the_guide_has_no_code_that_the_test_leaves_out():
    page = GUIDE.read_text("utf-8")
    blocks = re.findall(r"^```(\S.*)\n(:caption:)?", page, re.M)
    assert {kind for kind, caption in blocks if not caption} == {"console", "text"}
    assert len(re.findall("^```", page, re.M)) == 2 * len(blocks)


@needs_bubblewrap
def test_every_line_of_the_guide_does_what_the_page_says(walked):
    assert walked[1] == {}


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    """Return folders in which some sections have been followed, by their names."""
    return {(): tmp_path_factory.mktemp("states")}


@needs_bubblewrap
@pytest.mark.parametrize("section", SECTIONS)
def test_each_section_holds_after_those_that_it_comes_after(section, states, tmp_path):
    before = tuple(all_before(section))
    if before and before not in states:
        states[before] = states[()] / "+".join(before)
        (states[before]).mkdir()
        reader = Reader(clone_in(states[before]), states[before])
        for name in before:
            assert reader.follow(SECTIONS[name][1]) == {}
    place = tmp_path / "place"
    if before:
        shutil.copytree(states[before], place)
        reader = Reader(place / "class", place)
    else:
        place.mkdir()
        reader = Reader(clone_in(place), place)
    assert reader.follow(SECTIONS[section][1]) == {}


def test_a_section_says_which_others_it_comes_after():
    assert [name for name, (before, _) in SECTIONS.items() if not before] == [
        "a-folder-for-the-class"
    ]
    assert all_before("points-by-hand")[-2:] == ["what-comes-back", "grade"]


@needs_bubblewrap
def test_at_the_end_of_the_guide_everything_is_there(walked):
    folder = walked[0].folder
    for name in ("students.zip", "gradebook.db", "reports/bahdanau.html", "moodle.csv"):
        assert (folder / name).stat().st_size > 100, name
    results = folder / "gradescope" / "bora" / ASSIGNMENT / "results.json"
    assert json.loads(results.read_text("utf-8"))["score"] == pytest.approx(14.4)
    page = (folder / "feedback" / "bora" / ASSIGNMENT / "scores.html").read_text("utf-8")
    assert "The tanh is missing" in page
    assert "You told me yourself what was missing." in page
    assert "right in all" in (
        folder / "feedback" / "chul" / ASSIGNMENT / "translator.html"
    ).read_text("utf-8")


def test_a_page_is_read_as_a_reader_reads_it():
    page = "Text.\n\n```console\n$ one\nits output\n$ two\n```\n"
    page += "```{code-block} text\n:caption: a.txt\nline\n```\n```python\nnot for us\n```\n"
    assert steps(page) == [
        Command("one", ("its output",)),
        Command("two", ()),
        File("a.txt", "line\n", False),
    ]


@pytest.mark.parametrize(
    ("shown", "missing"),
    [
        (("first", "second line"), []),
        (("fi...st", "...", "line"), []),
        (("second   line",), []),
        (("third",), ["third"]),
        (("second", "first"), ["first"]),
        (("first 2",), ["first 2"]),
    ],
)
def test_an_output_that_is_not_as_shown_is_found(shown, missing):
    assert not_shown(shown, "a first one\n  second line\n") == missing


# The pages about platforms


@pytest.fixture
def course(tmp_path):
    """Return a reader in an empty folder of a class."""
    return Reader(clone_in(tmp_path), tmp_path)


def make_archive(listing: str, solved: Path) -> bytes:
    """Return an archive with the listed files: right answers, or an archive of all of them."""
    page = io.BytesIO()
    with zipfile.ZipFile(page, "w") as archive:
        for name in listing.split("\n")[:-1]:
            if name.endswith(".zip"):
                inner = "".join(f"homework/{path.name}\n" for path in solved.glob("*.ipynb"))
                archive.writestr(name, make_archive(inner, solved))
            else:
                notebook = next(p for p in solved.glob("*.ipynb") if p.stem in name)
                archive.writestr(name, notebook.read_bytes())
    return page.getvalue()


@needs_bubblewrap
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_class_on_a_platform_from_the_first_file_to_the_last_grade(course, platform):
    page = (BOOK / f"teaching_{platform}.md").read_text("utf-8")
    given = []
    for step in steps(page):
        if isinstance(step, File) and step.name.endswith(IN_AN_ARCHIVE):
            path = course.folder / step.name.removesuffix(IN_AN_ARCHIVE)
            solved = course.folder / "solutions" / ASSIGNMENT
            write_sources(EXERCISES, course.folder / "solutions")
            path.write_bytes(make_archive(step.text, solved))
        else:
            given.append(step)
    assert len(given) > 10, "the test would run nothing"
    assert course.follow(given) == {}


@needs_bubblewrap
def test_an_assignment_goes_through_the_exchange_and_back(course, tmp_path):
    """Both sides by one account, with the commands and in the order of the page's table."""
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    course.write(File("nbgrader_config.py", f'c.Exchange.root = "{exchange}"\n', True))
    desk = tmp_path / "student"
    desk.mkdir()
    (desk / "nbgrader_config.py").write_text(
        f'c.CourseDirectory.course_id = "attention"\nc.Exchange.root = "{exchange}"\n', "utf-8"
    )
    sides = {"teacher": course, "student": Reader(desk, tmp_path)}

    page = (BOOK / "teaching_jupyterhub.md").read_text("utf-8")
    table = re.findall(r"^\| (teacher|student) \| `(.*)` \|$", page, re.M)
    assert [who for who, _ in table].count("student") == 3
    for who, line in table:
        sides[who].run(line)
    pages = sorted(desk.rglob("*.html"))
    assert [path.name for path in pages] == ["scores.html", "translator.html"]
    assert "is not written yet" in pages[0].read_text("utf-8")
