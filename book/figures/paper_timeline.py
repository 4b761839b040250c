"""Figure: the papers of the course and the later papers, in chronological order."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coursekit.data.papers import LATER_PAPERS, PAPERS, Paper
from coursekit.plots import style


def draw() -> Figure:
    """Draw the papers of the course on the left and the later ones on the right, oldest on top."""
    rows = max(len(PAPERS), len(LATER_PAPERS))
    size = (7.0, 0.4 * rows + 0.4)
    figure, panels = plt.subplots(1, 2, figsize=size, dpi=96, layout="constrained")  # mostly text
    for axes, entries, title, colour in (
        (panels[0], PAPERS, "the course", style.SERIES[0]),
        (panels[1], LATER_PAPERS, "what came after", style.SERIES[1]),
    ):
        axes.set_xlim(-0.32, 1)
        axes.set_ylim(rows - 0.4, -0.6)
        axes.set_axis_off()
        axes.set_title(title)
        _column(axes, entries, colour)
    return figure


def _column(axes: Axes, entries: Sequence[Paper], colour: str) -> None:
    axes.plot([0, 0], [0, len(entries) - 1], color=style.LIGHT["line"], linewidth=2, zorder=1)
    axes.scatter([0] * len(entries), range(len(entries)), color=colour, s=30, zorder=2)
    for row, entry in enumerate(entries):
        muted = style.LIGHT["muted"]
        axes.text(-0.05, row, entry.date, ha="right", va="center", fontsize=9, color=muted)
        axes.text(0.05, row - 0.17, entry.idea, va="center", weight="bold", fontsize=8.5)
        axes.text(0.05, row + 0.2, entry.reference, va="center", fontsize=7.5)
