"""Figures of recurrent networks: a loop and its unrolling, and the gated cells."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
MUTED = style.LIGHT["muted"]
WORDS = ("how", "are", "you")
WIDTH = 4.6  # of both figures; all lengths are in inches
CARRY = 2.65  # height of the thick line of a cell
GATES, STATE, WORD = 1.1, 0.48, 0.12  # heights of its gates and of the lines that they read
_box = partial(box, width=0.42, height=0.38, rounding=0.08, size=12)
_arrow = partial(arrow, head=10)


def draw_unrolled() -> Figure:
    """Draw the network as a loop and unrolled over three words, with the path of the gradient."""
    figure, axes = plt.subplots(figsize=(4.7, 2.1), layout="constrained")
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(0, 1.95)
    axes.axis("off")
    low, middle, high = 0.7, 0.9, 1.13  # heights of the boxes' lower edges, centres, upper edges
    _box(axes, 0.35, middle, "$f$", BLUE)
    _arrow(axes, (0.35, 0.26), (0.35, low - 0.02), MUTED)
    _text(axes, 0.35, 0.12, "$x_t$", 13)
    _arrow(axes, (0.48, high), (0.22, high), BLUE, curve=1.6)
    _text(axes, 0.35, 1.58, "$h_t$", 13)
    _text(axes, 0.8, middle, "=", 18)
    _box(axes, 1.21, middle, "$h_0$", BLUE, width=0.38, dashed=True)
    for j, word in enumerate(WORDS):
        x = 1.9 + 0.9 * j
        _box(axes, x, middle, "$f$", BLUE)
        _arrow(axes, (x - (0.66 if j else 0.47), middle), (x - 0.24, middle), BLUE)
        _arrow(axes, (x, 0.26), (x, low - 0.02), MUTED)
        _text(axes, x, 0.12, word, 11)
        later = x + (0.78 if j < 2 else 0.7)
        _arrow(axes, (later, high), (x + 0.12, high), ORANGE, dashed=True, curve=0.5)
        if j < 2:
            _text(axes, x + 0.45, middle + 0.14, f"$h_{j + 1}$", 11)
    _arrow(axes, (3.94, middle), (4.25, middle), BLUE)
    _text(axes, 4.42, middle, "$h_3$", 13)
    _arrow(axes, (1.78, low - 0.02), (1.78, 0.26), ORANGE, dashed=True)
    _text(axes, 2.9, 1.75, "gradient of the loss, backwards through time", 10)
    return figure


def draw_cells() -> Figure:
    """Draw the GRU and the LSTM, with a thick line for the carried content."""
    figure, (gru, lstm) = plt.subplots(2, 1, figsize=(4.7, 6.6), layout="constrained")
    for axes, title in ((gru, "GRU"), (lstm, "LSTM")):
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(-0.1, 2.9)
        axes.axis("off")
        axes.set_title(title)
    _gru(gru)
    _lstm(lstm)
    return figure


def _gru(axes: Axes) -> None:
    _carry(axes, "$h_{t-1}$", "$h_t$")
    z, r, n, level = 1.15, 2.05, 3.5, 1.8
    axes.plot([0.65, 0.65], [CARRY, STATE], color=BLUE, linewidth=1.5, zorder=1)
    _word(axes, until=n)
    for x, name in ((z, "$z$"), (r, "$r$")):
        _gate(axes, x, name)
    _circle(axes, z, CARRY, "×")
    _arrow(axes, (z, GATES + 0.22), (z, CARRY - 0.15), GREEN)
    # The candidate reads the word, and the old state through the reset gate.
    _circle(axes, 2.75, STATE, "×")
    _arrow(axes, (0.65, STATE), (2.6, STATE), BLUE)
    axes.plot([r + 0.24, 2.75], [GATES, GATES], color=GREEN, linewidth=1.5)
    _arrow(axes, (2.75, GATES), (2.75, STATE + 0.15), GREEN)
    _arrow(axes, (2.9, STATE), (n - 0.42, STATE), BLUE)
    _box(axes, n, STATE, "$n$: tanh", ORANGE, width=0.8, height=0.34)
    _arrow(axes, (n, WORD), (n, STATE - 0.2), MUTED)
    # The new state takes 1 - z of the candidate.
    _circle(axes, n, level, "×")
    _circle(axes, n, CARRY, "+")
    _arrow(axes, (n, STATE + 0.2), (n, level - 0.15), ORANGE)
    _arrow(axes, (n, level + 0.15), (n, CARRY - 0.15), ORANGE, width=2.4)
    _box(axes, 2.4, level, "$1-z$", GREEN, width=0.7)
    _arrow(axes, (z, level), (2.03, level), GREEN)
    _arrow(axes, (2.77, level), (n - 0.15, level), GREEN)


def _lstm(axes: Axes) -> None:
    _carry(axes, "$c_{t-1}$", "$c_t$")
    f, i, g, o, level = 0.85, 1.55, 2.4, 3.4, 1.72
    axes.plot([0.45, o - 0.1], [STATE, STATE], color=BLUE, linewidth=1.5, zorder=1)
    _text(axes, 0.2, STATE, "$h_{t-1}$", 13)
    _word(axes, until=o + 0.1)
    for x, name in ((f, "$f$"), (i, "$i$"), (o, "$o$")):
        _gate(axes, x, name)
    _gate(axes, g, "$g$: tanh", ORANGE, width=0.8)
    _circle(axes, f, CARRY, "×")
    _arrow(axes, (f, GATES + 0.22), (f, CARRY - 0.15), GREEN)
    # The memory takes i of the candidate g.
    _circle(axes, g, level, "×")
    _circle(axes, g, CARRY, "+")
    axes.plot([i, i], [GATES + 0.22, level], color=GREEN, linewidth=1.5)
    _arrow(axes, (i, level), (g - 0.15, level), GREEN)
    _arrow(axes, (g, GATES + 0.22), (g, level - 0.15), ORANGE)
    _arrow(axes, (g, level + 0.15), (g, CARRY - 0.15), ORANGE, width=2.4)
    # The state is o of the memory's tanh.
    _box(axes, o, 2.2, "tanh", BLUE, width=0.6, height=0.32)
    _circle(axes, o, level, "×")
    _arrow(axes, (o, CARRY), (o, 2.38), BLUE)
    _arrow(axes, (o, 2.02), (o, level + 0.15), BLUE)
    _arrow(axes, (o, GATES + 0.22), (o, level - 0.15), GREEN)
    _arrow(axes, (o + 0.15, level), (4.15, level), BLUE)
    _text(axes, 4.35, level, "$h_t$", 13)


def _carry(axes: Axes, before: str, after: str) -> None:
    """Draw the thick line that carries the content from one word to the next."""
    _arrow(axes, (0.5, CARRY), (4.15, CARRY), BLUE, width=4.5, head=20)
    _text(axes, 0.2, CARRY, before, 13)
    _text(axes, 4.35, CARRY, after, 13)


def _word(axes: Axes, until: float) -> None:
    """Draw the line on which the word comes in."""
    axes.plot([0.45, until], [WORD, WORD], color=MUTED, linewidth=1.5, zorder=1)
    _text(axes, 0.2, WORD, "$x_t$", 13)


def _gate(axes: Axes, x: float, name: str, colour: str = GREEN, width: float = 0.46) -> None:
    """Draw a box that reads the old state and the word from the lines below it."""
    _box(axes, x, GATES, name, colour, width=width)
    _arrow(axes, (x - 0.1, STATE), (x - 0.1, GATES - 0.22), BLUE)
    _arrow(axes, (x + 0.1, WORD), (x + 0.1, GATES - 0.22), MUTED)


def _circle(axes: Axes, x: float, y: float, sign: str) -> None:
    ink, paper = style.LIGHT["ink"], style.LIGHT["paper"]
    axes.plot(x, y, "o", markersize=18, color=paper, mec=ink, mew=1.5, zorder=3)
    axes.text(x, y - 0.01, sign, ha="center", va="center", fontsize=13, color=ink, zorder=4)


def _text(axes: Axes, x: float, y: float, text: str, size: float) -> None:
    ink = style.LIGHT["ink"]
    axes.text(x, y, text, ha="center", va="center", fontsize=size, color=ink)
