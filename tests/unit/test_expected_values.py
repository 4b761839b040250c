"""Tests that expected values match cases, solutions and mistakes, and depend on nothing else."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
from safetensors.torch import load

from autograder import expected_values
from autograder.exercises import EXERCISES
from autograder.instructor import expected_values as writing
from autograder.instructor.authoring import expected_values_digest as digest
from autograder.instructor.authoring.mistake_parser import Card, read_cards

ASSIGNMENTS = pytest.mark.parametrize(
    "assignment", dict.fromkeys(exercise.assignment for exercise in EXERCISES.values())
)
SOFTMAX = EXERCISES["masked_softmax"]


def read(folder, exercise):
    path = folder / exercise.assignment / exercise.name
    tensors = load(gzip.decompress(path.with_suffix(".safetensors.gz").read_bytes()))
    return tensors, json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def list_exercises(assignment):
    return [exercise for exercise in EXERCISES.values() if exercise.assignment == assignment]


@ASSIGNMENTS
def test_expected_values_fit_todays_cases_solutions_and_mistakes(assignment):
    for exercise in list_exercises(assignment):
        made_from = read(expected_values.FOLDER, exercise)[1]["made_from"]
        assert made_from == writing.compute_todays_digest(exercise, EXERCISES), (
            f"The expected values of {exercise.name} are older than its cases, solution or "
            "mistakes: run make expected-values."
        )


@ASSIGNMENTS
def test_titles_and_hints_are_those_of_the_masters(assignment):
    for exercise in list_exercises(assignment):
        known = {
            mistake.slug: {"title": mistake.title, "hint": mistake.hint}
            for mistake in writing.load_mistakes(exercise)
        }
        assert read(expected_values.FOLDER, exercise)[1]["mistakes"] == known, (
            "A title or hint has changed: run make expected-values."
        )


ENDS = (".json", ".safetensors.gz", ".stages.safetensors.gz")


def test_there_is_no_file_of_another_exercise():
    files = {path for path in expected_values.FOLDER.rglob("*.*") if path.suffix != ".py"}
    stems = [expected_values.FOLDER / e.assignment / e.name for e in EXERCISES.values()]
    wanted = {stem.with_suffix(end) for stem in stems for end in ENDS}
    assert {path for path in files if "__pycache__" not in path.parts} == wanted


# What changes a digest


def test_comments_docstrings_and_empty_lines_do_not_count():
    plain = "def f(x):\n    return x + 1\n"
    written = '# About f.\ndef f(x):\n    """Add one.\n\n    More.\n    """\n\n    return x + 1\n'
    assert digest.read_code(plain) == digest.read_code(written)
    assert digest.read_code(plain) != digest.read_code(plain.replace("1", "2"))


def test_solution_mistakes_and_cases_count(monkeypatch):
    before = digest.compute_digest(SOFTMAX, (1,), [])
    assert digest.compute_digest(SOFTMAX, (1,), []) == before
    assert digest.compute_digest(SOFTMAX, (2,), []) != before
    real = digest._find_source
    for added, same in (("more = 1", False), ("# A remark.", True)):
        monkeypatch.setattr(digest, "_find_source", lambda name, a=added: f"{a}\n{real(name)}")
        digest._read_solution.cache_clear()
        assert (digest.compute_digest(SOFTMAX, (1,), []) == before) == same
    monkeypatch.setattr(digest, "_find_source", real)
    digest._read_solution.cache_clear()
    compare_digests(
        monkeypatch,
        lambda: digest.compute_digest(SOFTMAX, (1,), []),
        ("### mask_ignored: ", "### mask_ignored: Of late, ", True),
        ("### mask_ignored: ", "### mask_forgotten: ", False),
        ("` → `", "` → `~", False),
    )


def test_a_card_of_a_function_that_the_solution_calls_counts_with_its_title(monkeypatch):
    compare_digests(
        monkeypatch,
        lambda: writing.compute_todays_digest(EXERCISES["AdditiveAttention"], EXERCISES),
        ("Every row is spread over all N positions.", "Every row is spread out.", True),
        ("### mask_ignored: ", "### mask_ignored: Of late, ", False),
        ("`weights * mask` → `weights`", "`weights * mask` → `2 * weights`", False),
    )


def compare_digests(monkeypatch, compute, *changes):
    """Expect the digest to stay the same, or not, when text of the cards is replaced."""
    before = compute()
    for old, new, same in changes:
        changed = partial(_read_changed_cards, old=old, new=new)
        monkeypatch.setattr(digest, "read_cards", changed)
        assert (compute() == before) == same, old


def _read_changed_cards(path: Path, old: str, new: str) -> dict[str, list[Card]]:
    with TemporaryDirectory() as folder:
        page = Path(folder) / "mistakes.md"
        text = path.read_text(encoding="utf-8")
        assert old in text
        page.write_text(text.replace(old, new), encoding="utf-8")
        return read_cards(page)


def test_a_solution_of_another_notebook_counts_where_it_is_imported():
    code = digest._read_solution("solutions.luong.scores.solution")
    assert any("def masked_softmax" in line for line in code)


def test_each_input_of_a_case_counts():
    case = SOFTMAX.draw(1)[0]
    before = digest.describe(case)
    for name, tensor in case.inputs.items():
        other = tensor.logical_not() if tensor.dtype == torch.bool else tensor + 1
        assert digest.describe(replace(case, inputs={**case.inputs, name: other})) != before
    assert digest.describe(replace(case, name="another")) != before


def test_a_relation_counts_by_its_code_and_what_it_holds():
    def make(limit):
        return lambda case, outcome: "" if limit else "wrong"

    assert digest.describe(make(1)) == digest.describe(make(1)) != digest.describe(make(2))


def test_what_has_no_description_is_an_error():
    with pytest.raises(TypeError, match="holds a set"):
        digest.describe({1})


# Writing


def test_a_hint_is_written_without_computing_anything(tmp_path, monkeypatch):
    for end in (".json", ".safetensors.gz"):
        source = (expected_values.FOLDER / "bahdanau/masked_softmax").with_suffix(end)
        (tmp_path / "bahdanau").mkdir(exist_ok=True)
        (tmp_path / "bahdanau" / source.name).write_bytes(source.read_bytes())
    mistakes = writing.load_mistakes(SOFTMAX)
    better = [replace(mistakes[0], hint="A better hint."), *mistakes[1:]]
    monkeypatch.setattr(writing, "load_mistakes", lambda exercise: better)
    monkeypatch.setattr(writing, "_compute", None)
    assert not writing.write(SOFTMAX, EXERCISES, tmp_path)
    tensors, texts = read(tmp_path, SOFTMAX)
    kept_tensors, kept_texts = read(expected_values.FOLDER, SOFTMAX)
    assert texts["mistakes"].pop(mistakes[0].slug)["hint"] == "A better hint."
    del kept_texts["mistakes"][mistakes[0].slug]
    assert texts == kept_texts and tensors.keys() == kept_tensors.keys()


@pytest.mark.slow
@ASSIGNMENTS
def test_expected_values_have_not_drifted(assignment, tmp_path, monkeypatch):
    if assignment != "han":  # trying all mutants takes minutes
        monkeypatch.setattr(writing, "compute_mutant_fingerprints", lambda *_: [])
    for exercise in list_exercises(assignment):
        assert writing.write(exercise, EXERCISES, tmp_path)
        (fresh, fresh_texts), (kept, kept_texts) = (
            read(folder, exercise) for folder in (tmp_path, expected_values.FOLDER)
        )
        if assignment != "han":
            kept.pop("mutants", None)
            kept_texts["mutants"] = []
        assert fresh_texts == kept_texts
        assert fresh.keys() == kept.keys()
        for key, tensor in fresh.items():
            assert tensor.dtype == kept[key].dtype
            # float32 values may differ in the last bit between processors
            tolerance = 1e-9 if tensor.dtype == torch.float64 else 1e-6
            assert torch.allclose(
                tensor, kept[key], rtol=tolerance, atol=tolerance, equal_nan=True
            ), key


def test_expected_values_are_small():
    sizes = [path.stat().st_size for path in expected_values.FOLDER.rglob("*") if path.is_file()]
    assert sum(sizes) < 4_300_000
