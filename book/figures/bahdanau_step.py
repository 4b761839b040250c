"""Figure: two steps of Bahdanau's decoder, with scores, softmax, weights, sum, new state."""

from __future__ import annotations

from functools import partial
from math import exp

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
WORDS = ("how", "are", "you", "?")
PLACES = (0.9, 2.65, 4.4, 6.15)
SCORES = ((4.3, 0.1, 2.2, -1.0), (2.2, 0.1, 4.3, -1.0))
MIDDLE, CONTEXT = 3.5, 5.85  # of the weighted sum and of its result
RIGHT = 8.75  # the column of the decoder's states
HEIGHT = 9.4  # of one step
_box = partial(box, width=1.2, height=0.8, rounding=0.15, size=12)
_arrow = partial(arrow, width=1.3)


def draw() -> Figure:
    """Draw the steps one above the other; the state of the first is the query of the second."""
    figure, axes = plt.subplots(figsize=(4.7, 7.8), layout="constrained")
    axes.set_xlim(0, 11)
    axes.set_ylim(0.9, 2 * HEIGHT - 0.1)
    axes.axis("off")
    before, first, second = style.labels(["<bos>", "잘", "지내"])
    _step(axes, HEIGHT, 1, SCORES[0], before, first)
    _step(axes, 0.0, 2, SCORES[1], first, second)
    _arrow(axes, (RIGHT, HEIGHT + 1.5), (RIGHT, 6.8), GREEN, width=1.8)
    _text(axes, RIGHT + 0.2, HEIGHT - 0.2, "the new\nstate is the\nnext query", size=10, ha="left")
    return figure


def _step(
    axes: Axes, low: float, i: int, scores: tuple[float, ...], before: str, written: str
) -> None:
    """Draw one step, from the annotations at the top down to the word."""
    total = sum(exp(score) for score in scores)
    muted = style.LIGHT["muted"]
    _text(axes, 10.1, low + 7.6, f"step {i}", size=13, weight="bold")
    axes.plot([PLACES[0], RIGHT - 0.7], [low + 6.35] * 2, color=GREEN, lw=1.8, zorder=1)
    _box(axes, RIGHT, low + 6.35, f"$s_{i - 1}$", GREEN)
    _text(axes, RIGHT + 0.8, low + 6.35, "query", ha="left")
    axes.add_patch(
        FancyBboxPatch(
            (0.3, low + 4.97),
            PLACES[-1] + 0.3,
            0.5,
            boxstyle="round,pad=0.02,rounding_size=0.2",
            facecolor=style.LIGHT["panel"],
            edgecolor=muted,
            zorder=3,
        )
    )
    _text(axes, MIDDLE, low + 5.21, "softmax", zorder=4)
    middle = (MIDDLE, low + 1.9)
    for j, (word, x, score) in enumerate(zip(WORDS, PLACES, scores, strict=True), start=1):
        weight = exp(score) / total
        _text(axes, x, low + 8.8, word, size=12)
        _box(axes, x, low + 7.85, f"$h_{j}$", BLUE)
        _arrow(axes, (x, low + 7.4), (x, low + 6.8), BLUE)
        _box(axes, x, low + 6.35, f"{score:.1f}", muted, size=11)
        _arrow(axes, (x, low + 5.9), (x, low + 5.5), muted)
        bar = max(weight, 0.03)
        axes.add_patch(Rectangle((x - 0.45, low + 3.3), 0.9, bar, color=ORANGE, zorder=3))
        _text(axes, x, low + 3.6 + bar, f"{weight:.2f}")
        _arrow(axes, (x, low + 3.2), middle, ORANGE, width=0.8 + 4 * weight, shrink=12)
    axes.plot(*middle, "o", markersize=22, color=style.LIGHT["paper"], mec=ORANGE, mew=2, zorder=3)
    _text(axes, *middle, r"$\Sigma$", size=13, zorder=4)
    _arrow(axes, (middle[0] + 0.45, low + 1.9), (CONTEXT - 0.65, low + 1.9), ORANGE)
    _box(axes, CONTEXT, low + 1.9, f"$c_{i}$", ORANGE)
    _arrow(axes, (CONTEXT + 0.65, low + 1.9), (RIGHT - 0.65, low + 1.9), ORANGE)
    _arrow(axes, (RIGHT - 0.45, low + 5.9), (RIGHT - 0.45, low + 2.35), GREEN)
    _text(axes, RIGHT + 1.4, low + 3.7, before, size=12)
    _arrow(axes, (RIGHT + 1.1, low + 3.35), (RIGHT + 0.4, low + 2.35), muted)
    _box(axes, RIGHT, low + 1.9, f"$s_{i}$", GREEN)
    _arrow(axes, (RIGHT + 0.65, low + 1.9), (RIGHT + 1.2, low + 1.9), muted)
    _text(axes, RIGHT + 1.7, low + 1.9, written, size=13, weight="bold")
    _text(axes, 7.45, low + 6.65, "scores", size=10, color=muted)
    _text(axes, 7.45, low + 3.45, "weights", size=10, color=muted)
    _text(axes, 1.3, low + 1.6, "weighted sum of\nthe annotations", size=10, color=muted)
    _text(axes, CONTEXT, low + 1.2, "context", size=10, color=muted)


def _text(
    axes: Axes, x: float, y: float, text: str, size: float = 11, ha: str = "center", **more: object
) -> None:
    look = {"color": style.LIGHT["ink"], **more}
    axes.text(x, y, text, ha=ha, va="center", fontsize=size, **look)  # type: ignore[arg-type]
