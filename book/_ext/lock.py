"""Writes constraints.txt: the versions of all packages, those that were tested together."""

import re
import subprocess
import sys
from pathlib import Path

HEAD = "# All packages in the versions that were tested together; written by `make lock`.\n"


def main() -> None:
    """Freeze the environment without the project itself and without local build tags."""
    command = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    kept = [
        re.sub(r"\+\w+$", "", line)  # torch==2.13.0+cpu: any build of that version will do
        for line in lines
        if "==" in line and not line.startswith(("attention-course", "pip=", "setuptools="))
    ]
    page = HEAD + "\n".join(kept) + "\n"
    (Path(__file__).resolve().parents[2] / "constraints.txt").write_text(page)


if __name__ == "__main__":
    main()
