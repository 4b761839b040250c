"""Stock nbgrader, with its own preprocessors and kernel in place of the course's."""

from __future__ import annotations

from tests.conftest import ROOT


def settings() -> str:
    """Return the course's nbgrader_config.py without its grading and its feedback."""
    text = (ROOT / "nbgrader_config.py").read_text("utf-8")
    for ours in (
        "    configure(c)\n",
        "    c.GenerateFeedback.preprocessors.insert(2, HideOwnTracebacks)\n",
    ):
        assert text.count(ours) == 1
        text = text.replace(ours, "")
    return text
