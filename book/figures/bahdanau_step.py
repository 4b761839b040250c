"""The picture of one step of Bahdanau's decoder: attend, move on, read out."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
from figures.shapes import arrow, box
from matplotlib.figure import Figure

from coursekit import style

_box = partial(box, width=1.0, height=0.76, rounding=0.15, size=12)
_arrow = partial(arrow, width=1.3)


def draw() -> Figure:
    """Draw the annotations, the weights over them, and the decoder's step from s_{i-1}."""
    colours = style.LIGHT
    blue, orange, green = style.SERIES[0], style.SERIES[1], style.SERIES[2]
    figure, axes = plt.subplots(figsize=(7.0, 4.6), layout="constrained")
    axes.set_xlim(0, 14)
    axes.set_ylim(0, 9.4)
    axes.axis("off")
    words = ["how", "are", "you", "?"]
    places = [1.4, 3.6, 5.8, 8.0]
    for j, (word, x) in enumerate(zip(words, places, strict=True), start=1):
        axes.text(x, 0.35, word, ha="center", va="center", fontsize=11, color=colours["ink"])
        _box(axes, x, 1.6, rf"$\overrightarrow{{h}}_{j}$", blue)
        _box(axes, x, 2.75, rf"$\overleftarrow{{h}}_{j}$", blue)
        _arrow(axes, (x, 0.6), (x, 1.2), colours["muted"])
        if j > 1:
            before = places[j - 2]
            _arrow(axes, (before + 0.55, 1.6), (x - 0.55, 1.6), blue)
            _arrow(axes, (x - 0.55, 2.75), (before + 0.55, 2.75), blue)
    weights = [0.83, 0.05, 0.10, 0.02]
    sum_at = (4.7, 5.6)
    for j, (weight, x) in enumerate(zip(weights, places, strict=True), start=1):
        _arrow(axes, (x, 3.2), sum_at, orange, width=0.8 + 4.5 * weight, shrink=12)
        along = x + (sum_at[0] - x) * 0.27  # where the arrow is at this height
        axes.text(
            along + (-0.4 if x < sum_at[0] else 0.42),
            3.95,
            rf"$\alpha_{{i{j}}}$",
            ha="center",
            color=colours["ink"],
            fontsize=11,
        )
    axes.plot(*sum_at, "o", markersize=24, color=colours["paper"], mec=orange, mew=2, zorder=3)
    axes.text(*sum_at, r"$\Sigma$", ha="center", va="center", fontsize=13, zorder=4)
    axes.text(
        sum_at[0] - 0.75, sum_at[1] + 0.1, r"$c_i=\sum_j\alpha_{ij}h_j$", ha="right", va="center"
    )
    before, now = (8.0, 7.1), (11.2, 7.1)
    _box(axes, *before, r"$s_{i-1}$", green)
    _box(axes, *now, r"$s_i$", green)
    _arrow(axes, (before[0] + 0.55, 7.1), (now[0] - 0.55, 7.1), green)
    _arrow(axes, (sum_at[0] + 0.5, 5.7), (now[0] - 0.5, 6.75), orange)
    axes.text(8.6, 5.85, r"$c_i$", ha="center", color=colours["ink"])
    # The query: the old state decides where to look, before the new one exists.
    axes.annotate(
        "",
        (sum_at[0] + 0.2, sum_at[1] + 0.5),
        (before[0] - 0.55, before[1] + 0.1),
        arrowprops={
            "arrowstyle": "-|>",
            "color": green,
            "linestyle": "--",
            "lw": 1.5,
            "connectionstyle": "arc3,rad=0.28",
        },
    )
    axes.text(5.5, 7.75, "query", ha="center", color=colours["ink"], fontsize=10)
    axes.text(now[0], 4.6, r"$y_{i-1}$", ha="center", va="center", fontsize=12)
    _arrow(axes, (now[0], 4.95), (now[0], 6.7), colours["muted"])
    axes.text(now[0], 9.0, r"$p(y_i\mid y_1,\dots,y_{i-1},x)$", ha="center", va="center")
    _arrow(axes, (now[0], 7.5), (now[0], 8.65), colours["muted"])
    axes.text(9.75, 1.6, "reads left to right", va="center", fontsize=9, color=colours["muted"])
    axes.text(9.75, 2.75, "reads right to left", va="center", fontsize=9, color=colours["muted"])
    return figure
