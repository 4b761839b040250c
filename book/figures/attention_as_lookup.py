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
QUERY, KEY, WEIGHT, VALUE, RESULT = 0.7, 3.0, 4.65, 6.35, 9.1  # x of the columns
BAR = 1.2  # length of a bar for the weight 1


def draw() -> Figure:
    """Draw the exact look-up above the soft look-up."""
    figure, (hard, soft) = plt.subplots(2, 1, figsize=(4.7, 6.0), layout="constrained")
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
    axes.set_xlim(0, 10)
    axes.set_ylim(-0.65, 5.2)
    axes.axis("off")
    axes.set_title(title)
    muted = style.LIGHT["muted"]
    for x, head in (
        (QUERY, "query"),
        (KEY, "keys"),
        (WEIGHT, "match" if keys else "weights"),
        (VALUE, "values"),
        (RESULT, "result"),
    ):
        axes.text(x, 4.9, head, ha="center", va="center", fontsize=10, color=muted)
    box(axes, QUERY, 2.2, query, GREEN, width=1.2)
    box(axes, RESULT, 2.2, result, ORANGE, width=1.7, height=1.2, size=10.5)
    values = ("“woof”", "“meow”", "“tweet”")
    for j, weight in enumerate(weights):
        y = 3.9 - 1.7 * j
        box(axes, KEY, y, keys[j] if keys else f"$k_{j + 1}$", BLUE, width=1.2)
        box(axes, VALUE, y, values[j] if keys else f"$v_{j + 1}$", BLUE, width=1.5, size=10.5)
        arrow(axes, (QUERY + 0.65, 2.2), (KEY - 0.65, y), GREEN, width=1.2)
        corner = (WEIGHT - BAR / 2, y - 0.15)
        axes.add_patch(Rectangle(corner, BAR, 0.3, color=style.LIGHT["line"]))
        if weight:
            axes.add_patch(Rectangle(corner, BAR * weight, 0.3, color=ORANGE, zorder=3))
        label = f"{weight:.2f}" if not keys else ("yes" if weight else "no")
        axes.text(WEIGHT, y + 0.42, label, ha="center", va="center", fontsize=11)
        if weight:
            width = 0.8 + 3.5 * weight
            arrow(axes, (VALUE + 0.8, y), (RESULT - 0.9, 2.2 + 0.2 * (1 - j)), ORANGE, width=width)
    if not keys:
        axes.text(1.3, 3.5, "scores", ha="center", fontsize=10, color=muted)
        axes.text(WEIGHT, -0.55, "softmax of the scores", ha="center", fontsize=10, color=muted)
