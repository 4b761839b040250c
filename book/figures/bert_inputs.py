"""Figure: the inputs of BERT, the sum of three embeddings for each token."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from book.figures.drawing_primitives import box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
TOKENS = ("[CLS]", "anna", "has", "a", "kite", "[SEP]", "she", "fl", "##ies", "it", "[SEP]")
SECOND = 6  # the first token of the second sentence
COLUMNS = (0.4, 1.55, 2.75, 3.95)  # centres of the tokens and of their embeddings, in inches
ROW = 0.37  # inches from one token to the next


def draw() -> Figure:
    """Draw the token, segment and position embeddings of a pair of sentences, token by token."""
    figure, axes = plt.subplots(figsize=(4.7, 5.1), layout="constrained")
    axes.set_xlim(0, 4.6)
    axes.set_ylim(-(len(TOKENS) + 0.85) * ROW, 0.75)
    axes.axis("off")
    headings = ("token", "token\nembedding", "segment\nembedding", "position\nembedding")
    for x, heading in zip(COLUMNS, headings, strict=True):
        axes.text(x, 0.5, heading, ha="center", va="center", fontsize=10)
    for i, token in enumerate(TOKENS):
        y = -(i + (0.3 if i >= SECOND else 0)) * ROW
        axes.text(COLUMNS[0], y, token, ha="center", va="center", fontsize=11)
        embeddings = (
            (rf"$E_{{\mathrm{{{_plain(token)}}}}}$", BLUE),
            ("$E_A$" if i < SECOND else "$E_B$", GREEN),
            (f"$E_{{{i}}}$", ORANGE),
        )
        for x, (label, colour) in zip(COLUMNS[1:], embeddings, strict=True):
            box(axes, x, y, label, colour, width=0.8, height=0.26, rounding=0.06, size=12.5)
        for left, right in pairwise(COLUMNS[1:]):
            axes.text((left + right) / 2, y, "+", ha="center", va="center", fontsize=11)
    below = -(len(TOKENS) + 0.35) * ROW
    axes.text(
        2.3, below, "LayerNorm of each sum, then the layers", ha="center", va="center", fontsize=10
    )
    return figure


def _plain(token: str) -> str:
    return token.strip("[]").replace("#", "")
