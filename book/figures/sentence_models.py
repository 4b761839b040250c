"""Figure: two sentence classifiers, with one weighted average and with several."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
_box = partial(box, size=13)
WORDS = ("it", "was", "not", "good")
PLACES = (1.3, 3.5, 5.7, 7.9)
HOPS = ((0.05, 0.05, 0.75, 0.15), (0.05, 0.1, 0.1, 0.75), (0.7, 0.2, 0.05, 0.05))


def draw() -> Figure:
    """Draw attention with the final state as query, above structured self-attention."""
    figure, (above, below) = plt.subplots(2, 1, figsize=(5.8, 9.2), layout="constrained")
    for axes, title, top in (
        (above, "one question: the final state asks", 11.4),
        (below, "several questions: the rows of $W_{s2}$ ask", 10.6),
    ):
        axes.set_xlim(0, 11.4)
        axes.set_ylim(0.2, top)
        axes.axis("off")
        axes.set_title(title, fontsize=12)
        _states(axes)
    _one(above)
    _several(below)
    return figure


def _states(axes: Axes) -> None:
    """Draw the words and, above them, the BiLSTM's states, connected in both directions."""
    for j, (x, word) in enumerate(zip(PLACES, WORDS, strict=True), start=1):
        axes.text(x, 0.6, word, ha="center", va="center", fontsize=12, style="italic")
        arrow(axes, (x, 0.95), (x, 1.75), style.LIGHT["muted"])
        _box(axes, x, 2.3, f"$h_{j}$", BLUE)
    for x, following in pairwise(PLACES):
        axes.add_patch(
            FancyArrowPatch(
                (x + 0.72, 2.3),
                (following - 0.72, 2.3),
                arrowstyle="<|-|>",
                mutation_scale=9,
                color=BLUE,
                linewidth=1.2,
                shrinkA=0,
                shrinkB=0,
            )
        )


def _one(axes: Axes) -> None:
    """Draw the query from both ends of the text, the scores, softmax, weights and sum."""
    weights = (0.05, 0.05, 0.5, 0.4)
    low, height, cell, total = 4.9, 0.75, 2.2, (4.6, 8.0)
    _box(axes, 10.3, 3.9, "$q$", GREEN)
    arrow(axes, (8.62, 2.5), (9.75, 3.5), GREEN)  # the forward LSTM at the last word
    axes.add_patch(  # the backward LSTM at the first word: below all states, then up
        FancyArrowPatch(
            (1.3, 1.72),
            (10.3, 3.35),
            arrowstyle="-|>",
            mutation_scale=12,
            color=GREEN,
            linewidth=1.5,
            connectionstyle="angle,angleA=0,angleB=90,rad=12",
            shrinkA=0,
            shrinkB=0,
            zorder=1,
        )
    )
    axes.text(9.0, 2.55, r"$\overrightarrow{h}_4$", color=GREEN, fontsize=11, ha="left", va="top")
    axes.text(10.45, 1.95, r"$\overleftarrow{h}_1$", color=GREEN, fontsize=11, ha="left")
    arrow(axes, (10.2, 4.4), (9.15, 5.2), GREEN, dashed=True)
    for x, weight in zip(PLACES, weights, strict=True):
        arrow(axes, (x, 2.85), (x, low - 0.1), style.LIGHT["muted"])
        axes.add_patch(
            Rectangle(
                (x - cell / 2, low),
                cell,
                height,
                facecolor=style.ATTENTION(weight),
                edgecolor=style.LIGHT["line"],
            )
        )
        arrow(axes, (x, low + height), total, ORANGE, width=0.8 + 4.5 * weight, shrink=13)
    axes.text(2.4, 3.9, "scores,\nsoftmax", ha="center", va="center", fontsize=10)
    axes.text(9.2, low + height / 2 + 0.15, r"$\alpha$", va="center", fontsize=13)
    _sum(axes, *total)
    arrow(axes, (4.6, 8.55), (4.6, 9.1), ORANGE)
    _box(axes, 4.6, 9.6, "$s$", ORANGE)
    arrow(axes, (4.6, 10.1), (4.6, 10.6), style.LIGHT["muted"])
    axes.text(4.6, 10.95, "classes", ha="center", va="center", fontsize=12)


def _several(axes: Axes) -> None:
    """Draw three hops, each with a row of weights and a row of M."""
    low, height, cell = 4.35, 0.62, 2.2
    for k, weights in enumerate(HOPS):
        y = low + k * (height + 0.16)
        for x, weight in zip(PLACES, weights, strict=True):
            axes.add_patch(
                Rectangle(
                    (x - cell / 2, y),
                    cell,
                    height,
                    facecolor=style.ATTENTION(weight),
                    edgecolor=style.LIGHT["line"],
                )
            )
        axes.text(9.3, y + height / 2, f"hop {k + 1}", va="center", fontsize=11)
    for x in PLACES:
        arrow(axes, (x, 2.85), (x, low - 0.1), style.LIGHT["muted"])
    top = low + 3 * (height + 0.16)
    axes.text(9.3, top + 0.1, "$A$", va="center", fontsize=11)
    arrow(axes, (4.6, top), (4.6, 7.35), ORANGE)
    for k in range(3):
        axes.add_patch(
            FancyBboxPatch(
                (2.2, 7.5 + 0.45 * k),
                4.8,
                0.33,
                boxstyle="round,pad=0.02,rounding_size=0.1",
                facecolor=style.LIGHT["paper"],
                edgecolor=ORANGE,
                linewidth=1.6,
            )
        )
    axes.text(7.4, 8.1, "$M = A H$", va="center", fontsize=12)
    arrow(axes, (4.6, 8.95), (4.6, 9.65), style.LIGHT["muted"])
    axes.text(4.85, 9.25, "rows one after the other", va="center", fontsize=10)
    axes.text(4.6, 10.15, "classes", ha="center", va="center", fontsize=12)


def _sum(axes: Axes, x: float, y: float) -> None:
    axes.plot(x, y, "o", markersize=23, color=style.LIGHT["paper"], mec=ORANGE, mew=2, zorder=3)
    axes.text(x, y, r"$\Sigma$", ha="center", va="center", fontsize=12, zorder=4)
