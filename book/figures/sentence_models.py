"""The picture of the two classifiers: one weighted average, and several at once."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
from figures.shapes import arrow, box
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from coursekit import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
WORDS = ("it", "was", "not", "good")
PLACES = (1.3, 3.5, 5.7, 7.9)
HOPS = ((0.05, 0.05, 0.75, 0.15), (0.05, 0.1, 0.1, 0.75), (0.7, 0.2, 0.05, 0.05))


def draw() -> Figure:
    """Draw attention with the final state as its query beside structured self-attention."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 4.4), layout="constrained")
    for axes, title in (
        (left, "one question: the final state asks"),
        (right, "several questions: the rows of $W_{s2}$ ask"),
    ):
        axes.set_xlim(0, 10.6)
        axes.set_ylim(0.2, 10.8)
        axes.axis("off")
        axes.set_title(title, fontsize=10)
        _states(axes)
    _one(left)
    _several(right)
    return figure


def _states(axes: Axes) -> None:
    """The words and the BiLSTM's states above them, joined in both directions."""
    for j, (x, word) in enumerate(zip(PLACES, WORDS, strict=True), start=1):
        axes.text(x, 0.6, word, ha="center", va="center", fontsize=10, style="italic")
        arrow(axes, (x, 0.95), (x, 1.75), style.LIGHT["muted"])
        box(axes, x, 2.3, f"$h_{j}$", BLUE)
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
    total = (4.6, 6.4)
    for x, weight in zip(PLACES, (0.05, 0.05, 0.5, 0.4), strict=True):
        arrow(axes, (x, 2.85), total, ORANGE, width=0.8 + 4.5 * weight, shrink=12)
    _sum(axes, *total)
    box(axes, 9.2, 4.6, "$q$", GREEN)
    arrow(axes, (8.3, 2.85), (9.0, 4.05), GREEN)
    arrow(axes, (8.5, 4.75), (5.55, 5.3), GREEN, dashed=True)
    axes.text(9.2, 5.45, r"$[\overrightarrow{h}_4; \overleftarrow{h}_1]$", ha="center", fontsize=9)
    arrow(axes, (4.6, 6.95), (4.6, 7.75), ORANGE)
    box(axes, 4.6, 8.3, "$s$", ORANGE)
    arrow(axes, (4.6, 8.85), (4.6, 9.65), style.LIGHT["muted"])
    axes.text(4.6, 10.15, "classes", ha="center", va="center", fontsize=10)


def _several(axes: Axes) -> None:
    """Three hops: a row of weights each, and a row of M each."""
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
        axes.text(9.3, y + height / 2, f"hop {k + 1}", va="center", fontsize=9)
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
    axes.text(7.4, 8.1, "$M = A H$", va="center", fontsize=11)
    arrow(axes, (4.6, 8.95), (4.6, 9.65), style.LIGHT["muted"])
    axes.text(4.85, 9.25, "rows one after the other", va="center", fontsize=8)
    axes.text(4.6, 10.15, "classes", ha="center", va="center", fontsize=10)


def _sum(axes: Axes, x: float, y: float) -> None:
    axes.plot(x, y, "o", markersize=23, color=style.LIGHT["paper"], mec=ORANGE, mew=2, zorder=3)
    axes.text(x, y, r"$\Sigma$", ha="center", va="center", fontsize=12, zorder=4)
