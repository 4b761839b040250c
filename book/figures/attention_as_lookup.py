"""Figure: an exact look-up in a dictionary, and attention as a soft look-up."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
WORDS = ("dog", "cat", "bird")
SOFT = (0.10, 0.75, 0.15)
KEY, WEIGHT, VALUE = 3.9, 6.6, 9.2


def draw() -> Figure:
    """Draw the exact look-up above the soft look-up."""
    figure, (hard, soft) = plt.subplots(2, 1, figsize=(6.6, 6.8), layout="constrained")
    _table(hard, "a dictionary: one key matches", (0.0, 1.0, 0.0), "cat", WORDS, "“meow”")
    _table(soft, "attention: every key matches a little", SOFT, "$q$", None, "weighted\nsum")
    return figure


def _table(
    axes: Axes,
    title: str,
    weights: tuple[float, ...],
    query: str,
    keys: tuple[str, ...] | None,
    result: str,
) -> None:
    axes.set_xlim(0, 13.4)
    axes.set_ylim(-0.2, 5.3)
    axes.axis("off")
    axes.set_title(title)
    muted = style.LIGHT["muted"]
    for x, head in (
        (0.95, "query"),
        (KEY, "keys"),
        (WEIGHT, "match" if keys else "weights"),
        (VALUE, "values"),
        (12.3, "result"),
    ):
        axes.text(x, 4.9, head, ha="center", va="center", fontsize=11, color=muted)
    box(axes, 0.95, 2.2, query, GREEN, width=1.3)
    box(axes, 12.3, 2.2, result, ORANGE, width=1.9, height=1.2)
    values = ("“woof”", "“meow”", "“tweet”")
    for j, weight in enumerate(weights):
        y = 3.9 - 1.7 * j
        box(axes, KEY, y, keys[j] if keys else f"$k_{j + 1}$", BLUE, width=1.4)
        box(axes, VALUE, y, values[j] if keys else f"$v_{j + 1}$", BLUE, width=1.7)
        arrow(axes, (1.65, 2.2), (KEY - 0.75, y), GREEN, width=1.2)
        axes.add_patch(Rectangle((WEIGHT - 0.8, y - 0.15), 1.6, 0.3, color=style.LIGHT["line"]))
        if weight:
            full = Rectangle((WEIGHT - 0.8, y - 0.15), 1.6 * weight, 0.3, color=ORANGE, zorder=3)
            axes.add_patch(full)
        label = f"{weight:.2f}" if not keys else ("yes" if weight else "no")
        axes.text(WEIGHT, y + 0.42, label, ha="center", va="center", fontsize=11)
        if weight:
            width = 0.8 + 3.5 * weight
            arrow(axes, (VALUE + 0.9, y), (11.3, 2.2 + 0.2 * (1 - j)), ORANGE, width=width)
    if not keys:
        axes.text(2.2, 3.75, "scores", ha="center", fontsize=10, color=muted)
        axes.text(WEIGHT, -0.1, "softmax of the scores", ha="center", fontsize=10, color=muted)
