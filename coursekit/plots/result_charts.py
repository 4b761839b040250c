"""Charts of recorded results: one curve for each model, a band over its seeds.

`rows` names what is drawn: {label: a result of `coursekit.training.results.read`, or a row of one}.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from coursekit.plots import charts, style
from coursekit.training import results

Rows = Mapping[str, dict[str, Any]]


def by_epoch(rows: Rows, column: str, scale: float = 1.0, **chart: Any) -> Axes:
    """Draw a column of the training history after each epoch.

    Args:
        rows: label -> result.
        column: a column of its history, such as "perplexity".
        scale: factor for the values, such as 100 for a percentage.
        chart: further arguments of `charts.curves`.
    """
    return charts.curves(_seeds(rows, "history", column, scale), **chart)


def columns_by_epoch(
    result: dict[str, Any], columns: Mapping[str, str], scale: float = 1.0, **chart: Any
) -> Axes:
    """Draw several columns of one result's training history after each epoch.

    Args:
        result: a result, or a row of one.
        columns: label -> a column of the history.
        scale: factor for the values, such as 100 for a percentage.
        chart: further arguments of `charts.curves`.
    """
    curves = {
        label: scale * np.array(results.rows_by_seed(result, "history", column))
        for label, column in columns.items()
    }
    return charts.curves(curves, **chart)


def by_length(rows: Rows, column: str = "bleu", scale: float = 1.0, **chart: Any) -> Axes:
    """Draw a column of the results by source length.

    Args:
        rows: label -> result; all with the same groups of lengths.
        column: a column of the groups.
        scale: factor for the values, such as 100 for a percentage.
        chart: further arguments of `charts.by_length`.
    """
    groups = next(iter(rows.values()))["runs"][0]["by_length"]
    edges = [group["from"] for group in groups] + [groups[-1]["to"] + 1]
    counts = [group["sentences"] for group in groups]
    return charts.by_length(edges, _seeds(rows, "by_length", column, scale), counts, **chart)


def gradients(rows: Rows, limits: tuple[float, float], trained_up_to: float | None = None) -> None:
    """Draw the first source word's share of the gradient, r, before and after the training.

    Args:
        rows: label -> result with the tables gradient_before and gradient_after.
        limits: the lowest and the highest r of the axes.
        trained_up_to: the longest training sentence, in words; marked by a dashed line.
    """
    _, panels = plt.subplots(2, 1, figsize=(style.WIDTH, 6.2), sharex=True, layout="constrained")
    for ax, when in zip(panels, ("before", "after"), strict=True):
        table = f"gradient_{when}"
        groups = next(iter(rows.values()))["runs"][0][table]
        charts.curves(
            _seeds(rows, table, "r", 1.0),
            x=[(group["from"] + group["to"]) / 2 for group in groups],
            xlabel="source length in words" if when == "after" else "",
            ylabel="r",
            title=f"{when} training",
            ax=ax,
        )
        ax.set_yscale("log")
        ax.set_ylim(limits)
        ax.set_xticks([5, 10, 15, 20, 25])
        if trained_up_to is not None:
            ax.axvline(trained_up_to, color=style.LIGHT["muted"], linestyle="--", linewidth=1)
    if legend := panels[1].get_legend():  # the upper one serves both
        legend.remove()


def _seeds(rows: Rows, table: str, column: str, scale: float) -> dict[str, np.ndarray]:
    """Return the values of each row, (seeds, N)."""
    return {
        label: scale * np.array(results.rows_by_seed(result, table, column))
        for label, result in rows.items()
    }
