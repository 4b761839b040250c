"""Figure: the neural language model of 2003, with look-up, hidden layer and softmax."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

_box = partial(box, height=0.8, rounding=0.15)
_arrow = partial(arrow, width=1.4)


def draw() -> Figure:
    """Draw four context words, their vectors, the hidden layer and the scores of the next word."""
    ink, muted = style.LIGHT["ink"], style.LIGHT["muted"]
    blue, orange, green = style.SERIES[0], style.SERIES[1], style.SERIES[2]
    figure, axes = plt.subplots(figsize=(6.6, 5.2), layout="constrained")
    axes.set_xlim(0, 13)
    axes.set_ylim(0, 10.0)
    axes.axis("off")
    words, places = ["when", "the", "brave", "dog"], [1.6, 4.2, 6.8, 9.4]
    for word, x, k in zip(words, places, (4, 3, 2, 1), strict=True):
        axes.text(x, 0.4, word, ha="center", va="center", fontsize=12, color=ink)
        _arrow(axes, (x, 0.8), (x, 1.75), muted)
        for cell in range(4):  # the numbers of one vector
            axes.add_patch(
                Rectangle((x - 1.0 + 0.5 * cell, 1.8), 0.5, 0.5, fill=False, ec=blue, lw=1.6)
            )
        axes.text(x, 2.68, rf"$C(w_{{t-{k}}})$", ha="center", va="center", fontsize=11, color=ink)
    axes.text(10.6, 1.3, "the same table $C$\nfor all four", va="center", fontsize=9, color=muted)
    _bracket(axes, 0.5, 10.5, 3.15, muted)
    axes.text(5.5, 3.62, "$x$: side by side", ha="center", va="center", fontsize=11, color=ink)
    _arrow(axes, (5.5, 3.95), (5.5, 4.75), muted)
    axes.text(5.75, 4.35, "$H$, $d$", va="center", fontsize=11, color=ink)
    _box(axes, 5.5, 5.2, "tanh: $h$ hidden units", green, width=4.2)
    _arrow(axes, (5.5, 5.6), (5.5, 6.55), muted)
    axes.text(5.75, 6.05, "$U$", va="center", fontsize=11, color=ink)
    _box(axes, 5.5, 7.0, "$y$: one score for each of $V$ words", orange, width=9.0)
    # The direct connections bypass the hidden layer.
    _arrow(axes, (9.6, 3.3), (9.2, 6.55), blue, dashed=True)
    axes.text(9.75, 4.85, "$W$: direct\nconnections", va="center", fontsize=10, color=ink)
    _arrow(axes, (5.5, 7.4), (5.5, 8.1), muted)
    axes.text(5.75, 7.75, "softmax", va="center", fontsize=10, color=ink)
    # Illustrative bars; the heights only show that some words are more likely than others.
    heights = (0.10, 0.22, 0.07, 0.95, 0.14, 0.55, 0.08, 0.30, 0.06, 0.12, 0.40, 0.09)
    for i, height in enumerate(heights):
        colour = orange if i == 3 else style.LIGHT["line"]
        axes.add_patch(Rectangle((1.4 + 0.7 * i, 8.3), 0.5, height, color=colour))
    axes.text(3.75, 9.5, "runs", ha="center", va="center", fontsize=12, color=ink)
    axes.text(
        7.3,
        9.6,
        r"$p(w_t\mid w_{t-4},\dots,w_{t-1})$",
        ha="center",
        va="center",
        fontsize=11,
        color=ink,
    )
    return figure


def _bracket(axes: Axes, left: float, right: float, y: float, colour: str) -> None:
    axes.plot([left, left, right, right], [y - 0.12, y, y, y - 0.12], color=colour, lw=1.3)
