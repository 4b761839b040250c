"""Tests of the bank: right answers pass, wrong ones fail, known mistakes are recognised.

Both sides judge: the student's by the expected values, the instructor's by the solution on a fixed
seed and on a new one, which is part of a failure's message.
"""

from __future__ import annotations

import pytest

from autograder import expected_values
from autograder.checking.card import format_card_text
from autograder.diagnose.verdict import Verdict
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.mistake_loader import load_mistakes
from autograder.instructor.authoring.mistake_parser import read_cards
from autograder.instructor.authoring.notebook_builder import SOLUTIONS
from autograder.instructor.grading import hidden_tests
from tests.answers import Entry, cached_verdicts, entries, handed_in, source

ALL = entries()
RIGHT = [entry for entry in ALL if entry.right]
WIDE = [entry for entry in RIGHT if entry.answer.__name__ in ("float64_kept", "Wide")]


def _wrong(name: str, *given: object, label: str) -> object:
    """Return the parameters of a wrong answer; slow models are tested only in `make check`."""
    marks = [pytest.mark.slow] * EXERCISES[name].is_class
    return pytest.param(*given, id=label, marks=marks)


WRONG = [_wrong(entry.exercise, entry, label=entry.name) for entry in ALL if not entry.right]
MISTAKES = [
    _wrong(name, name, mistake, label=f"{name}-{mistake.slug}")
    for name, exercise in EXERCISES.items()
    for mistake in load_mistakes(exercise)
]

# The instructor's side judges the same outputs with the same judge, so it is left to `make check`.
SIDES = ["student", pytest.param("instructor", marks=pytest.mark.slow)]


def _judge(side: str, entry: Entry) -> tuple[Verdict, str]:
    """Return one side's verdict on the answer's cell, run on its own, and the card."""
    answer = handed_in(entry)
    assert answer.__name__ == entry.exercise
    verdict = cached_verdicts.SIDES[side](answer, entry.exercise)
    return verdict, f"{side}, seeds {cached_verdicts.SEEDS}:\n{format_card_text(verdict)}"


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("entry", RIGHT, ids=lambda e: e.name)
def test_right_answer_passes(entry, side):
    verdict, card = _judge(side, entry)
    assert verdict.passed, card
    if entry in WIDE and side == "student":
        assert "float64" in verdict.remarks[0]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("entry", WRONG)
def test_wrong_answer_is_refused_and_not_misnamed(entry, side):
    verdict, card = _judge(side, entry)
    assert not verdict.passed, card
    assert not verdict.misconception, card
    assert verdict.headline.strip()


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_misconception_is_named(name, mistake, side):
    verdict = cached_verdicts.SIDES[side](mistake.code, name)
    assert not verdict.passed
    assert verdict.misconception == mistake.slug, (cached_verdicts.SEEDS, format_card_text(verdict))
    assert verdict.headline == mistake.title
    assert verdict.hint == mistake.hint


def test_shared_draws_give_the_verdict_of_the_instructor():
    """The bank shares its draws among answers; that must not change what is said."""
    for name in ("masked_softmax", "AdditiveAttention"):
        exercise = EXERCISES[name]
        mine = [entry for entry in ALL if entry.exercise == name]
        for entry in (mine[0], mine[-1]):
            shared = cached_verdicts.instructor(entry.answer, exercise.name)
            assert shared == hidden_tests.judge_answer(
                entry.answer, exercise, list(cached_verdicts.SEEDS)
            )


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda e: e.name)
def test_there_are_enough_answers_and_not_too_many(exercise):
    mine = [entry for entry in ALL if entry.exercise == exercise.name]
    assert sum(entry.right for entry in mine) >= 5
    assert 1 <= sum(not entry.right for entry in mine) <= 10
    assert len({entry.name for entry in mine}) == len(mine)


def test_mistakes_stand_below_the_headings_of_their_notebook():
    for place in {(e.assignment, e.notebook) for e in EXERCISES.values()}:
        mine = [e.name for e in EXERCISES.values() if (e.assignment, e.notebook) == place]
        page = read_cards(SOLUTIONS.joinpath(*place, "mistakes.md"))
        assert list(page)[1:] == mine and all(len(page[name]) > 1 for name in mine)


def test_every_exercise_with_a_precision_has_an_answer_that_returns_float64():
    seed, floating = expected_values.SEEDS[0], set()
    for name, exercise in EXERCISES.items():
        case = exercise.draw(seed)[0]
        outputs = expected_values.read_expected(exercise, seed, case).outputs.values()
        # Ids and masks have no precision; without float inputs, the default dtype is required.
        if case.floating or case.calls[0].numbers:
            floating |= {name} if any(o.is_floating_point() for o in outputs) else set()
    assert {entry.exercise for entry in WIDE} == floating


def test_no_answer_takes_anything_from_the_solutions():
    assert [entry.name for entry in ALL if "solutions" in source(entry)] == []
