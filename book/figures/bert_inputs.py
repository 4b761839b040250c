"""Figure: the inputs of BERT, the sum of three embeddings for each token."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from coursekit.plots import style

BLUE, ORANGE, GREEN, PURPLE = style.SERIES[:4]
TOKENS = ("[CLS]", "anna", "has", "a", "kite", "[SEP]", "she", "fl", "##ies", "it", "[SEP]")
SECOND = 6  # the first token of the second sentence


def draw() -> Figure:
    """Draw the token, segment and position embeddings of a pair of sentences."""
    figure, axes = plt.subplots(figsize=(9.4, 3.0), layout="constrained")
    axes.set_xlim(-2.1, len(TOKENS) + 0.1)
    axes.set_ylim(0.1, 5.3)
    axes.axis("off")
    rows = (
        (4.5, "tokens", TOKENS, style.LIGHT["muted"]),
        (3.4, "token embedding", [rf"$E_{{\mathrm{{{_plain(t)}}}}}$" for t in TOKENS], BLUE),
        (
            2.3,
            "segment embedding",
            ["$E_A$" if i < SECOND else "$E_B$" for i in range(len(TOKENS))],
            GREEN,
        ),
        (1.2, "position embedding", [f"$E_{{{i}}}$" for i in range(len(TOKENS))], ORANGE),
    )
    for y, name, labels, colour in rows:
        axes.text(-0.2, y, name, ha="right", va="center", fontsize=9)
        for i, label in enumerate(labels):
            axes.add_patch(
                FancyBboxPatch(
                    (i + 0.08, y - 0.34),
                    0.84,
                    0.68,
                    boxstyle="round,pad=0.0,rounding_size=0.12",
                    facecolor=style.LIGHT["paper"],
                    edgecolor=colour,
                    linewidth=1.5,
                )
            )
            axes.text(i + 0.5, y, label, ha="center", va="center", fontsize=8.5)
    for y in (2.85, 1.75):
        for i in range(len(TOKENS)):
            axes.text(i + 0.5, y, "+", ha="center", va="center", fontsize=10)
    axes.text(
        len(TOKENS) / 2, 0.45, "LayerNorm of each sum, then the layers", ha="center", fontsize=9
    )
    return figure


def _plain(token: str) -> str:
    return token.strip("[]").replace("#", "")
