"""Figure of chapter 7: the weights of some words in reviews, against the review's stars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from coursekit.plots import charts, style

Row = dict[str, Any]
FEWEST = 20  # occurrences; fewer are not drawn


def draw(weighed: Mapping[str, Sequence[Row]]) -> Figure:
    """Draw the mean share of weight, and how often it is more than twice an even share.

    Args:
        weighed: word -> for each rating its "number" of occurrences, "mean_share" of weight and
            the counts "histogram_log2" of its weight in even shares, in bins from 2^-10 to 2^10.
    """
    stars = sorted({row["rating"] for rows in weighed.values() for row in rows})
    panels: dict[str, Callable[[Row], float]] = {
        "mean share of weight": lambda row: row["mean_share"],
        "more than twice an even share, %": _count_strong,
    }
    figure, axes = plt.subplots(2, 1, figsize=(style.WIDTH, 6.2), layout="constrained")
    for ax, (label, value) in zip(axes, panels.items(), strict=True):
        curves = {}
        for word, rows in weighed.items():
            at = {row["rating"]: value(row) for row in rows if row["number"] >= FEWEST}
            curves[word] = [at.get(star, float("nan")) for star in stars]
        charts.curves(curves, x=stars, xlabel="stars", ylabel=label, ax=ax)
        ax.set_ylim(bottom=0)
        ax.set_xticks(stars)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    for ax in axes:
        ax.get_legend().remove()
    axes[0].set_xlabel("")
    return figure


def _count_strong(row: Row) -> float:
    """Return the percentage of occurrences with more than twice an even share."""
    counts = row["histogram_log2"]
    per_bin = len(counts) / 20  # from -10 to 10
    return 100 * sum(counts[round(11 * per_bin) :]) / max(1, sum(counts))
