"""Writes `exercises/` anew with nbgrader, in a throw-away course: no gradebook is touched.

python -m autograder.instructor.release [ASSIGNMENT ...]
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from autograder.instructor.fixtures import assignments
from autograder.instructor.notebooks import ROOT, masters, notebook

RELEASED = ROOT / "exercises"


def release(destination: Path = RELEASED, names: Sequence[str] = ()) -> None:
    """Write the students' notebooks into `destination`.

    Args:
        destination: gets a folder for each assignment.
        names: of the assignments; all of them unless given.

    Raises:
        ValueError: a master is faulty.
        RuntimeError: nbgrader failed; its last lines are in the message.
    """
    for master in masters():
        notebook(master)  # what is wrong with one is said here, without nbgrader's log around it
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder)
        shutil.copy(ROOT / "nbgrader_config.py", course)
        for assignment in names or assignments():
            shutil.copytree(
                ROOT / "solutions" / assignment,
                course / "solutions" / assignment,
                ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"),
            )
        for assignment in names or assignments():
            command = [sys.executable, "-m", "nbgrader", "generate_assignment", assignment]
            done = subprocess.run(
                command,
                cwd=course,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
            if done.returncode:
                raise RuntimeError(
                    f"nbgrader generate_assignment {assignment} failed:\n"
                    + "\n".join(done.stderr.splitlines()[-15:])
                )
            target = destination / assignment
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(course / "exercises" / assignment, target)


if __name__ == "__main__":
    try:
        release(names=sys.argv[1:])
    except (ValueError, RuntimeError) as error:
        sys.exit(str(error))
