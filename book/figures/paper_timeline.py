"""Figure: the papers of the course and the later papers, in chronological order."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coursekit.data.papers import LATER_PAPERS, PAPERS, Paper
from coursekit.plots import style

CHARACTERS = 22  # in a line of a paper's idea
LINE = 0.235  # height of a paper with one line, in inches
SECOND = 0.65  # height of each further line, in such lines
DATE, DOT, IDEA = 0.15, 0.175, 0.2  # x of the dates' end, of the dots and of the ideas' start
GROUPS = (
    ("the course", PAPERS, style.SERIES[0]),
    ("what came after", LATER_PAPERS, style.SERIES[1]),
)


def draw() -> Figure:
    """Draw the papers of the course above the later ones, oldest on top."""
    heights = [sum(_height(entry) for entry in entries) for _, entries, _ in GROUPS]
    figure, panels = plt.subplots(
        2, 1, figsize=(4.7, LINE * sum(heights) + 0.6), height_ratios=heights, layout="constrained"
    )
    for axes, height, (title, entries, colour) in zip(panels, heights, GROUPS, strict=True):
        axes.set_xlim(0, 1)
        axes.set_ylim(height, 0)
        axes.set_axis_off()
        axes.set_title(title)
        _column(axes, entries, colour)
    return figure


def _column(axes: Axes, entries: Sequence[Paper], colour: str) -> None:
    """Draw a row for each paper: date, dot, idea, and at the right the reference."""
    muted = style.LIGHT["muted"]
    top, dots = 0.0, []
    for entry in entries:
        y = top + _height(entry) / 2
        axes.text(DATE, y, entry.date, ha="right", va="center", fontsize=9, color=muted)
        axes.text(
            IDEA,
            y,
            "\n".join(_lines(entry)),
            va="center",
            weight="bold",
            fontsize=9,
            linespacing=1.15,
        )
        axes.text(1, y, entry.reference, ha="right", va="center", fontsize=9)
        dots.append(y)
        top += _height(entry)
    axes.plot([DOT] * 2, [dots[0], dots[-1]], color=style.LIGHT["line"], linewidth=2, zorder=1)
    axes.scatter([DOT] * len(dots), dots, color=colour, s=24, zorder=2)


def _lines(entry: Paper) -> list[str]:
    return wrap(entry.idea, CHARACTERS, break_on_hyphens=False)


def _height(entry: Paper) -> float:
    """Return the height of a paper's text, in lines."""
    return 1 + SECOND * (len(_lines(entry)) - 1)
