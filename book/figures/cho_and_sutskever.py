"""Figure: Cho's encoder-decoder (context at every step) and Sutskever's (as first state)."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

SOURCE = ["how", "are", "you"]
TARGET = ["잘", "지내", "<eos>"]
PITCH = 1.4
START = 0.75  # x of the encoder's first state
FIRST = 5.5  # x of the decoder's first state
CHO, SUTSKEVER = 5.5, 3.6  # heights of the words that are written
_box = partial(box, width=0.92, height=0.72, rounding=0.15, size=12)
_arrow = partial(arrow, width=1.3, head=10)


def draw() -> Figure:
    """Draw both models, one above the other, for one sentence of three words."""
    figure, (cho, sutskever) = plt.subplots(
        2, 1, figsize=(4.7, 5.5), height_ratios=(CHO, SUTSKEVER), layout="constrained"
    )
    _cho(cho)
    _sutskever(sutskever)
    return figure


def _cho(axes: Axes) -> None:
    _frame(axes, "Cho et al.: GRU, $c$ at every step", CHO)
    orange = style.SERIES[1]
    _encoder(axes, SOURCE)
    last = START + 2 * PITCH  # x of the encoder's last state
    context = (last, 4.15)
    _box(axes, *context, "$c$", orange)
    _arrow(axes, (last, 1.98), (context[0], context[1] - 0.4), orange)
    _arrow(axes, (context[0] + 0.3, context[1] - 0.4), (FIRST - 0.2, 1.98), orange)
    for t in range(1, 4):
        x = FIRST + t * PITCH
        # To the state, and past it to the prediction.
        _arrow(axes, (context[0] + 0.5, context[1]), (x - 0.3, 1.98), orange, curve=-0.12)
        _arrow(
            axes, (context[0] + 0.5, context[1] + 0.1), (x - 0.25, CHO - 0.25), orange, curve=0.1
        )
    _decoder(axes, CHO, reads_word=True)


def _sutskever(axes: Axes) -> None:
    _frame(axes, "Sutskever et al.: LSTM, source reversed,\n$v$ as first state", SUTSKEVER)
    _encoder(axes, SOURCE[::-1])
    end, start = START + 2 * PITCH + 0.5, FIRST - 0.5
    _arrow(axes, (end, 1.6), (start, 1.6), style.SERIES[1], width=4, head=16)
    axes.text((end + start) / 2, 2.15, "$v$", ha="center", va="center", fontsize=14)
    _decoder(axes, SUTSKEVER, reads_word=False)


def _frame(axes: Axes, title: str, top: float) -> None:
    axes.set_xlim(0.15, 10.55)
    axes.set_ylim(-0.1, top + 0.4)
    axes.axis("off")
    axes.set_title(title, fontsize=11)


def _encoder(axes: Axes, words: list[str]) -> None:
    blue = style.SERIES[0]
    for j, word in enumerate(words):
        x = START + j * PITCH
        axes.text(x, 0.25, word, ha="center", va="center", fontsize=11)
        _arrow(axes, (x, 0.5), (x, 1.2), style.LIGHT["muted"])
        _box(axes, x, 1.6, rf"$h_{j + 1}$", blue)
        if j:
            _arrow(axes, (x - PITCH + 0.5, 1.6), (x - 0.5, 1.6), blue)


def _decoder(axes: Axes, top: float, reads_word: bool) -> None:
    green = style.SERIES[2]
    _box(axes, FIRST, 1.6, "$s_0$", green)
    before = ["<bos>", *style.labels(TARGET[:-1])]
    written_words = style.labels(TARGET)
    for t, (read, written) in enumerate(zip(before, written_words, strict=True), start=1):
        x = FIRST + t * PITCH
        axes.text(x, 0.25, read, ha="center", va="center", fontsize=11)
        _arrow(axes, (x, 0.5), (x, 1.2), style.LIGHT["muted"])
        _box(axes, x, 1.6, rf"$s_{t}$", green)
        _arrow(axes, (x - PITCH + 0.5, 1.6), (x - 0.5, 1.6), green)
        _arrow(axes, (x, 1.98), (x, top - 0.3), green)
        if reads_word:  # the previous word reaches the prediction as well
            _arrow(axes, (x + 0.35, 0.5), (x + 0.15, top - 0.3), style.LIGHT["muted"], curve=0.22)
        axes.text(x, top, written, ha="center", va="center", fontsize=11)
