"""The fixtures are those of today's cases, solutions and mistakes, and small."""

from __future__ import annotations

import gzip
import json
import shutil

import pytest
import torch
from safetensors.torch import load

from autograder import fixtures
from autograder.exercises import EXERCISES
from autograder.instructor import fixtures as writing

ASSIGNMENTS = pytest.mark.parametrize("assignment", writing.list_assignments(EXERCISES))


def read(folder, assignment):
    tensors = load(gzip.decompress((folder / f"{assignment}.safetensors.gz").read_bytes()))
    return tensors, json.loads((folder / f"{assignment}.json").read_text(encoding="utf-8"))


@ASSIGNMENTS
def test_fixtures_are_made_from_these_sources(assignment):
    _, texts = read(fixtures.FOLDER, assignment)
    assert texts["made_from"] == writing.hash_sources(assignment), (
        f"The fixtures of {assignment} are older than its cases, solutions or mistakes: run "
        f"python -m autograder.instructor.fixtures {assignment} (or make fixtures, for all)."
    )


def test_code_changes_the_hash_and_text_does_not(tmp_path, monkeypatch):
    for folder in ("autograder", "solutions/bahdanau"):
        only = shutil.ignore_patterns("*.ipynb", "*.gz", "__pycache__", "answers")
        shutil.copytree(writing.ROOT / folder, tmp_path / folder, ignore=only)
    before = writing.hash_sources("bahdanau")
    monkeypatch.setattr(writing, "ROOT", tmp_path)
    assert writing.hash_sources("bahdanau") == before
    for name in ("solutions/bahdanau/scores/notebook.py", "autograder/drawing.py"):
        source = tmp_path / name
        code = source.read_text(encoding="utf-8")
        source.write_text(f"# Text of a notebook.\n\n{code}", encoding="utf-8")
        assert writing.hash_sources("bahdanau") == before
        source.write_text(f"{code}\nmore = 1\n", encoding="utf-8")
        assert writing.hash_sources("bahdanau") != before
        source.write_text(code, encoding="utf-8")
    mistakes = tmp_path / "solutions/bahdanau/scores/mistakes.py"
    code = mistakes.read_text(encoding="utf-8")
    mistakes.write_text(code.replace("# %% additive_score", "# %% context_vector"), "utf-8")
    assert writing.hash_sources("bahdanau") != before, "a heading says whose mistakes follow"


@pytest.mark.slow
@ASSIGNMENTS
def test_fixtures_have_not_drifted(assignment, tmp_path, monkeypatch):
    if assignment != "han":  # trying all variants takes minutes
        monkeypatch.setattr(writing, "list_variants", lambda *_: [])
    writing.write(assignment, EXERCISES, tmp_path)
    (fresh, fresh_texts), (kept, kept_texts) = (
        read(folder, assignment) for folder in (tmp_path, fixtures.FOLDER)
    )
    if assignment != "han":
        kept = {key: tensor for key, tensor in kept.items() if not key.endswith("/variants")}
        for exercise in kept_texts["exercises"].values():
            exercise["variants"] = []
    assert fresh_texts == kept_texts
    assert fresh.keys() == kept.keys()
    for key, tensor in fresh.items():
        assert tensor.dtype == kept[key].dtype
        # what is kept in float32 may differ in its last bit between processors
        tolerance = 1e-9 if tensor.dtype == torch.float64 else 1e-6
        assert torch.allclose(tensor, kept[key], rtol=tolerance, atol=tolerance, equal_nan=True), (
            key
        )


def test_fixtures_are_small():
    assert sum(path.stat().st_size for path in fixtures.FOLDER.iterdir()) < 3_500_000
    assert (fixtures.FOLDER / "bahdanau.safetensors.gz").stat().st_size < 500_000
