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
PLACES = (1.4, 2.1, 2.8, 3.5)  # of the words or sentences, in inches
MIDDLE, QUERY = 2.45, 4.3  # places of the weighted sum and of the vector that asks
INPUTS, ENCODER, WEIGHTS, ATTENTION = 0.3, 1.2, 2.1, 3.15  # heights
WORD_WEIGHTS = (0.06, 0.14, 0.10, 0.70)
SENTENCE_WEIGHTS = (0.15, 0.72, 0.08, 0.05)
_box = partial(box, width=0.44, height=0.36, rounding=0.07, size=12)
_arrow = partial(arrow, width=1.4, head=9)


def draw() -> Figure:
    """Draw both levels: one sentence above, the document below."""
    figure, (sentence, document) = plt.subplots(2, 1, figsize=(4.75, 8.4), layout="constrained")
    for axes, title in ((sentence, "one sentence"), (document, "the document")):
        axes.set_xlim(0, 4.6)
        axes.set_ylim(0, 4.05)
        axes.axis("off")
        axes.set_title(title)
    words = ("the", "plot", "was", "great")
    inputs = [rf"$w_{{2{t}}}$" "\n" + word for t, word in enumerate(words, start=1)]
    states = [f"$h_{{2{t}}}$" for t in range(1, 5)]
    _level(sentence, inputs, states, WORD_WEIGHTS, "$u_w$", "$s_2$", ORANGE)
    _part(sentence, 1, "word\nencoder", ENCODER)
    _part(sentence, 2, "word\nattention", WEIGHTS)
    inputs = [f"$s_{i}$" for i in range(1, 5)]
    states = [f"$h_{i}$" for i in range(1, 5)]
    _level(document, inputs, states, SENTENCE_WEIGHTS, "$u_s$", "$v$", PURPLE, chosen=1)
    _part(document, 3, "sentence\nencoder", ENCODER)
    _part(document, 4, "sentence\nattention", WEIGHTS)
    _part(document, 5, "classifier", 3.8)
    _box(document, MIDDLE, 3.8, r"softmax$(W_c v + b_c)$", style.LIGHT["muted"], width=1.9)
    _arrow(document, (MIDDLE, ATTENTION + 0.2), (MIDDLE, 3.6), PURPLE)
    _text(sentence, MIDDLE, 3.84, "to the document,\none vector for each sentence")
    _arrow(sentence, (MIDDLE, ATTENTION + 0.2), (MIDDLE, 3.6), ORANGE, dashed=True)
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
    for j, (x, weight) in enumerate(zip(PLACES, weights, strict=True)):
        if chosen is None:
            _text(axes, x, INPUTS - 0.05, inputs[j])
        else:
            _box(axes, x, INPUTS, inputs[j], ORANGE, dashed=j != chosen)
        _arrow(axes, (x, INPUTS + 0.22), (x, ENCODER - 0.2), style.LIGHT["muted"])
        _box(axes, x, ENCODER, states[j], BLUE)
        if j:
            left, right = PLACES[j - 1] + 0.24, x - 0.24
            _arrow(axes, (left, ENCODER + 0.08), (right, ENCODER + 0.08), BLUE)
            _arrow(axes, (right, ENCODER - 0.08), (left, ENCODER - 0.08), BLUE)
        end = (MIDDLE + 0.1 * (j - 1.5), ATTENTION - 0.2)
        _arrow(axes, (x, ENCODER + 0.2), end, colour, width=0.8 + 5 * weight)
    _text(axes, QUERY, WEIGHTS + 0.15, asks, size=13)
    _arrow(axes, (QUERY - 0.18, WEIGHTS + 0.12), (3.27, WEIGHTS - 0.1), GREEN, dashed=True)
    _box(axes, MIDDLE, ATTENTION, result, colour)


def _part(axes: Axes, number: int, name: str, y: float) -> None:
    """Draw the number and name of a part at the left edge."""
    axes.plot(0.12, y, "o", markersize=15, color=style.LIGHT["ink"], zorder=4)
    paper = style.LIGHT["paper"]
    axes.text(
        0.12, y - 0.01, str(number), ha="center", va="center", color=paper, fontsize=10, zorder=5
    )
    axes.text(0.28, y, name, va="center", fontsize=10, color=style.LIGHT["ink"])


def _text(axes: Axes, x: float, y: float, text: str, size: float = 11) -> None:
    axes.text(x, y, text, ha="center", va="center", fontsize=size, color=style.LIGHT["ink"])


def draw_shapes() -> Figure:
    """Draw how documents are flattened to sentences, and how sentences are unflattened again."""
    figure, axes = plt.subplots(figsize=(4.75, 3.3), layout="constrained")
    axes.set_xlim(0, 4.66)  # inches
    axes.set_ylim(-1.05, 2.2)
    axes.axis("off")
    lengths = ((4, 2, 3), (3, 4, 0))  # words of each sentence; 0 is padding
    colours = (BLUE, ORANGE)
    words, wide, high, vector = 4, 0.16, 0.2, 0.45  # sizes of a word and of a vector
    lefts = (0.22, 1.28, 2.34, 3.21, 4.08)
    rows = [(b, i, n) for b, document in enumerate(lengths) for i, n in enumerate(document)]
    apart = [1.7 - 0.25 * k - 0.4 * b for k, (b, _, _) in enumerate(rows)]
    together = [1.5 - 0.25 * k for k in range(len(rows))]
    for left, heights in ((lefts[0], apart), (lefts[1], together)):
        for (b, _, n), y in zip(rows, heights, strict=True):
            for t in range(words):
                _cell(axes, left + wide * t, y, wide, high, colours[b], real=t < n)
    for left, heights in ((lefts[2], together), (lefts[3], apart)):
        for (b, _, n), y in zip(rows, heights, strict=True):
            _cell(axes, left, y, vector, high, colours[b], real=n > 0)
    for (_, i, _), y in zip(rows, apart, strict=True):
        axes.text(0.13, y + high / 2, f"{i + 1}", ha="center", va="center", fontsize=10)
    for b, y in enumerate((apart[1], apart[4])):
        _cell(axes, lefts[4], y, vector, high, colours[b], real=True)
        axes.text(lefts[0], y + 0.51, f"document {b + 1}", fontsize=10, color=colours[b])
    ends = (lefts[0] + words * wide, lefts[1] + words * wide, lefts[2] + vector, lefts[3] + vector)
    steps = ("flatten", "word\nencoder,\nattention", "unflatten", "sentence\nencoder,\nattention")
    for start, end, step in zip(ends, lefts[1:], steps, strict=True):
        _arrow(axes, (start + 0.05, 1.07), (end - 0.05, 1.07), style.LIGHT["muted"])
        axes.text((start + end) / 2, -0.1, step, ha="center", va="top", fontsize=10)
    shapes = ("$(B, L, T)$", "$(BL, T)$", "$(BL, 2d)$", "$(B, L, 2d)$", "$(B, 2d)$")
    for left, width, shape in zip(lefts, (0.64, 0.64, *[vector] * 3), shapes, strict=True):
        axes.text(left + width / 2, -0.9, shape, ha="center", va="center", fontsize=11)
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
