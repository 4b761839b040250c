"""Charts of the book: attention heat maps, curves, quality by length, image attention.

Arrays may be numpy arrays, torch tensors on any device, or nested lists.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from coursekit.plots import style


def to_numpy(values: Any) -> np.ndarray:
    """Return the values as a float numpy array, detached from torch's graph and device."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        if hasattr(values, "float"):
            values = values.float()  # numpy has no bfloat16
    return np.asarray(values, dtype=float)


def alignment(
    weights: Any,
    source: Sequence[str],
    target: Sequence[str],
    links: Collection[tuple[int, int]] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    possible: Collection[tuple[int, int]] = (),
) -> Axes:
    """Draw attention weights as a heat map: target words down the side, source words on top.

    The layout is that of Figure 3 of Bahdanau et al. (2015). Darker means more weight, from 0 to 1.

    Args:
        weights: (T, S), the weight of each source word at each target word.
        source: the S source words.
        target: the T target words.
        links: gold links (source position, target position), counted from 0; drawn as outlines.
        ax: where to draw; by default a new figure that fits the words, with a colour bar below.
        title: the figure's title.
        possible: gold links annotated as possible only; drawn as dotted outlines.

    Returns:
        The axes: column j is source word j, row i is target word i.

    Raises:
        ValueError: when the shapes or a link do not fit the words.
    """
    matrix = to_numpy(weights)
    if matrix.shape != (len(target), len(source)):
        raise ValueError(
            f"weights must have the shape (target words, source words) = "
            f"({len(target)}, {len(source)}), not {matrix.shape}."
        )
    gold = sorted((int(s), int(t)) for s, t in (() if links is None else links))
    perhaps = sorted((int(s), int(t)) for s, t in possible)
    for s, t in gold + perhaps:
        if not (0 <= s < len(source) and 0 <= t < len(target)):
            raise ValueError(
                f"the link ({s}, {t}) lies outside the {len(source)} source words "
                f"and {len(target)} target words."
            )
    many = max(len(source), len(target)) > 16
    own_figure = ax is None
    if ax is None:
        beside, above = 0.2 + 0.085 * _letters(target), 0.2 + 0.085 * _letters(source)  # inches
        cell = min(0.34, max(0.16, (style.WIDTH - beside) / max(1, len(source))))
        size = (beside + cell * len(source), above + cell * len(target) + 0.7)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    image = ax.imshow(matrix, cmap=style.ATTENTION, vmin=0.0, vmax=1.0, aspect="equal")
    font_size = 9 if many else 10
    ax.set_xticks(range(len(source)), style.labels(source), rotation=90, fontsize=font_size)
    for label in ax.get_xticklabels():
        label.set(rotation_mode="anchor", ha="left", va="center")
    ax.set_yticks(range(len(target)), style.labels(target), fontsize=font_size)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.set_xticks(np.arange(len(source) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(target) + 1) - 0.5, minor=True)
    ax.grid(False)
    ax.grid(True, which="minor", color=style.LIGHT["line"], linewidth=0.5)
    ax.tick_params(which="minor", length=0)
    ax.spines[:].set_visible(False)
    for s, t in perhaps + gold:
        outline = Rectangle((s - 0.42, t - 0.42), 0.84, 0.84, fill=False, linewidth=1.4)
        outline.set_edgecolor(style.SERIES[1])
        outline.set_gid("gold link" if (s, t) in gold else "possible link")
        outline.set_linestyle("-" if (s, t) in gold else (0, (1, 1.2)))
        outline.set_path_effects([withStroke(linewidth=3, foreground=style.LIGHT["paper"])])
        ax.add_patch(outline)
    if title:
        ax.set_title(title)
    if own_figure:
        figure = ax.get_figure()
        assert figure is not None
        bar = figure.colorbar(image, ax=ax, location="bottom", shrink=0.7, aspect=24, pad=0.02)
        bar.set_label("weight" + (" (outlined: gold link)" if gold else ""), fontsize=9)
        bar.ax.tick_params(labelsize=9)
        bar.outline.set_visible(False)  # type: ignore[operator]
    return ax


def _letters(words: Sequence[str]) -> int:
    """Return the length of the longest word in letters; a Hangul syllable is as wide as two."""
    return max((len(word) + sum(map(style.has_hangul, word)) for word in words), default=0)


def curves(
    series: Mapping[str, Any],
    x: Any = None,
    xlabel: str = "epoch",
    ylabel: str = "loss",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one curve for each named series, such as the losses of a training history.

    Args:
        series: name -> values (N,), or (seeds, N): the curve is the mean over seeds, and a band
            reaches from the lowest to the highest; series may differ in length.
        x: the positions (N,) of the values; 1, 2, 3, ... by default.
        xlabel: label of the x axis.
        ylabel: label of the y axis, with the unit if any.
        title: the figure's title.
        ax: where to draw; a new figure by default.

    Returns:
        The axes, with a legend when there are several series.

    Raises:
        ValueError: when there is no series, or one is longer than x.
    """
    if not series:
        raise ValueError("there is nothing to draw: give at least one series.")
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    for i, (name, values) in enumerate(series.items()):
        heights = _by_seed(values)
        number = heights.shape[1]
        positions = np.arange(1, number + 1) if x is None else to_numpy(x)[:number]
        if len(positions) != number:
            raise ValueError(f"the series {name!r} has {number} values but x has {len(positions)}.")
        few = number <= 40  # markers would hide a long curve
        _plot_mean(ax, positions, heights, name, _look(i, marker=few))
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if x is None:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if title:
        ax.set_title(title)
    if len(series) > 1:
        ax.legend()
    return ax


def _by_seed(values: Any) -> np.ndarray:
    """Return values (N,) or (seeds, N) as an array (seeds, N)."""
    heights = to_numpy(values)
    return heights if heights.ndim == 2 else heights.reshape(1, -1)


def _plot_mean(
    ax: Axes, positions: np.ndarray, heights: np.ndarray, name: str, look: dict[str, Any]
) -> None:
    (line,) = ax.plot(positions, heights.mean(axis=0), label=name, **look)
    if len(heights) > 1:
        low, high = heights.min(axis=0), heights.max(axis=0)
        ax.fill_between(positions, low, high, color=line.get_color(), alpha=0.2, linewidth=0)


def length_bins(lengths: Sequence[int], edges: Sequence[int]) -> list[list[int]]:
    """Group sentences into length bins: bin k holds those with edges[k] <= length < edges[k+1].

    Args:
        lengths: the length of each sentence, in words.
        edges: the bins' K + 1 edges, ascending.

    Returns:
        For each of the K bins, the indices of its sentences in ``lengths``.

    Raises:
        ValueError: when the edges are not in ascending order.
    """
    pairs = list(pairwise(edges))
    if not pairs or any(low >= high for low, high in pairs):
        raise ValueError("edges must be at least two numbers in ascending order.")
    return [[i for i, n in enumerate(lengths) if low <= n < high] for low, high in pairs]


def by_length(
    edges: Sequence[int],
    quality: Mapping[str, Any],
    counts: Sequence[int],
    ylabel: str = "BLEU",
    xlabel: str = "source length in words",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw quality against sentence length, a curve for each model (Figure 2 of Bahdanau et al.).

    The label of each bin shows its number of sentences; an empty bin (or NaN) leaves a gap.

    Args:
        edges: the bins' K + 1 edges; bin k holds edges[k] <= length < edges[k+1].
        quality: model -> quality in each bin (K,), or (seeds, K): the curve is the mean over
            seeds, and a band reaches from the lowest to the highest.
        counts: the number of sentences in each bin (K,).
        ylabel: the measure.
        xlabel: the length and its unit.
        title: the figure's title.
        ax: where to draw; a new figure by default.

    Returns:
        The axes: bin k is at x = k.

    Raises:
        ValueError: when the numbers of bins differ.
    """
    bins = len(edges) - 1
    if len(counts) != bins:
        raise ValueError(f"there are {bins} bins but {len(counts)} counts.")
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    for i, (name, values) in enumerate(quality.items()):
        heights = _by_seed(values)
        if heights.shape[1] != bins:
            raise ValueError(f"there are {bins} bins but {name!r} has {heights.shape[1]} values.")
        heights = np.where(np.asarray(counts) > 0, heights, np.nan)
        _plot_mean(ax, np.arange(bins), heights, name, _look(i, marker=True))
    names = [_bin_name(low, high) for low, high in pairwise(edges)]
    ticks = [f"{name}\nn={count:,}" for name, count in zip(names, counts, strict=True)]
    ax.set_xticks(range(bins), ticks, fontsize=9)
    ax.set_xlim(-0.4, bins - 0.6)
    ax.set_ylim(bottom=0)
    ax.set_xlabel(f"{xlabel} (n: sentences)")
    ax.set_ylabel(ylabel)
    if title:
        ax.set_title(title)
    if len(quality) > 1:
        ax.legend()
    return ax


def put_legend_below(ax: Axes, columns: int = 1) -> None:
    """Move the legend below the axes, where it hides no data, and make the figure higher for it.

    The figure must have the constrained layout.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    if legend := ax.get_legend():
        legend.remove()
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    figure.set_figheight(figure.get_figheight() + 0.2 * -(-len(labels) // columns))  # inches


def image_attention(
    picture: Any,
    words: Sequence[str],
    weights: Any,
    regions: Sequence[Any] | None = None,
    columns: int = 4,
    width: float = style.WIDTH,
) -> Figure:
    """Draw a picture, then one panel for each word with the attention over the picture.

    A location without weight is dark; the location with the largest weight is as bright as in the
    picture.

    Args:
        picture: uint8 (H, W, 3).
        words: the T words.
        weights: (T, N), N = n * n locations of an n x n feature map, row by row.
        regions: for each word the locations it refers to, bool (N,), or None; drawn as outlines.
        columns: panels in a row.
        width: width of the figure, in inches.

    Returns:
        The figure: panel 0 is the picture, panel 1 + t is word t.

    Raises:
        ValueError: when the shapes do not fit the words.
    """
    image, matrix = np.asarray(picture), to_numpy(weights)
    grid = round(matrix.shape[-1] ** 0.5) if matrix.ndim == 2 else 0
    if matrix.shape != (len(words), grid * grid):
        raise ValueError(
            f"weights must have the shape ({len(words)}, n * n), a row for each word, "
            f"not {matrix.shape}."
        )
    if regions is not None and len(regions) != len(words):
        raise ValueError(f"there are {len(words)} words but {len(regions)} regions.")
    count = len(words) + 1
    columns = min(columns, count)
    rows = -(-count // columns)
    side = width / columns
    figure, axes = plt.subplots(
        rows, columns, figsize=(width, rows * (side + 0.2)), layout="constrained", squeeze=False
    )
    for ax in axes.flat:
        ax.set_axis_off()
    axes.flat[0].imshow(image, interpolation="nearest")
    for t, word in enumerate(words):
        ax = axes.flat[t + 1]
        image_attention_panel(ax, image, matrix[t], None if regions is None else regions[t])
        ax.set_title(word, fontsize=9, loc="center")
    label_pictures(figure)
    return figure


def label_pictures(figure: Figure) -> None:
    """Make a figure of photographs legible on light and dark pages.

    The background becomes transparent, and each panel's centred title a dark label with light text.
    """
    figure.patch.set_alpha(0)
    colour = style.DARK
    label = {"facecolor": colour["panel"], "edgecolor": "none", "boxstyle": "round,pad=0.25"}
    for ax in figure.axes:
        if ax.get_title():
            ax.title.set(color=colour["ink"], weight="normal", bbox=label)


def image_attention_panel(ax: Axes, picture: Any, weights: Any, region: Any = None) -> None:
    """Draw attention over a picture, darkened where the weight is small, and outline a region.

    Args:
        ax: where to draw.
        picture: uint8 (H, W, 3).
        weights: (N,), N = n * n locations of an n x n feature map, row by row.
        region: bool (N,), the locations to outline, or None.
    """
    image, row = np.asarray(picture), to_numpy(weights)
    grid = round(row.size**0.5)
    height, across = image.shape[0] // grid, image.shape[1] // grid  # of a location, in pixels
    light = 0.25 + 0.75 * row.reshape(grid, grid) / max(row.max(), 1e-12)  # (n, n)
    light = np.kron(light, np.ones((height, across)))  # (H, W)
    ax.imshow((image * light[..., None]).astype(np.uint8), interpolation="nearest")
    ax.set_axis_off()
    if region is None:
        return
    inside = np.pad(to_numpy(region).reshape(grid, grid) > 0, 1)  # a False border
    for (i, j), here in np.ndenumerate(inside):
        if not here:
            continue
        left, top = (j - 1) * across - 0.5, (i - 1) * height - 0.5
        right, bottom = left + across, top + height
        for di, dj, xs, ys in (
            (-1, 0, (left, right), (top, top)),
            (1, 0, (left, right), (bottom, bottom)),
            (0, -1, (left, left), (top, bottom)),
            (0, 1, (right, right), (top, bottom)),
        ):
            if not inside[i + di, j + dj]:
                ax.plot(xs, ys, color=style.SERIES[4], linewidth=1.5, solid_capstyle="projecting")


def _look(i: int, marker: bool) -> dict[str, Any]:
    """Return colour, line style and marker of series i, distinct even without colour."""
    look: dict[str, Any] = {
        "color": style.SERIES[i % len(style.SERIES)],
        "linestyle": style.LINE_STYLES[i % len(style.LINE_STYLES)],
    }
    if marker:
        look["marker"] = style.MARKERS[i % len(style.MARKERS)]
    return look


def _bin_name(low: int, high: int) -> str:
    return f"{low}" if high - low == 1 else f"{low}–{high - 1}"
