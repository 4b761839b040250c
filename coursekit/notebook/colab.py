"""Setup of the course in Google Colab, called by the first cell of the published notebooks."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def prepare(folder: str | Path) -> None:
    """Install the missing dependencies of the course and enable its explorers in Colab.

    Colab's torch is kept: it matches the machine's GPU, and another one would be a download of
    gigabytes. Other packages that are new enough are kept, too.

    Args:
        folder: folder of the course's files.

    Raises:
        SystemExit: pip failed; the message says what to do.
    """
    with tempfile.TemporaryDirectory() as scratch:
        kept = Path(scratch) / "kept.txt"
        kept.write_text(f"torch=={importlib.metadata.version('torch')}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "-e", str(folder)]
        installed = subprocess.run(command, env=os.environ | {"PIP_CONSTRAINT": str(kept)})
    if installed.returncode:
        raise SystemExit(
            "The course's dependencies could not be installed: see pip's message above, choose "
            "Runtime > Disconnect and delete runtime, and run this cell again."
        )
    importlib.invalidate_caches()  # makes the new packages importable
    _allow_widgets()


def _allow_widgets() -> None:
    """Enable third-party widgets, which Colab does not show by default."""
    try:
        output = importlib.import_module("google.colab.output")
    except ImportError:
        return
    output.enable_custom_widget_manager()
