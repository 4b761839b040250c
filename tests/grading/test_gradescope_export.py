"""Tests of the export for Gradescope."""

from __future__ import annotations

import hashlib
import json

import pytest

from autograder.instructor.exports import Gradescope
from tests.grading.exported_class import export, results_of
from tests.grading.exported_class import graded as graded
from tests.grading.filled_gradebook import ALL_POINTS, ASSIGNMENT, MINE, POINTS, Class

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


FORMATS = {"text", "html", "simple_format", "md", "ansi"}
VISIBILITIES = {"visible", "hidden", "after_due_date", "after_published"}


def test_gradescope_results_are_in_its_format(graded, tmp_path):
    folder = export(Gradescope, graded, tmp_path / "g", visibility="after_published")
    files = sorted(folder.rglob("*"))
    assert {path.name for path in files if path.is_file()} == {"results.json"}
    assert len([path for path in files if path.is_file()]) == 6
    for path in folder.rglob("results.json"):
        page = json.loads(path.read_text("utf-8"))
        assert isinstance(page["score"], float)
        assert page["execution_time"] == 3.0
        assert page["output_format"] == "text", "Gradescope's default would be HTML"
        assert {page["test_output_format"], page["test_name_format"]} <= FORMATS
        assert page["visibility"] in VISIBILITIES
        assert page["stdout_visibility"] == "hidden"
        for test in page["tests"]:
            assert {"name", "score", "max_score", "status", "output", "number"} <= set(test)
            assert test["status"] in ("passed", "failed")
            assert test["visibility"] == "after_published"
            assert all(isinstance(tag, str) for tag in test["tags"])


def test_gradescope_totals_and_tests_add_up_to_nbgraders_own(graded, tmp_path):
    folder = export(Gradescope, graded, tmp_path / "g", assignment=[])
    for student in ("ada", "ben", "chulsoo", "dora", "evan", "gil"):
        page = results_of(folder, student)
        assert page["score"] == pytest.approx(graded.total(student)), student
        assert sum(test["score"] for test in page["tests"]) == pytest.approx(page["score"])
        assert sum(test["max_score"] for test in page["tests"]) == ALL_POINTS
    assert results_of(folder, "fay", "second")["score"] == graded.total("fay", "second")
    assert not (folder / "fay" / ASSIGNMENT).exists()


def test_gradescope_tests_tell_what_the_grader_and_people_found(graded, tmp_path):
    folder = export(Gradescope, graded, tmp_path / "g")
    tests = {test["name"]: test for test in results_of(folder, "dora")["tests"]}
    assert set(tests) == {*MINE, "Late submission"}
    assert tests["additive_score"]["output"].startswith("Half;")
    assert tests["additive_score"]["tags"] == ["part"]
    assert tests["additive_score"]["status"] == "failed"
    assert tests["masked_softmax"]["status"] == "passed"
    assert tests["Late submission"]["score"] == -2.5
    assert "1 day 2 h late" in tests["Late submission"]["output"]
    assert "A cell was there twice." in results_of(folder, "dora")["output"]
    assert "Only for the instructor" not in json.dumps(results_of(folder, "dora"))

    ada = {test["name"]: test for test in results_of(folder, "ada")["tests"]}
    assert ada["masked_softmax"]["score"] == POINTS["masked_softmax"] + 1.5
    assert "Extra credit: 1.5." in ada["masked_softmax"]["output"]
    chulsoo = {test["name"]: test for test in results_of(folder, "chulsoo")["tests"]}
    assert "Graded by hand: 0.25 of 1." in chulsoo["context_vector"]["output"]
    assert "by hand" in chulsoo["context_vector"]["tags"]
    gil = results_of(folder, "gil")
    assert gil["extra_data"]["needs_manual_grade"] is True
    assert "still have to be graded by hand" in gil["output"]


def test_gradescope_folders_by_email_and_for_odd_ids(graded, tmp_path):
    folder = export(Gradescope, graded, tmp_path / "g", folder="email")
    assert results_of(folder, "a@x.org")["score"] == graded.total("ada")
    assert results_of(folder, "ben")["score"] == graded.total("ben")

    odd = Class(tmp_path)
    for name in ("../../up", "..", "a/b", "한글", "😀" * 30):
        odd.hand_in(name)
    folder = export(Gradescope, odd, tmp_path / "odd" / "g")
    written = [path.relative_to(folder).parts for path in folder.rglob("results.json")]
    long = hashlib.sha256(("😀" * 30).encode()).hexdigest()
    wanted = ["%2E%2E", "..%2F..%2Fup", "a%2Fb", "한글", long]
    assert sorted(parts[0] for parts in written) == sorted(wanted)
    assert {parts[1:] for parts in written} == {(ASSIGNMENT, "results.json")}
    assert len(list((tmp_path / "odd").iterdir())) == 1
