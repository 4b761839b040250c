"""Tests of parsing submissions and rebuilding notebooks, without running code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.notebook_builder import SOLUTIONS
from autograder.instructor.grading.notebook_rebuilder import rebuild
from autograder.instructor.grading.source_notebook import read_sources
from autograder.instructor.grading.submission_parser import (
    StudentCell,
    UnreadableNotebookError,
    read_cells,
    read_submission,
)
from tests.conftest import ROOT

RELEASED = ROOT / "exercises" / "bahdanau" / "scores.ipynb"
ALL = read_sources(SOLUTIONS / "bahdanau", "raise NotImplementedError()", EXERCISES)
SOURCE = ALL["scores"]
NAMES = {name: source.identifiers for name, source in ALL.items()}
ANSWER = "def context_vector(weights, values):\n    return values.sum(1)\n"


def handed() -> list[StudentCell]:
    return read_cells(RELEASED.read_bytes())


def changed(name: str, **to: Any) -> list[StudentCell]:
    return [replace(c, **to) if c.grade_id == name else c for c in handed()]


def code(cells: list[StudentCell]) -> list[str]:
    """Return the code of the rebuilt notebook, without the graded cells."""
    rebuilt = rebuild(SOURCE, cells)
    return [
        c.source
        for n, c in enumerate(rebuilt.page.cells)
        if c.cell_type == "code" and n not in rebuilt.graded
    ]


def test_an_untouched_notebook_is_rebuilt_as_it_was_released():
    rebuilt = rebuild(SOURCE, handed())
    assert rebuilt.remarks == []
    given_code = [c.released for c in SOURCE.cells if c.role in ("code", "solution")]
    assert code(handed()) == given_code
    assert [c.exercise.name for c in rebuilt.graded.values()] == [
        c.exercise.name for c in SOURCE.graded
    ]
    assert [
        c.metadata.nbgrader.points for c in rebuilt.page.cells if "points" in c.metadata.nbgrader
    ]


def test_graded_cells_are_the_sources_whatever_was_handed_in():
    for cells in (handed(), [], [StudentCell("code", "check = print")], handed() * 2):
        page = rebuild(SOURCE, cells).page
        found = [c for c in page.cells if c.metadata.get("nbgrader", {}).get("grade")]
        assert [c.source for c in found] == [c.cell.source for c in SOURCE.graded]
        assert all("tags" not in c.metadata for c in page.cells)


def test_no_metadata_of_the_students_gets_in():
    raw = json.loads(RELEASED.read_text("utf-8"))
    for cell in raw["cells"]:
        cell["metadata"] |= {"tags": ["skip-execution"], "my-key": 1, "deletable": True}
        cell["metadata"]["nbgrader"] |= {"points": 1000, "locked": False, "solution": True}
    page = rebuild(SOURCE, read_cells(json.dumps(raw).encode())).page
    assert "my-key" not in str(page) and "skip-execution" not in str(page)
    assert "1000" not in str([c.metadata for c in page.cells])


@pytest.mark.parametrize("lost", ["grade_id", "both"])
def test_cells_are_known_without_their_names(lost):
    cells = changed("context_vector", source=ANSWER)
    cells = [replace(c, grade_id=None, id=None if lost == "both" else c.id) for c in cells]
    assert code(cells) == code(changed("context_vector", source=ANSWER))


def test_an_answer_is_known_by_what_it_defines():
    cells = changed("context_vector", source=ANSWER, grade_id="something", id="else")
    assert ANSWER in code(cells)
    assert rebuild(SOURCE, cells).remarks == []


def test_a_copy_of_the_stub_does_not_undo_the_answer():
    stub = next(c for c in handed() if c.grade_id == "context_vector")
    for order in ([stub, replace(stub, source=ANSWER)], [replace(stub, source=ANSWER), stub]):
        cells = [x for c in handed() for x in (order if c.grade_id == "context_vector" else [c])]
        found = code(cells)
        assert ANSWER in found and stub.source not in found


def test_a_copy_of_an_answer_is_run_where_it_stands():
    old = "def context_vector(weights, values):\n    return 0\n"
    cells = changed("context_vector", source=ANSWER)
    answer = next(n for n, c in enumerate(cells) if c.grade_id == "context_vector")
    check = next(n for n, c in enumerate(cells) if c.grade_id == "test-context_vector")
    copied, extra = replace(cells[answer], source=old), StudentCell("code", "helper = 1")
    for below in (answer, check):
        rebuilt = rebuild(SOURCE, [*cells[: below + 1], copied, extra, *cells[below + 1 :]])
        found = [c.source for c in rebuilt.page.cells]
        tested = next(n for n, c in rebuilt.graded.items() if c.id == "test-context_vector")
        assert found.index(ANSWER) < tested
        assert (found.index(old) > tested) == (below == check)
        assert found.index(old) + 1 == found.index("helper = 1")


def test_an_answer_split_in_two_stays_in_its_order():
    parts = ["helper = 1\n", "def context_vector(weights, values):\n    return helper\n"]
    cells = [
        x
        for c in handed()
        for x in (
            [replace(c, source=part) for part in parts] if c.grade_id == "context_vector" else [c]
        )
    ]
    found = code(cells)
    assert found.index(parts[0]) + 1 == found.index(parts[1])


def test_added_cells_stay_where_they_were():
    extra = StudentCell("code", "helper = 1")
    cells = handed()
    where = next(n for n, c in enumerate(cells) if c.grade_id == "additive_score")
    found = code([*cells[:where], extra, *cells[where:]])
    stub = cells[where].source
    assert found.index("helper = 1") + 1 == found.index(stub)


def test_a_deleted_answer_is_not_replaced_by_the_stub():
    cells = [c for c in handed() if c.grade_id != "context_vector"]
    rebuilt = rebuild(SOURCE, cells)
    assert not any("def context_vector" in text for text in code(cells))
    assert any("context_vector is missing" in remark for remark in rebuilt.remarks)


def test_a_text_cell_with_the_answer_is_run():
    cells = changed("context_vector", source=ANSWER, kind="markdown")
    assert ANSWER in code(cells)


def test_what_was_written_into_a_given_cell_runs_before_it():
    cells = changed("test-context_vector", source=ANSWER + "\ncheck(context_vector)")
    found = code(cells)
    assert any(ANSWER in text for text in found)
    assert any("was changed" in remark for remark in rebuild(SOURCE, cells).remarks)


def test_reordered_cells_are_put_in_order():
    cells = list(reversed(changed("context_vector", source=ANSWER)))
    assert code(cells) == code(changed("context_vector", source=ANSWER))


def test_a_students_text_is_shown_as_it_was_written_unless_it_only_sets_letters():
    evil = "<img src=x onerror=alert(1)> [x](javascript:alert(1))"
    plain = "My **own** words:\n\n* one `name`\n* two"
    cells = [StudentCell(k, t) for t in (evil, plain) for k in ("markdown", "raw")]
    added = rebuild(SOURCE, [*handed(), *cells]).page.cells[-4:]
    assert {cell.cell_type for cell in added} == {"markdown"}
    shown = [cell.source for cell in added]
    assert shown == [*[f"```\n{evil}\n```"] * 2, plain, f"```\n{plain}\n```"]


# Files


@given(st.binary(max_size=300))
def test_any_bytes_are_cells_or_a_sentence(content):
    try:
        found = read_cells(content)
    except UnreadableNotebookError as error:
        assert str(error).endswith(".")
    else:
        assert all(isinstance(cell, StudentCell) for cell in found)


KEYS = st.sampled_from(
    [
        "cells",
        "worksheets",
        "cell_type",
        "source",
        "input",
        "metadata",
        "nbgrader",
        "grade_id",
        "id",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


@given(JSON)
def test_any_json_is_cells_or_a_sentence_and_can_be_rebuilt(thing):
    try:
        cells = read_cells(json.dumps(thing).encode())
    except UnreadableNotebookError:
        return
    assert len(rebuild(SOURCE, cells).graded) == len(SOURCE.graded)


@given(st.lists(st.sampled_from(range(20)), max_size=40), st.randoms())
def test_any_mixture_of_cells_can_be_rebuilt(order, random):
    cells = handed()
    mixed = [cells[n % len(cells)] for n in order]
    mixed = [
        replace(c, kind=random.choice(["code", "markdown", "raw"]), grade_id=c.grade_id)
        for c in mixed
    ]
    assert len(rebuild(SOURCE, mixed).graded) == len(SOURCE.graded)


def test_a_deeply_nested_file_is_unreadable():
    with pytest.raises(UnreadableNotebookError, match="damaged"):
        read_cells(b'{"cells": ' + b"[" * 200_000)


def folder(path: Path, **files: bytes) -> Path:
    path.mkdir(parents=True)
    for name, content in files.items():
        (path / name.replace("__", ".")).write_bytes(content)
    return path


def test_links_are_not_followed(tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_bytes(RELEASED.read_bytes())
    path = folder(tmp_path / "ada" / "bahdanau")
    (path / "scores.ipynb").symlink_to(secret)
    (path / "data.txt").symlink_to(secret)
    found = read_submission(path, NAMES)
    assert found.notebooks["scores"].cells is None
    assert "is a link" in found.notebooks["scores"].review
    assert found.other_files == {}
    (tmp_path / "bora").mkdir()
    (tmp_path / "bora" / "bahdanau").symlink_to(path)
    linked = read_submission(tmp_path / "bora" / "bahdanau", NAMES)
    assert all(h.cells is None and "is a link" in h.review for h in linked.notebooks.values())


def test_a_second_name_of_another_file_is_refused(tmp_path):
    path = folder(tmp_path / "ada" / "bahdanau", other=RELEASED.read_bytes())
    (path / "scores.ipynb").hardlink_to(path / "other")
    found = read_submission(path, NAMES)
    assert found.notebooks["scores"].cells is None
    assert "is a hard link to another file" in found.notebooks["scores"].review


def test_a_renamed_file_is_found_by_what_it_holds(tmp_path):
    path = folder(tmp_path / "ada" / "bahdanau", **{"scores (1)__ipynb": RELEASED.read_bytes()})
    found = read_submission(path, NAMES).notebooks
    assert found["scores"].cells is not None
    assert "scores (1).ipynb was graded as scores.ipynb" in found["scores"].remarks[0]
    assert found["translator"].cells is None


def test_swapped_files_are_told_apart(tmp_path):
    other = RELEASED.with_name("translator.ipynb").read_bytes()
    files = {"scores__ipynb": other, "translator__ipynb": RELEASED.read_bytes()}
    found = read_submission(folder(tmp_path / "ada" / "bahdanau", **files), NAMES).notebooks
    assert any(c.grade_id == "context_vector" for c in found["scores"].cells or ())
    assert any(c.grade_id == "AttentionDecoder" for c in found["translator"].cells or ())


# A bug in the grader


def test_a_failure_of_ours_is_recorded_for_a_person_and_ends_nothing():
    from autograder.instructor.grading.executors import SubmissionTask, grade_notebooks
    from autograder.instructor.grading.notebook_grader import NotebookGrader
    from autograder.instructor.grading.submission_parser import NotebookSubmission

    class Failing(NotebookGrader):
        def grade(self, student, notebook, *given):
            if notebook == "scores":
                raise ZeroDivisionError("our own")
            return super().grade(student, notebook, *given)

    tests = {c.exercise.name: "" for s in ALL.values() for c in s.graded}
    grader = Failing("bahdanau", ALL, None, None, tests)
    nothing = NotebookSubmission(None, "", ("There is no file.",))
    task = SubmissionTask("ada", {"scores": nothing, "translator": nothing}, {}, {})
    scores, translator = (graded.result for graded in grade_notebooks(grader, task))
    assert "The grader failed: ZeroDivisionError: our own" in scores.review
    assert scores.digest == ""  # so that it is graded again
    assert scores.points == 0 and len(scores.exercises) == 4
    assert translator.review == ""
    assert {e.outcome for e in translator.exercises} == {"missing"}


def test_what_was_played_with_is_no_fault():
    play = next(c.id for c in SOURCE.cells if c.id.startswith("play-") and c.role == "code")
    rebuilt = rebuild(SOURCE, changed(play, source="# play: mine\nquery = [3.0, 4.0]"))
    assert rebuilt.remarks == []
    assert rebuild(SOURCE, changed("look", source="1 / 0")).remarks != []
