"""constraints.txt: which Pythons a pin is for."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import lock  # noqa: E402

PINS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize(
    ("wants", "said"),
    [
        ("", ""),
        (">=3.8", ""),
        (">=3.10,!=3.14.1", ""),
        (">=3.11", '; python_version >= "3.11"'),
        ("!=3.14.1,>=3.11", '; python_version >= "3.11"'),
        (">=3.11.5", '; python_full_version >= "3.11.5"'),
        (">=3.12", '; python_version >= "3.12"'),
    ],
)
def test_a_pin_is_for_the_pythons_that_the_package_knows(wants, said):
    assert lock.marker(wants) == said


def test_no_pin_is_for_a_python_that_its_package_refuses():
    """Debian 12 has 3.11.2: pip refuses all of constraints.txt if one pin cannot be had there."""
    seen = 0
    for pin in PINS:
        try:
            about = importlib.metadata.metadata(pin.name)
        except importlib.metadata.PackageNotFoundError:
            continue  # only in an environment that was asked for more
        if not pin.specifier.contains(about["Version"]):
            continue  # an environment of the newest versions
        seen += 1
        for python in ("3.10.0", "3.10.12", "3.11.0", "3.11.2", "3.11.7", "3.12.3"):
            version = ".".join(python.split(".")[:2])
            where = {"python_full_version": python, "python_version": version}
            if pin.marker is None or pin.marker.evaluate(where):
                assert SpecifierSet(about.get("Requires-Python") or "").contains(python), pin
    assert seen
