"""Writes constraints.txt: the versions of all packages, those that were tested together.

A package that no longer knows the oldest Python which the course supports is pinned for the newer
ones only: there pip takes what it finds.
"""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

from packaging.specifiers import SpecifierSet

HEAD = "# All packages in the versions that were tested together; written by `make lock`.\n"
OLDEST, NEXT = "3.10", "3.11"


def pinned(line: str) -> str:
    """Return a line of `pip freeze` as it stands in constraints.txt."""
    # torch==2.13.0+cpu: any build of that version will do
    line = re.sub(r"\+\w+$", "", line)
    wants = importlib.metadata.metadata(line.partition("==")[0]).get("Requires-Python")
    if wants and not SpecifierSet(wants).contains(f"{OLDEST}.99"):
        line += f'; python_version >= "{NEXT}"'
    return line


def main() -> None:
    """Freeze the environment without the project itself and without local build tags."""
    command = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    kept = [
        pinned(line)
        for line in done.stdout.splitlines()
        if "==" in line and not line.startswith(("attention-course", "pip=", "setuptools="))
    ]
    page = HEAD + "\n".join(kept) + "\n"
    (Path(__file__).resolve().parents[2] / "constraints.txt").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
