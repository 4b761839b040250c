"""Figure: the course's papers on a time axis, in four columns by what becomes a vector."""

from __future__ import annotations

from textwrap import wrap

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from coursekit.data.papers import PAPERS
from coursekit.plots import style

COLUMNS = {
    "a word:\none vector": ("bengio2003", "mikolov2013b"),
    "a sentence:\none vector": ("cho2014", "sutskever2014"),
    "many vectors,\nto choose\nfrom": (
        "bahdanau2015",
        "xu2015",
        "luong2015",
        "yang2016",
        "lin2017",
    ),
    "attention\nalone": ("vaswani2017", "devlin2019"),
}
# Papers without their own chapter, mentioned in the first: column, date, idea, authors.
BESIDE = (
    (0, 2013 + 0.5 / 12, "Skip-gram", "Mikolov et al. (a)"),
    (0, 2016 + 6.5 / 12, "Subword vectors", "Bojanowski et al."),
    (3, 2018 + 5.5 / 12, "GPT", "Radford et al."),
)
BREAK = 2012.5  # the axis is broken here: only 2003 is earlier
PLACES = (0.0, 1.215, 2.355, 3.49)  # x of the columns
END = 4.49  # x where the lines of the years end
LINE = 0.175  # height of a line of text, in years
GAP = 0.1  # between two labels, in years
CHARACTERS = 14  # in a line of text


def draw() -> Figure:
    """Draw the four columns side by side, with time running downwards."""
    ink, muted, line = (style.LIGHT[name] for name in ("ink", "muted", "line"))
    figure, axes = plt.subplots(figsize=(4.85, 7.4), layout="constrained")
    axes.set_xlim(-0.4, END)
    axes.set_ylim(6.7, -1.65)
    axes.axis("off")
    for year in range(2013, 2020):
        y = _place(year)
        axes.plot([-0.06, END], [y, y], color=line, linewidth=0.6, zorder=0)
        axes.text(-0.1, y, str(year), ha="right", va="center", fontsize=9, color=muted)
    axes.text(-0.1, _place(2003), "2003", ha="right", va="center", fontsize=9, color=muted)
    axes.text(-0.1, -0.05, "...", ha="right", va="center", fontsize=9, color=muted)
    by_key = {entry.key: entry for entry in PAPERS}
    for column, (heading, keys) in enumerate(COLUMNS.items()):
        x = PLACES[column]
        axes.text(x, -1.02, heading, va="bottom", weight="bold", fontsize=9.5, color=ink)
        axes.plot([x, x], [-0.95, 6.6], color=line, linewidth=1.2, zorder=1)
        marks = [
            (
                e.appeared.year + (e.appeared.month - 1 + e.appeared.day / 31) / 12,
                e.idea,
                e.authors,
                True,
            )
            for e in (by_key[key] for key in keys)
        ]
        marks += [(when, idea, who, False) for c, when, idea, who in BESIDE if c == column]
        _column(axes, x, sorted(marks), style.SERIES[column])
    return figure


def _place(when: float) -> float:
    return when - BREAK if when > BREAK else -0.6


def _column(axes: Axes, x: float, marks: list[tuple[float, str, str, bool]], colour: str) -> None:
    """Draw the papers of a column; overlapping labels are moved apart, but not the dots."""
    dots = [_place(when) for when, *_ in marks]
    ideas = [wrap(idea, CHARACTERS) for _, idea, *_ in marks]
    heights = [LINE * (len(idea) + 1) for idea in ideas]  # with the line of the authors
    centres = list(dots)
    for i in range(1, len(centres)):
        missing = (heights[i - 1] + heights[i]) / 2 + GAP - (centres[i] - centres[i - 1])
        if missing > 0:
            centres[i - 1] -= missing / 2
            centres[i] += missing / 2
    ink, muted, paper = (style.LIGHT[name] for name in ("ink", "muted", "paper"))
    halo = [withStroke(linewidth=3, foreground=paper)]  # separates the text from the year lines
    for dot, centre, idea, mark in zip(dots, centres, ideas, marks, strict=True):
        _, _, authors, followed = mark
        face = colour if followed else paper
        axes.plot(x, dot, "o", markersize=7, color=face, mec=colour, mew=1.8, zorder=4)
        for i, text in enumerate([*idea, authors]):
            axes.text(
                x + 0.09,
                centre + LINE * (i - len(idea) / 2),
                text,
                va="center",
                fontsize=9,
                color=muted if i == len(idea) else ink,
                path_effects=halo,
                zorder=3,
            )
