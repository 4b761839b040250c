"""Chart for chapter 1: word vectors in the plane of their first two principal components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from torch import Tensor

from coursekit.plots import style


def draw(groups: Mapping[str, Sequence[str]], points: Tensor) -> None:
    """Draw the words as points, with the words of a group in a column beside it.

    Args:
        groups: label of a group -> its words.
        points: (N, 2), the coordinates of all words, group by group.
    """
    _, ax = plt.subplots(figsize=(6.6, 5.2), layout="constrained")
    height = (points[:, 1].max() - points[:, 1].min()).item()
    start = 0
    for i, (label, words) in enumerate(groups.items()):
        places = points[start : start + len(words)]  # (n, 2)
        start += len(words)
        color, marker = style.SERIES[i], style.MARKERS[i]
        ax.scatter(places[:, 0], places[:, 1], color=color, marker=marker, s=32, label=label)
        column = places[:, 0].max().item() + 0.04 * height
        middle = places[:, 1].mean().item()
        for rank, j in enumerate(places[:, 1].argsort().tolist()):
            y = middle + 0.042 * height * (rank - (len(words) - 1) / 2)
            x_word, y_word = places[j].tolist()
            ax.plot([x_word, column], [y_word, y], color=style.LIGHT["line"], lw=0.8, zorder=0)
            ax.text(column, y, f" {words[j]}", va="center", fontsize=9)
    ax.margins(x=0.16, y=0.08)
    ax.set_xlabel("first principal component")
    ax.set_ylabel("second principal component")
    ax.legend(fontsize=8.5, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
