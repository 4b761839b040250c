"""Figure that opens the course: one vector for a sentence, or many to choose from."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
WORDS = ("the", "old", "dog", "barks", "loudly")
WEIGHTS = (0.05, 0.05, 0.8, 0.1, 0.03)


def draw() -> Figure:
    """Draw both designs, one above the other, for a sentence of five words."""
    figure, (one, many) = plt.subplots(2, 1, figsize=(6.6, 5.6), layout="constrained")
    for axes, title in (
        (one, "2014: one vector for the sentence"),
        (many, "attention: one vector for each word"),
    ):
        axes.set_xlim(0, 14)
        axes.set_ylim(-0.2, 5.2)
        axes.axis("off")
        axes.set_title(title)
        for j, word in enumerate(WORDS):
            x = 1.1 + 1.75 * j
            axes.text(x, 0.15, word, ha="center", va="center", fontsize=12)
            box(axes, x, 1.2, "", BLUE, width=1.1, height=0.8)
        box(axes, 12.3, 3.9, "decoder", GREEN, width=2.4)
    _squeezed(one)
    _kept(many)
    return figure


def _squeezed(axes: Axes) -> None:
    for j in range(4):
        x = 1.1 + 1.75 * j
        arrow(axes, (x + 0.6, 1.2), (x + 1.15, 1.2), BLUE)
    box(axes, 8.1, 3.9, "one vector", ORANGE, width=2.6)
    arrow(axes, (8.1, 1.65), (8.1, 3.4), BLUE)
    arrow(axes, (9.45, 3.9), (11.05, 3.9), ORANGE, width=2.2)


def _kept(axes: Axes) -> None:
    for j, weight in enumerate(WEIGHTS):
        x = 1.1 + 1.75 * j
        arrow(axes, (x, 1.65), (11.0, 3.75 + 0.12 * (2 - j)), ORANGE, width=0.8 + 5 * weight)
    axes.text(4.6, 4.2, "chosen again for each word", ha="center", fontsize=11)
