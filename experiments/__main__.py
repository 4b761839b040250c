"""Run the experiments that the book reports, and record their results in book/results.

    python -m experiments --list [PREFIX]    list all recorded runs, or those that begin with PREFIX
    python -m experiments --all [PREFIX]     repeat them one after the other; takes a day on a CPU
    python -m experiments RUN [OPTIONS]      repeat one run; OPTIONS override the recorded ones
    python -m experiments PROGRAM [OPTIONS]  run a program with other settings
    python -m experiments PROGRAM --help     show its options
    python -m experiments RUN --seeds 1 2 3 --jobs 3
                                             train the seeds, and the rows of a comparison, in
                                             parallel, each in its own process

A run has the name of the file that it writes: python -m experiments han.imdb
After an interruption, the same command resumes after the last finished epoch. Its checkpoints are
in _build/runs until the run is complete.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import product
from pathlib import Path

from coursekit.training.checkpoints import save_checkpoints_to
from coursekit.training.results import merge_results, write_results_to

from .run_registry import ENTRY, PROGRAMS, RUNS, load

STOPPED = Path("_build", "runs")


def train_side_by_side(
    said: list[str], seeds: list[int], rows: list[str], jobs: int, folder: Path
) -> None:
    """Train each seed, and each row of a comparison, in its own process; merge their records.

    `jobs` processes run at a time. What was recorded in `folder` before an interruption is not
    trained again.
    """

    def train_one(part: tuple[int, list[str]]) -> Path:
        seed, chosen = part
        into = folder / "-".join([f"seed-{seed}", *chosen])
        if not any(into.glob("*.json")):
            words = [*said, "--seeds", str(seed), "--into", str(into)]
            if chosen:
                words += ["--rows", *chosen]
            subprocess.run([sys.executable, "-m", "experiments", *words], check=True, env=alone)
        return into

    threads = max(1, (os.cpu_count() or 1) // jobs)  # of each process
    alone = os.environ | {"OMP_NUM_THREADS": str(threads)}

    with ThreadPoolExecutor(jobs) as pool:
        chosen = [[row] for row in rows] or [[]]
        parts = list(pool.map(train_one, product(seeds, chosen)))
    for name in sorted(path.name for path in parts[0].glob("*.json")):
        one = json.loads((parts[0] / name).read_text(encoding="utf-8"))["command"]
        without = re.sub(r" --(seeds|rows)( (?!--)\S+)+", "", one)
        command = f"{without} --seeds {' '.join(map(str, seeds))}"
        merge_results([part / name for part in parts], command, min(jobs, len(parts)))


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    match arguments:
        case ["--list" | "--all" as what, *prefix] if len(prefix) <= 1:
            for run in [name for name in RUNS if name.startswith("".join(prefix))]:
                print(f"{run:34} {ENTRY} {RUNS[run]}", flush=True)
                if what == "--all":  # each in its own process, to free its memory
                    subprocess.run([sys.executable, "-m", "experiments", run], check=True)
        case [name, *options] if name in RUNS or name in PROGRAMS:
            program, *recorded = RUNS.get(name, name).split()
            module = load(program)
            parser = module.parser()
            parser.prog = f"{ENTRY} {name}"
            ways = argparse.ArgumentParser(add_help=False)
            ways.add_argument("--jobs", type=int, default=1)
            ways.add_argument("--into", type=Path)
            how, options = ways.parse_known_args(options)
            said = [program, *recorded, *options]
            parsed = parser.parse_args(said[1:])
            folder = STOPPED / re.sub(r"[^\w.-]+", "_", " ".join(said))
            with write_results_to(how.into) if how.into else nullcontext():
                if how.jobs > 1:
                    rows = getattr(parsed, "rows", [])
                    train_side_by_side(said, parsed.seeds, rows, how.jobs, folder)
                else:
                    with save_checkpoints_to(folder):
                        module.main(parsed)
            shutil.rmtree(folder, ignore_errors=True)
        case _:
            print(f"{__doc__}\nPrograms: {', '.join(PROGRAMS)}.")
            return 0 if list(arguments) in ([], ["--help"], ["-h"]) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
