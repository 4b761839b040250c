"""Figures of the Transformer: its two stacks, and its heads."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from book.figures.drawing_primitives import arrow
from coursekit.plots import style

BLUE, ORANGE, GREEN, PURPLE = style.SERIES[:4]
INK, MUTED, PAPER = style.LIGHT["ink"], style.LIGHT["muted"], style.LIGHT["paper"]


def draw_model() -> Figure:
    """Draw encoder and decoder, with one layer of each in full."""
    figure, axes = plt.subplots(figsize=(6.6, 5.4), layout="constrained")
    axes.set_xlim(-1.2, 13.4)
    axes.set_ylim(-0.4, 13.2)
    axes.axis("off")
    left, right = 2.9, 9.4
    _stack(axes, left, 2.2, 7.2, "encoder layer", "6 times")
    _stack(axes, right, 2.2, 9.5, "decoder layer", "6 times")
    encoder = ((3.3, "self-attention", BLUE), (5.6, "feed-forward", MUTED))
    decoder = (
        (3.3, "masked self-attention", ORANGE),
        (5.6, "attention to the encoder", GREEN),
        (7.9, "feed-forward", MUTED),
    )
    for x, parts, below in ((left, encoder, 1.4), (right, decoder, 1.4)):
        for y, name, colour in parts:
            arrow(axes, (x, below), (x, y - 0.4), MUTED)
            _box(axes, x, y, name, colour, 4.2)
            _box(axes, x, y + 0.85, "add, then LayerNorm", PURPLE, 4.2, 0.55)
            start = y - 0.72 if y > parts[0][0] else 2.45
            edge = x + 2.4
            axes.plot([x, edge, edge], [start, start, y + 0.85], color=PURPLE, linewidth=1.3)
            arrow(axes, (edge, y + 0.85), (x + 2.08, y + 0.85), PURPLE, width=1.3)
            below = y + 1.15
    for x, name in ((left, "source words"), (right, "target words so far")):
        _box(axes, x, 1.0, "embeddings + positions", MUTED, 4.2)
        axes.text(x, -0.05, name, ha="center", va="center", fontsize=10, color=INK)
        arrow(axes, (x, 0.2), (x, 0.55), MUTED)
    memory = 6.75
    axes.plot([left, left], [memory, 8.1], color=GREEN, linewidth=1.8, zorder=1)
    axes.plot([left, 6.1], [8.1, 8.1], color=GREEN, linewidth=1.8, zorder=1)
    axes.plot([6.1, 6.1], [8.1, 5.6], color=GREEN, linewidth=1.8, zorder=1)
    arrow(axes, (6.1, 5.6), (7.25, 5.6), GREEN)
    axes.text(4.4, 8.4, "memory: keys and values", ha="center", fontsize=9.5, color=INK)
    arrow(axes, (right, 9.05), (right, 10.05), MUTED)
    _box(axes, right, 10.5, "product with the embeddings", MUTED, 4.6)
    arrow(axes, (right, 10.95), (right, 11.45), MUTED)
    _box(axes, right, 11.9, "softmax: next word", MUTED, 4.2)
    return figure


def draw_heads() -> Figure:
    """Draw how heads project whole vectors, attend, and are concatenated."""
    figure, axes = plt.subplots(figsize=(6.6, 2.4), layout="constrained")
    axes.set_xlim(-0.3, 15.2)
    axes.set_ylim(-0.7, 5.3)
    axes.axis("off")
    colours = (BLUE, ORANGE, GREEN, PURPLE)
    heights = (4.4, 3.1, 1.8, 0.5)
    _box(axes, 0.75, 3.5, "$X$", MUTED, 1.3, 1.5)
    _box(axes, 0.75, 1.4, "$Y$", MUTED, 1.3, 1.5)
    axes.text(0.75, 4.55, "$(B, T, d)$", ha="center", fontsize=9.5)
    axes.text(0.75, 0.1, "$(B, N, d)$", ha="center", fontsize=9.5)
    _box(axes, 0.75, 2.45, "", style.LIGHT["line"], 1.75, 3.9, order=1)
    for i, (y, colour) in enumerate(zip(heights, colours, strict=True), start=1):
        arrow(axes, (1.7, 2.45), (3.4, y), colour)
        _box(axes, 6.4, y, rf"Attention$(XW^Q_{i}, YW^K_{i}, YW^V_{i})$", colour, 5.9, 0.85)
        arrow(axes, (9.4, y), (10.35, 2.45 + 0.75 * (2.5 - i)), colour)
        axes.add_patch(
            Rectangle((10.4, 2.07 + 0.75 * (2.5 - i)), 0.8, 0.75, facecolor=colour, alpha=0.75)
        )
    axes.text(10.8, 0.2, "head by head", ha="center", fontsize=9.5)
    arrow(axes, (11.3, 2.45), (12.2, 2.45), MUTED)
    _box(axes, 12.7, 2.45, "$W^O$", MUTED, 0.9)
    arrow(axes, (13.2, 2.45), (14.1, 2.45), MUTED)
    _box(axes, 14.55, 2.45, "", MUTED, 0.8, 3.0)
    axes.text(14.4, 0.2, "$(B, T, d)$", ha="center", fontsize=9.5)
    return figure


def _stack(axes: Axes, x: float, bottom: float, top: float, name: str, times: str) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (x - 2.75, bottom),
            5.4,
            top - bottom - 0.2,
            boxstyle="round,pad=0.02,rounding_size=0.25",
            facecolor=style.LIGHT["panel"],
            edgecolor=style.LIGHT["line"],
            linewidth=1.2,
            zorder=0,
        )
    )
    side = -1 if x < 6 else 1
    axes.text(
        x + 3.0 * side,
        (bottom + top) / 2,
        f"{name}, {times}",
        rotation=90,
        ha="center",
        va="center",
        fontsize=9.5,
        color=MUTED,
    )


def _box(
    axes: Axes,
    x: float,
    y: float,
    label: str,
    colour: str,
    width: float,
    height: float = 0.8,
    order: int = 3,
) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0.02,rounding_size=0.15",
            facecolor=PAPER,
            edgecolor=colour,
            linewidth=1.8,
            zorder=order,
        )
    )
    axes.text(
        x, y - 0.02, label, ha="center", va="center", fontsize=9.5, zorder=order + 1, color=INK
    )
