"""Tests that the students' code works on Windows and macOS, or is skipped with a message."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = (
    "autograder",
    "coursekit",
    "solutions",
    "book/site",
    "experiments",
    "tools",
    "tests/answers",
    "tests/helpers",
)
CODE = [path for place in PLACES for path in sorted((ROOT / place).rglob("*.py"))]

# Imported only inside the sandbox, which is Linux.
IMPORTS = """
import importlib, pkgutil, sys
from tests.helpers.windows_emulation import pretend
pretend()
import autograder, coursekit, solutions
for package in (coursekit, autograder, solutions):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith(".__main__"):
            importlib.import_module(found.name)
import torch
from autograder import check
from solutions.bahdanau.scores import masked_softmax
check(masked_softmax)
try:
    check(lambda scores, mask: scores)
except Exception as error:
    print(type(error).__name__)
from autograder.instructor.grading.sandbox_launcher import Sandbox
from autograder.instructor.grading.bwrap_command import SandboxError
try:
    Sandbox(unsafe=True)
except SandboxError as error:
    print(error)
"""


def calls_without_an_encoding(source: str) -> Iterator[int]:
    """Yield the lines that read or write text in the machine's default encoding."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        options = {option.arg: option.value for option in node.keywords}
        if "encoding" in options:
            continue
        if (name == "read_text" and not node.args) or (
            name == "write_text" and len(node.args) == 1
        ):
            yield node.lineno
        elif name == "open" and isinstance(node.func, ast.Name):
            mode = node.args[1] if len(node.args) > 1 else options.get("mode")
            if not (isinstance(mode, ast.Constant) and "b" in str(mode.value)):
                yield node.lineno


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("path.read_text()", 1),
        ("path.read_text(encoding='utf-8')", 0),
        ("path.write_text(page)", 1),
        ("open(path)", 1),
        ("open(path, 'rb')", 0),
        ("open(path, mode='w')", 1),
        ("os.open(path, 0)", 0),
    ],
)
def test_the_search_finds_what_it_should(line, found):
    assert len(list(calls_without_an_encoding(line))) == found


def test_text_is_utf8_whatever_the_machine_says():
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{line}"
        for path in CODE
        for line in calls_without_an_encoding(path.read_text(encoding="utf-8"))
    ]
    assert found == [], "add encoding='utf-8'"


def test_everything_can_be_imported_and_checked_without_what_windows_lacks():
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.strip().splitlines()
    assert lines[-1] == "Grading needs Linux (or macOS, with --unsafe): on Windows, use WSL."


@pytest.mark.slow
def test_all_tests_can_be_collected_without_what_windows_lacks():
    command = [sys.executable, "-m", "pytest", "-p", "tests.helpers.windows_emulation"]
    done = subprocess.run(
        [*command, "--collect-only", "-q", "-p", "no:cacheprovider"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout[-3000:]
