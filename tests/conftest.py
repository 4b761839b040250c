"""Shared fixtures: a course in its own folder, with stock nbgrader."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The same examples on every machine and in every run, whatever Hypothesis's defaults for CI.
settings.register_profile("course", derandomize=True, deadline=None, database=None)
settings.load_profile("course")

# Files whose exercises or pages may be distributed over several processes.
DEALT = ("test_answers.py", "test_mutation.py", "test_pages.py", "test_accessibility.py")
ROOT = Path(__file__).resolve().parent.parent
needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed (apt install bubblewrap)"
)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that need the real data if there is none."""
    if item.get_closest_marker("real_data") and not os.environ.get("COURSEKIT_DATA"):
        pytest.skip("COURSEKIT_DATA names no folder with the real data")


@pytest.fixture(autouse=True)
def _same_chance() -> None:
    """Seed each test, so that its random numbers do not depend on other tests or on the worker."""
    random.seed(1)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(1)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(1)


@dataclass(frozen=True)
class Course:
    """A copy of the course's masters and nbgrader settings; the packages are installed."""

    folder: Path

    def nbgrader(self, *arguments: str) -> str:
        """Run a stock nbgrader command in the folder and return what it logged."""
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments],
            cwd=self.folder,
            env=os.environ
            | {
                "PATH": os.defpath,  # as in a shell without an activated environment
                "OMP_NUM_THREADS": "1",
                "JUPYTER_CONFIG_DIR": str(self.folder / "no-settings-of-the-user"),
            },
            capture_output=True,
            text=True,
        )
        log = done.stdout + done.stderr
        assert done.returncode == 0, log
        return log


def copy_course(folder: Path) -> Course:
    """Copy the masters, without generated notebooks, and nbgrader's settings."""
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    shutil.copytree(
        ROOT / "solutions",
        folder / "solutions",
        ignore=shutil.ignore_patterns("*.ipynb", "__pycache__", ".ipynb_checkpoints"),
    )
    return Course(folder)


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a course whose assignments are all released."""
    from autograder.exercises import EXERCISES
    from autograder.instructor.nbgrader.release import release

    course = copy_course(tmp_path_factory.mktemp("course"))
    release(EXERCISES, course.folder / "exercises")
    return course


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process, except for those of distributed files."""
    from xdist.scheduler import LoadFileScheduling

    class ByFileAndExercise(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            scope = super()._split_scope(nodeid)
            if scope.endswith(DEALT) and "[" in nodeid:
                return f"{scope} {re.split(r'[][-]', nodeid)[1]}"
            return scope

    return ByFileAndExercise(config, log) if config.getoption("dist") == "loadfile" else None
