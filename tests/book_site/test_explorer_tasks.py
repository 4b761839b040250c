"""Tests of the tasks that lead into an explorer: their links, their answers, what notebooks get."""

from __future__ import annotations

import re

import pytest

from book.site.explorer_tasks import EXPLORERS, link_to, split_answer
from coursekit import widgets
from tests.conftest import ROOT
from tools.myst_to_markdown import PlainMarkdown

TASK = ":::{try} translator s=the king&bar=2\n:shows: 왕\n\nWhat *now*?\n\n---\n\nThis.\n:::"


def test_an_explorer_is_called_as_its_class_in_python():
    kinds = {name.removesuffix("Explorer").lower() for name in vars(widgets)}
    assert {*EXPLORERS} <= kinds


def test_a_state_becomes_a_link_that_the_explorer_reads():
    link = link_to("translator s=the king sees&force=1:의사")
    assert link == "#live=translator&s=the+king+sees&force=1%3A%EC%9D%98%EC%82%AC"


@pytest.mark.parametrize("argument", ["translators s=a", "translator", "translator s=a&b", ""])
def test_a_state_that_no_explorer_reads_is_refused(argument):
    with pytest.raises(ValueError, match=f"write one of {', '.join(EXPLORERS)}"):
        link_to(argument)


@pytest.mark.parametrize("lines", [["a", "b"], ["a", "---", "b", "---"], ["", "---", "b"]])
def test_a_task_without_an_answer_is_refused(lines):
    with pytest.raises(ValueError, match="write the task, a line"):
        split_answer(lines)


def test_a_notebook_gets_the_task_and_the_folded_answer():
    converted = PlainMarkdown("book/x", {}, ROOT / "book" / "references.bib").convert(TASK)
    assert re.fullmatch(
        r"\s*What \*now\*\?\s*<details><summary>Predict first\. What happens\?</summary>"
        r"\s*This\.\s*</details>\s*",
        converted,
    )
