"""Figure: one step of Bahdanau's and of Luong's decoder, with the order of computation."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
LOOK, STATES = 3.6, 0.7  # heights of attention and of the decoder's states
KEYS, SCORE, SOFTMAX, SUM, CONTEXT, LAST = 0.65, 2.9, 4.85, 6.65, 7.95, 9.35  # from left to right


def draw() -> Figure:
    """Draw both steps, with numbers in circles for the order of computation."""
    figure, both = plt.subplots(2, 1, figsize=(4.7, 6.6), layout="constrained")
    for axes, title in zip(
        both, ("Bahdanau: look, then update", "Luong: update, then look"), strict=True
    ):
        axes.set_xlim(0, 10.65)
        axes.set_ylim(-1.4, 6.3)
        axes.axis("off")
        axes.set_title(title)
        _attention(axes)
    _bahdanau(both[0])
    _luong(both[1])
    return figure


def _bahdanau(axes: Axes) -> None:
    box(axes, SCORE, STATES, "$h_{t-1}$", GREEN, width=1.2)
    box(axes, LAST, STATES, "$h_t$", GREEN, width=1.2)
    arrow(axes, (SCORE + 0.65, STATES), (LAST - 0.65, STATES), GREEN)
    arrow(axes, (CONTEXT + 0.3, LOOK - 0.5), (LAST - 0.3, STATES + 0.5), ORANGE)
    arrow(axes, (LAST, STATES + 0.5), (LAST, 4.4), style.LIGHT["muted"])
    _text(axes, LAST, 4.8, "next word")
    arrow(axes, (LAST, -0.65), (LAST, STATES - 0.5), style.LIGHT["muted"])
    _text(axes, LAST, -1.0, "$y_{t-1}$")
    for x, y, number in (
        (SOFTMAX, LOOK + 0.85, 1),
        (CONTEXT, LOOK + 0.85, 2),
        (LAST + 1.0, STATES, 3),
        (LAST, 5.5, 4),
    ):
        _number(axes, x, y, number)


def _luong(axes: Axes) -> None:
    box(axes, KEYS, STATES, "$h_{t-1}$", GREEN, width=1.2)
    box(axes, SCORE, STATES, "$h_t$", GREEN, width=1.2)
    box(axes, LAST, STATES, r"$\tilde{h}_t$", ORANGE, width=1.2)
    arrow(axes, (KEYS + 0.65, STATES), (SCORE - 0.65, STATES), GREEN)
    arrow(axes, (SCORE + 0.65, STATES), (LAST - 0.65, STATES), GREEN)
    arrow(axes, (CONTEXT + 0.3, LOOK - 0.5), (LAST - 0.3, STATES + 0.5), ORANGE)
    arrow(axes, (LAST, STATES + 0.5), (LAST, 4.4), style.LIGHT["muted"])
    _text(axes, LAST, 4.8, "next word")
    arrow(axes, (SCORE, -0.65), (SCORE, STATES - 0.5), style.LIGHT["muted"])
    _text(axes, SCORE, -1.0, "$y_{t-1}$")
    arrow(axes, (SCORE + 1.6, -0.65), (SCORE + 0.5, STATES - 0.5), ORANGE, dashed=True)
    _text(axes, SCORE + 1.75, -1.0, r"$\tilde{h}_{t-1}$")
    arrow(axes, (LAST, STATES - 0.5), (LAST, -0.8), ORANGE, dashed=True)
    _text(axes, LAST - 0.3, -0.6, "input feeding:\nto the next step", ha="right")
    for x, y, number in (
        (SCORE - 0.95, STATES + 0.6, 1),
        (SOFTMAX, LOOK + 0.85, 2),
        (CONTEXT, LOOK + 0.85, 3),
        (LAST + 1.0, STATES, 4),
        (LAST, 5.5, 5),
    ):
        _number(axes, x, y, number)


def _attention(axes: Axes) -> None:
    """Draw keys, score, softmax, sum and context from left to right, and the query from below."""
    muted = style.LIGHT["muted"]
    for j in range(4):
        y = 5.3 - 1.05 * j
        box(axes, KEYS, y, rf"$\bar{{h}}_{j + 1}$", BLUE, height=0.8, width=1.0)
        arrow(
            axes, (KEYS + 0.55, y), (SCORE - 0.7, LOOK + 0.25 * (1.5 - j)), BLUE, width=1.1, head=8
        )
    box(axes, SCORE, LOOK, "score", muted, width=1.3)
    arrow(axes, (SCORE, STATES + 0.5), (SCORE, LOOK - 0.5), GREEN)
    _text(axes, SCORE + 0.15, 2.1, "query", ha="left")
    box(axes, SOFTMAX, LOOK, "softmax", muted, width=1.7)
    arrow(axes, (SCORE + 0.7, LOOK), (SOFTMAX - 0.9, LOOK), muted)
    axes.plot(
        SUM, LOOK, "o", markersize=23, color=style.LIGHT["paper"], mec=ORANGE, mew=2, zorder=3
    )
    axes.text(SUM, LOOK, r"$\Sigma$", ha="center", va="center", fontsize=12, zorder=4)
    arrow(axes, (SOFTMAX + 0.9, LOOK), (SUM - 0.4, LOOK), ORANGE, width=2.4)
    _text(axes, (SOFTMAX + SUM) / 2 + 0.1, LOOK - 0.9, "weights")
    # The values are the same states as the keys.
    axes.plot([KEYS, KEYS, SUM], [5.72, 6.05, 6.05], color=BLUE, lw=1.5, zorder=2)
    arrow(axes, (SUM, 6.05), (SUM, LOOK + 0.5), BLUE)
    _text(axes, 4.3, 5.65, "values")
    _text(axes, 1.95, 5.3, "keys")
    box(axes, CONTEXT, LOOK, "$c_t$", ORANGE, width=1.0)
    arrow(axes, (SUM + 0.4, LOOK), (CONTEXT - 0.55, LOOK), ORANGE)


def _number(axes: Axes, x: float, y: float, number: int) -> None:
    paper = style.LIGHT["paper"]
    axes.plot(x, y, "o", markersize=15, color=style.LIGHT["ink"], zorder=4)
    axes.text(x, y - 0.03, str(number), ha="center", va="center", color=paper, fontsize=9, zorder=5)


def _text(axes: Axes, x: float, y: float, text: str, ha: str = "center") -> None:
    axes.text(x, y, text, ha=ha, va="center", fontsize=11, color=style.LIGHT["ink"])
