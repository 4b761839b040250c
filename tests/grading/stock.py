"""nbgrader as it comes: its own preprocessors, its own kernel, in place of the course's."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import ROOT

_OURS = "    configure(c)\n"


def use(folder: Path) -> None:
    """Take the course's grading out of the nbgrader_config.py of a course folder."""
    text = (ROOT / "nbgrader_config.py").read_text("utf-8")
    assert text.count(_OURS) == 1
    (folder / "nbgrader_config.py").write_text(text.replace(_OURS, ""), "utf-8")
