"""Figure: a layer of the 2017 Transformer and a layer of a modern decoder, side by side."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN, PURPLE = style.SERIES[:4]
MUTED = style.LIGHT["muted"]
SIZE = 10  # of the text in the boxes, in points

THEN = (
    (2.6, "self-attention:\n8 heads of queries,\n8 of keys and values", BLUE),
    (5.1, "+", MUTED),
    (6.5, "LayerNorm", PURPLE),
    (8.9, "feed-forward: ReLU", GREEN),
    (11.2, "+", MUTED),
    (12.6, "LayerNorm", PURPLE),
)
NOW = (
    (1.5, "RMSNorm", PURPLE),
    (
        4.4,
        "fused self-attention:\n8 heads of queries,\n2 of keys and values;\n"
        "$R_p$ turns queries\nand keys",
        BLUE,
    ),
    (7.2, "+", MUTED),
    (9.0, "RMSNorm", PURPLE),
    (10.9, "feed-forward: SwiGLU", GREEN),
    (12.6, "+", MUTED),
)


def draw() -> Figure:
    """Draw both layers from bottom to top, with the residual paths beside them."""
    figure, panels = plt.subplots(1, 2, figsize=(4.7, 5.6), layout="constrained")
    for axes, title, parts, paths in (
        (panels[0], "2017", THEN, ((0.15, 5.1), (7.35, 11.2))),
        (panels[1], "today", NOW, ((0.15, 7.2), (7.8, 12.6))),
    ):
        axes.set_title(title, fontsize=11, loc="center")
        axes.set_xlim(-4.0, 3.2)
        axes.set_ylim(-2.0, 14.5)
        axes.axis("off")
        _column(axes, parts, paths)
    box(panels[0], 0, -1.4, "embedding + position", ORANGE, 6.0, 0.9, size=SIZE)
    box(panels[1], 0, -1.4, "embedding", MUTED, 6.0, 0.9, size=SIZE)
    return figure


def _column(
    axes: Axes, parts: tuple[tuple[float, str, str], ...], paths: tuple[tuple[float, float], ...]
) -> None:
    at = -0.9
    for y, name, colour in parts:
        plus = name == "+"
        half = 0.42 if plus else 0.5 + 0.35 * name.count("\n")
        arrow(axes, (0, at), (0, y - half), MUTED)
        box(axes, 0, y, name, colour, 0.85 if plus else 6.0, 2 * half, size=SIZE)
        at = y + half
    arrow(axes, (0, at), (0, 14.3), MUTED)
    for start, end in paths:
        axes.plot([0, -3.7, -3.7], [start, start, end], color=GREEN, linewidth=2.2, zorder=1)
        arrow(axes, (-3.7, end), (-0.46, end), GREEN, width=2.2)
