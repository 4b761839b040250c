"""Figures of the Transformer: its two stacks, and its heads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN, PURPLE = style.SERIES[:4]
INK, MUTED = style.LIGHT["ink"], style.LIGHT["muted"]
LEFT, RIGHT = 1.08, 3.35  # centres of encoder and decoder; all lengths are in inches
WIDTH = 1.54  # of the boxes
FIRST, PITCH = 1.55, 1.11  # height of the first part of a layer, and from part to part
_box = partial(box, width=WIDTH, height=0.42, rounding=0.06, size=10)
_arrow = partial(arrow, head=10)


def draw_model() -> Figure:
    """Draw encoder and decoder, with one layer of each in full."""
    figure, axes = plt.subplots(figsize=(4.7, 5.9), layout="constrained")
    axes.set_xlim(0, 4.6)
    axes.set_ylim(0, 5.8)
    axes.axis("off")
    encoder = (("self-attention", BLUE), ("feed-forward", MUTED))
    decoder = (
        ("masked\nself-attention", ORANGE),
        ("attention\nto the encoder", GREEN),
        ("feed-forward", MUTED),
    )
    memory = _stack(axes, LEFT, encoder, "source words")
    result = _stack(axes, RIGHT, decoder, "target words so far")
    for x, y, name in ((0.1, 2.2, "encoder layer"), (4.48, 2.75, "decoder layer")):
        axes.text(
            x,
            y,
            f"{name}, 6 times",
            rotation=90,
            ha="center",
            va="center",
            fontsize=10,
            color=MUTED,
        )
    over, between, attends = memory + 0.45, 2.29, FIRST + PITCH
    axes.plot(
        [LEFT, LEFT, between, between],
        [memory, over, over, attends],
        color=GREEN,
        linewidth=1.8,
        zorder=1,
    )
    _arrow(axes, (between, attends), (RIGHT - WIDTH / 2 - 0.02, attends), GREEN, width=1.8)
    axes.text(1.15, over + 0.16, "memory: keys and values", ha="center", va="center", fontsize=10)
    _arrow(axes, (RIGHT, result), (RIGHT, 4.72), MUTED)
    _box(axes, RIGHT, 4.95, "product with\nthe embeddings", MUTED)
    _arrow(axes, (RIGHT, 5.18), (RIGHT, 5.41), MUTED)
    _box(axes, RIGHT, 5.58, "softmax: next word", MUTED, height=0.3)
    return figure


def _stack(axes: Axes, x: float, parts: Sequence[tuple[str, str]], words: str) -> float:
    """Draw words, embeddings and one layer of these parts; return the height of its result."""
    top = FIRST + PITCH * (len(parts) - 1) + 0.6
    axes.add_patch(
        FancyBboxPatch(
            (x - 0.85, 1.0),
            1.85,
            top - 0.88,
            boxstyle="round,pad=0.0,rounding_size=0.1",
            facecolor=style.LIGHT["panel"],
            edgecolor=style.LIGHT["line"],
            linewidth=1.2,
            zorder=0,
        )
    )
    axes.text(x, 0.1, words, ha="center", va="center", fontsize=10, color=INK)
    _arrow(axes, (x, 0.2), (x, 0.36), MUTED)
    _box(axes, x, 0.6, "embeddings\n+ positions", MUTED)
    below, edge = 0.83, x + WIDTH / 2 + 0.12
    for part, (name, colour) in enumerate(parts):
        y = FIRST + PITCH * part
        add, start = y + 0.44, y - 0.39
        _arrow(axes, (x, below), (x, y - 0.23), MUTED)
        _box(axes, x, y, name, colour)
        _box(axes, x, add, "add, then LayerNorm", PURPLE, height=0.28, size=9.5)
        axes.plot([x, edge, edge], [start, start, add], color=PURPLE, linewidth=1.3)
        _arrow(axes, (edge, add), (x + WIDTH / 2 + 0.02, add), PURPLE, width=1.3, head=8)
        below = add + 0.16
    return top


def draw_heads() -> Figure:
    """Draw how heads project whole vectors, attend, and are concatenated."""
    figure, axes = plt.subplots(figsize=(4.7, 4.4), layout="constrained")
    axes.set_xlim(0, 4.6)
    axes.set_ylim(0, 4.3)
    axes.axis("off")
    middle, cell = 2.3, 0.55
    _box(axes, middle, 0.35, "", style.LIGHT["line"], width=3.3, height=0.6)
    _box(axes, middle - 0.8, 0.35, "$X$: $(B, T, d)$", MUTED, width=1.4, height=0.36, size=11)
    _box(axes, middle + 0.8, 0.35, "$Y$: $(B, N, d)$", MUTED, width=1.4, height=0.36, size=11)
    for i, colour in enumerate((BLUE, ORANGE, GREEN, PURPLE), start=1):
        x, place = middle + 1.15 * (i - 2.5), middle + cell * (i - 2.5)
        _arrow(axes, (middle, 0.68), (x, 1.22), colour)
        label = f"Attention(\n$XW^Q_{i},$\n$YW^K_{i},$\n$YW^V_{i})$"
        _box(axes, x, 1.76, label, colour, width=1.0, height=1.04, size=11)
        _arrow(axes, (x, 2.31), (place, 2.74), colour)
        axes.add_patch(
            Rectangle((place - cell / 2, 2.76), cell, 0.26, facecolor=colour, alpha=0.75)
        )
    axes.text(3.5, 2.89, "head by head", va="center", fontsize=10)
    _arrow(axes, (middle, 3.04), (middle, 3.3), MUTED)
    _box(axes, middle, 3.49, "$W^O$", MUTED, width=0.7, height=0.34, size=11)
    _arrow(axes, (middle, 3.68), (middle, 3.94), MUTED)
    _box(axes, middle, 4.11, "$(B, T, d)$", MUTED, width=4 * cell, height=0.3, size=11)
    return figure
