"""Chart of chapter 1: perplexity of language models against the number of counts or parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt

from coursekit.plots import style

_TICKS = (10, 15, 20, 30, 50, 100, 150, 200, 300, 500)


def draw(curves: Mapping[str, Sequence[tuple[str, float, float]]]) -> None:
    """Draw one curve for each kind of model, both axes logarithmic.

    Args:
        curves: label -> (name of a model, its counts or parameters, its test perplexity) of each.
    """
    _, ax = plt.subplots(figsize=(4.75, 3.5), layout="constrained")
    for i, (label, points) in enumerate(curves.items()):
        _, sizes, perplexities = zip(*points, strict=True)
        ax.plot(
            sizes,
            perplexities,
            label=label,
            color=style.SERIES[i],
            marker=style.MARKERS[i],
            linestyle=style.LINE_STYLES[i],
        )
        above = perplexities[-1] > min(points[-1][2] for points in curves.values())
        for name, size, perplexity in points:
            ax.annotate(
                name,
                (size, perplexity),
                xytext=(0, 6 if above else -6),
                textcoords="offset points",
                ha="center",
                va="bottom" if above else "top",
                fontsize=9.5,
            )
    everything = [point for points in curves.values() for point in points]
    _, sizes, perplexities = zip(*everything, strict=True)
    low, high = min(perplexities) * 0.82, max(perplexities) * 1.25
    ticks = [tick for tick in _TICKS if low < tick < high]
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_yticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.set_xlim(min(sizes) / 1.6, max(sizes) * 2.2)
    ax.set_ylim(low, high)
    ax.set_xlabel("counts or parameters")
    ax.set_ylabel("test perplexity")
    ax.legend()
