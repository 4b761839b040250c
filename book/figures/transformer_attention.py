"""Figures of chapter 8: the stages of attention, two heads, masks, and both norm positions."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

QUERY, KEY, VALUE, RESULT = style.SERIES[0], style.SERIES[1], style.SERIES[2], style.SERIES[3]
INK, MUTED, PAPER, LINE = (style.LIGHT[name] for name in ("ink", "muted", "paper", "line"))


def draw_projections(words: Sequence[str], x: Tensor, matrices: dict[str, Tensor]) -> Figure:
    """Draw X times W^Q, W^K and W^V, with their numbers.

    Args:
        words: words of the sentence, one for each row of x.
        x: (N, d).
        matrices: name ("Q", "K", "V") -> (d, d_k) or (d, d_v).
    """
    figure, axes = plt.subplots(figsize=(4.7, 4.9), layout="constrained")
    axes.set_xlim(-1.6, 10.7)
    axes.set_ylim(-0.1, 12.3)
    axes.axis("off")
    for row, (name, colour) in enumerate((("Q", QUERY), ("K", KEY), ("V", VALUE))):
        bottom, matrix = 8.2 - 4.1 * row, matrices[name]
        _matrix(axes, 0, bottom, x, MUTED, "$X$", words)
        axes.text(3.4, bottom + 1.5, "×", ha="center", va="center", fontsize=12)
        _matrix(axes, 3.8, bottom, matrix, colour, f"$W^{name}$")
        axes.text(7.2, bottom + 1.5, "=", ha="center", va="center", fontsize=12)
        _matrix(axes, 7.6, bottom, x @ matrix, colour, f"${name}$")
    return figure


def draw_stages(words: Sequence[str], query: Tensor, key: Tensor, value: Tensor) -> Figure:
    """Draw scaled dot-product attention of a few words in three rows: scores, weights, result.

    Args:
        words: words of the sentence.
        query: (N, d_k).
        key: (N, d_k).
        value: (N, d_v).
    """
    scaled = query @ key.T / query.shape[-1] ** 0.5  # (N, N)
    weights = scaled.softmax(-1)  # (N, N)
    figure, axes = plt.subplots(figsize=(4.7, 5.6), layout="constrained")
    axes.set_xlim(-1.6, 10.7)
    axes.set_ylim(-0.1, 14.5)
    axes.axis("off")
    top, middle, bottom = 10.0, 5.0, 0.0
    _matrix(axes, 0, top, query, QUERY, "$Q$", words)
    axes.text(2.45, top + 1.5, "×", ha="center", va="center", fontsize=12)
    _matrix(axes, 2.9, top + 0.5, key.T, KEY, r"$K^\top$", columns=words)
    axes.text(6.75, top + 1.5, "=", ha="center", va="center", fontsize=12)
    _matrix(axes, 7.6, top, query @ key.T, MUTED, "1. scores", columns=words)
    _matrix(axes, 0, middle, scaled, MUTED, r"2. divided by $\sqrt{d_k}$", words)
    arrow(axes, (3.3, middle + 1.5), (7.3, middle + 1.5), INK)
    axes.text(5.3, middle + 1.8, "softmax\nof each row", ha="center", fontsize=9.5)
    _matrix(axes, 7.6, middle, weights, MUTED, "3. weights", heat=True)
    _matrix(axes, 0, bottom, weights, MUTED, "3. weights", words, heat=True)
    axes.text(3.4, bottom + 1.5, "×", ha="center", va="center", fontsize=12)
    _matrix(axes, 3.8, bottom, value, VALUE, "$V$")
    axes.text(7.2, bottom + 1.5, "=", ha="center", va="center", fontsize=12)
    _matrix(axes, 7.6, bottom, weights @ value, RESULT, "4. result")
    return figure


def draw_two_heads() -> Figure:
    """Draw two heads of one word that attend to different words, a handmade example."""
    sentence = "the animal did not cross the street because it was too tired"
    words = sentence.split()
    figure, axes = plt.subplots(figsize=(4.1, 3.8), layout="constrained")
    axes.set_xlim(-2.1, 6.4)
    axes.set_ylim(-1.4, len(words) - 0.5)
    axes.axis("off")
    start = words.index("it")
    for column, side in ((0.0, "right"), (3.2, "left")):
        for i, word in enumerate(words):
            bold = (column == 0.0 and i == start) or (column > 0 and word in ("animal", "tired"))
            axes.text(
                column, len(words) - 1 - i, word, ha=side, va="center", fontsize=10,
                weight="bold" if bold else "normal",
            )  # fmt: skip
    for word, colour, name in (("animal", QUERY, "head 1"), ("tired", KEY, "head 2")):
        end = len(words) - 1 - words.index(word)
        arrow(axes, (0.15, len(words) - 1 - start), (3.05, end), colour, width=2.2)
        axes.text(6.3, end, name, ha="right", va="center", fontsize=10, color=colour)
    axes.text(0.0, -1.0, "asks", ha="right", fontsize=9, color=MUTED)
    axes.text(3.2, -1.0, "is asked", ha="left", fontsize=9, color=MUTED)
    return figure


def draw_masks(masks: dict[str, tuple[Tensor, Sequence[str], Sequence[str]]]) -> Figure:
    """Draw masks as squares, filled where a row may attend to a column.

    Args:
        masks: title -> (bool (T, N), words of the rows, words of the columns).
    """
    figure, panels = plt.subplots(
        len(masks), 1, figsize=(3.8, 2.05 * len(masks)), layout="constrained"
    )
    for axes, (title, (mask, rows, columns)) in zip(
        panels if len(masks) > 1 else [panels], masks.items(), strict=True
    ):
        axes.set_title(title, fontsize=10)
        for t, row in enumerate(mask.tolist()):
            for j, open_ in enumerate(row):
                axes.add_patch(
                    Rectangle(
                        (j, -t - 1), 0.92, 0.92, linewidth=1, edgecolor=MUTED,
                        facecolor=QUERY if open_ else PAPER, alpha=0.85 if open_ else 1.0,
                    )
                )  # fmt: skip
        axes.set_xlim(-0.1, len(columns))
        axes.set_ylim(-len(rows), 0.1)
        axes.set_aspect("equal")
        axes.set_xticks([j + 0.46 for j in range(len(columns))], columns, rotation=45, ha="right")
        axes.set_yticks([-t - 0.54 for t in range(len(rows))], rows)
        axes.grid(False)
        axes.tick_params(length=0, labelsize=9, labelcolor=INK)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return figure


def draw_norms() -> Figure:
    """Draw a sub-layer with post-norm (after the sum) and with pre-norm (before the sub-layer)."""
    figure, panels = plt.subplots(1, 2, figsize=(4.6, 3.9), layout="constrained")
    for axes, title, pre in zip(
        panels, ("post-norm (2017)", "pre-norm"), (False, True), strict=True
    ):
        axes.set_title(title, fontsize=10.5, loc="center")
        axes.set_xlim(-2.7, 1.9)
        axes.set_ylim(-0.6, 8.4)
        axes.axis("off")
        heights = (
            {"LayerNorm": 1.6, "sub-layer": 3.6} if pre else {"sub-layer": 2.4, "LayerNorm": 6.2}
        )
        plus = 5.4 if pre else 4.4
        axes.text(0, -0.35, "$x$", ha="center", va="center", fontsize=11)
        at = 0.0
        for name, y in sorted([*heights.items(), ("+", plus)], key=lambda pair: pair[1]):
            radius = 0.38 if name == "+" else 0.5
            arrow(axes, (0, at), (0, y - radius), MUTED)
            colour = RESULT if name == "LayerNorm" else QUERY if name == "sub-layer" else MUTED
            box(axes, 0, y, name, colour, 0.8 if name == "+" else 2.6, 2 * radius, size=10)
            at = y + radius
        arrow(axes, (0, at), (0, 7.7), MUTED)
        axes.text(0, 8.05, "$y$", ha="center", va="center", fontsize=11)
        axes.plot([0, -2.2, -2.2], [0.35, 0.35, plus], color=VALUE, linewidth=2.4)
        arrow(axes, (-2.2, plus), (-0.42, plus), VALUE, width=2.4)
    return figure


def _matrix(
    axes: Axes,
    left: float,
    bottom: float,
    values: Tensor,
    colour: str,
    name: str,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    heat: bool = False,
) -> None:
    """Draw a matrix as a grid of numbers, with its name above and words at its rows or columns."""
    count, width = values.shape
    for i, row in enumerate(values.tolist()):
        for j, number in enumerate(row):
            face = style.ATTENTION(number) if heat else (*to_rgb(colour), 0.16)
            dark = heat and number > 0.6
            axes.add_patch(
                Rectangle(
                    (left + j, bottom + count - 1 - i), 1, 1, facecolor=face, edgecolor=colour,
                    linewidth=1.2,
                )
            )  # fmt: skip
            axes.text(
                left + j + 0.5, bottom + count - 0.5 - i, f"{number:.{2 if heat else 1}f}",
                ha="center", va="center", fontsize=9, color=PAPER if dark else INK,
            )  # fmt: skip
    for i, word in enumerate(rows):
        axes.text(left - 0.15, bottom + count - 0.5 - i, word, ha="right", va="center", fontsize=9)
    lift = 0.15
    for j, word in enumerate(columns):
        axes.text(left + j + 0.5, bottom + count + 0.1, word, ha="center", va="bottom", fontsize=9)
        lift = 0.7
    axes.text(left + width / 2, bottom + count + lift, name, ha="center", va="bottom", fontsize=10)
