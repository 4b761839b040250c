"""Every right answer of the bank passes, every wrong one is refused, every known mistake is named.

Both sides judge: the student's by the fixtures, the instructor's by the oracle on a fixed seed and
on one that nobody has seen, which a failure shows.
"""

from __future__ import annotations

import linecache
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bank import Entry, entries, judged, source

from autograder import cards
from autograder.checking import verify
from autograder.exercises import EXERCISES
from autograder.instructor import examining
from autograder.instructor.mistakes import Mistake, known_mistakes
from autograder.instructor.oracles import expected

ALL = entries()
MISTAKES = [(name, m) for name, exercise in EXERCISES.items() for m in known_mistakes(exercise)]

# On their side instructors see the same outputs through the same judge: `make test-all` has it too.
FAST_SIDES = ["student", pytest.param("instructor", marks=pytest.mark.slow)]


def _card(side: str, entry: Entry) -> str:
    verdict = judged.SIDES[side](entry.answer, entry.exercise)
    return f"{side}, seeds {judged.SEEDS}:\n{cards.text(verdict)}"


@pytest.mark.parametrize("side", judged.SIDES)
@pytest.mark.parametrize("entry", [e for e in ALL if e.right], ids=lambda e: e.name)
def test_right_answer_passes(entry, side):
    assert judged.SIDES[side](entry.answer, entry.exercise).passed, _card(side, entry)


@pytest.mark.parametrize("side", FAST_SIDES)
@pytest.mark.parametrize("entry", [e for e in ALL if not e.right], ids=lambda e: e.name)
def test_wrong_answer_is_refused_and_not_misnamed(entry, side):
    verdict = judged.SIDES[side](entry.answer, entry.exercise)
    assert not verdict.passed, _card(side, entry)
    assert not verdict.misconception, _card(side, entry)
    assert verdict.headline.strip()


@pytest.mark.parametrize("side", FAST_SIDES)
@pytest.mark.parametrize(
    ("name", "mistake"), MISTAKES, ids=lambda x: x.slug if isinstance(x, Mistake) else x
)
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
            assert shared == examining.verdict_of(entry.answer, exercise, list(judged.SEEDS))


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda e: e.name)
def test_bank_is_large_and_names_are_unique(exercise):
    mine = [entry for entry in ALL if entry.exercise == exercise.name]
    assert sum(entry.right for entry in mine) >= 5
    assert sum(not entry.right for entry in mine) >= 10
    assert len({entry.name for entry in mine}) == len(mine)


def _outputs(exercise):
    return expected(exercise, exercise.draw(1)[0]).outputs.values()


def test_float64_is_remarked_upon():
    wide = [e for e in ALL if e.answer.__name__ in ("float64_kept", "Wide")]
    # Ids and masks have no precision.
    floating = {
        name
        for name, exercise in EXERCISES.items()
        if any(
            t.is_floating_point() for t in expected(exercise, exercise.draw(1)[0]).outputs.values()
        )
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
        cell = source(entry)
        assert "solutions" not in cell
        space: dict = {"__name__": "__main__"}
        name = f"<cell {entry.name}>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
        exec(compile(cell, name, "exec"), space)
        assert space[exercise.name].__name__ == exercise.name
        if entry is mine[0]:
            assert verify(space[exercise.name], exercise).passed


@pytest.mark.slow
def test_table_of_the_bank(capsys):
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bank"], cwd=root, capture_output=True, text=True, timeout=1500
    )
    assert done.returncode == 0, done.stderr
    with capsys.disabled():
        print("\n" + done.stdout)
    assert "misconceptions named" in done.stdout
    counts = re.findall(r"(\d+)/(\d+)", done.stdout)
    assert len(counts) > 2 * len(EXERCISES)
    assert all(counted == total for counted, total in counts), done.stdout
