"""Figures of recurrent networks: a loop and its unrolling, and the gated cells."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
WORDS = ("how", "are", "you")


def draw_unrolled() -> Figure:
    """Draw the network as a loop and unrolled over three words, with the path of the gradient."""
    figure, axes = plt.subplots(figsize=(6.6, 3.2), layout="constrained")
    axes.set_xlim(-0.2, 13.4)
    axes.set_ylim(-0.2, 5.6)
    axes.axis("off")
    muted = style.LIGHT["muted"]
    box(axes, 1.2, 2.6, "$f$", BLUE)
    arrow(axes, (1.2, 0.9), (1.2, 2.1), muted)
    _text(axes, 1.2, 0.5, "$x_t$", 13)
    arrow(axes, (1.7, 3.1), (0.7, 3.1), BLUE, curve=1.6)
    _text(axes, 1.2, 4.5, "$h_t$", 13)
    _text(axes, 3.15, 2.6, "=", 20)
    box(axes, 4.5, 2.6, "$h_0$", BLUE, width=1.0, dashed=True)
    for j, word in enumerate(WORDS):
        x = 6.6 + 2.4 * j
        box(axes, x, 2.6, "$f$", BLUE)
        arrow(axes, (x - 1.55, 2.6), (x - 0.75, 2.6), BLUE)
        arrow(axes, (x, 0.9), (x, 2.1), muted)
        _text(axes, x, 0.4, word)
        if j < 2:
            axes.plot([x + 0.7, x + 0.9], [2.6, 2.6], color=BLUE, lw=1.5)
            _text(axes, x + 1.2, 3.05, f"$h_{j + 1}$")
    arrow(axes, (12.1, 2.6), (12.75, 2.6), BLUE)
    _text(axes, 13.1, 2.6, "$h_3$", 13)
    for start, end in ((12.9, 11.6), (11.2, 9.2), (8.8, 6.8)):
        arrow(axes, (start, 3.6), (end, 3.6), ORANGE, dashed=True, curve=0.25)
    arrow(axes, (6.15, 3.15), (6.15, 0.75), ORANGE, dashed=True)
    _text(axes, 9.9, 4.8, "gradient of the loss, backwards through time", 10.5)
    return figure


def draw_cells() -> Figure:
    """Draw the GRU and the LSTM, with a thick line for the carried content."""
    figure, (gru, lstm) = plt.subplots(2, 1, figsize=(6.6, 7.0), layout="constrained")
    for axes, title in ((gru, "GRU"), (lstm, "LSTM")):
        axes.set_xlim(-0.6, 13.2)
        axes.set_ylim(-0.6, 5.4)
        axes.axis("off")
        axes.set_title(title)
    _gru(gru)
    _lstm(lstm)
    return figure


def _gru(axes: Axes) -> None:
    muted = style.LIGHT["muted"]
    _carry(axes, "$h_{t-1}$", "$h_t$")
    _circle(axes, 4.6, 4.2, "×")
    _gate(axes, 4.6, 2.4, "$z$")
    arrow(axes, (4.6, 2.9), (4.6, 3.8), GREEN)
    _circle(axes, 9.4, 4.2, "+")
    _circle(axes, 9.4, 2.6, "×")
    arrow(axes, (9.4, 3.0), (9.4, 3.8), ORANGE, width=2.4)
    box(axes, 9.4, 0.6, "$n$: tanh", ORANGE, width=2.2)
    arrow(axes, (9.4, 1.1), (9.4, 2.2), ORANGE)
    _gate(axes, 7.2, 2.6, "$1-z$", width=1.7)
    arrow(axes, (8.05, 2.6), (9.0, 2.6), GREEN)
    # The candidate reads the old state through the reset gate.
    axes.plot([1.4, 1.4], [4.2, 0.6], color=BLUE, lw=1.5, zorder=1)
    arrow(axes, (1.4, 0.6), (3.95, 0.6), BLUE)
    _circle(axes, 4.35, 0.6, "×")
    arrow(axes, (4.75, 0.6), (8.25, 0.6), BLUE)
    _gate(axes, 2.9, 1.75, "$r$")
    arrow(axes, (3.3, 1.25), (4.05, 0.85), GREEN)
    arrow(axes, (12.2, 0.6), (10.55, 0.6), muted)
    _text(axes, 12.6, 0.6, "$x_t$", 13)


def _lstm(axes: Axes) -> None:
    muted = style.LIGHT["muted"]
    _carry(axes, "$c_{t-1}$", "$c_t$")
    _circle(axes, 2.4, 4.2, "×")
    _gate(axes, 2.4, 2.4, "$f$")
    arrow(axes, (2.4, 2.9), (2.4, 3.8), GREEN)
    _circle(axes, 5.6, 4.2, "+")
    _circle(axes, 5.6, 2.6, "×")
    arrow(axes, (5.6, 3.0), (5.6, 3.8), ORANGE, width=2.4)
    _gate(axes, 3.7, 1.4, "$i$")
    arrow(axes, (4.2, 1.8), (5.25, 2.45), GREEN)
    box(axes, 5.9, 0.6, "$g$: tanh", ORANGE, width=2.2)
    arrow(axes, (5.65, 1.1), (5.6, 2.2), ORANGE)
    box(axes, 8.8, 3.0, "tanh", BLUE, width=1.5)
    arrow(axes, (8.8, 4.2), (8.8, 3.5), BLUE)
    _circle(axes, 8.8, 1.5, "×")
    arrow(axes, (8.8, 2.5), (8.8, 1.9), BLUE)
    _gate(axes, 8.8, 0.0, "$o$")
    arrow(axes, (8.8, 0.5), (8.8, 1.1), GREEN)
    arrow(axes, (9.2, 1.5), (12.1, 1.5), BLUE)
    _text(axes, 12.5, 1.5, "$h_t$", 13)
    _text(axes, 1.5, 0.3, "$x_t,\\ h_{t-1}$", 13)
    _text(axes, 1.5, -0.35, "to $f, i, g, o$", 10, muted)


def _carry(axes: Axes, before: str, after: str) -> None:
    """Draw the thick line that carries the content from one word to the next."""
    arrow(axes, (0.4, 4.2), (12.1, 4.2), BLUE, width=4.5, head=20)
    _text(axes, -0.1, 4.2, before, 13)
    _text(axes, 12.6, 4.2, after, 13)


def _gate(axes: Axes, x: float, y: float, name: str, width: float = 1.1) -> None:
    box(axes, x, y, name, GREEN, width=width, size=12)


def _circle(axes: Axes, x: float, y: float, sign: str) -> None:
    ink, paper = style.LIGHT["ink"], style.LIGHT["paper"]
    axes.plot(x, y, "o", markersize=20, color=paper, mec=ink, mew=1.5, zorder=3)
    axes.text(x, y - 0.03, sign, ha="center", va="center", fontsize=13, color=ink, zorder=4)


def _text(axes: Axes, x: float, y: float, text: str, size: float = 12, colour: str = "") -> None:
    ink = colour or style.LIGHT["ink"]
    axes.text(x, y, text, ha="center", va="center", fontsize=size, color=ink)
