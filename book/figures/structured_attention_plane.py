"""Figure of chapter 6: what the two matrices of structured self-attention do, with two axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from coursekit.plots import style

INK, MUTED, PAPER = (style.LIGHT[name] for name in ("ink", "muted", "paper"))


def draw(
    states: Tensor,
    kinds: Mapping[str, Tensor],
    matrices: tuple[Tensor, Tensor],
    review: tuple[Sequence[str], Tensor],
) -> Figure:
    """Draw words after W_s1, after tanh, and those of one review with their weights in hop 1.

    Args:
        states: of the BiLSTM at many words, (words, 2d).
        kinds: label -> which of these words, bool (words,).
        matrices: W_s1 (2, 2d) and W_s2 (2, 2).
        review: its N words and their states, (N, 2d).
    """
    W_s1, W_s2 = matrices
    placed = states @ W_s1.T  # (words, 2)
    figure, panels = plt.subplot_mosaic("ab;cc", figsize=(style.WIDTH, 6.6), layout="constrained")
    one, two, three = panels.values()
    for ax, points in ((one, placed), (two, placed.tanh())):
        for i, (kind, there) in enumerate(kinds.items()):
            ax.plot(
                *points[there].T, style.MARKERS[i], label=kind, linestyle="none",
                color=(MUTED, style.SERIES[1])[i], markersize=3.5, alpha=0.6,
            )  # fmt: skip
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.stack([np.cos(angle), np.sin(angle)])  # (2, 200)
    U, S, _ = torch.linalg.svd(W_s1, full_matrices=False)
    one.plot(*((U * S).numpy() @ circle), color=INK, linewidth=1.2)  # W_s1 of the unit ball
    one.set_title("after $W_{s1}$")
    figure.legend(*one.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    two.plot(*circle, "--", color=INK, linewidth=1.2)
    two.set_title("after tanh")
    _draw_review(three, review[0], (review[1] @ W_s1.T).tanh(), W_s2)
    for ax in (two, three):
        ax.plot([-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1], color=INK, linewidth=1.2)
        ax.set_xlim(-1.25, 1.25)
        ax.set_ylim(-1.25, 1.25)
    for ax in (one, two, three):
        ax.set_aspect("equal", adjustable="datalim" if ax is one else "box")
    return figure


def _draw_review(ax: Axes, words: Sequence[str], bent: Tensor, W_s2: Tensor) -> None:
    """Draw a review's words (N, 2) in the square, the rows of W_s2 and the words of most weight."""
    weights = (bent @ W_s2.T).softmax(dim=0)[:, 0]  # (N,), of hop 1
    x, y = bent.T
    ax.scatter(
        x, y, c=weights, cmap="attention", vmin=-0.1, vmax=0.7, s=26,
        edgecolors=MUTED, linewidths=0.6, zorder=3,
    )  # fmt: skip
    box = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8}
    for k, row in enumerate(W_s2):
        colour, tip = style.SERIES[k], 0.7 * row / row.norm()
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2}
        ax.annotate("", (float(tip[0]), float(tip[1])), (0, 0), arrowprops=arrow)
        x, y = (1.35 * tip).tolist()
        ax.text(
            x, y, f"hop {k + 1}", color=colour, ha="center", va="center",
            fontsize=9, fontweight="bold", bbox=box,
        )  # fmt: skip
    for j in weights.topk(3).indices.tolist():
        at = (float(bent[j, 0]), float(bent[j, 1]))
        ax.annotate(words[j], at, fontsize=9, xytext=(6, 5), textcoords="offset points", bbox=box)
    ax.set_title("one review, hop 1")
