"""Figure: four pre-trained models that fill the same gap in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
WORDS = ("she", "rides", "the", "bicycle")
WIDE = (0.5, 1.7, 2.9, 4.1)  # places of the words, in inches, in a panel of full width
LEFT, RIGHT = (0.25, 0.8, 1.35, 1.9), (2.7, 3.25, 3.8, 4.35)  # and in its halves
LOW, HIGH, TOP = 0.6, 1.3, 1.85  # heights of the two layers and of the prediction
GAP = 1  # index of the word to predict
_arrow = partial(arrow, width=1.0, head=7)


def draw() -> Figure:
    """Draw a left-to-right network and ELMo, below them GPT and BERT, each filling the same gap."""
    figure = plt.figure(figsize=(4.75, 6.9), layout="constrained")
    panels = figure.subplot_mosaic([["one", "one"], ["both", "both"], ["GPT", "BERT"]])
    for name, title, width in (
        ("one", "left to right: a recurrent network", 4.6),
        ("both", "ELMo: two directions side by side", 4.6),
        ("GPT", "GPT:\na Transformer's decoder", 2.2),
        ("BERT", "BERT:\na Transformer's encoder", 2.2),
    ):
        panels[name].set_title(title, fontsize=10)
        panels[name].set_xlim(0, width)
        panels[name].set_ylim(0, 1.95)
        panels[name].axis("off")
    _recurrent(panels["one"], WIDE, BLUE, step=1)
    _recurrent(panels["both"], LEFT, BLUE, step=1)
    _recurrent(panels["both"], RIGHT, GREEN, step=-1)
    _attention(panels["GPT"], BLUE, lambda i, j: j <= i)
    _attention(panels["BERT"], GREEN, lambda i, j: True)
    return figure


def _words(axes: Axes, places: Sequence[float], colour: str, hidden: bool = False) -> None:
    """Draw the words and, above each of them, the states of two layers."""
    for i, (x, word) in enumerate(zip(places, WORDS, strict=True)):
        gap = hidden and i == GAP
        axes.text(
            x,
            0.13,
            "[MASK]" if gap else word,
            ha="center",
            va="center",
            fontsize=10,
            style="normal" if gap else "italic",
            color=ORANGE if gap else style.LIGHT["ink"],
        )
        _arrow(axes, (x, 0.25), (x, LOW - 0.13), style.LIGHT["muted"])
        for y in (LOW, HIGH):
            box(axes, x, y, "", colour, width=0.3, height=0.2, rounding=0.05)


def _asked(axes: Axes, places: Sequence[float], source: int) -> None:
    """Draw the prediction of the hidden word from the upper state at one place."""
    _arrow(axes, (places[source], HIGH + 0.13), (places[GAP], TOP - 0.1), ORANGE, width=1.5)
    axes.text(places[GAP], TOP, "rides?", ha="center", va="center", fontsize=10, color=ORANGE)


def _recurrent(axes: Axes, places: Sequence[float], colour: str, step: int) -> None:
    """Draw a recurrent network that reads to the right (step 1) or to the left (step -1)."""
    _words(axes, places, colour)
    for i, x in enumerate(places):
        _arrow(axes, (x, LOW + 0.13), (x, HIGH - 0.13), colour)
        if 0 <= i - step < len(places):
            for y in (LOW, HIGH):
                start = places[i - step] + 0.18 * step
                _arrow(axes, (start, y), (x - 0.18 * step, y), colour)
    _asked(axes, places, GAP - step)


def _attention(axes: Axes, colour: str, sees: Callable[[int, int], bool]) -> None:
    """Draw a layer of attention; the last state that does not depend on the word predicts it."""
    both = sees(0, 1)
    _words(axes, LEFT, colour, hidden=both)
    for i, x in enumerate(LEFT):
        for j, other in enumerate(LEFT):
            if sees(i, j):
                _arrow(axes, (other, LOW + 0.13), (x, HIGH - 0.13), colour, width=0.8)
    _asked(axes, LEFT, GAP if both else GAP - 1)
