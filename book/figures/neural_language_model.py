"""Figure: the neural language model of 2003, with look-up, hidden layer and softmax."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

INK, MUTED = style.LIGHT["ink"], style.LIGHT["muted"]
BLUE, ORANGE, GREEN = style.SERIES[:3]
WORDS, PLACES = ("when", "the", "brave", "dog"), (0.5, 1.35, 2.2, 3.05)  # all lengths in inches
MIDDLE, CELL = 1.775, 0.18
# Illustrative bars; the heights only show that some words are more likely than others.
BARS = (0.10, 0.22, 0.07, 0.95, 0.14, 0.55, 0.08, 0.30, 0.06, 0.12, 0.40, 0.09)
_box = partial(box, height=0.36, rounding=0.07)
_arrow = partial(arrow, width=1.4, head=10)


def draw() -> Figure:
    """Draw four context words, their vectors, the hidden layer and the scores of the next word."""
    figure, axes = plt.subplots(figsize=(4.7, 5.3), layout="constrained")
    axes.set_xlim(0, 4.6)
    axes.set_ylim(0, 5.2)
    axes.axis("off")
    _look_up(axes)
    _text(axes, MIDDLE, 1.8, "$x$: side by side", 11)
    _arrow(axes, (MIDDLE, 1.95), (MIDDLE, 2.3), MUTED)
    _text(axes, MIDDLE + 0.1, 2.12, "$H$, $d$", 11, "left")
    _box(axes, MIDDLE, 2.5, "tanh: $h$ hidden units", GREEN, width=2.0)
    _arrow(axes, (MIDDLE, 2.7), (MIDDLE, 3.15), MUTED)
    _text(axes, MIDDLE + 0.1, 2.92, "$U$", 11, "left")
    _box(axes, MIDDLE, 3.35, "$y$: one score for each of $V$ words", ORANGE, width=3.2)
    # The direct connections bypass the hidden layer.
    _arrow(axes, (3.2, 1.65), (3.2, 3.15), BLUE, dashed=True)
    _text(axes, 3.32, 2.4, "$W$: direct\nconnections", 10, "left")
    _arrow(axes, (MIDDLE, 3.55), (MIDDLE, 3.95), MUTED)
    _text(axes, MIDDLE + 0.1, 3.75, "softmax", 10, "left")
    for i, height in enumerate(BARS):
        x = MIDDLE + 0.26 * (i - len(BARS) / 2)
        colour = ORANGE if i == 3 else style.LIGHT["line"]
        axes.add_patch(Rectangle((x, 4.05), 0.19, 0.75 * height, color=colour))
    _text(axes, 1.09, 4.95, "runs", 11)
    _text(axes, 2.75, 4.9, r"$p(w_t\mid w_{t-4},\dots,w_{t-1})$", 12)
    return figure


def _look_up(axes: Axes) -> None:
    """Draw the words, their vectors, and the bracket that puts the vectors side by side."""
    for before, (word, x) in enumerate(zip(reversed(WORDS), reversed(PLACES), strict=True), 1):
        _text(axes, x, 0.13, word, 11)
        _arrow(axes, (x, 0.3), (x, 0.8), MUTED)
        for cell in range(4):  # the numbers of one vector
            left = x + CELL * (cell - 2)
            axes.add_patch(Rectangle((left, 0.83), CELL, CELL, fill=False, ec=BLUE, lw=1.6))
        _text(axes, x, 1.22, rf"$C(w_{{t-{before}}})$", 11)
    _text(axes, 3.4, 0.55, "the same table\n$C$ for all four", 10, "left", MUTED)
    left, right, y = PLACES[0] - 2 * CELL, PLACES[-1] + 2 * CELL, 1.55
    axes.plot([left, left, right, right], [y - 0.07, y, y, y - 0.07], color=MUTED, lw=1.3)


def _text(
    axes: Axes, x: float, y: float, text: str, size: float, side: str = "center", colour: str = INK
) -> None:
    axes.text(x, y, text, ha=side, va="center", fontsize=size, color=colour)
