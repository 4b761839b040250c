"""Figures of the hierarchical attention network: its five parts, and its shapes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN, PURPLE = style.SERIES[:4]
PLACES = (2.6, 4.4, 6.2, 8.0)
ENCODER, ATTENTION = 4.2, 8.0  # heights of the states and of the weighted sums
WORD_WEIGHTS = (0.06, 0.14, 0.10, 0.70)
SENTENCE_WEIGHTS = (0.15, 0.72, 0.08, 0.05)
_box = partial(box, width=1.2, size=13)
_arrow = partial(arrow, width=1.4, head=10)


def draw() -> Figure:
    """Draw both levels: one sentence above, the document below."""
    figure, (sentence, document) = plt.subplots(2, 1, figsize=(5.8, 9.4), layout="constrained")
    for axes, title in ((sentence, "one sentence"), (document, "the document")):
        axes.set_xlim(-0.8, 10.9)
        axes.set_ylim(0.2, 12.2)
        axes.axis("off")
        axes.set_title(title)
    words = ("the", "plot", "was", "great")
    inputs = [rf"$w_{{2{t}}}$" "\n" + word for t, word in enumerate(words, start=1)]
    states = [f"$h_{{2{t}}}$" for t in range(1, 5)]
    _level(sentence, inputs, states, WORD_WEIGHTS, "$u_w$", "$s_2$", ORANGE)
    _part(sentence, 1, "word\nencoder", ENCODER)
    _part(sentence, 2, "word\nattention", 7.0)
    inputs = [f"$s_{i}$" for i in range(1, 5)]
    states = [f"$h_{i}$" for i in range(1, 5)]
    _level(document, inputs, states, SENTENCE_WEIGHTS, "$u_s$", "$v$", PURPLE, chosen=1)
    _part(document, 3, "sentence\nencoder", ENCODER)
    _part(document, 4, "sentence\nattention", 7.0)
    _part(document, 5, "classifier", 10.9)
    _box(document, 5.3, 10.9, r"softmax$(W_c v + b_c)$", style.LIGHT["muted"], width=4.2)
    _arrow(document, (5.3, 9.45), (5.3, 10.45), PURPLE)
    _text(sentence, 5.3, 10.3, "to the document,\none vector for each sentence")
    _arrow(sentence, (5.3, 8.95), (5.3, 9.7), ORANGE, dashed=True)
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
    """Draw the inputs of a level, its bidirectional RNN and the weighted sum of the states."""
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
    """Draw the number and name of a part at the left edge."""
    axes.plot(-0.3, y, "o", markersize=15, color=style.LIGHT["ink"], zorder=4)
    paper = style.LIGHT["paper"]
    axes.text(-0.3, y - 0.03, str(number), ha="center", va="center", color=paper, fontsize=9)
    axes.texts[-1].set_zorder(5)
    axes.text(0.1, y, name, va="center", fontsize=11, color=style.LIGHT["ink"])


def _text(axes: Axes, x: float, y: float, text: str) -> None:
    axes.text(x, y, text, ha="center", va="center", fontsize=12, color=style.LIGHT["ink"])


def draw_shapes() -> Figure:
    """Draw how documents are flattened to sentences, and how sentences are unflattened again."""
    figure, axes = plt.subplots(figsize=(5.8, 3.5), layout="constrained")
    axes.set_xlim(0, 11.8)
    axes.set_ylim(-0.2, 6.9)
    axes.axis("off")
    lengths = ((4, 2, 3), (3, 4, 0))  # words of each sentence; 0 is padding
    colours = (BLUE, ORANGE)
    words, size = 4, 0.42
    rows = [(b, i, n) for b, document in enumerate(lengths) for i, n in enumerate(document)]
    apart = [5.6 - 0.52 * k - 0.8 * b for k, (b, _, _) in enumerate(rows)]
    together = [5.2 - 0.52 * k for k in range(len(rows))]
    for x, heights in ((0.75, apart), (3.55, together)):
        for (b, _, n), y in zip(rows, heights, strict=True):
            for t in range(words):
                _cell(axes, x + size * t, y, size, size, colours[b], real=t < n)
    for (b, i, n), y in zip(rows, apart, strict=True):
        axes.text(0.6, y + size / 2, f"{i + 1}", ha="right", va="center", fontsize=10)
        _cell(axes, 8.2, y, 0.95, size, colours[b], real=n > 0)
    for (b, _, n), y in zip(rows, together, strict=True):
        _cell(axes, 6.3, y, 0.95, size, colours[b], real=n > 0)
    for b, y in enumerate((apart[1], apart[4])):
        _cell(axes, 10.4, y, 0.95, size, colours[b], real=True)
        axes.text(0.75, y + 1.15, f"document {b + 1}", fontsize=10, color=colours[b])
    for x, end, name in (
        (2.55, 3.4, "flatten"),
        (5.35, 6.15, "word\nencoder,\nattention"),
        (7.35, 8.1, "unflatten"),
        (9.25, 10.3, "sentence\nencoder,\nattention"),
    ):
        arrow(axes, (x, 4.1), (end, 4.1), style.LIGHT["muted"])
        axes.text((x + end) / 2, 2.0, name, ha="center", va="top", fontsize=9)
    for x, shape in (
        (1.6, "$(B, L, T)$"),
        (4.4, "$(BL, T)$"),
        (6.75, "$(BL, 2d)$"),
        (8.75, "$(B, L, 2d)$"),
        (10.85, "$(B, 2d)$"),
    ):
        axes.text(x, 0.15, shape, ha="center", va="center", fontsize=11)
    return figure


def _cell(
    axes: Axes, x: float, y: float, width: float, height: float, colour: str, real: bool
) -> None:
    """Draw a word or a vector, empty if it is padding."""
    axes.add_patch(
        Rectangle(
            (x, y),
            width,
            height,
            facecolor=colour if real else style.LIGHT["paper"],
            alpha=0.75 if real else 1.0,
            edgecolor=style.LIGHT["paper"] if real else style.LIGHT["line"],
            linewidth=1.2,
        )
    )
