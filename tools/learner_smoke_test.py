"""Smoke test of checks and chapters with the installed package versions.

    python -m tools.learner_smoke_test [--chapters] [FOLDER]

The reference answers of all exercises must pass their checks. With --chapters the notebooks of the
chapters in FOLDER (_build/notebooks, see `make notebooks`) are run as well, which needs nbclient
and ipykernel.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

from autograder.checking.checker import verify
from autograder.exercises import EXERCISES

NOTEBOOKS = Path(__file__).resolve().parents[1] / "_build" / "notebooks"


def exercises() -> list[str]:
    """Return the reference answers that fail their checks, with reasons."""
    wrong = []
    for name, exercise in EXERCISES.items():
        module = importlib.import_module(f"solutions.{exercise.assignment}.{exercise.notebook}")
        verdict = verify(getattr(module, name), exercise)
        if not verdict.passed:
            wrong.append(f"{exercise.assignment}/{exercise.notebook}: {name}: {verdict.headline}")
    return wrong


def chapters(folder: Path) -> list[str]:
    """Run the chapters' notebooks one after the other; return their errors."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    wrong = []
    notebooks = sorted((folder / "book").glob("[0-9][0-9]_*.ipynb"))
    if not notebooks:
        return [f"There is no chapter in {folder / 'book'}: run make notebooks first."]
    for path in notebooks:
        started = time.perf_counter()
        try:
            NotebookClient(
                nbformat.read(path, 4),
                timeout=900,
                kernel_name="python3",
                resources={"metadata": {"path": str(path.parent)}},
            ).execute()
        except CellExecutionError as error:
            wrong.append(f"{path.name}: {error.ename}: {error.evalue}")
        print(f"{time.perf_counter() - started:8.0f} s   {path.name}", flush=True)
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """Print all failures; return 1 if there are any."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.learner_smoke_test", description=main.__doc__
    )
    parser.add_argument("folder", nargs="?", type=Path, default=NOTEBOOKS)
    parser.add_argument("--chapters", action="store_true")
    given = parser.parse_args(arguments)
    wrong = exercises()
    print(f"{len(EXERCISES)} exercises, {len(wrong)} wrong")
    if given.chapters:
        wrong += chapters(given.folder)
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
