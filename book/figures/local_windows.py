"""Heat map for chapter 4: the weights of local attention, with the window of each target word."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import matplotlib.pyplot as plt
from torch import Tensor

from coursekit.plots import charts, style


def draw(
    weights: Tensor,
    source: Sequence[str],
    target: Sequence[str],
    links: Collection[tuple[int, int]],
    positions: Sequence[float],
    half_width: float,
) -> None:
    """Draw the weights; a cross marks p_t, lines those window edges that lie in the sentence.

    Args:
        weights: (T, S), the weight of each source word at each target word.
        source: the S source words.
        target: the T target words.
        links: gold links (source position, target position).
        positions: p_t for each target word, (T,).
        half_width: D, in words.
    """
    cell = 3.6 / len(source)  # inches
    figure, ax = plt.subplots(figsize=(4.75, 1.6 + cell * len(target)), layout="constrained")
    charts.alignment(weights, source, target, links=links, ax=ax)
    bar = figure.colorbar(
        ax.images[0], ax=ax, orientation="horizontal", shrink=0.8, aspect=24, pad=0.02
    )
    bar.set_label("weight (outlined: gold link)", fontsize=9.5)
    bar.ax.tick_params(labelsize=9.5)
    bar.outline.set_visible(False)  # type: ignore[operator]
    color = style.SERIES[2]
    for t, p in enumerate(positions):
        ax.plot(p, t, "x", color=color, markersize=6, markeredgewidth=1.6)
        for edge in (p - half_width, p + half_width):
            if -0.5 <= edge <= len(source) - 0.5:
                ax.plot([edge, edge], [t - 0.5, t + 0.5], color=color, linewidth=2)
