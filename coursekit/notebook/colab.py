"""Sets up the course in Google Colab; the published notebooks' first cell calls it."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def prepare(folder: str | Path) -> None:
    """Install what the course needs and the machine lacks, and let Colab show our explorers.

    Colab's torch stays as it is: it fits the machine's GPU, and another one would be a download of
    gigabytes. What is installed already and new enough stays, too.

    Args:
        folder: of the course's files.

    Raises:
        SystemExit: pip failed; the sentence says what to do.
    """
    with tempfile.TemporaryDirectory() as scratch:
        kept = Path(scratch) / "kept.txt"
        kept.write_text(f"torch=={importlib.metadata.version('torch')}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "-e", str(folder)]
        installed = subprocess.run(command, env=os.environ | {"PIP_CONSTRAINT": str(kept)})
    if installed.returncode:
        raise SystemExit(
            "What the course needs could not be installed: look at pip's message above, choose "
            "Runtime > Disconnect and delete runtime, and run this cell again."
        )
    importlib.invalidate_caches()  # what was installed just now can be imported
    _allow_widgets()


def _allow_widgets() -> None:
    """Colab shows widgets that it does not know only when it is told to."""
    try:
        output = importlib.import_module("google.colab.output")
    except ImportError:
        return
    output.enable_custom_widget_manager()
