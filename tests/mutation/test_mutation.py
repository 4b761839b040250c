"""Tests that the student's check notices every change of a solution.

The quick tests try one line in eight, the slow ones all; equivalent mutants are listed.
"""

from __future__ import annotations

import signal

import pytest

from autograder.exercises import EXERCISES
from autograder.instructor.mutation.operators import generate_mutants
from tests.mutation import run_mutants

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="a change that never ends cannot be stopped here"
)
BY_NAME = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=list(EXERCISES))


@BY_NAME
def test_changes_of_some_lines_are_refused_or_listed(exercise):
    _, passed = run_mutants.find_survivors(exercise, sample=True)
    assert not [change for change in passed if change.key not in run_mutants.read_list()]


@pytest.mark.slow
@BY_NAME
def test_changes_of_all_lines_are_refused_or_listed_and_no_others_are_listed(exercise):
    _, passed = run_mutants.find_survivors(exercise)
    mine = {
        k: c for k, c in run_mutants.read_list().items() if c.where.split(".")[0] == exercise.name
    }
    assert not [change for change in passed if change.key not in mine], "accepted, not listed"
    found = {change.key for change in passed}
    assert not [change for key, change in mine.items() if key not in found], "listed for nothing"


def test_every_entry_of_the_list_has_an_exercise_a_kind_and_a_reason():
    for change in run_mutants.read_list().values():
        assert change.where.split(".")[0] in EXERCISES, change
        assert change.heading in ("equivalent", "missing case", "superfluous line"), change
        assert change.reason, change


def test_all_kinds_of_places_are_changed():
    tensor = {change.after for change, _ in generate_mutants(EXERCISES["masked_softmax"])}
    assert {
        "weights = scores.masked_fill(mask, lowest).softmax(dim=-1)",
        "weights = scores.softmax(dim=-1)",
        "weights = scores.masked_fill(~mask, lowest).softmax(dim=-2)",
        "weights = scores.masked_fill(lowest, ~mask).softmax(dim=-1)",
        "return weights",
        "pass",
    } <= tensor
    loop = {change.after for change, _ in generate_mutants(EXERCISES["wordpiece"])}
    assert {
        "if len(word) >= 100:",
        "if False:",
        "while start <= len(word):",
        "for end in range(len(word), start, -2):",
        "if piece not in vocabulary:",
    } <= loop
    helper = {change.where for change, _ in generate_mutants(EXERCISES["load_pretrained"])}
    assert helper == {"load_pretrained", "load_pretrained._their_name"}


def test_a_change_that_never_ends_is_refused():
    code = compile("def wordpiece(word, vocabulary, unknown=''):\n    while True: pass", "", "exec")
    assert run_mutants.is_refused(code, EXERCISES["wordpiece"])
