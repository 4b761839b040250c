"""Figure: kernel regression with several widths, and the weights of one query."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor

from coursekit.plots import style


def draw(
    places: Tensor,
    heights: Tensor,
    queries: Tensor,
    estimates: Mapping[str, tuple[Tensor, Tensor]],
    query: int,
) -> Figure:
    """Draw the estimated curves above the weights of one query.

    Args:
        places: where was measured, the keys (N,).
        heights: what was measured, the values (N,).
        queries: where the curve is estimated, (M,).
        estimates: by label, the weights (M, N) and the estimated heights (M,).
        query: index of the query whose weights are drawn.
    """
    muted = style.LIGHT["muted"]
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(4.7, 5.2), layout="constrained", sharex=True
    )
    above.plot(places, heights, "o", color=muted, label="measured")
    for i, (label, (weights, found)) in enumerate(estimates.items()):
        look = {"color": style.SERIES[i], "linestyle": style.LINE_STYLES[i]}
        above.plot(queries, found, label=label, **look)
        below.plot(places, weights[query], marker=style.MARKERS[i], markersize=3, **look)
    below.axvline(float(queries[query]), color=muted, linewidth=1, linestyle=":")
    above.set_ylabel("height")
    below.set_ylabel(f"weight for the query {queries[query]:.1f}")
    below.set_xlabel("place")
    above.legend(ncols=2, fontsize=10, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure
