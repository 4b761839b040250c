"""Figure: the captioner, with a scene, its locations, and two steps of attention over them."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from book.figures.drawing_primitives import arrow, box
from coursekit.corpora.scenes import Scene, scenes
from coursekit.models.captioning import GRID, overlapped_locations
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
MUTED = style.LIGHT["muted"]
SIDE = 2.1  # of a map
NEXT = 3.1  # from a map of scores to the map of their weights
_box = partial(box, width=1.5, height=0.85, size=12)


def draw() -> Figure:
    """Draw how the captioner finds the words after "a small" and after "... above a"."""
    figure, axes = plt.subplots(figsize=(4.75, 5.75), layout="constrained")
    axes.set_xlim(0, 11.6)
    axes.set_ylim(0.3, 14.2)
    axes.axis("off")
    axes.set_aspect("equal")
    (scene,) = scenes(1, seed=74, objects=(2, 2))
    _image(axes, _lighten(scene.picture), 0.6, 10.6, 2.9, lines=True)
    axes.text(2.05, 13.75, "image", ha="center", fontsize=12)
    arrow(axes, (3.65, 12.05), (5.05, 12.05), MUTED)
    axes.text(4.35, 12.25, "CNN", ha="center", fontsize=12)
    for i in range(4, -1, -1):  # a stack of channels
        corner, height = 5.2 + 0.15 * i, 10.85 + 0.15 * i
        axes.add_patch(
            Rectangle(
                (corner, height),
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
        axes.plot([5.2 + at] * 2, [10.85, 13.05], color=BLUE, linewidth=0.5, zorder=4)
        axes.plot([5.2, 7.4], [10.85 + at] * 2, color=BLUE, linewidth=0.5, zorder=4)
    axes.text(8.2, 12.35, "annotations\n$a_1 \\ldots a_N$", fontsize=12, va="center")
    axes.text(8.2, 11.35, "one vector\nper location", fontsize=11, va="center")
    _step(axes, scene, 0.3, 0, "a small", "h_2", "h_3", 3)
    _step(axes, scene, 6.2, 1, "… above a", "h_6", "h_7", 7)
    axes.plot([5.8, 5.8], [0.6, 9.9], color=style.LIGHT["line"], linewidth=1, linestyle=":")
    return figure


def _step(
    axes: Axes, scene: Scene, x: float, item: int, written: str, before: str, after: str, t: int
) -> None:
    """Draw one step from query to next word, from top to bottom and 5.2 units wide."""
    left, right = x + SIDE / 2, x + NEXT + SIDE / 2
    _box(axes, left, 9.1, f"${before}$", GREEN)
    axes.text(left + 0.95, 9.1, f"has written\n“{written}”", fontsize=10, va="center")
    arrow(axes, (left, 8.6), (left, 7.75), GREEN)
    axes.text(left + 0.2, 8.15, "query", fontsize=10, va="center")
    inside = overlapped_locations(scene.objects[item].mask()).float().numpy().reshape(GRID, GRID)
    near = _blur(inside)
    _image(axes, 0.25 + 0.5 * near, x, 5.55, SIDE, grey=True)
    axes.text(left, 5.2, f"scores $e_{t}$", ha="center", va="center", fontsize=11)
    arrow(axes, (x + SIDE + 0.1, 6.6), (x + NEXT - 0.1, 6.6), MUTED)
    axes.text(x + (SIDE + NEXT) / 2, 6.85, "soft-\nmax", ha="center", fontsize=9.5)
    weights = np.exp(7 * near)
    axes.imshow(
        weights / weights.max(),
        extent=(x + NEXT, x + NEXT + SIDE, 5.55, 5.55 + SIDE),
        cmap=style.ATTENTION,
        vmin=0,
        vmax=1.1,
        zorder=3,
    )
    axes.add_patch(Rectangle((x + NEXT, 5.55), SIDE, SIDE, fill=False, edgecolor=ORANGE, zorder=4))
    axes.text(right, 5.2, f"weights $\\alpha_{t}$", ha="center", va="center", fontsize=11)
    arrow(axes, (right, 4.95), (right, 4.2), ORANGE)
    _circle(axes, right, 3.8, "$\\Sigma$")
    axes.text(right + 0.5, 3.8, "$\\alpha_i a_i$", va="center", fontsize=10)
    arrow(axes, (right - 0.42, 3.8), (left + 0.45, 3.8), ORANGE)
    _circle(axes, left, 3.8, "$\\times$")
    axes.text(left - 0.45, 3.8, f"$\\beta_{t}$", ha="right", va="center", fontsize=12)
    arrow(axes, (left, 3.4), (left, 2.75), ORANGE)
    axes.text(left + 0.2, 3.05, f"context $z_{t}$", va="center", fontsize=10)
    _box(axes, left, 2.25, f"${after}$", GREEN)
    axes.text(left - 0.85, 2.25, "LSTM", ha="right", va="center", fontsize=10, rotation=90)
    arrow(axes, (left + 0.8, 2.25), (right - 0.15, 2.25), MUTED)
    axes.text(
        right - 0.05, 2.25, scene.objects[item].colour, fontsize=13, va="center", weight="bold"
    )
    axes.text(right, 1.6, f"word $y_{t}$", fontsize=11, ha="center", va="center")
    arrow(axes, (left, 1.2), (left, 1.8), MUTED)
    axes.text(
        left, 0.9, f"$y_{t - 1}$: {written.split()[-1]}", fontsize=11, ha="center", va="center"
    )


def _lighten(picture: np.ndarray) -> np.ndarray:
    """Return a picture whose darker colours are mixed with white.

    The site turns the lightness of drawings round in its dark theme, where a pure red would become
    pink. Colours of middle lightness stay as they are.
    """
    rgb = picture / 255
    luminance = rgb @ np.array([0.2126, 0.7152, 0.0722])
    share = np.clip((0.42 - luminance) / (1 - luminance), 0, 1)[..., None]
    mixed: np.ndarray = rgb + share * (1 - rgb)
    return mixed


def _blur(inside: np.ndarray) -> np.ndarray:
    """Return a region's scores, with a part of them spread to its neighbours."""
    padded = np.pad(inside, 1)
    shifted = [
        padded[1 + i : 1 + i + GRID, 1 + j : 1 + j + GRID] for i in (-1, 0, 1) for j in (-1, 0, 1)
    ]
    return 0.6 * inside + 0.4 * np.mean(shifted, axis=0)


def _image(
    axes: Axes,
    picture: np.ndarray,
    x: float,
    y: float,
    side: float,
    lines: bool = False,
    grey: bool = False,
) -> None:
    extent = (x, x + side, y, y + side)
    axes.imshow(
        picture,
        cmap="Greys" if grey else None,
        vmin=0 if grey else None,
        vmax=1.2 if grey else None,
        extent=extent,
        interpolation="nearest",
        zorder=2,
    )
    for k in range(GRID + 1) if lines else ():
        at = side * k / GRID
        for xs, ys in (([x + at] * 2, [y, y + side]), ([x, x + side], [y + at] * 2)):
            axes.plot(xs, ys, color=style.LIGHT["paper"], linewidth=0.4, alpha=0.7, zorder=3)


def _circle(axes: Axes, x: float, y: float, label: str) -> None:
    axes.plot(x, y, "o", markersize=18, color=style.LIGHT["paper"], mec=ORANGE, mew=1.8, zorder=3)
    axes.text(x, y, label, ha="center", va="center", fontsize=12, zorder=4)
