"""The code on a passed card: one for each exercise, for the student's side only."""

from __future__ import annotations

import html
import re

import pytest
import torch
from bank.bahdanau import masked_softmax as bank

from autograder import CheckFailed, cards, check, fixtures, progress
from autograder.checking import verify
from autograder.exercises import EXERCISES
from autograder.instructor import examining
from autograder.instructor.grading.examination import card

SOFTMAX = EXERCISES["masked_softmax"]
SHAPE = r"[2-9BCDFGHJKMNPQRSTVWXYZ]{4}-[2-9BCDFGHJKMNPQRSTVWXYZ]{2}"


@pytest.fixture(autouse=True)
def _at_home(monkeypatch):
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


def masked_softmax(scores, mask):
    return bank.filled_with_infinity(scores, mask)


def test_each_exercise_has_a_code_and_a_mark_of_its_own():
    codes = {name: progress.code(exercise) for name, exercise in EXERCISES.items()}
    assert all(re.fullmatch(SHAPE, code) for code in codes.values())
    assert len(set(codes.values())) == len(codes)
    assert len({progress.mark(code) for code in codes.values()}) == len(codes)


def test_a_code_is_the_same_each_time_and_follows_the_cases(monkeypatch):
    before = progress.code(SOFTMAX)
    assert progress.code(SOFTMAX) == before
    values = fixtures.right_values(SOFTMAX)
    assert values, "there is nothing that a right answer gives"
    # New digits, as another machine may write them, leave the code; another case changes it.
    moved = {name: tensor + 1e-3 for name, tensor in values.items()}
    monkeypatch.setattr(fixtures, "right_values", lambda exercise: moved)
    assert progress.code(SOFTMAX) == before
    more = {**values, "1/one more/outputs/weights": torch.zeros(2)}
    monkeypatch.setattr(fixtures, "right_values", lambda exercise: more)
    assert progress.code(SOFTMAX) != before


def test_the_mark_of_a_code_does_not_mind_how_it_is_typed():
    assert progress.mark("K7PX-2M") == progress.mark("k7px2m") == "80660db6"
    assert progress.mark("") == "811c9dc5"  # where FNV-1a begins
    assert progress.mark("A") == "c40bf6cc"  # as published for FNV-1a with 32 bits


def test_the_card_of_a_right_answer_shows_the_code(capsys, monkeypatch):
    check(masked_softmax)
    out = capsys.readouterr().out
    assert out.endswith(f"Code for your progress: {progress.code(SOFTMAX)}\n")
    # Where a submission is graded nobody types it in, and the page must not differ by it.
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    check(masked_softmax)
    assert "Code" not in capsys.readouterr().out


def test_the_card_of_a_wrong_answer_shows_none(capsys):
    wrong = lambda scores, mask: scores  # noqa: E731
    wrong.__name__ = "masked_softmax"
    with pytest.raises(CheckFailed) as caught:
        check(wrong)
    assert "progress" not in capsys.readouterr().out + str(caught.value)


def test_both_forms_of_the_card_show_it_and_those_of_grading_do_not(capsys):
    verdict, code = verify(masked_softmax, SOFTMAX), progress.code(SOFTMAX)
    shown = html.unescape(re.sub("<[^>]+>", "", cards.as_html(verdict, code)))
    assert shown.endswith(f"Code for your progress: {code}")
    assert cards.as_html(verdict, code).count("<div") == cards.as_html(verdict, code).count(
        "</div>"
    )
    graded = card(verdict)["data"]
    examining.examine(masked_softmax)
    for text in (*graded.values(), capsys.readouterr().out):
        assert "progress" not in text and code not in text
