"""Figure: four pre-trained models that fill the same gap in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from book.figures.drawing_primitives import arrow
from coursekit.plots import style

BLUE, ORANGE, GREEN = style.SERIES[:3]
WORDS = ("she", "rides", "the", "bicycle")
PLACES = (1.3, 3.7, 6.1, 8.5)
LOW, HIGH, TOP = 2.4, 5.0, 7.7  # heights of the two layers and of the prediction
GAP = 1  # index of the word to predict
_arrow = partial(arrow, width=1.0, head=7)


def draw() -> Figure:
    """Draw a left-to-right network, ELMo, GPT and BERT side by side, each filling the same gap."""
    figure, grid = plt.subplots(2, 2, figsize=(8.4, 5.6), layout="constrained")
    panels = grid.flat
    _recurrent(panels[0])
    _elmo(panels[1])
    _attention(panels[2], "GPT: a Transformer's decoder", BLUE, lambda i, j: j <= i)
    _attention(panels[3], "BERT: a Transformer's encoder", GREEN, lambda i, j: True)
    for axes in panels:
        axes.set_xlim(0.2, 9.7)
        axes.set_ylim(0.0, 9.0)
        axes.axis("off")
    return figure


def _words(axes: Axes, title: str, hidden: bool = False) -> None:
    axes.set_title(title, fontsize=9.5)
    for i, (x, word) in enumerate(zip(PLACES, WORDS, strict=True)):
        gap = hidden and i == GAP
        axes.text(
            x,
            0.7,
            "[MASK]" if gap else word,
            ha="center",
            va="center",
            fontsize=8,
            style="normal" if gap else "italic",
            color=ORANGE if gap else style.LIGHT["ink"],
        )
        _arrow(axes, (x, 1.15), (x, LOW - 0.5), style.LIGHT["muted"])


def _state(axes: Axes, x: float, y: float, colour: str, width: float = 1.2) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - 0.4),
            width,
            0.8,
            boxstyle="round,pad=0.02,rounding_size=0.15",
            facecolor=style.LIGHT["paper"],
            edgecolor=colour,
            linewidth=1.6,
            zorder=3,
        )
    )


def _asked(axes: Axes, sources: Iterable[tuple[float, float]]) -> None:
    """Draw the prediction of the hidden word from the given states."""
    x = PLACES[GAP]
    for source in sources:
        _arrow(axes, source, (x, TOP - 0.05), ORANGE, width=1.5)
    axes.text(x, TOP + 0.4, "rides?", ha="center", va="center", fontsize=9, color=ORANGE)


def _recurrent(axes: Axes) -> None:
    _words(axes, "left to right: a recurrent network")
    for i, x in enumerate(PLACES):
        _arrow(axes, (x, LOW + 0.45), (x, HIGH - 0.5), BLUE)
        for y in (LOW, HIGH):
            _state(axes, x, y, BLUE)
            if i:
                _arrow(axes, (PLACES[i - 1] + 0.65, y), (x - 0.65, y), BLUE)
    _asked(axes, [(PLACES[GAP - 1], HIGH + 0.45)])


def _elmo(axes: Axes) -> None:
    _words(axes, "ELMo: two directions side by side")
    shift, width = 0.55, 0.85
    for colour, side, step in ((BLUE, -shift, 1), (GREEN, shift, -1)):
        for i, x in enumerate(PLACES):
            _arrow(axes, (x + side, LOW + 0.45), (x + side, HIGH - 0.5), colour)
            before = i - step
            for y in (LOW, HIGH):
                _state(axes, x + side, y, colour, width)
                if 0 <= before < len(PLACES):
                    height = y + 0.22 * step
                    start = PLACES[before] + side + step * (width / 2 + 0.03)
                    _arrow(
                        axes,
                        (start, height),
                        (x + side - step * (width / 2 + 0.03), height),
                        colour,
                    )
    ahead, back = PLACES[GAP - 1] - shift, PLACES[GAP + 1] + shift
    _asked(axes, [(ahead, HIGH + 0.45), (back, HIGH + 0.45)])


def _attention(axes: Axes, title: str, colour: str, sees: Callable[[int, int], bool]) -> None:
    both = sees(0, 1)
    _words(axes, title, hidden=both)
    for i, x in enumerate(PLACES):
        for y, below in ((LOW, None), (HIGH, LOW)):
            _state(axes, x, y, colour)
            if below is not None:
                for j, other in enumerate(PLACES):
                    if sees(i, j):
                        _arrow(axes, (other, below + 0.45), (x, y - 0.48), colour, width=0.8)
    _asked(axes, [(PLACES[GAP if both else GAP - 1], HIGH + 0.45)])
