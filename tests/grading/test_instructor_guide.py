"""Tests of the instructor's guide: each command is executed and its output compared."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import needs_bubblewrap

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "book" / "teaching.md"
REFERENCE = ROOT / "book" / "teaching_reference.md"
ASSIGNMENT = "bahdanau"
AT_THE_END = " (at the end)"


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
    """Return the class's folder after the guide, and the output of each command."""
    place = tmp_path_factory.mktemp("guide")
    reader = Reader(clone_in(place), place)
    printed = []
    for step in steps(GUIDE.read_text("utf-8")):
        if isinstance(step, File):
            reader.write(step)
        else:
            printed.append((step, reader.run(step.line)))
    return reader.folder, printed


def test_the_guide_has_no_code_that_the_test_leaves_out():
    page = GUIDE.read_text("utf-8")
    blocks = re.findall(r"^```(\S.*)\n(:caption:)?", page, re.M)
    assert {kind for kind, caption in blocks if not caption} == {"console", "text"}
    assert len(re.findall("^```", page, re.M)) == 2 * len(blocks)


@needs_bubblewrap
def test_every_line_of_the_guide_does_what_the_page_says(walked):
    _, printed = walked
    assert len(printed) > 20, "the test would run nothing"
    wrong = {
        command.line: (missing, output)
        for command, output in printed
        if (missing := not_shown(command.shown, output))
    }
    assert wrong == {}


@needs_bubblewrap
def test_at_the_end_of_the_guide_everything_is_there(walked):
    folder, _ = walked
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


# The reference section: commands that need no server


@pytest.fixture
def course(tmp_path):
    """Return a reader in the folder of a class with the released assignment."""
    reader = Reader(clone_in(tmp_path), tmp_path)
    reader.run(f"nbgrader generate_assignment {ASSIGNMENT}")
    return reader


WORKSHEET = """\ufeffIdentifier,Full name,Email address,Grade,Last modified (submission),Comments
Participant 501,Ada Okafor,ada@example.org,,"Friday, 20 November 2026, 6:30 PM",
Participant 502,B. Yılmaz,bora@example.org,,"Friday, 20 November 2026, 11:10 PM",
"""


@needs_bubblewrap
def test_submissions_come_from_a_platform_and_grades_go_back(course):
    collect, export = (s for s in steps(REFERENCE.read_text("utf-8")) if isinstance(s, Command))
    course.write(next(s for s in steps(GUIDE.read_text("utf-8")) if isinstance(s, File)))
    course.run("autograder roster students.csv")
    (course.folder / "worksheet.csv").write_text(WORKSHEET, encoding="utf-8")
    handed_in = course.folder / "moodle"
    for folder in ("Ada Okafor_501_assignsubmission_file", "B. Yılmaz_502_assignsubmission_file_"):
        (handed_in / folder).mkdir(parents=True)
        page = course.folder / "solutions" / ASSIGNMENT / "scores.ipynb"
        shutil.copy(page, handed_in / folder)
    shutil.make_archive(str(handed_in), "zip", handed_in)
    assert not_shown(collect.shown, course.run(collect.line)) == []
    course.run(f"autograder grade {ASSIGNMENT}")
    course.run(export.line)
    rows = (course.folder / "upload.csv").read_text(encoding="utf-8").splitlines()
    # Both have all points of one notebook of two, although one is known by the number alone.
    assert [row.split(",")[3] for row in rows if row.startswith("Participant")] == ["10", "10"]


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

    table = re.findall(r"^\| (teacher|student) \| `(.*)` \|$", REFERENCE.read_text("utf-8"), re.M)
    assert [who for who, _ in table].count("student") == 3
    for who, line in table:
        sides[who].run(line + (" --force" if "generate_assignment" in line else ""))
    pages = sorted(desk.rglob("*.html"))
    assert [path.name for path in pages] == ["scores.html", "translator.html"]
    assert "is not written yet" in pages[0].read_text("utf-8")
