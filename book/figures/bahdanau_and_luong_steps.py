"""Figure: one step of Bahdanau's and of Luong's decoder, with the order of computation."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
LOOK, STATES = 3.6, 0.7  # heights of attention and of the decoder's states
SCORE, SOFTMAX, SUM, CONTEXT, LAST = 3.7, 5.9, 7.9, 9.7, 12.0


def draw() -> Figure:
    """Draw both steps, with numbers in circles for the order of computation."""
    figure, both = plt.subplots(2, 1, figsize=(6.6, 7.4), layout="constrained")
    for axes, title in zip(
        both, ("Bahdanau: look, then update", "Luong: update, then look"), strict=True
    ):
        axes.set_xlim(0, 13.6)
        axes.set_ylim(-1.4, 6.3)
        axes.axis("off")
        axes.set_title(title)
        _attention(axes)
    _bahdanau(both[0])
    _luong(both[1])
    return figure


def _bahdanau(axes: Axes) -> None:
    box(axes, SCORE, STATES, "$h_{t-1}$", GREEN)
    box(axes, LAST, STATES, "$h_t$", GREEN)
    arrow(axes, (SCORE + 0.75, STATES), (LAST - 0.75, STATES), GREEN)
    arrow(axes, (CONTEXT + 0.4, LOOK - 0.5), (LAST - 0.4, STATES + 0.5), ORANGE)
    arrow(axes, (LAST, STATES + 0.5), (LAST, 4.4), style.LIGHT["muted"])
    _text(axes, LAST, 4.8, "next word")
    arrow(axes, (LAST, -0.65), (LAST, STATES - 0.5), style.LIGHT["muted"])
    _text(axes, LAST, -1.0, "$y_{t-1}$")
    for x, y, number in (
        (SOFTMAX, LOOK + 0.85, 1),
        (CONTEXT, LOOK + 0.85, 2),
        (LAST + 1.05, STATES, 3),
        (LAST + 1.05, 5.35, 4),
    ):
        _number(axes, x, y, number)


def _luong(axes: Axes) -> None:
    box(axes, 1.0, STATES, "$h_{t-1}$", GREEN)
    box(axes, SCORE, STATES, "$h_t$", GREEN)
    box(axes, LAST, STATES, r"$\tilde{h}_t$", ORANGE)
    arrow(axes, (1.75, STATES), (SCORE - 0.75, STATES), GREEN)
    arrow(axes, (SCORE + 0.75, STATES), (LAST - 0.75, STATES), GREEN)
    arrow(axes, (CONTEXT + 0.4, LOOK - 0.5), (LAST - 0.4, STATES + 0.5), ORANGE)
    arrow(axes, (LAST, STATES + 0.5), (LAST, 4.4), style.LIGHT["muted"])
    _text(axes, LAST, 4.8, "next word")
    arrow(axes, (SCORE, -0.65), (SCORE, STATES - 0.5), style.LIGHT["muted"])
    _text(axes, SCORE, -1.0, "$y_{t-1}$")
    arrow(axes, (SCORE + 1.9, -0.7), (SCORE + 0.65, STATES - 0.5), ORANGE, dashed=True)
    _text(axes, SCORE + 2.1, -1.0, r"$\tilde{h}_{t-1}$")
    arrow(axes, (LAST, STATES - 0.5), (LAST, -0.8), ORANGE, dashed=True)
    _text(axes, LAST - 0.3, -1.1, "input feeding: to the next step", ha="right")
    for x, y, number in (
        (SCORE - 1.0, STATES + 0.6, 1),
        (SOFTMAX, LOOK + 0.85, 2),
        (CONTEXT, LOOK + 0.85, 3),
        (LAST + 1.05, STATES, 4),
        (LAST + 1.05, 5.35, 5),
    ):
        _number(axes, x, y, number)


def _attention(axes: Axes) -> None:
    """Draw keys, score, softmax, sum and context from left to right, and the query from below."""
    muted = style.LIGHT["muted"]
    for j in range(4):
        y = 5.3 - 1.05 * j
        box(axes, 1.0, y, rf"$\bar{{h}}_{j + 1}$", BLUE, height=0.8, width=1.2)
        arrow(axes, (1.65, y), (SCORE - 0.8, LOOK + 0.25 * (1.5 - j)), BLUE, width=1.1, head=8)
    box(axes, SCORE, LOOK, "score", muted, width=1.5)
    arrow(axes, (SCORE, STATES + 0.5), (SCORE, LOOK - 0.5), GREEN)
    _text(axes, SCORE + 0.15, 2.1, "query", ha="left")
    box(axes, SOFTMAX, LOOK, "softmax", muted, width=1.8)
    arrow(axes, (SCORE + 0.8, LOOK), (SOFTMAX - 0.95, LOOK), muted)
    axes.plot(
        SUM, LOOK, "o", markersize=23, color=style.LIGHT["paper"], mec=ORANGE, mew=2, zorder=3
    )
    axes.text(SUM, LOOK, r"$\Sigma$", ha="center", va="center", fontsize=12, zorder=4)
    arrow(axes, (SOFTMAX + 0.95, LOOK), (SUM - 0.45, LOOK), ORANGE, width=2.4)
    _text(axes, 7.3, LOOK - 0.9, "weights")
    # The values are the same states as the keys.
    axes.plot([1.0, 1.0, SUM], [5.72, 6.05, 6.05], color=BLUE, lw=1.5, zorder=2)
    arrow(axes, (SUM, 6.05), (SUM, LOOK + 0.5), BLUE)
    _text(axes, 4.3, 5.7, "values")
    _text(axes, 2.35, 5.25, "keys")
    box(axes, CONTEXT, LOOK, "$c_t$", ORANGE, width=1.2)
    arrow(axes, (SUM + 0.45, LOOK), (CONTEXT - 0.65, LOOK), ORANGE)


def _number(axes: Axes, x: float, y: float, number: int) -> None:
    paper = style.LIGHT["paper"]
    axes.plot(x, y, "o", markersize=15, color=style.LIGHT["ink"], zorder=4)
    axes.text(x, y - 0.03, str(number), ha="center", va="center", color=paper, fontsize=9, zorder=5)


def _text(axes: Axes, x: float, y: float, text: str, ha: str = "center") -> None:
    axes.text(x, y, text, ha=ha, va="center", fontsize=11, color=style.LIGHT["ink"])
