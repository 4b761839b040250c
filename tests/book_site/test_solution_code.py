"""Tests of the directive that shows the code of a score or a model in a chapter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.exercises import EXERCISES
from book.site.solution_code import show_solution
from tools.myst_to_markdown import PlainMarkdown

BOOK = Path(__file__).parents[2] / "book"
USES = [
    (page.name, use.split())
    for page in sorted(BOOK.glob("*.md"))
    for use in re.findall(r"^```\{solution\} (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
]


@pytest.fixture(autouse=True)
def answers(monkeypatch):
    monkeypatch.setenv("COURSE_ANSWERS", "yes")


@pytest.mark.parametrize(("page", "words"), USES, ids=lambda value: str(value))
def test_what_the_chapters_show_is_there(page, words, monkeypatch):
    place, *names = words
    shown = show_solution(place, *names)
    assert all(re.search(rf"^(?:def|class) {name}\b", shown, re.MULTILINE) for name in names)
    assert "SOLUTION" not in shown and "NotImplementedError" not in shown
    if any(name in EXERCISES for name in names):
        monkeypatch.setenv("COURSE_ANSWERS", "no")
        stub = show_solution(place, *names)
        assert stub.count("NotImplementedError") >= len(names)
        assert "The stub of" in stub


def test_the_code_of_an_exercise_is_folded_and_has_a_link():
    shown = show_solution("bahdanau/scores", "additive_score")
    assert shown.startswith("::::{dropdown} The code of `additive_score`\n")
    assert "[`bahdanau/scores`](../exercises/bahdanau/scores.ipynb)" in shown
    assert "whole_models.md" not in shown
    assert "whole_models.md" in show_solution("transformer/layers", "EncoderLayer")


def test_code_that_is_given_is_open():
    shown = show_solution("luong/scores", "GlobalAttention")
    assert shown.startswith("```python\n") and "dropdown" not in shown


def test_an_unknown_name_stops_the_build():
    with pytest.raises(ValueError, match="there is no additiv_score"):
        show_solution("bahdanau/scores", "additiv_score")


def test_a_notebook_has_the_code_folded():
    page = PlainMarkdown("book/03_bahdanau", {}, BOOK / "references.bib")
    text = page.convert("Before.\n\n```{solution} bahdanau/scores additive_score\n```\n\nAfter.")
    head = "<details><summary>The code of <code>additive_score</code></summary>"
    assert re.search(
        rf"Before\.\n\n{head}.*def additive_score.*</details>\n\nAfter\.", text, re.DOTALL
    )
