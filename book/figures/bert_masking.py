"""Figures of masked pre-training: the treatment of tokens, and the masks of GPT and BERT."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN, PURPLE = style.SERIES[:4]
INK, MUTED, PAPER = (style.LIGHT[name] for name in ("ink", "muted", "paper"))


def draw_tree() -> Figure:
    """Draw the choice of 15 % of the tokens, and their treatment: 80, 10 and 10 %."""
    figure, axes = plt.subplots(figsize=(4.7, 4.1), layout="constrained")
    axes.set_xlim(0, 9.2)  # half inches
    axes.set_ylim(-0.1, 8.0)
    axes.axis("off")
    box(axes, 3.0, 7.5, "all tokens but special ones", MUTED, 4.7, 0.8, size=10)
    box(axes, 1.4, 5.1, "not chosen:\nno loss", MUTED, 2.3, 1.1, size=10)
    box(axes, 5.9, 5.1, "chosen: the loss is here", ORANGE, 4.4, 0.8, size=10)
    for end, share, at in (((1.4, 5.7), "85 %", 1.55), ((5.9, 5.55), "15 %", 5.1)):
        arrow(axes, (3.0, 7.05), end, MUTED)
        axes.text(at, 6.4, share, ha="center", va="center", fontsize=10)
    outcomes = (
        (1.5, "80 %", 2.2, "[MASK]", "anna has a\nred [MASK]", BLUE, "12 % of all"),
        (4.5, "10 %", 4.5, "a random\ntoken", "anna has a\nred park", PURPLE, "1.5 %"),
        (7.5, "10 %", 7.6, "unchanged", "anna has a\nred kite", GREEN, "1.5 %"),
    )
    for x, share, at, name, example, colour, of_all in outcomes:
        arrow(axes, (5.4 + 0.45 * (x - 4.5), 4.65), (x, 3.2), colour)
        axes.text(at, 4.05, share, ha="center", va="center", fontsize=10)
        box(axes, x, 2.6, name, colour, 2.3, 1.0, size=10)
        axes.text(x, 1.4, example, ha="center", va="center", fontsize=10, style="italic")
        axes.text(x, 0.35, of_all, ha="center", va="center", fontsize=10, color=MUTED)
    return figure


def draw_masks() -> Figure:
    """Draw the masks of GPT and BERT as squares, filled where a row may attend to a column."""
    figure, panels = plt.subplots(1, 2, figsize=(4.75, 2.6), layout="constrained")
    for axes, title, words, full in (
        (panels[0], "GPT", ["she", "rides", "the", "bicycle"], False),
        (panels[1], "BERT", ["she", "[MASK]", "the", "bicycle"], True),
    ):
        axes.set_title(title, fontsize=10.5, loc="center")
        for i in range(4):
            for j in range(4):
                sees = full or j <= i
                axes.add_patch(
                    Rectangle(
                        (j, -i - 1), 0.92, 0.92, edgecolor=MUTED, linewidth=1,
                        facecolor=(GREEN if full else BLUE) if sees else PAPER,
                        alpha=0.85 if sees else 1.0,
                    )
                )  # fmt: skip
        axes.set_xlim(-0.1, 4)
        axes.set_ylim(-4, 0.1)
        axes.set_aspect("equal")
        axes.set_xticks([j + 0.46 for j in range(4)], words)
        for label in axes.get_xticklabels():
            label.set(rotation=45, rotation_mode="anchor", ha="right", va="top")
        axes.set_yticks([-i - 0.54 for i in range(4)], words)
        axes.tick_params(length=0, labelsize=10, labelcolor=INK)
        axes.grid(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return figure
