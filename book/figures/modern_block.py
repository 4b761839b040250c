"""Figure: a layer of the 2017 Transformer and a layer of a modern decoder, side by side."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN, PURPLE = style.SERIES[:4]
MUTED = style.LIGHT["muted"]

THEN = (
    (2.2, "self-attention: 8 heads of\nqueries, 8 of keys and values", BLUE),
    (4.3, "+", MUTED),
    (5.7, "LayerNorm", PURPLE),
    (7.9, "feed-forward: ReLU", GREEN),
    (10.0, "+", MUTED),
    (11.4, "LayerNorm", PURPLE),
)
NOW = (
    (1.5, "RMSNorm", PURPLE),
    (
        3.7,
        "fused self-attention: 8 heads of\nqueries, 2 of keys and values;\n"
        "$R_p$ turns queries and keys",
        BLUE,
    ),
    (5.8, "+", MUTED),
    (7.2, "RMSNorm", PURPLE),
    (9.3, "feed-forward: SwiGLU", GREEN),
    (11.4, "+", MUTED),
)


def draw() -> Figure:
    """Draw both layers from bottom to top, with the residual paths beside them."""
    figure, panels = plt.subplots(1, 2, figsize=(6.4, 5.0), layout="constrained")
    for axes, title, parts, paths in (
        (panels[0], "2017", THEN, ((0.35, 4.3), (6.45, 10.0))),
        (panels[1], "today", NOW, ((0.35, 5.8), (6.45, 11.4))),
    ):
        axes.set_title(title, fontsize=11, loc="center")
        axes.set_xlim(-4.1, 4.1)
        axes.set_ylim(-2.2, 13.4)
        axes.axis("off")
        _column(axes, parts, paths)
    box(panels[0], 0, -1.4, "embedding + position", ORANGE, 5.0, 0.9, size=9.5)
    box(panels[1], 0, -1.4, "embedding", MUTED, 5.0, 0.9, size=9.5)
    return figure


def _column(
    axes: Axes, parts: tuple[tuple[float, str, str], ...], paths: tuple[tuple[float, float], ...]
) -> None:
    at = -0.9
    for y, name, colour in parts:
        plus, tall = name == "+", "\n" in name
        half = 0.42 if plus else 0.5 + 0.4 * name.count("\n")
        arrow(axes, (0, at), (0, y - half), MUTED)
        box(axes, 0, y, name, colour, 0.85 if plus else 6.0, 2 * half, size=9.5 if not tall else 9)
        at = y + half
    arrow(axes, (0, at), (0, 13.2), MUTED)
    for start, end in paths:
        axes.plot([0, -3.7, -3.7], [start, start, end], color=GREEN, linewidth=2.2, zorder=1)
        arrow(axes, (-3.7, end), (-0.46, end), GREEN, width=2.2)
