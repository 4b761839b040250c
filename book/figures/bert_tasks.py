"""Figure: the four ways to fine-tune BERT."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from book.figures.drawing_primitives import arrow
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
PAIR = ("[CLS]", "anna", "rests", "[SEP]", "she", "sleeps", "[SEP]")
SINGLE = ("[CLS]", "it", "was", "not", "good", "[SEP]")
ANSWER = ("[CLS]", "where?", "[SEP]", "tom", "is", "at", "home", "[SEP]")
TAGGED = ("[CLS]", "they", "take", "a", "walk", "[SEP]")


def draw() -> Figure:
    """Draw which last-layer states are read out for four kinds of task."""
    figure, panels = plt.subplots(2, 2, figsize=(9.2, 5.4), layout="constrained")
    (pair, single), (answer, tags) = panels
    for axes, title, tokens in (
        (pair, "(a) a pair of sentences: one class", PAIR),
        (single, "(b) a sentence: one class", SINGLE),
        (answer, "(c) a question and a passage: a span", ANSWER),
        (tags, "(d) a sentence: a class for each token", TAGGED),
    ):
        _model(axes, title, tokens)
    _above(pair, [0], ["same meaning"], ORANGE)
    _above(single, [0], ["bad"], ORANGE)
    _above(answer, [5, 6], ["first", "last"], ORANGE)
    _above(tags, [1, 2, 3, 4], ["PRON", "VERB", "DET", "NOUN"], ORANGE)
    return figure


def _model(axes: Axes, title: str, tokens: Sequence[str]) -> None:
    axes.set_title(title, fontsize=9.5)
    axes.set_xlim(-0.1, 8.1)
    axes.set_ylim(0.0, 5.2)
    axes.axis("off")
    shift = (8 - len(tokens)) / 2
    second = tokens.index("[SEP]") + 1
    axes.add_patch(
        FancyBboxPatch(
            (shift + 0.05, 1.5),
            len(tokens) - 0.1,
            0.9,
            boxstyle="round,pad=0.0,rounding_size=0.15",
            facecolor=style.LIGHT["panel"],
            edgecolor=style.LIGHT["muted"],
            linewidth=1.5,
        )
    )
    axes.text(4, 1.95, "BERT", ha="center", va="center", fontsize=10)
    for i, token in enumerate(tokens):
        x = shift + i + 0.5
        colour = BLUE if i < second else GREEN
        axes.text(x, 0.45, token, ha="center", va="center", fontsize=8.5, color=style.LIGHT["ink"])
        axes.plot([x - 0.38, x + 0.38], [0.1, 0.1], color=colour, linewidth=2.5)
        arrow(axes, (x, 0.75), (x, 1.42), style.LIGHT["muted"], width=1.0)
        arrow(axes, (x, 2.42), (x, 2.95), style.LIGHT["muted"], width=1.0)
        axes.plot(x, 3.15, "o", markersize=9, color=style.LIGHT["paper"], mec=colour, mew=1.6)


def _above(axes: Axes, places: Sequence[int], labels: Sequence[str], colour: str) -> None:
    count = len(axes.lines) // 2  # a bar below and a state above each token
    shift = (8 - count) / 2
    for place, label in zip(places, labels, strict=True):
        x = shift + place + 0.5
        arrow(axes, (x, 3.42), (x, 4.2), colour, width=1.6)
        axes.text(x, 4.55, label, ha="center", va="center", fontsize=9, color=style.LIGHT["ink"])
