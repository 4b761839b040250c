"""Chart for chapter 1: word vectors in the plane of their first two principal components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import matplotlib.pyplot as plt
import torch
from torch import Tensor

from coursekit.plots import style

_PLANE = torch.tensor([4.0, 4.3])  # inches of the figure in which the points lie
_LINE, _LETTER, _GAP = 0.16, 0.073, 0.16  # inches: height and width of letters, space to a point
_SHIFTS = (0, 1, -1, 2, -2, 3, -3, 4, -4)  # lines by which a column may be moved up
_FONT = 9.5


class _Column(NamedTuple):
    """A place for a group's labels, in inches from the lower left corner of the plane."""

    left: float
    right: float
    bottom: float
    top: float
    at_right: bool  # of the group's points
    faults: int  # points of other groups that it covers, and 1 if it leaves the plane

    def meets(self, other: _Column) -> bool:
        """Return whether the two columns overlap."""
        across = self.left < other.right and other.left < self.right
        return across and self.bottom < other.top and other.bottom < self.top


def draw(groups: Mapping[str, Sequence[str]], points: Tensor) -> None:
    """Draw the words as points, with the words of a group in a column beside it.

    Args:
        groups: label of a group -> its words.
        points: (N, 2), the coordinates of all words, group by group.
    """
    _, ax = plt.subplots(figsize=(4.75, 5.3), layout="constrained")
    extent = points.max(dim=0).values - points.min(dim=0).values
    lower = points.min(dim=0).values - 0.1 * extent
    unit = 1.2 * extent / _PLANE  # (2,), the length of an inch
    members = torch.arange(len(groups)).repeat_interleave(
        torch.tensor([len(words) for words in groups.values()])
    )  # (N,), the group of each point
    columns = _columns(list(groups.values()), (points - lower) / unit, members)
    for i, (label, words) in enumerate(groups.items()):
        places, column = points[members == i], columns[i]  # (n, 2)
        color, marker = style.SERIES[i], style.MARKERS[i]
        ax.scatter(places[:, 0], places[:, 1], color=color, marker=marker, s=32, label=label)
        x = (lower + unit * (column.left if column.at_right else column.right))[0].item()
        for rank, j in enumerate(places[:, 1].argsort().tolist()):
            y = (lower + unit * (column.bottom + _LINE * (rank + 0.5)))[1].item()
            x_word, y_word = places[j].tolist()
            ax.plot([x_word, x], [y_word, y], color=style.LIGHT["line"], lw=0.8, zorder=0)
            text, side = (f" {words[j]}", "left") if column.at_right else (f"{words[j]} ", "right")
            ax.text(x, y, text, ha=side, va="center", fontsize=_FONT)
    upper = lower + unit * _PLANE
    ax.set_xlim(lower[0].item(), upper[0].item())
    ax.set_ylim(lower[1].item(), upper[1].item())
    ax.set_xlabel("first principal component")
    ax.set_ylabel("second principal component")
    ax.legend(fontsize=_FONT, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def _columns(groups: Sequence[Sequence[str]], inches: Tensor, members: Tensor) -> list[_Column]:
    """Return a column for each group; the groups with the fewest good places choose first."""
    places = [
        _places(words, inches[members == i], inches[members != i]) for i, words in enumerate(groups)
    ]
    chosen: dict[int, _Column] = {}
    for i in sorted(range(len(groups)), key=lambda i: sum(not c.faults for c in places[i])):
        faults = [c.faults + 2 * sum(map(c.meets, chosen.values())) for c in places[i]]
        chosen[i] = places[i][faults.index(min(faults))]
    return [chosen[i] for i in range(len(groups))]


def _places(words: Sequence[str], own: Tensor, others: Tensor) -> list[_Column]:
    """Return the possible columns beside the points of a group, the nearest first."""
    width, height = _LETTER * (max(map(len, words)) + 1), _LINE * len(words)
    across, up = _PLANE.tolist()
    middle, pad = own[:, 1].mean().item() - height / 2, _GAP / 2
    x, y = others.T
    places = []
    for shift, at_right in product(_SHIFTS, (True, False)):
        left = own[:, 0].max().item() + _GAP if at_right else own[:, 0].min().item() - _GAP - width
        bottom = middle + _LINE * shift
        right, top = left + width, bottom + height
        covered = (x > left - pad) & (x < right + pad) & (y > bottom - pad) & (y < top + pad)
        leaves = left < 0 or bottom < 0 or right > across or top > up
        faults = int(covered.sum().item()) + leaves
        places.append(_Column(left, right, bottom, top, at_right, faults))
    return places
