"""Writes the fixtures: what the oracles and the known mistakes give on the students' cases.

python -m autograder.instructor.fixtures [ASSIGNMENT ...]
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from autograder.comparing import close, complaint, difference
from autograder.exercise import Exercise
from autograder.exercises import EXERCISES
from autograder.fixtures import FOLDER, SEEDS
from autograder.instructor.mistakes import known_mistakes
from autograder.instructor.oracles import expected
from autograder.performing import Outcome, perform


def assignments() -> list[str]:
    """Return the assignments that have exercises."""
    return list(dict.fromkeys(exercise.assignment for exercise in EXERCISES.values()))


def write(assignment: str, folder: Path = FOLDER) -> None:
    """Write the two files of an assignment; the same every time."""
    tensors: dict[str, Tensor] = {}
    texts: dict[str, Any] = {}
    for exercise in EXERCISES.values():
        if exercise.assignment == assignment:
            texts[exercise.name] = _exercise(exercise, tensors)
    # Half of the plain file would be names; mtime=0, so that the same tensors give the same file.
    packed = gzip.compress(save(tensors), mtime=0)
    (folder / f"{assignment}.safetensors.gz").write_bytes(packed)
    page = json.dumps(texts, indent=1, ensure_ascii=False) + "\n"
    (folder / f"{assignment}.json").write_text(page, encoding="utf-8")


def _exercise(exercise: Exercise, tensors: dict[str, Tensor]) -> dict[str, Any]:
    cases = {
        f"{seed}/{case.name}": (case, expected(exercise, case))
        for seed in SEEDS
        for case in exercise.draw(seed)
    }
    for key, (_, right) in cases.items():
        case = cases[key][0]
        prefix = f"{exercise.name}/{key}/expected"
        outputs = {
            name: torch.zeros_like(tensor) if name in case.random else tensor
            for name, tensor in right.outputs.items()
        }
        _keep(tensors, f"{prefix}/outputs", outputs, torch.float64)
        if not case.relation:
            _keep(tensors, f"{prefix}/gradients", dict(right.gradients), torch.float64)
    mistakes: dict[str, Any] = {}
    for mistake in known_mistakes(exercise):
        outcomes = {key: perform(mistake.code, exercise, case) for key, (case, _) in cases.items()}
        found = {
            key: difference(case, outcomes[key], right, torch.float64)
            for key, (case, right) in cases.items()
        }
        # Gradients tell a mistake only if its values are right; left out, the files stay small.
        values_right = all(d is None or "gradient" in d.kind for d in found.values())
        odd: dict[str, Any] = {}
        for key, outcome in outcomes.items():
            if cases[key][0].relation:
                said = complaint(found[key])
                if said.kind and (values_right or not said.about_gradients):
                    odd[key] = {"complaint": list(astuple(said))}
                continue
            prefix = f"{exercise.name}/{key}/{mistake.slug}"
            # What a mistake gets right is not stored twice.
            rights = cases[key][1].outputs
            wrong = {n: t for n, t in outcome.outputs.items() if not close(t, rights[n], 1e-9)}
            _keep(tensors, f"{prefix}/outputs", wrong, torch.float32)
            if values_right:
                _keep(tensors, f"{prefix}/gradients", outcome.gradients, torch.float32)
            if strange := _odd(outcome, values_right):
                odd[key] = strange
        mistakes[mistake.slug] = {"title": mistake.title, "hint": mistake.hint, "odd": odd}
    return {"misconceptions": mistakes}


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


def _odd(outcome: Outcome, gradients: bool) -> dict[str, Any]:
    odd: dict[str, Any] = {}
    missing = [name for name, gradient in outcome.gradients.items() if gradient is None]
    if missing and gradients:
        odd["missing"] = missing
    if outcome.problem:
        odd["problem"] = outcome.problem[0]
    if outcome.changed:
        odd["changed"] = list(outcome.changed)
    return odd


if __name__ == "__main__":
    for name in sys.argv[1:] or assignments():
        write(name)
