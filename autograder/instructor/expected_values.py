"""Generates the files of expected values and fingerprints that the students' checks read.

    python -m autograder.instructor.expected_values [--all | --stages] [ASSIGNMENT or EXERCISE ...]

Without --all, it recomputes only the values whose cases, solution or mistakes have changed; with
--stages, only what the solutions compute on their way and what their results depend on, which takes
a minute.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

from autograder.diagnose.trial import Trial
from autograder.expected_values import FOLDER, SEEDS
from autograder.instructor.authoring.expected_values_digest import compute_digest
from autograder.instructor.authoring.mistake_loader import load_mistakes
from autograder.instructor.authoring.mistake_parser import CardError
from autograder.instructor.authoring.reference_solution import compute_expected, load_solution
from autograder.instructor.mutation.mutant_fingerprints import compute_mutant_fingerprints
from autograder.instructor.mutation.operators import list_helpers
from autograder.run.runner import run_case
from autograder.spec.argument_perturbations import list_changed_outputs, propose_changes
from autograder.spec.exercise import Exercise
from autograder.trace.comparison import build_stages
from autograder.trace.recording import record_answer


def write(
    exercise: Exercise,
    exercises: Mapping[str, Exercise],
    folder: Path = FOLDER,
    recompute: bool = False,
) -> bool:
    """Write the three files of an exercise, and return whether its values were recomputed.

    They are recomputed only if the cases, solution or mistakes differ from those that the files
    were made from; titles and hints are written every time.

    Args:
        exercise: the exercise.
        exercises: all exercises; a solution may call others.
        folder: destination folder.
        recompute: recompute the values even if nothing has changed.
    """
    path = folder / exercise.assignment / exercise.name
    path.parent.mkdir(parents=True, exist_ok=True)
    page = path.with_suffix(".json")
    digest = compute_todays_digest(exercise, exercises)
    before = json.loads(page.read_text(encoding="utf-8")) if page.is_file() else {}
    stale = recompute or before.get("made_from") != digest
    phrases = before.get("mutants", [])
    if stale:
        tensors, phrases = _compute(exercise, exercises)
        # Tensor names would take half of an uncompressed file. With mtime=0, the same tensors give
        # the same file.
        path.with_suffix(".safetensors.gz").write_bytes(gzip.compress(save(tensors), mtime=0))
        write_stages(exercise, folder)
    texts = {
        "made_from": digest,
        "mistakes": {m.slug: {"title": m.title, "hint": m.hint} for m in load_mistakes(exercise)},
        "mutants": phrases,
    }
    page.write_text(json.dumps(texts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return stale


def compute_todays_digest(exercise: Exercise, exercises: Mapping[str, Exercise]) -> str:
    """Return the digest of what the expected values of an exercise are computed from."""
    helpers = [exercises[name] for name in list_helpers(exercise, exercises)]
    return compute_digest(exercise, SEEDS, helpers)


def _encode_json(data: Mapping[str, Any]) -> Tensor:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return torch.tensor(list(text.encode()), dtype=torch.uint8)


def find_dependence(exercise: Exercise) -> dict[str, dict[str, list[Any]]]:
    """Return which outputs of the solution depend on an argument, for the cases of the first seed.

    By case and argument these are pairs: the index of a change that `propose_changes` yields, and
    the outputs that change with it and with no earlier one.
    """
    solution = load_solution(exercise)
    cases = exercise.draw(SEEDS[0])
    found: dict[str, dict[str, list[Any]]] = {}
    for case in cases:
        if case.random_outputs or case.training_mode or case.preceding_case:
            continue
        before = run_case(solution, exercise, replace(case, upstream={})).outputs
        known: dict[str, list[Any]] = {}
        left: dict[str, list[str]] = {}
        for i, change in enumerate(propose_changes(case, cases)):
            outputs = left.setdefault(change.argument, list(before))
            if not outputs:
                continue
            after = run_case(solution, exercise, change.case)
            changed = list_changed_outputs(case, before, after.outputs)
            if not after.problem and (new := [name for name in outputs if name in changed]):
                known.setdefault(change.argument, []).append([i, new])
                left[change.argument] = [name for name in outputs if name not in new]
        if known:
            found[case.name] = known
    return found


def write_stages(exercise: Exercise, folder: Path = FOLDER) -> None:
    """Write what a solution computes on the cases of the first seed, and what it depends on."""
    values: list[np.ndarray] = []
    index: dict[str, Any] = {}
    start = 0
    for case in exercise.draw(SEEDS[0]):
        if case.random_outputs or case.training_mode or case.preceding_case or case.non_tensors:
            continue
        recording = record_answer(load_solution(exercise), exercise, case, name_variables=True)
        if recording.problem:  # an error that is expected
            continue
        stages = build_stages(recording)
        given = [record.names[0] for record in recording.records if record.is_given]
        computed = stages[len(given) :]
        index[case.name] = {
            "given": given,
            "start": start,
            "stages": [[s.label, s.operation, s.parents, s.value.shape] for s in computed],
        }
        values += [stage.value.flatten() for stage in computed]
        start += sum(stage.value.size for stage in computed)
    tensors = {
        "index": _encode_json(index),
        "dependence": _encode_json(find_dependence(exercise)),
        # Half the size, and more digits than a comparison looks at.
        "values": torch.from_numpy(np.concatenate([np.zeros(0), *values])).float(),
    }
    path = folder / exercise.assignment / f"{exercise.name}.stages.safetensors.gz"
    path.write_bytes(gzip.compress(save(tensors), mtime=0))


def _compute(
    exercise: Exercise, exercises: Mapping[str, Exercise]
) -> tuple[dict[str, Tensor], list[str]]:
    """Return the tensors of an exercise's file, and a phrase for each mutant's change."""
    tensors: dict[str, Tensor] = {}
    drawn = {seed: exercise.draw(seed) for seed in SEEDS}
    cases = {
        f"{seed}/{case.name}": (case, compute_expected(exercise, case))
        for seed in SEEDS
        for case in drawn[seed]
    }
    for key, (case, right) in cases.items():
        prefix = f"{key}/expected"
        outputs = dict(right.outputs)
        for name in case.random_outputs:  # a random text does not even have a fixed size
            outputs[name] = torch.zeros_like(
                outputs[name][:0] if name in case.non_tensors else outputs[name]
            )
        _keep(tensors, f"{prefix}/outputs", outputs, torch.float64)
        if not case.check_random_outputs:
            _keep(tensors, f"{prefix}/gradients", dict(right.gradients), torch.float64)
    exact = [(case, right) for case, right in cases.values() if not case.training_mode]
    for mistake in load_mistakes(exercise):
        trials = [
            Trial(case, torch.float64, right, run_case(mistake.code, exercise, case))
            for case, right in exact  # a mistake is recognised by its values in evaluation mode
        ]
        kept = {"values": [trial.fingerprint for trial in trials]}
        # Gradients identify a mistake only if its values are right.
        if all(t.difference is None or "gradient" in t.difference.kind for t in trials):
            kept["gradients"] = [trial.gradient_fingerprint for trial in trials]
        for kind, fingerprints in kept.items():
            tensors[f"{mistake.slug}/{kind}"] = torch.tensor(fingerprints, dtype=torch.float64)
    steady = [(case, right) for case, right in cases.values() if case.training_mode != "random"]
    first = [pair for pair in steady if any(pair[0] is c for c in drawn[SEEDS[0]])]
    mutants = compute_mutant_fingerprints(
        exercise, exercises, [c for c, _ in first], [right for _, right in first]
    )
    if mutants:
        rows = [fingerprints for _, fingerprints in mutants]
        tensors["mutants"] = torch.tensor(rows, dtype=torch.float64)
    return tensors, [phrase for phrase, _ in mutants]


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


def main(arguments: Sequence[str]) -> None:
    """Write the files of the named assignments or exercises, or of all if none is named."""
    from autograder.exercises import EXERCISES

    known = {*EXERCISES, *(exercise.assignment for exercise in EXERCISES.values())}
    recompute = "--all" in arguments
    asked = {name for name in arguments if not name.startswith("--")} or known
    if unknown := asked - known:
        sys.exit(f"There is no {', '.join(sorted(unknown))}: name assignments or exercises.")
    chosen = [e for e in EXERCISES.values() if {e.name, e.assignment} & asked]
    torch.set_num_threads(1)
    if "--stages" in arguments:
        for exercise in chosen:
            write_stages(exercise)
        return
    with ProcessPoolExecutor() as pool:
        try:
            done = [*pool.map(write, chosen, repeat(EXERCISES), repeat(FOLDER), repeat(recompute))]
        except CardError as error:
            sys.exit(str(error))
        computed = [exercise.name for exercise, stale in zip(chosen, done, strict=True) if stale]
    print(f"Recomputed: {', '.join(computed) or 'no values'}. Titles and hints are written.")


if __name__ == "__main__":
    main(sys.argv[1:])
