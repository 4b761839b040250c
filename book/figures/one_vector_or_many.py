"""Figure that opens the course: one vector for a sentence, or many to choose from."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
WORDS = ("the", "old", "dog", "barks", "loudly")
WEIGHTS = (0.05, 0.05, 0.8, 0.1, 0.03)
PLACES = (0.3, 0.93, 1.56, 2.19, 2.82)  # of the words
STATES, DECODER = 0.45, 1.35  # heights
_box = partial(box, height=0.36, rounding=0.07)


def draw() -> Figure:
    """Draw both designs, one above the other, for a sentence of five words."""
    figure, (one, many) = plt.subplots(2, 1, figsize=(4.7, 4.4), layout="constrained")
    for axes, title in (
        (one, "2014: one vector for the sentence"),
        (many, "attention: one vector for each word"),
    ):
        axes.set_xlim(0, 4.6)  # inches
        axes.set_ylim(-0.1, 1.75)
        axes.axis("off")
        axes.set_title(title)
        for x, word in zip(PLACES, WORDS, strict=True):
            axes.text(x, 0.08, word, ha="center", va="center", fontsize=11)
            _box(axes, x, STATES, "", BLUE, width=0.4, height=0.3)
        _box(axes, 4.1, DECODER, "decoder", GREEN, width=0.85)
    _squeezed(one)
    _kept(many)
    return figure


def _squeezed(axes: Axes) -> None:
    for before, x in pairwise(PLACES):
        arrow(axes, (before + 0.22, STATES), (x - 0.22, STATES), BLUE, head=9)
    x = PLACES[-1]
    _box(axes, x, DECODER, "one vector", ORANGE, width=0.95)
    arrow(axes, (x, STATES + 0.17), (x, DECODER - 0.2), BLUE)
    arrow(axes, (x + 0.5, DECODER), (3.65, DECODER), ORANGE, width=2.2)


def _kept(axes: Axes) -> None:
    for j, (x, weight) in enumerate(zip(PLACES, WEIGHTS, strict=True)):
        end = (3.65, DECODER + 0.06 * (2 - j))
        arrow(axes, (x, STATES + 0.18), end, ORANGE, width=0.8 + 5 * weight)
    axes.text(1.3, 1.55, "chosen again for each word", ha="center", va="center", fontsize=11)
