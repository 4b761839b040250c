"""The picture of one step of the captioner: a scene, its places, the look, the gate, the word."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from figures.shapes import arrow, box
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from coursekit import style
from coursekit.captioning import GRID, places
from coursekit.corpora.scenes import scenes

BLUE, ORANGE, GREEN = style.SERIES[:3]
_box = partial(box, width=1.3, height=0.8)


def draw() -> Figure:
    """Draw how the word after "a small" is found in a scene."""
    figure, axes = plt.subplots(figsize=(8.2, 3.6), layout="constrained")
    axes.set_xlim(0, 16.4)
    axes.set_ylim(0.9, 8.0)
    axes.axis("off")
    axes.set_aspect("equal")
    (scene,) = scenes(1, seed=74, things=(2, 2))
    _grid(axes, scene.picture, 0.2, 2.9, 3.4)
    axes.text(1.9, 6.65, "picture", ha="center", fontsize=10)
    arrow(axes, (3.75, 4.6), (4.85, 4.6), style.LIGHT["muted"])
    axes.text(4.3, 4.85, "CNN", ha="center", fontsize=10)
    for i in range(4, -1, -1):  # a stack of channels
        axes.add_patch(
            Rectangle(
                (4.95 + 0.16 * i, 3.3 + 0.16 * i),
                2.2,
                2.2,
                facecolor=style.LIGHT["paper"],
                edgecolor=BLUE,
                linewidth=1.2,
                zorder=3 - 0.1 * i,
            )
        )
    for k in range(1, GRID):
        at = 2.2 * k / GRID
        axes.plot([4.95 + at] * 2, [3.3, 5.5], color=BLUE, linewidth=0.5, zorder=4)
        axes.plot([4.95, 7.15], [3.3 + at] * 2, color=BLUE, linewidth=0.5, zorder=4)
    axes.text(6.35, 6.65, "annotations $a_1 \\ldots a_N$", ha="center", fontsize=10)

    look = places(scene.things[0].mask()).float().numpy().reshape(GRID, GRID)
    look = look / look.sum()
    axes.imshow(
        look, extent=(8.6, 10.8, 3.3, 5.5), cmap=style.ATTENTION, vmin=0, vmax=0.3, zorder=3
    )
    axes.add_patch(Rectangle((8.6, 3.3), 2.2, 2.2, fill=False, edgecolor=ORANGE, zorder=4))
    axes.text(9.3, 2.8, "weights $\\alpha_t$", ha="center", fontsize=10)
    arrow(axes, (7.95, 4.6), (8.55, 4.6), BLUE)
    _circle(axes, 11.75, 4.4, "$\\Sigma$")
    arrow(axes, (10.85, 4.4), (11.35, 4.4), ORANGE)
    arrow(axes, (6.35, 3.2), (11.75, 3.9), BLUE, curve=0.5)
    _circle(axes, 13.0, 4.4, "$\\times$")
    arrow(axes, (12.15, 4.4), (12.6, 4.4), ORANGE)

    _box(axes, 9.7, 7.2, "$h_{t-1}$", GREEN)
    arrow(axes, (9.7, 6.75), (9.7, 5.6), GREEN, dashed=True)
    axes.text(9.5, 6.15, "query", ha="right", va="center", fontsize=10)
    arrow(axes, (10.4, 6.95), (12.85, 4.85), GREEN, dashed=True)
    axes.text(12.0, 6.0, "$\\beta_t$", ha="left", va="center", fontsize=11)
    _box(axes, 14.9, 7.2, "$h_t$", GREEN)
    arrow(axes, (10.4, 7.3), (14.15, 7.3), GREEN)
    axes.text(12.6, 7.55, "LSTM", ha="center", fontsize=10)
    arrow(axes, (13.3, 4.7), (14.6, 6.7), ORANGE)
    axes.text(14.2, 5.3, "$z_t$", ha="left", va="center", fontsize=11)
    axes.text(15.75, 5.15, "$y_{t-1}$: small", ha="center", va="center", fontsize=10)
    arrow(axes, (15.4, 5.45), (15.05, 6.7), style.LIGHT["muted"])
    colour = scene.things[0].colour
    arrow(axes, (13.3, 4.05), (14.3, 2.5), ORANGE)
    axes.text(14.4, 1.95, f"$y_t$: {colour}", ha="left", va="center", fontsize=11)
    axes.text(14.4, 1.3, "(from $h_t$, $z_t$, $y_{t-1}$)", ha="center", va="center", fontsize=9)
    return figure


def _grid(axes: Axes, picture: np.ndarray, x: float, y: float, side: float) -> None:
    axes.imshow(picture, extent=(x, x + side, y, y + side), interpolation="nearest", zorder=2)
    for k in range(GRID + 1):
        at = side * k / GRID
        for xs, ys in (([x + at] * 2, [y, y + side]), ([x, x + side], [y + at] * 2)):
            axes.plot(xs, ys, color=style.LIGHT["paper"], linewidth=0.4, alpha=0.7, zorder=3)


def _circle(axes: Axes, x: float, y: float, label: str) -> None:
    axes.plot(x, y, "o", markersize=17, color=style.LIGHT["paper"], mec=ORANGE, mew=1.8, zorder=3)
    axes.text(x, y, label, ha="center", va="center", fontsize=11, zorder=4)
