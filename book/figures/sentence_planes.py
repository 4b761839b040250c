"""Figure of chapter 2: vectors of short sentences in the plane of two principal components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from coursekit.plots import style

PLACES = ("subject", "verb", "object")


def draw(
    planes: Mapping[str, Sequence[Sequence[float]]],
    sentences: Sequence[Sequence[str]],
    shares: Mapping[str, Mapping[str, float]],
) -> Figure:
    """Draw a row for each kind of vector, its points coloured by subject, by verb and by object.

    Args:
        planes: name of the vectors -> coordinates of the sentences, (M, 2).
        sentences: the subject, verb and object of each.
        shares: name -> for each of PLACES the share of the variance.
    """
    size = (style.WIDTH, 1.55 * len(planes) + 1.3)
    figure, grid = plt.subplots(len(planes), len(PLACES), figsize=size, layout="constrained")
    for row, (name, points) in zip(grid, planes.items(), strict=True):
        for k, (ax, place) in enumerate(zip(row, PLACES, strict=True)):
            for i, word in enumerate(dict.fromkeys(sentence[k] for sentence in sentences)):
                chosen = [p for p, s in zip(points, sentences, strict=True) if s[k] == word]
                x, y = zip(*chosen, strict=True)
                ax.plot(
                    x, y, style.MARKERS[i], color=style.SERIES[i], label=word,
                    markersize=4, alpha=0.75, linestyle="none",
                )  # fmt: skip
            ax.set_title(f"{place}, {100 * shares[name][place]:.0f} %", fontsize=10)
            ax.set_xticks([])
            ax.set_yticks([])
            ax.grid(False)
        row[0].set_ylabel(name)
    for ax in grid[-1]:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.04), fontsize=9, frameon=False)
    return figure
