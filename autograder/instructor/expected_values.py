"""Writes the fixtures: what the solutions and the known mistakes give on the students' cases.

python -m autograder.instructor.fixtures [ASSIGNMENT ...]
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from autograder.execution import perform
from autograder.exercise import Exercise
from autograder.fixtures import FOLDER, SEEDS
from autograder.instructor.expected import compute_expected
from autograder.instructor.mistakes import load_mistakes
from autograder.instructor.wrong_values import list_variants
from autograder.verdicts import Trial

ROOT = Path(__file__).parents[2]
# What decides about all fixtures; beside it, those of an assignment are made of its own modules.
_ENGINE = [
    "certainty",
    "chance",
    "comparing",
    "drawing",
    "exercise",
    "execution",
    "stand_ins",
    "texts",
    "exercises/_reading",
    "exercises/_stand_ins",
    "exercises/_training",
    "fixtures/__init__",
    "instructor/expected",
    "instructor/fixtures",
    "instructor/mistakes",
    "instructor/other_inputs",
    "instructor/slips",
    "instructor/variants",
    "instructor/wrong_values",
    "sketches",
]


def list_assignments(exercises: Mapping[str, Exercise]) -> list[str]:
    """Return the assignments that have exercises."""
    return list(dict.fromkeys(exercise.assignment for exercise in exercises.values()))


def hash_sources(assignment: str) -> str:
    """Return what changes when the files change that an assignment's fixtures are made from.

    Empty lines and lines that are comments are left out, so that a notebook's text may change, but
    for the headings of mistakes.
    """
    sources = [
        *(ROOT / "autograder" / f"{name}.py" for name in _ENGINE),
        *sorted((ROOT / "autograder/exercises" / assignment).glob("*.py")),
        *sorted((ROOT / "solutions" / assignment).glob("*/notebook.py")),
        *sorted((ROOT / "solutions" / assignment).glob("*/mistakes.py")),
    ]
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.relative_to(ROOT).as_posix().encode())
        for line in source.read_text(encoding="utf-8").splitlines():
            heading = source.name == "mistakes.py" and line.startswith("# %% ")
            if heading or (line.strip() and not line.lstrip().startswith("#")):
                digest.update(f"{line}\n".encode())
    return digest.hexdigest()


def write(assignment: str, exercises: Mapping[str, Exercise], folder: Path = FOLDER) -> None:
    """Write the two files of an assignment; the same every time."""
    tensors: dict[str, Tensor] = {}
    mine = [exercise for exercise in exercises.values() if exercise.assignment == assignment]
    texts = {
        "made_from": hash_sources(assignment),
        "exercises": {e.name: _write_exercise(e, exercises, tensors) for e in mine},
    }
    # Half of the plain file would be names; mtime=0, so that the same tensors give the same file.
    packed = gzip.compress(save(tensors), mtime=0)
    (folder / f"{assignment}.safetensors.gz").write_bytes(packed)
    page = json.dumps(texts, indent=1, ensure_ascii=False) + "\n"
    (folder / f"{assignment}.json").write_text(page, encoding="utf-8")


def _write_exercise(
    exercise: Exercise, exercises: Mapping[str, Exercise], tensors: dict[str, Tensor]
) -> dict[str, Any]:
    drawn = {seed: exercise.draw(seed) for seed in SEEDS}
    cases = {
        f"{seed}/{case.name}": (case, compute_expected(exercise, case))
        for seed in SEEDS
        for case in drawn[seed]
    }
    for key, (case, right) in cases.items():
        prefix = f"{exercise.name}/{key}/expected"
        outputs = dict(right.outputs)
        for name in case.random:  # a text that is drawn has not even a length of its own
            outputs[name] = torch.zeros_like(
                outputs[name][:0] if name in case.plain else outputs[name]
            )
        _keep(tensors, f"{prefix}/outputs", outputs, torch.float64)
        if not case.relation:
            _keep(tensors, f"{prefix}/gradients", dict(right.gradients), torch.float64)
    exact = [(case, right) for case, right in cases.values() if not case.training]
    mistakes = {}
    for mistake in load_mistakes(exercise):
        trials = [
            Trial(case, torch.float64, right, perform(mistake.code, exercise, case))
            for case, right in exact  # a mistake is known by what it gives in evaluation mode
        ]
        kept = {"values": [trial.sketch for trial in trials]}
        # Gradients tell a mistake only if its values are right.
        if all(t.difference is None or "gradient" in t.difference.kind for t in trials):
            kept["gradients"] = [trial.sketch_of_gradients for trial in trials]
        for kind, sketches in kept.items():
            key = f"{exercise.name}/{mistake.slug}/{kind}"
            tensors[key] = torch.tensor(sketches, dtype=torch.float64)
        mistakes[mistake.slug] = {"title": mistake.title, "hint": mistake.hint}
    steady = [(case, right) for case, right in cases.values() if case.training != "random"]
    first = [pair for pair in steady if any(pair[0] is c for c in drawn[SEEDS[0]])]
    variants = list_variants(
        exercise, exercises, [c for c, _ in first], [right for _, right in first]
    )
    if variants:
        rows = [sketches for _, sketches in variants]
        tensors[f"{exercise.name}/variants"] = torch.tensor(rows, dtype=torch.float64)
    return {"misconceptions": mistakes, "variants": [phrase for phrase, _ in variants]}


def _keep(
    tensors: dict[str, Tensor],
    prefix: str,
    members: Mapping[str, Tensor | None],
    dtype: torch.dtype,
) -> None:
    for name, tensor in members.items():
        if tensor is not None:
            kept = tensor.to(dtype) if tensor.is_floating_point() else tensor
            tensors[f"{prefix}/{name}"] = kept.contiguous().clone()


if __name__ == "__main__":
    from autograder.exercises import EXERCISES

    known = list_assignments(EXERCISES)
    asked = sys.argv[1:] or known
    if unknown := set(asked) - set(known):
        sys.exit(f"There is no {', '.join(sorted(unknown))}: there are {', '.join(known)}.")
    torch.set_num_threads(1)
    with ProcessPoolExecutor() as pool:
        for _ in pool.map(write, asked, repeat(EXERCISES)):
            pass
