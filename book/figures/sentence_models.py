"""Figure: two sentence classifiers, with one weighted average and with several."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
MUTED = style.LIGHT["muted"]
WORDS = ("it", "was", "not", "good")
PLACES = (0.5, 1.4, 2.3, 3.2)  # of the words; all lengths are in inches
MIDDLE, SIDE = 1.85, 3.75  # places of the sum, and of the labels beside the weights
STATES, WEIGHTS = 0.95, 1.85  # heights of the states, and of the lower edge of the weights
CELL, ROW = 0.9, 0.3  # size of a weight
HOPS = ((0.05, 0.05, 0.75, 0.15), (0.05, 0.1, 0.1, 0.75), (0.7, 0.2, 0.05, 0.05))
_box = partial(box, width=0.54, height=0.36, rounding=0.07, size=12)
_arrow = partial(arrow, head=10)


def draw() -> Figure:
    """Draw attention with the final state as query, above structured self-attention."""
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(4.75, 8.6), height_ratios=(4.4, 4.65), layout="constrained"
    )
    for axes, title, top in (
        (above, "one question: the final state asks", 4.35),
        (below, "several questions: the rows of $W_{s2}$ ask", 4.6),
    ):
        axes.set_xlim(0, 4.66)
        axes.set_ylim(-0.05, top)
        axes.axis("off")
        axes.set_title(title)
        _states(axes)
    _one(above)
    _several(below)
    return figure


def _states(axes: Axes) -> None:
    """Draw the words and, above them, the BiLSTM's states, connected in both directions."""
    for j, (x, word) in enumerate(zip(PLACES, WORDS, strict=True), start=1):
        axes.text(x, 0.12, word, ha="center", va="center", fontsize=11, style="italic")
        _arrow(axes, (x, 0.27), (x, STATES - 0.2), MUTED)
        _arrow(axes, (x, STATES + 0.2), (x, WEIGHTS - 0.03), MUTED)
        _box(axes, x, STATES, f"$h_{j}$", BLUE)
    for x, following in pairwise(PLACES):
        for start, end in ((x + 0.29, following - 0.29), (following - 0.29, x + 0.29)):
            _arrow(axes, (start, STATES), (end, STATES), BLUE, width=1.2, head=8)


def _weights(axes: Axes, y: float, weights: Sequence[float]) -> None:
    """Draw a row of weights, one for each word."""
    for x, weight in zip(PLACES, weights, strict=True):
        axes.add_patch(
            Rectangle(
                (x - CELL / 2, y),
                CELL,
                ROW,
                facecolor=style.ATTENTION(weight),
                edgecolor=style.LIGHT["line"],
            )
        )


def _one(axes: Axes) -> None:
    """Draw the query from both ends of the text, the scores, softmax, weights and sum."""
    weights, total = (0.05, 0.05, 0.5, 0.4), 2.95
    asks = (4.15, 1.42)
    _box(axes, *asks, "$q$", GREEN)
    _arrow(axes, (PLACES[-1] + 0.29, STATES + 0.08), (asks[0] - 0.24, asks[1] - 0.2), GREEN)
    # The backward LSTM at the first word: below all states, then up.
    first, under = PLACES[0] + 0.15, 0.5
    axes.plot(
        [first, first, asks[0]], [STATES - 0.2, under, under], color=GREEN, linewidth=1.5, zorder=1
    )
    _arrow(axes, (asks[0], under), (asks[0], asks[1] - 0.2), GREEN)
    for x, state in ((3.87, r"$\overrightarrow{h}_4$"), (4.35, r"$\overleftarrow{h}_1$")):
        axes.text(x, 0.78, state, ha="center", va="center", color=GREEN, fontsize=12)
    _arrow(axes, (asks[0], asks[1] + 0.2), (SIDE + 0.2, WEIGHTS + 0.05), GREEN, dashed=True)
    _weights(axes, WEIGHTS, weights)
    for x, weight in zip(PLACES, weights, strict=True):
        start, end = (x, WEIGHTS + ROW), (MIDDLE, total)
        _arrow(axes, start, end, ORANGE, width=0.8 + 4.5 * weight, shrink=13)
    axes.text((PLACES[0] + PLACES[1]) / 2, 1.49, "scores,\nsoftmax", ha="center", va="center")
    axes.text(SIDE, WEIGHTS + ROW / 2, r"$\alpha$", va="center", fontsize=13)
    paper = style.LIGHT["paper"]
    axes.plot(MIDDLE, total, "o", markersize=21, color=paper, mec=ORANGE, mew=2, zorder=3)
    axes.text(MIDDLE, total, r"$\Sigma$", ha="center", va="center", fontsize=12, zorder=4)
    _arrow(axes, (MIDDLE, total + 0.17), (MIDDLE, 3.35), ORANGE)
    _box(axes, MIDDLE, 3.55, "$s$", ORANGE)
    _arrow(axes, (MIDDLE, 3.75), (MIDDLE, 4.05), MUTED)
    axes.text(MIDDLE, 4.2, "classes", ha="center", va="center", fontsize=11)


def _several(axes: Axes) -> None:
    """Draw three hops, each with a row of weights and a row of M."""
    pitch = ROW + 0.06
    for k, weights in enumerate(HOPS):
        _weights(axes, WEIGHTS + k * pitch, weights)
        y = WEIGHTS + k * pitch + ROW / 2
        axes.text(SIDE, y, f"hop {k + 1}", va="center", fontsize=11)
    top = WEIGHTS + 3 * pitch
    axes.text(SIDE, top + 0.1, "$A$", va="center", fontsize=12)
    _arrow(axes, (MIDDLE, top), (MIDDLE, top + 0.3), ORANGE)
    for k in range(3):
        _box(axes, MIDDLE, top + 0.4 + 0.2 * k, "", ORANGE, width=2.1, height=0.12, rounding=0.05)
    axes.text(3.05, top + 0.6, "$M = A H$", va="center", fontsize=12)
    _arrow(axes, (MIDDLE, top + 0.9), (MIDDLE, 4.3), MUTED)
    axes.text(MIDDLE + 0.12, 4.05, "rows one after the other", va="center")
    axes.text(MIDDLE, 4.45, "classes", ha="center", va="center", fontsize=11)
