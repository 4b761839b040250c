"""Tests that a submission's text stays inert on pages, on a terminal and in tables."""

from __future__ import annotations

import argparse
import base64
import csv
import io
import json
import logging
import re
import struct
import subprocess
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import markdown2html
from PIL import Image

from autograder.cli import main
from autograder.exercises import EXERCISES
from autograder.instructor import sanitize
from autograder.instructor.commands import run_subcommand as command_line
from autograder.instructor.commands.grading_summary import summarise
from autograder.instructor.exports import Canvas, Gradescope, Moodle
from autograder.instructor.exports.base import ExportedGrades
from autograder.instructor.grading.assignment_run import Summary
from autograder.instructor.grading.course_folder import CourseError
from autograder.instructor.grading.gradebook_results import ExerciseResult, NotebookResult
from autograder.instructor.grading.gradebook_scores import CellScore, Person, Score
from autograder.instructor.grading.notebook_run import clean_outputs
from autograder.instructor.grading.submission_parser import NotebookSubmission, read_submission
from autograder.instructor.nbgrader.preprocessors import SanitizingLogFormatter
from autograder.instructor.report.html_page import make_page as report
from autograder.instructor.sanitize import COLOURED_AT_MOST, OutputBudget, is_slow_to_highlight
from tests.conftest import ROOT
from tests.grading.filled_gradebook import MINE
from tests.grading.hostile_student import (
    ASSIGNMENT,
    FRAGMENTS,
    RELEASED,
    SOURCES,
    WORD,
    Say,
    facts,
    grade,
    pages,
    say,
)

HOSTILE = st.lists(
    st.sampled_from(FRAGMENTS) | st.text(st.characters(), max_size=6), min_size=1, max_size=6
).map("".join)
# How a browser parses a page

_VOID = {"meta", "link", "img", "br", "hr", "input", "base"}
_NO_MATHEMATICS = {"script", "style", "pre", "code", "textarea", "title"}
_LETTERS = {"p", "em", "strong", "ul", "ol", "li", "pre", "code", "br", "hr", "span"}


class Seen(HTMLParser):
    """Collects the elements of a page, and the text that MathJax would process."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: Counter[tuple[str, str]] = Counter()
        self.scripts: list[str] = []
        self.mathematics: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        kept = [(name, "" if name == "data-link" else value) for name, value in attrs]
        self.elements[tag, json.dumps(kept)] += 1
        inert = any(i for _, i in self._open) or tag in _NO_MATHEMATICS
        inert = inert or "tex2jax_ignore" in (dict(attrs).get("class") or "")
        if tag not in _VOID:
            self._open.append((tag, inert))

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if self._open and self._open[-1][0] == "script":
            self.scripts.append(data)
        elif not (self._open and self._open[-1][1]) and re.search(r"[$\\].|.[$\\]", data):
            self.mathematics.append(data)


def only_letters(tag: str, attributes: str) -> bool:
    """Return whether an element only formats text, which is all that a student may do."""
    if tag not in _LETTERS:
        return False
    given = dict(json.loads(attributes))
    if tag == "span":
        style = re.sub(r"(background-)?color: rgb\(\d+,\d+,\d+\)(; )?", "", given.pop("style", ""))
        classes = given.pop("class", "")  # those of pygments and of terminal colours
        return not given and not style and bool(re.fullmatch(r"(ansi-[a-z-]+ ?)+|\w{0,3}", classes))
    return all(name == "start" and value.isdigit() for name, value in given.items())


def compare(hostile: str, plain: str) -> bool:
    """Check that a page has no elements or scripts beyond those of another page.

    Returns: whether MathJax would process the same text.
    """
    seen, usual = Seen(hostile), Seen(plain)
    more, fewer = seen.elements - usual.elements, usual.elements - seen.elements
    # A different number of lines may give a different number of the same <pre>.
    known = {element for element in usual.elements if element[0] == "pre"}
    assert [e for e in {*more, *fewer} - known if not only_letters(*e)] == []
    assert seen.scripts == usual.scripts
    assert not unseen(hostile, "\n\t\r")  # HTML treats "\r" as a newline
    return seen.mathematics == usual.mathematics


def unseen(text: str, but: str = "\n\t") -> list[str]:
    """Return the control characters of a text, which are not displayed."""
    kinds = ("Cc", "Cs", "Zl", "Zp")
    bad = {c for c in set(text) - set(but) if unicodedata.category(c) in kinds}
    return sorted(
        bad | set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200f")
    )


def check_pages(things: list[str], texts: list[str]) -> None:
    said = say(things)
    remarks = tuple(f"{said()} was graded as scores.ipynb." for _ in things)
    hostile = pages(grade(said, texts, remarks, said()), said())
    usual = pages(grade(WORD, ["word"] * len(texts), ("word",), "word"), "word")
    for template, text in hostile.items():
        assert compare(text, usual[template])


def test_nothing_that_is_known_to_be_hostile_acts_on_a_page():
    check_pages(FRAGMENTS, FRAGMENTS)


# Without shrinking, which would take minutes.
SLOW = settings(max_examples=10, deadline=None, phases=[Phase.reuse, Phase.generate])
FAST = settings(max_examples=200, deadline=None)
SEVERAL = st.lists(HOSTILE, min_size=3, max_size=12)


@SLOW
@given(SEVERAL)
def test_nothing_of_a_students_acts_on_a_page(things):
    check_pages(things, things)


def test_text_that_only_sets_letters_is_set():
    plain = "Why **this** works:\n\n1. `tanh` bounds it (see below),\n2. the _mask_ is kept.\n"
    assert sanitize.render_student_markdown(plain) == plain
    text = pages(grade(WORD, [plain]))["feedback"]
    assert "<strong>this</strong>" in text
    assert "<li><code>tanh</code>" in text or "<code>tanh</code> bounds it" in text


def test_a_line_in_markdown_reads_as_it_was_written():
    line = "[a](javascript:b) *c* `d` <e> & $f$ \\(g\\) _h_ 1. # i"
    shown = markdown2html(f"* {sanitize.escape_markdown(line)}")
    parser = Seen(shown)
    assert {tag for tag, _ in parser.elements} == {"ul", "li", "span"}
    texts: list[str] = []
    parser.handle_data = texts.append  # type: ignore[method-assign]
    parser.feed(shown)
    assert "".join(texts).strip() == line


# D2, D6 and D9 of the review


@pytest.mark.parametrize("size", [32_000, 1_000_000])
def test_a_picture_of_blanks_takes_no_time(size):
    began = time.monotonic()
    data = {"image/png": " " * size + "!", "text/plain": "x" * size}
    found = clean_outputs([{"output_type": "display_data", "data": data}] * 5)
    assert all("image/png" not in output["data"] for output in found)
    assert time.monotonic() - began < 2


def picture(width: int, height: int) -> str:
    import base64
    import struct

    head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" + struct.pack(">II", width, height)
    return base64.b64encode(head + b"\x08\x02\x00\x00\x00").decode()


@pytest.mark.parametrize("sign", "\u3164\u180e\xad\u1160\u202e\x1b")
def test_what_cannot_be_seen_is_written(sign):
    assert sanitize.sanitize_line(f"a{sign}b") == f"a{ascii(sign)[1:-1]}b"


def test_a_terminal_need_not_have_every_letter_of_a_name(monkeypatch, tmp_path):
    said = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(said, encoding="ascii"))
    monkeypatch.chdir(tmp_path)
    assert main(["show", "김철수", "--course", "/nowhere/과제"]) == 2
    sys.stderr.flush()
    assert b"/nowhere/\\uacfc\\uc81c" in said.getvalue()


def test_a_page_has_room_for_so_many_characters_and_pixels():
    text = [{"output_type": "stream", "name": "stdout", "text": "x" * (1 << 20)}]
    room = OutputBudget()
    shown = [room.admit(text) == text for _ in range(10)]
    assert shown == [True] * 7 + [False] * 3
    assert "not shown" in room.admit(text)[0]["text"]
    small = [{"output_type": "stream", "name": "stdout", "text": "x"}]
    assert room.admit(small) == small, "there is some room left"
    head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" + (1 << 12).to_bytes(4, "big") * 2
    picture = sanitize.sanitize_png(base64.b64encode(head + bytes(9)).decode())
    drawn = [{"output_type": "display_data", "data": {"image/png": picture}, "metadata": {}}]
    room = OutputBudget()
    assert [room.admit(drawn) == drawn for _ in range(6)] == [True] * 4 + [False] * 2


SLOW_TO_COLOUR = {
    "empty lines": "x=1" + "\n" * 4_000 + "y=2",
    "blanks": "x = 1" + " " * 4_000,
    "blanks and lines": "x" + " \n \n" * 400,
    "names": "a." * 2_000,
    "a long cell": "x = 1\n" * 10_000,
}


@pytest.mark.parametrize("source", SLOW_TO_COLOUR.values(), ids=SLOW_TO_COLOUR)
def test_code_that_takes_long_to_colour_is_shown_without(source):
    assert is_slow_to_highlight(source)
    cell = nbformat.v4.new_code_cell(source, metadata={"magics_language": "text"})
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert re.search(r"highlight [\w-]+\"><pre><span></span>[^<]+</pre>", page), (
        "no span has a colour"
    )


def test_code_as_people_write_it_has_its_colours():
    for path in (ROOT / "solutions").rglob("*.ipynb"):
        cells = [c.source for c in nbformat.read(path, 4).cells if c.cell_type == "code"]
        assert not any(map(is_slow_to_highlight, cells)), path
        assert sum(map(len, cells)) < COLOURED_AT_MOST, path


def test_only_pictures_of_a_size_that_can_be_shown_are_kept():
    good = picture(640, 480)
    assert sanitize.sanitize_png(good) == good
    assert sanitize.sanitize_png(f"{good[:20]}\n{good[20:]}\n") == good
    for bad in (
        picture(100_000, 100_000),
        "aGVsbG8=",
        good[:20],
        good[1:],
        f"{good}\xe9",
        None,
        "",
    ):
        assert sanitize.sanitize_png(bad) == ""
    assert sanitize.sanitize_png(good + "A" * sanitize.PICTURE_AT_MOST) == ""


def test_photographs_are_kept_if_they_can_be_shown():
    page = io.BytesIO()
    Image.new("RGB", (64, 48)).save(page, "jpeg", progressive=True)
    good = base64.b64encode(page.getvalue()).decode()
    assert sanitize.sanitize_jpeg(good) == good
    large = page.getvalue().replace(struct.pack(">HH", 48, 64), b"\xff\xff\xff\xff", 1)
    for bad in (
        base64.b64encode(large).decode(),
        picture(640, 480),
        good[:24],
        base64.b64encode(b"\xff\xd8\xff\xe0\x00\x00" * 100).decode(),
        good + "A" * sanitize.PHOTOGRAPH_AT_MOST,
        None,
    ):
        assert sanitize.sanitize_jpeg(bad) == ""


def handed_in(folder: Path, *names: bytes) -> NotebookSubmission:
    import os

    folder.mkdir()
    answer = RELEASED.read_bytes().replace(b"raise NotImplementedError()", b"return 1")
    for name in names:
        Path(folder, os.fsdecode(name)).write_bytes(answer)
    return read_submission(folder, {n: s.identifiers for n, s in SOURCES.items()}).notebooks[
        "scores"
    ]


def test_the_name_of_a_file_is_no_link(tmp_path):
    name = b"[scores](javascript:alert(document.domain)).ipynb"
    handed = handed_in(tmp_path / "ada", name)
    graded = grade(WORD, [], handed.remarks, handed.review)
    assert "javascript" in graded.result.remarks[0]
    for text in pages(graded).values():
        links = [attributes for tag, attributes in Seen(text).elements if tag == "a"]
        assert not [link for link in links if "javascript" in link]
        assert "[scores](javascript:alert(document.domain)).ipynb was graded" in re.sub(
            r"</?span>", "", text
        ).replace("&#91;", "[").replace("&#93;", "]")


def test_the_first_line_of_a_cell_that_ends_the_process_is_no_link():
    line = "[click](javascript:alert(1)) ![](//evil.example/b.png)"
    graded = grade(say([line]), [])
    assert any(line in remark for remark in graded.result.remarks)
    for text in pages(graded).values():
        found = Seen(text).elements
        assert not [e for e in found if "evil" in e[1] or "javascript:alert" in e[1]]


def test_names_forge_no_line_of_the_summary(tmp_path):
    name = b"scores\x1b[2J\nzoe, scores: \xb0\xfa.ipynb"
    handed = handed_in(tmp_path / "ada", b"scores.ipynb", name)
    assert handed.review
    result = grade(WORD, [], handed.remarks, handed.review).result
    lines = summary([result]).splitlines()
    assert not unseen("".join(lines))
    assert len(lines) == len(summary([grade(WORD, [], (), "word").result]).splitlines())
    assert r"scores\x1b[2J zoe, scores: \xb0\xfa.ipynb" in lines[-1]


# A terminal


def summary(results: list[NotebookResult]) -> str:
    work: Any = SimpleNamespace(
        assignment=ASSIGNMENT,
        students=[r.student for r in results],
        skipped={r.student: r.review for r in results},
        others=[r.student for r in results],
        exercises=[e for e in EXERCISES.values() if e.assignment == ASSIGNMENT],
        by_hand=[],
    )
    kept = {(r.student, r.notebook): r for r in results}
    return summarise(work, Summary(results=kept), 1.0)


def result(said: Say, student: str) -> NotebookResult:
    exercises = tuple(
        ExerciseResult(name, f"test-{name}", 0.0, 1.0, "wrong", said()) for name in MINE
    )
    return NotebookResult(
        student, ASSIGNMENT, "scores", "0", exercises, (said(), said()), said() + "."
    )


@FAST
@given(SEVERAL)
def test_no_line_of_the_summary_is_forged(things):
    said = say(things)
    text = summary([result(said, f"{n}{said()}") for n in range(3)])
    usual = summary([result(WORD, f"{n}word") for n in range(3)])
    assert len(text.splitlines()) == len(usual.splitlines())
    assert not unseen(text)


@FAST
@given(HOSTILE)
def test_an_error_is_one_line(text):
    def fail(given):
        raise CourseError(f"{text} has not handed in.")

    shown = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command_line.report_and_bundle, "report", fail)
        patch.setattr(command_line.sys, "stderr", shown)
        assert command_line.run(argparse.Namespace(command="report"), None) == 2
    assert len(shown.getvalue().splitlines()) == 1
    assert not unseen(shown.getvalue())


@FAST
@given(HOSTILE)
def test_nbgraders_log_shows_names_and_does_not_obey_them(text):
    record = logging.LogRecord("nbgrader", logging.INFO, "", 1, "Copying %s", (text,), None)
    shown = SanitizingLogFormatter(fmt="[%(name)s] %(message)s").format(record)
    assert not unseen(re.sub(r"\x1b\[[\d;]*m", "", shown), "\n\t\r")
    assert all(line.startswith(("[nbgrader] ", " ")) or not line for line in shown.split("\n"))


# The report


@FAST
@given(SEVERAL)
def test_nothing_of_a_students_acts_in_the_report(things):
    said = say(things)
    text = report(facts(said, [f"{n}{said()}" for n in range(2)]))
    compare(text, report(facts(WORD, ["0word", "1word"])))


# Tables


def grades(said: Say, students: list[str]) -> ExportedGrades:
    people = [Person(student, said(), said(), said(), said()) for student in students]
    cells = (CellScore("scores", "test-masked_softmax", 0.0, 1.0, 0.0, None, None, False),)
    scores = {student: Score(student, 1.0, 0.0, 0.0, False, cells) for student in students}
    results = [result(said, student) for student in students]
    return ExportedGrades({ASSIGNMENT: 1.0}, people, {ASSIGNMENT: scores}, {ASSIGNMENT: results})


def rows(text: str, delimiter: str) -> Iterator[str]:
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        yield from row


@pytest.mark.parametrize("plugin", [Canvas, Moodle])
def test_no_cell_of_a_table_is_a_formula(plugin, tmp_path):
    @settings(FAST, suppress_health_check=list(HealthCheck))
    @given(SEVERAL)
    @example(["word", "word", ';"=cmd'])
    def check(things):
        said, to = say(things), tmp_path / "to.csv"
        plugin().write(grades(said, [f"{n}{said()}" for n in range(3)]), to)
        text = to.read_text("utf-8")
        assert not unseen(text, "\n\r\t")
        for delimiter in ",;":  # a spreadsheet's delimiter depends on the locale
            for cell in rows(text, delimiter):
                for line in cell.split("\n"):
                    if re.match(r"\s*[=+@＝＋－＠-]", line):
                        assert re.fullmatch(r"[+@-]?[\w.@+-]+|[+-]?\d+([.,]\d+)?%?|-", line)

    check()


@FAST
@given(SEVERAL)
def test_gradescope_gets_plain_text(things):
    said = say(things)
    given_ = grades(said, ["ada"])
    score, (person,) = given_.scores[ASSIGNMENT]["ada"], given_.people
    page = Gradescope()._page(ASSIGNMENT, 1.0, person, score, given_.results[ASSIGNMENT])
    assert not unseen(page["output"])
    for test in page["tests"]:
        assert not unseen(test["output"] + test["name"])
        assert test["output_format"] == "text"


def test_work_goes_on_when_the_reader_of_the_output_has_seen_enough():
    code = (
        "import sys\nfrom autograder.instructor.commands.output import show\n"
        "for _ in range(100): show('x' * 5000)\nprint('done', file=sys.stderr)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout.read(10) == b"x" * 10
        process.stdout.close()
        assert process.stderr.read() == b"done\n"
    assert process.returncode == 0
