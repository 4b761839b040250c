"""Train or measure what the book reports, and record it in book/results.

    python -m book.runs --list [PREFIX]     all recorded runs, or those whose name begins so
    python -m book.runs --all [PREFIX]      repeat them one after the other; all take a day on a CPU
    python -m book.runs RUN [OPTIONS]       repeat one; options that are given go before its own
    python -m book.runs PROGRAM [OPTIONS]   run a program with other settings
    python -m book.runs PROGRAM --help      its options

A run is called as the file that it writes: python -m book.runs han.imdb
If a run is stopped, the same command goes on after the last epoch that it finished; what it needs
for that lies in _build/runs until it is through.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from coursekit.training.checkpoints import save_checkpoints_to

from .commands import ENTRY, PROGRAMS, RUNS, load

STOPPED = Path("_build", "runs")


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; return the exit status."""
    match arguments:
        case ["--list" | "--all" as what, *prefix] if len(prefix) <= 1:
            for run in [name for name in RUNS if name.startswith("".join(prefix))]:
                print(f"{run:34} {ENTRY} {RUNS[run]}", flush=True)
                if what == "--all":  # each in a process of its own, so that none keeps memory
                    subprocess.run([sys.executable, "-m", "book.runs", run], check=True)
        case [name, *options] if name in RUNS or name in PROGRAMS:
            program, *recorded = RUNS.get(name, name).split()
            module = load(program)
            parser = module.parser()
            parser.prog = f"{ENTRY} {name}"
            said = [program, *recorded, *options]
            folder = STOPPED / re.sub(r"[^\w.-]+", "_", " ".join(said))
            with save_checkpoints_to(folder):
                module.main(parser.parse_args(said[1:]))
            shutil.rmtree(folder, ignore_errors=True)
        case _:
            print(f"{__doc__}\nPrograms: {', '.join(PROGRAMS)}.")
            return 0 if list(arguments) in ([], ["--help"], ["-h"]) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
