"""Figure: a decoder in training, where it reads true words, and in translation."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

TRUE = ("le", "chat", "dort", "<eos>")
WRITTEN = ("le", "chien", "dort", "<eos>")
FIRST, PITCH = 0.7, 1.15  # place of the first state, and from state to state, in inches
READ, STATE, WRITES, LOSS = 0.12, 0.85, 1.6, 2.25  # heights
_arrow = partial(arrow, head=10)


def draw() -> Figure:
    """Draw training above translation, with a wrong second word of the model."""
    figure, (training, translation) = plt.subplots(
        2, 1, figsize=(4.7, 5.1), height_ratios=(2.5, 1.9), layout="constrained"
    )
    for axes, title, top in (
        (training, "in training: the true words are read", 2.45),
        (translation, "in translation: its own words are read", 1.8),
    ):
        axes.set_xlim(0, 4.6)
        axes.set_ylim(-0.05, top)
        axes.axis("off")
        axes.set_title(title)
    _decoder(training, ("<bos>", *TRUE[:-1]), own=False)
    _decoder(translation, ("<bos>", *WRITTEN[:-1]), own=True)
    return figure


def _decoder(axes: Axes, read: tuple[str, ...], own: bool) -> None:
    green, bad, muted = style.SERIES[2], style.LIGHT["bad"], style.LIGHT["muted"]
    for t, (given, written, true) in enumerate(zip(read, WRITTEN, TRUE, strict=True)):
        x = FIRST + PITCH * t
        box(axes, x, STATE, f"$s_{t + 1}$", green, 0.56, 0.38, rounding=0.08, size=12)
        _arrow(axes, (x - (PITCH - 0.3 if t else 0.6), STATE), (x - 0.3, STATE), green)
        _arrow(axes, (x, READ + 0.14), (x, STATE - 0.21), muted)
        _arrow(axes, (x, STATE + 0.21), (x, WRITES - 0.14), green)
        _text(axes, x, READ, given, bad if own and given == "chien" else "")
        _text(axes, x, WRITES, written, "" if written == true else bad)
        if own and t < 3:  # the output is the next input
            colour = bad if written != true else style.SERIES[1]
            between, half = x + PITCH / 2, 0.28  # half of the longest word
            axes.plot(
                [x + half, between, between], [WRITES, WRITES, READ], color=colour, linewidth=1.5
            )
            _arrow(axes, (between, READ), (x + PITCH - half, READ), colour)
        if not own:
            _text(axes, x, LOSS, true)
            _arrow(axes, (x, LOSS - 0.14), (x, WRITES + 0.14), muted, dashed=True)
    if not own:
        axes.text(0, (LOSS + WRITES) / 2, "loss", va="center", fontsize=11, color=muted)


def _text(axes: Axes, x: float, y: float, text: str, colour: str = "") -> None:
    ink = colour or style.LIGHT["ink"]
    weight = "bold" if colour else "normal"
    axes.text(x, y, text, ha="center", va="center", fontsize=11, color=ink, weight=weight)
