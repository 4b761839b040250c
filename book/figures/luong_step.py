"""The picture of one step of Bahdanau's decoder and of Luong's, with the order of computation."""

from __future__ import annotations

import matplotlib.pyplot as plt
from figures.shapes import arrow, box
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from coursekit import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
WEIGHTS = (0.75, 0.06, 0.12, 0.07)
PLACES = (1.2, 3.3, 5.4, 7.5)
SUM = (3.2, 5.0)


def draw() -> Figure:
    """Draw both steps: the numbers in circles say what is computed first."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 4.5), layout="constrained")
    for axes, title in (
        (left, "Bahdanau: look, then move on"),
        (right, "Luong: move on, then look"),
    ):
        axes.set_xlim(0, 9.6)
        axes.set_ylim(0.4, 11.6)
        axes.axis("off")
        axes.set_title(title)
        _source(axes)
    _bahdanau(left)
    _luong(right)
    return figure


def _bahdanau(axes: Axes) -> None:
    before, now = (3.2, 7.9), (7.6, 7.9)
    box(axes, *before, "$h_{t-1}$", GREEN)
    box(axes, *now, "$h_t$", GREEN)
    arrow(axes, (3.95, 7.9), (6.8, 7.9), GREEN)
    arrow(axes, (3.2, 7.4), (3.2, 5.65), GREEN, dashed=True)
    _text(axes, 2.95, 6.5, "query", "right")
    _number(axes, 3.75, 6.5, 1, "$a_t$")
    _number(axes, 1.35, 5.0, 2, "$c_t$")
    arrow(axes, (3.85, 5.25), (7.0, 7.4), ORANGE)
    _number(axes, 8.75, 7.9, 3)
    arrow(axes, (7.6, 6.0), (7.6, 7.35), style.LIGHT["muted"])
    _text(axes, 7.6, 5.6, "$y_{t-1}$")
    arrow(axes, (7.6, 8.4), (7.6, 10.5), style.LIGHT["muted"])
    _text(axes, 7.6, 10.95, "next word")
    _number(axes, 8.75, 10.95, 4)


def _luong(axes: Axes) -> None:
    before, now, together = (4.5, 7.1), (7.6, 7.1), (7.6, 9.4)
    box(axes, *before, "$h_{t-1}$", GREEN)
    box(axes, *now, "$h_t$", GREEN)
    box(axes, *together, r"$\tilde{h}_t$", ORANGE)
    arrow(axes, (5.25, 7.1), (6.8, 7.1), GREEN)
    _number(axes, 8.75, 7.1, 1)
    arrow(axes, (7.0, 6.6), (3.9, 5.15), GREEN, dashed=True)
    _text(axes, 4.75, 6.1, "query", "right")
    _number(axes, 5.9, 5.4, 2, "$a_t$")
    _number(axes, 1.35, 5.0, 3, "$c_t$")
    axes.add_patch(
        FancyArrowPatch(
            (2.65, 5.4),
            (6.8, 9.4),
            arrowstyle="-|>",
            mutation_scale=11,
            color=ORANGE,
            linewidth=1.5,
            connectionstyle="arc3,rad=-0.42",
        )
    )
    arrow(axes, (7.6, 7.6), (7.6, 8.85), GREEN)
    _number(axes, 8.75, 9.4, 4)
    arrow(axes, (7.6, 5.0), (7.6, 6.55), style.LIGHT["muted"])
    _text(axes, 7.6, 4.55, r"$y_{t-1},\ \tilde{h}_{t-1}$")
    arrow(axes, (7.6, 9.9), (7.6, 10.5), style.LIGHT["muted"])
    _text(axes, 7.6, 10.95, "next word")
    _number(axes, 8.75, 10.95, 5)


def _source(axes: Axes) -> None:
    """The encoder's states with arrows, as wide as their weights, to the sum."""
    for j, (x, weight) in enumerate(zip(PLACES, WEIGHTS, strict=True), start=1):
        box(axes, x, 1.3, rf"$\bar{{h}}_{j}$", BLUE)
        arrow(axes, (x, 1.85), SUM, ORANGE, width=0.8 + 4.5 * weight, shrink=12)
    axes.plot(*SUM, "o", markersize=23, color=style.LIGHT["paper"], mec=ORANGE, mew=2, zorder=3)
    axes.text(*SUM, r"$\Sigma$", ha="center", va="center", fontsize=12, zorder=4)


def _number(axes: Axes, x: float, y: float, number: int, label: str = "") -> None:
    ink = style.LIGHT["ink"]
    axes.plot(x, y, "o", markersize=14, color=ink, zorder=4)
    paper = style.LIGHT["paper"]
    axes.text(x, y - 0.03, str(number), ha="center", va="center", color=paper, fontsize=8, zorder=5)
    axes.text(x + 0.38, y, label, va="center", fontsize=11)


def _text(axes: Axes, x: float, y: float, text: str, align: str = "center") -> None:
    axes.text(x, y, text, ha=align, va="center", fontsize=10, color=style.LIGHT["ink"])
