"""Tests of the interactive questions: their HTML, and the errors that fail the build."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from autograder.exercises import EXERCISES
from tests.helpers.built_site import ROOT

CHAPTERS = sorted((ROOT / "book").glob("[0-9][0-9]_*.md"))
CONF = """
extensions = ["myst_parser", "book.site.questions", "book.site.reading_progress"]
myst_enable_extensions = ["deflist", "dollarmath", "colon_fence"]
exclude_patterns = ["out"]
"""
CHOICE = """
:::{choice} Over which axis of $(B, N)$?
:name: axis

[x] $N$, the keys
: They share `one` sentence's weight.

[ ] $B$
: Not right.

  A second paragraph.
:::
"""
NUMBER = """
:::{number} How many?
:name: count
:tolerance: 0.5
:unit: weights

More about it.

[x] 15
: One for each pair.

[ ] -3/4
: A fraction.
:::
"""


def build(folder, pages, builder="html"):
    """Build pages with only the extensions; return the folder and the warnings."""
    (folder / "conf.py").write_text(CONF)
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    out, told = folder / "out", io.StringIO()
    with patch_docutils(), docutils_namespace():
        Sphinx(folder, folder, out, out / "trees", builder, status=None, warning=told).build()
    lines = re.sub(r"\x1b\[[\d;]*m", "", told.getvalue()).splitlines()
    return out, [line for line in lines if "toctree" not in line]


class Outline(HTMLParser):
    """Tracks the open tags, to check that a page is well-formed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.wrong = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag not in ("input", "br", "img", "meta", "link", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    pages = {
        "index": "# Home\n\n```{toctree}\n01_one\nyours\n```\n",
        "01_one": f"# One\n{CHOICE}{NUMBER}\n## End\n\nThe end.\n",
        "yours": "# Your progress\n\n```{progress}\n```\n",
    }
    out, told = build(folder, pages)
    assert told == []
    return {name: (out / f"{name}.html").read_text(encoding="utf-8") for name in pages}


def test_a_question_is_a_group_with_a_name_and_labelled_fields(site):
    page = site["01_one"]
    (box,) = re.findall(r'<div class="course-question" id="question-axis".*?</details>', page, re.S)
    assert re.search(r"<fieldset disabled[^>]*>\s*<legend>Over which axis", box)
    assert len(re.findall(r'<label class="cq-option"><input type="radio"', box)) == 2
    assert 'role="status" aria-live="polite"' in box
    outline = Outline(page)
    assert outline.wrong == [] and outline.open == []


def test_options_and_reasons_keep_their_mark_up(site):
    page = site["01_one"]
    assert re.search(
        r'cq-letter">a</span> <span><span class="math[^>]*>\\\(N\\\)</span>, the', page
    )
    assert '<span class="pre">one</span>' in page
    assert "<p>A second paragraph.</p>" in page
    assert "[x]" not in page and "[ ]" not in page


def test_each_answer_says_whether_it_is_right_below_a_fold(site):
    reasons = re.findall(r'<div class="cq-reason"[^>]*>', site["01_one"])
    assert [re.search('judged="(.*?)"', r)[1] for r in reasons] == ["right", "wrong"] * 2
    assert [re.search('value="(.*?)"', r)[1] for r in reasons[2:]] == ["15.0", "-0.75"]
    assert site["01_one"].count('<details class="cq-answers"><summary>') == 2
    assert 'data-tolerance="0.5"' in site["01_one"]
    assert "<p>More about it.</p>" in site["01_one"].split("cq-answers")[1]


def test_a_chapter_ends_in_a_button_and_other_pages_do_not(site):
    page = site["01_one"]
    assert page.index("The end.") < page.index('class="course-read" data-read="01_one"')
    assert '<a href="yours.html">Your progress</a>' in page
    assert "course-read" not in site["index"] + site["yours"]


def test_pages_load_only_what_they_need(site):
    loaded = {
        name: set(re.findall(r"(?:progress|questions)\.(?:js|css)", site[name])) for name in site
    }
    assert loaded == {
        "index": set(),
        "01_one": {"progress.js", "questions.js", "questions.css"},
        "yours": {"progress.js", "questions.css"},
    }
    page = site["01_one"]
    assert page.index("progress.js") < page.index("questions.js")


def test_the_board_lists_chapters_questions_and_all_exercises(site):
    page = site["yours"]
    assert 'data-chapter="01_one" data-questions="axis count"' in page
    assert '<a href="01_one.html">1. One</a>' in page
    assert re.findall(r'type="checkbox" value="(\w+)"', page) == list(EXERCISES)


def test_in_other_formats_the_answers_follow_the_question(tmp_path):
    out, told = build(tmp_path, {"index": f"# One\n{CHOICE}{NUMBER}"}, "text")
    assert told == []
    text = (out / "index.txt").read_text(encoding="utf-8")
    assert "**Over which axis of (B, N)?**" in text
    assert re.search(r"N, the keys\n.*B\n.*a, right\n\s+They share", text, re.S)
    assert re.search(r"15, right\n\s+One for each pair\.\n.*-3/4, wrong", text, re.S)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (":name: axis\n", "", "needs a unique lower-case name"),
        (":name: axis", ":name: An Axis", "needs a unique lower-case name"),
        ("[x]", "[ ]", "must have one right answer, marked [x]; it has 0"),
        ("[ ] $B$", "[x] $B$", "must have one right answer, marked [x]; it has 2"),
        ("[ ] $B$", "$B$", "must begin with [x] (right) or [ ] (wrong)"),
        ("[ ] $B$", "[ ] $N$, the keys", "has the same option twice"),
        (": They share `one` sentence's weight.\n", "", "keys” has no explanation"),
        (": Not right.\n\n  A second paragraph.\n", "", "B” has no explanation"),
        (": They share `one` sentence's weight.", ":  ", "no explanation"),
        ("  A second paragraph.", "A fold\n: is no answer.", "must begin with [x]"),
        ("[ ] $B$\n: Not right.\n\n  A second paragraph.\n", "", "needs 2 to 8 options; it has 1"),
        (CHOICE[CHOICE.index("[x]") : -5], "", "has no answers"),
        ("  A second paragraph.", "Too far left.", "after its answers"),
    ],
)
def test_a_malformed_choice_fails_the_build_with_a_sentence(tmp_path, old, new, sentence):
    assert old in CHOICE
    _, told = build(tmp_path, {"index": "# One\n" + CHOICE.replace(old, new, 1)})
    assert any("index.md" in line and sentence in line for line in told), told


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (":tolerance: 0.5\n", "", "needs “:tolerance:”"),
        (":tolerance: 0.5", ":tolerance: -1", "needs “:tolerance:”"),
        ("[x] 15", "[x] fifteen", "“fifteen” is not a number"),
        ("-3/4", "1/0", "“1/0” is not a number"),
        ("-3/4", "14.5", "14.5 and 15 overlap with a tolerance of 0.5"),
    ],
)
def test_a_malformed_number_fails_the_build_with_a_sentence(tmp_path, old, new, sentence):
    assert old in NUMBER
    _, told = build(tmp_path, {"index": "# One\n" + NUMBER.replace(old, new, 1)})
    assert any("index.md" in line and sentence in line for line in told), told


def test_two_questions_of_one_name_fail_the_build(tmp_path):
    _, told = build(tmp_path, {"index": f"# One\n{CHOICE}", "other": f"# Two\n{CHOICE}"})
    assert any("Two questions have the name 'axis'" in line for line in told), told


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_chapter_asks_three_to_five_questions_two_of_which_answer(path):
    text = path.read_text(encoding="utf-8")
    section = text.split("## Questions to check yourself\n")[1].split("\n## ")[0]
    answering = re.findall(r"^:::\{(?:choice|number)\}", section, re.M)
    opened = re.findall(r"^:::\{dropdown\}", section, re.M)
    assert len(answering) >= 2
    assert 3 <= len(answering) + len(opened) <= 5
    assert section.count("\n:name: ") == len(answering)
