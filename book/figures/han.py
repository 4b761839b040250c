"""The picture of a hierarchical attention network and its five parts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import matplotlib.pyplot as plt
from figures.shapes import arrow, box
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coursekit import style

BLUE, ORANGE, GREEN, PURPLE = style.SERIES[:4]
PLACES = (2.6, 4.4, 6.2, 8.0)
ENCODER, ATTENTION = 4.2, 8.0  # height of the states, of the weighted sums
WORD_WEIGHTS = (0.06, 0.14, 0.10, 0.70)
SENTENCE_WEIGHTS = (0.15, 0.72, 0.08, 0.05)
_box = partial(box, width=1.2)
_arrow = partial(arrow, width=1.4, head=10)


def draw() -> Figure:
    """Draw both levels: on the left one sentence, on the right the document."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 5.0), layout="constrained")
    for axes, title in ((left, "one sentence"), (right, "the document")):
        axes.set_xlim(-0.7, 10.6)
        axes.set_ylim(0.2, 12.2)
        axes.axis("off")
        axes.set_title(title)
    words = ("the", "plot", "was", "great")
    inputs = [rf"$w_{{2{t}}}$" "\n" + word for t, word in enumerate(words, start=1)]
    states = [f"$h_{{2{t}}}$" for t in range(1, 5)]
    _level(left, inputs, states, WORD_WEIGHTS, "$u_w$", "$s_2$", ORANGE)
    _part(left, 1, "word\nencoder", ENCODER)
    _part(left, 2, "word\nattention", 7.0)
    inputs = [f"$s_{i}$" for i in range(1, 5)]
    states = [f"$h_{i}$" for i in range(1, 5)]
    _level(right, inputs, states, SENTENCE_WEIGHTS, "$u_s$", "$v$", PURPLE, chosen=1)
    _part(right, 3, "sentence\nencoder", ENCODER)
    _part(right, 4, "sentence\nattention", 7.0)
    _part(right, 5, "classifier", 10.9)
    _box(right, 5.3, 10.9, r"softmax$(W_c v + b_c)$", style.LIGHT["muted"], width=4.2)
    _arrow(right, (5.3, 9.45), (5.3, 10.45), PURPLE)
    _text(left, 5.3, 10.3, "to the document,\none vector for each sentence")
    _arrow(left, (5.3, 8.95), (5.3, 9.7), ORANGE, dashed=True)
    return figure


def _level(
    axes: Axes,
    inputs: Sequence[str],
    states: Sequence[str],
    weights: Sequence[float],
    asks: str,
    result: str,
    colour: str,
    chosen: int | None = None,
) -> None:
    """Inputs, a recurrent network in both directions over them, and the weighted sum of it."""
    top = (5.3, ATTENTION + (0.9 if chosen is not None else 0.4))
    for j, (x, weight) in enumerate(zip(PLACES, weights, strict=True)):
        if chosen is None:
            _text(axes, x, 1.3, inputs[j])
        else:
            _box(axes, x, 1.5, inputs[j], ORANGE, dashed=j != chosen)
        _arrow(axes, (x, 2.0), (x, ENCODER - 0.55), style.LIGHT["muted"])
        _box(axes, x, ENCODER, states[j], BLUE)
        if j:
            before = PLACES[j - 1]
            _arrow(axes, (before + 0.62, ENCODER + 0.2), (x - 0.62, ENCODER + 0.2), BLUE)
            _arrow(axes, (x - 0.62, ENCODER - 0.2), (before + 0.62, ENCODER - 0.2), BLUE)
        _arrow(axes, (x, ENCODER + 0.55), top, colour, width=0.8 + 5 * weight, shrink=15)
    _text(axes, 9.75, 7.0, asks)
    _arrow(axes, (9.4, 6.85), (7.35, 6.1), GREEN, dashed=True)
    _box(axes, *top, result, colour)


def _part(axes: Axes, number: int, name: str, y: float) -> None:
    """The name of a part at the left edge, with its number."""
    axes.plot(-0.3, y, "o", markersize=15, color=style.LIGHT["ink"], zorder=4)
    paper = style.LIGHT["paper"]
    axes.text(-0.3, y - 0.03, str(number), ha="center", va="center", color=paper, fontsize=9)
    axes.texts[-1].set_zorder(5)
    axes.text(0.1, y, name, va="center", fontsize=9, color=style.LIGHT["ink"])


def _text(axes: Axes, x: float, y: float, text: str) -> None:
    axes.text(x, y, text, ha="center", va="center", fontsize=10, color=style.LIGHT["ink"])
