"""Figure: the path from the first source word to the last target word in three models."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
WORDS = 5
LOW, HIGH = 1.1, 3.8  # the encoder's states and the decoder's
BELOW = 0.0  # the source words


def draw() -> Figure:
    """Draw three panels, with the shortest path coloured and all other connections grey."""
    figure, panels = plt.subplots(3, 1, figsize=(4.7, 5.9), layout="constrained")
    titles = ("encoder-\ndecoder", "with\nattention", "Transformer,\none layer")
    for axes, title, way in zip(
        panels, titles, (_recurrent, _attention, _transformer), strict=True
    ):
        axes.set_xlim(-2.2, WORDS - 0.7)
        axes.set_ylim(-0.9, HIGH + 1.7)
        axes.axis("off")
        axes.text(-2.15, (LOW + HIGH) / 2, title, va="center", weight="bold", fontsize=11)
        way(axes)
        for i in range(WORDS):
            _text(axes, i, BELOW - 0.35, f"$x_{i + 1}$", i == 0)
            _text(axes, i, HIGH + 1.3, f"$y_{i + 1}$", i == WORDS - 1)
            _node(axes, i, LOW, BLUE)
            _node(axes, i, HIGH, GREEN)
    return figure


def _recurrent(axes: Axes) -> None:
    _chains(axes, True)
    _arrow(axes, (WORDS - 1, LOW), (0, HIGH), True)
    _ends(axes)


def _attention(axes: Axes) -> None:
    _chains(axes, False)
    for i in range(1, WORDS):
        _arrow(axes, (i, LOW), (WORDS - 1, HIGH), False)
    _arrow(axes, (0, LOW), (WORDS - 1, HIGH), True)
    _ends(axes)


def _transformer(axes: Axes) -> None:
    for i in range(WORDS):
        if i:
            _arrow(axes, (i, BELOW), (0, LOW), False)
            _arrow(axes, (0, BELOW), (i, LOW), False)
            _arrow(axes, (i, LOW), (WORDS - 1, HIGH), False)
    _arrow(axes, (0, LOW), (WORDS - 1, HIGH), True)
    _ends(axes)


def _chains(axes: Axes, taken: bool) -> None:
    for height in (LOW, HIGH):
        for i in range(WORDS - 1):
            _arrow(axes, (i, height), (i + 1, height), taken)


def _ends(axes: Axes) -> None:
    """Draw the arrows from the words into the encoder and from the decoder to the outputs."""
    for i in range(WORDS):
        _arrow(axes, (i, BELOW), (i, LOW), i == 0, start=0)
        _arrow(axes, (i, HIGH), (i, HIGH + 0.95), i == WORDS - 1, end=0)


def _node(axes: Axes, x: float, y: float, colour: str) -> None:
    paper = style.LIGHT["paper"]
    axes.plot(x, y, "o", markersize=11, color=paper, mec=colour, mew=1.6, zorder=4)


def _arrow(
    axes: Axes,
    first: tuple[float, float],
    last: tuple[float, float],
    taken: bool,
    start: float = 8,
    end: float = 8,
) -> None:
    axes.add_patch(
        FancyArrowPatch(
            first,
            last,
            arrowstyle="-|>",
            mutation_scale=8,
            shrinkA=start,
            shrinkB=end,
            color=ORANGE if taken else style.LIGHT["line"],
            linewidth=2.2 if taken else 1.0,
            zorder=3 if taken else 2,
        )
    )


def _text(axes: Axes, x: float, y: float, text: str, strong: bool) -> None:
    colour = ORANGE if strong else style.LIGHT["muted"]
    axes.text(x, y, text, ha="center", va="center", fontsize=11, color=colour)
