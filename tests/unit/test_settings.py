"""Tests of the environment variables that a reader or nbgrader sets."""

from __future__ import annotations

import pytest

from coursekit.notebook import settings


def test_trainings_are_quick_unless_asked_otherwise(monkeypatch):
    monkeypatch.delenv("COURSEKIT_SIZE", raising=False)
    assert settings.size() == "quick"


@pytest.mark.parametrize("value", ["full", "FULL", " full "])
def test_full_is_read_when_asked_not_when_imported(monkeypatch, value):
    monkeypatch.setenv("COURSEKIT_SIZE", value)
    assert settings.size() == "full"


def test_another_value_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setenv("COURSEKIT_SIZE", "huge")
    with pytest.raises(ValueError) as error:
        settings.size()
    assert str(error.value) == (
        "COURSEKIT_SIZE is 'huge'; set it to 'quick' (seconds, embedded data) "
        "or 'full' (real data)."
    )


def test_grading_is_what_nbgrader_says(monkeypatch):
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    assert not settings.is_grading()
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert settings.is_grading()
