"""Figure: the four ways to fine-tune BERT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
PAIR = ("[CLS]", "anna", "rests", "[SEP]", "she", "sleeps", "[SEP]")
SINGLE = ("[CLS]", "it", "was", "not", "good", "[SEP]")
ANSWER = ("[CLS]", "where?", "[SEP]", "tom", "is", "at", "home", "[SEP]")
TAGGED = ("[CLS]", "they", "take", "a", "walk", "[SEP]")
WIDTH = 8.0  # of a panel, in tokens


def draw() -> Figure:
    """Draw which last-layer states are read out for four kinds of task, one below the other."""
    figure, panels = plt.subplots(4, 1, figsize=(4.75, 7.6), layout="constrained")
    for axes, title, tokens, outputs in (
        (panels[0], "(a) a pair of sentences: one class", PAIR, {0: "same meaning"}),
        (panels[1], "(b) a sentence: one class", SINGLE, {0: "bad"}),
        (panels[2], "(c) a question and a passage: a span", ANSWER, {5: "first", 6: "last"}),
        (
            panels[3],
            "(d) a sentence: a class for each token",
            TAGGED,
            {1: "PRON", 2: "VERB", 3: "DET", 4: "NOUN"},
        ),
    ):
        axes.set_title(title, fontsize=10.5)
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(-0.1, 2.45)
        axes.axis("off")
        _model(axes, tokens, outputs)
    return figure


def _model(axes: Axes, tokens: Sequence[str], outputs: Mapping[int, str]) -> None:
    """Draw BERT over a row of tokens, and the labels read from the states at some places."""
    shift = (WIDTH - len(tokens)) / 2
    second = tokens.index("[SEP]") + 1
    muted = style.LIGHT["muted"]
    box(axes, WIDTH / 2, 0.98, "BERT", muted, len(tokens) - 0.15, 0.34, rounding=0.1, size=10)
    for i, token in enumerate(tokens):
        x = shift + i + 0.5
        colour = BLUE if i < second else GREEN
        axes.text(x, 0.35, token, ha="center", va="center", fontsize=10)
        axes.plot([x - 0.42, x + 0.42], [0.16, 0.16], color=colour, linewidth=2.5)
        arrow(axes, (x, 0.5), (x, 0.77), muted, width=1.0, head=9)
        arrow(axes, (x, 1.18), (x, 1.45), muted, width=1.0, head=9)
        axes.plot(x, 1.57, "o", markersize=9, color=style.LIGHT["paper"], mec=colour, mew=1.6)
        if i in outputs:
            arrow(axes, (x, 1.71), (x, 2.1), ORANGE, width=1.6)
            axes.text(x, 2.27, outputs[i], ha="center", va="center", fontsize=10)
