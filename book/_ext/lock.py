"""Writes constraints.txt: the versions of all packages, those that were tested together.

A package that no longer knows the oldest Python which the course supports is pinned for the newer
ones only: on the older ones pip takes what it finds.
"""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

from packaging.specifiers import SpecifierSet

HEAD = "# All packages in the versions that were tested together; written by `make lock`.\n"
PYTHONS = [f"3.{minor}.{patch}" for minor in (10, 11, 12) for patch in range(20)]


def marker(wants: str) -> str:
    """Return what a requirement on Python leaves of the course's: "" if that is all of them.

    Some packages ask for a later 3.11 than the one that Debian 12 has, 3.11.2.
    """
    known = SpecifierSet(wants)
    first = next(version for version in PYTHONS if known.contains(version))
    minor, _, patch = first.rpartition(".")
    if first == PYTHONS[0]:
        return ""
    name, bound = ("python_version", minor) if patch == "0" else ("python_full_version", first)
    return f'; {name} >= "{bound}"'


def pinned(line: str) -> str:
    """Return a line of `pip freeze` as it stands in constraints.txt."""
    # torch==2.13.0+cpu: any build of that version will do
    line = re.sub(r"\+\w+$", "", line)
    wants = importlib.metadata.metadata(line.partition("==")[0]).get("Requires-Python")
    return line + marker(wants or "")


def main() -> None:
    """Freeze the environment without the project itself and without local build tags."""
    command = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    kept = [
        pinned(line)
        for line in done.stdout.splitlines()
        if "==" in line and not line.startswith(("attention-course", "pip=", "setuptools="))
    ]
    # In an order of our own: pip's differs from version to version.
    page = HEAD + "\n".join(sorted(kept, key=str.lower)) + "\n"
    (Path(__file__).resolve().parents[2] / "constraints.txt").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
