"""Every right answer of the bank passes, every wrong one is refused, every known mistake is named.

Both sides judge: the student's by the fixtures, the instructor's by the solution on a fixed seed
and on one that nobody has seen, which a failure shows.
"""

from __future__ import annotations

import pytest
from bank import Entry, entries, handed_in, judged, source

from autograder import cards
from autograder.checking import verify
from autograder.exercises import EXERCISES
from autograder.instructor import hidden_tests
from autograder.instructor.expected import expected
from autograder.instructor.mistakes import known_mistakes

ALL = entries()
# Models take their time: `make check` has their mistakes.
MISTAKES = [
    pytest.param(name, m, id=f"{name}-{m.slug}", marks=[pytest.mark.slow] * exercise.is_class)
    for name, exercise in EXERCISES.items()
    for m in known_mistakes(exercise)
]

# On their side instructors see the same outputs through the same judge: `make check` has it too.
SIDES = ["student", pytest.param("instructor", marks=pytest.mark.slow)]


def _card(side: str, entry: Entry) -> str:
    verdict = judged.SIDES[side](entry.answer, entry.exercise)
    return f"{side}, seeds {judged.SEEDS}:\n{cards.text(verdict)}"


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("entry", [e for e in ALL if e.right], ids=lambda e: e.name)
def test_right_answer_passes(entry, side):
    assert judged.SIDES[side](entry.answer, entry.exercise).passed, _card(side, entry)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("entry", [e for e in ALL if not e.right], ids=lambda e: e.name)
def test_wrong_answer_is_refused_and_not_misnamed(entry, side):
    verdict = judged.SIDES[side](entry.answer, entry.exercise)
    assert not verdict.passed, _card(side, entry)
    assert not verdict.misconception, _card(side, entry)
    assert verdict.headline.strip()


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_misconception_is_named(name, mistake, side):
    verdict = judged.SIDES[side](mistake.code, name)
    assert not verdict.passed
    assert verdict.misconception == mistake.slug, (judged.SEEDS, cards.text(verdict))
    assert verdict.headline == mistake.title
    assert verdict.hint == mistake.hint


def test_shared_draws_give_the_verdict_of_the_instructor():
    """The bank shares its draws among answers; that must not change what is said."""
    for name in ("masked_softmax", "AdditiveAttention"):
        exercise = EXERCISES[name]
        mine = [entry for entry in ALL if entry.exercise == name]
        for entry in (mine[0], mine[-1]):
            shared = judged.instructor(entry.answer, exercise.name)
            assert shared == hidden_tests.verdict_of(entry.answer, exercise, list(judged.SEEDS))


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda e: e.name)
def test_there_are_enough_answers_and_not_too_many(exercise):
    mine = [entry for entry in ALL if entry.exercise == exercise.name]
    assert sum(entry.right for entry in mine) >= 5
    assert 1 <= sum(not entry.right for entry in mine) <= 10
    assert len({entry.name for entry in mine}) == len(mine)


def _outputs(exercise):
    return expected(exercise, exercise.draw(1)[0]).outputs.values()


def test_float64_is_remarked_upon():
    wide = [e for e in ALL if e.answer.__name__ in ("float64_kept", "Wide")]
    # Ids and masks have no precision; where no floating number goes in, the default is a promise.
    cases = {name: exercise.draw(1)[0] for name, exercise in EXERCISES.items()}
    floating = {
        name
        for name, case in cases.items()
        if (case.floating or case.calls[0].numbers)
        and any(t.is_floating_point() for t in expected(EXERCISES[name], case).outputs.values())
    }
    assert {e.exercise for e in wide} == floating
    for entry in wide:
        verdict = judged.student(entry.answer, entry.exercise)
        assert verdict.passed
        assert "float64" in verdict.remarks[0]


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda e: e.name)
def test_source_stands_alone(exercise):
    """An answer's source runs as a cell of its own, and defines the exercise's name."""
    mine = [entry for entry in ALL if entry.exercise == exercise.name]
    for entry in mine:
        assert "solutions" not in source(entry)
        answer = handed_in(entry)
        assert answer.__name__ == exercise.name
        if entry is mine[0]:
            assert verify(answer, exercise).passed
