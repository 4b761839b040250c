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
    figure, axes = plt.subplots(figsize=(6.0, 3.5), layout="constrained")
    axes.set_xlim(0.2, 12.4)
    axes.set_ylim(-0.9, 7.3)
    axes.axis("off")
    box(axes, 4.0, 6.7, "all tokens but special ones", MUTED, 5.4, 0.9, size=9.5)
    box(axes, 1.7, 4.3, "not chosen:\nno loss", MUTED, 2.6, 1.3, size=9.5)
    box(axes, 7.4, 4.3, "chosen: the loss is here", ORANGE, 5.0, 1.0, size=9.5)
    for end, share, at in (((1.7, 5.0), "85 %", 2.0), ((7.4, 4.85), "15 %", 6.3)):
        arrow(axes, (4.0, 6.2), end, MUTED)
        axes.text(at, 5.65, share, ha="center", va="center", fontsize=9.5)
    outcomes = (
        (3.3, "80 %", "[MASK]", "anna has a red\n[MASK]", BLUE, "12 % of all"),
        (7.4, "10 %", "a random token", "anna has a red\npark", PURPLE, "1.5 %"),
        (10.8, "10 %", "unchanged", "anna has a red\nkite", GREEN, "1.5 %"),
    )
    for x, share, name, example, colour, of_all in outcomes:
        arrow(axes, (7.4, 3.75), (x, 2.55), colour)
        side = "right" if x < 7 else "left"
        shift = -0.35 if x < 7 else 0.3
        axes.text((x + 7.4) / 2 + shift, 3.25, share, ha=side, va="center", fontsize=9.5)
        box(axes, x, 2.1, name, colour, 2.6 if x > 8 else 3.2, 0.85, size=9.5)
        axes.text(x, 0.95, example, ha="center", va="center", fontsize=9, style="italic")
        axes.text(x, -0.35, of_all, ha="center", va="center", fontsize=9, color=MUTED)
    return figure


def draw_masks() -> Figure:
    """Draw the masks of GPT and BERT as squares, filled where a row may attend to a column."""
    figure, panels = plt.subplots(1, 2, figsize=(5.4, 2.9), layout="constrained")
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
        axes.set_xticks([j + 0.46 for j in range(4)], words, rotation=45, ha="right")
        axes.set_yticks([-i - 0.54 for i in range(4)], words)
        axes.tick_params(length=0, labelsize=9, labelcolor=INK)
        axes.grid(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return figure
