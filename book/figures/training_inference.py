"""Figure: a decoder in training, where it reads true words, and in translation."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.drawing_primitives import arrow, box
from coursekit.plots import style

TRUE = ("le", "chat", "dort", "<eos>")
WRITTEN = ("le", "chien", "dort", "<eos>")
PITCH = 2.6


def draw() -> Figure:
    """Draw training above translation, with a wrong second word of the model."""
    figure, (training, translation) = plt.subplots(2, 1, figsize=(6.6, 6.6), layout="constrained")
    for axes, title in (
        (training, "in training: the true words are read"),
        (translation, "in translation: its own words are read"),
    ):
        axes.set_xlim(-0.6, 11.4)
        axes.axis("off")
        axes.set_title(title)
    training.set_ylim(-0.1, 6.2)
    translation.set_ylim(-0.1, 5.2)
    _decoder(training, ("<bos>", *TRUE[:-1]), own=False)
    _decoder(translation, ("<bos>", *WRITTEN[:-1]), own=True)
    return figure


def _decoder(axes: Axes, read: tuple[str, ...], own: bool) -> None:
    green, bad, muted = style.SERIES[2], style.LIGHT["bad"], style.LIGHT["muted"]
    for t, (given, written, true) in enumerate(zip(read, WRITTEN, TRUE, strict=True)):
        x = 1.2 + PITCH * t
        box(axes, x, 2.2, f"$s_{t + 1}$", green)
        arrow(axes, (x - (1.2 if t == 0 else PITCH - 0.75), 2.2), (x - 0.75, 2.2), green)
        arrow(axes, (x, 0.85), (x, 1.7), muted)
        arrow(axes, (x, 2.7), (x, 3.75), green)
        _text(axes, x, 0.45, given, bad if own and given == "chien" else "")
        _text(axes, x, 4.15, written, "" if written == true else bad)
        if own and t < 3:  # the output is the next input
            colour = bad if written != true else style.SERIES[1]
            arrow(axes, (x + 0.55, 3.9), (x + PITCH - 0.45, 0.75), colour, curve=-0.15)
        if not own:
            _text(axes, x, 5.6, true)
            arrow(axes, (x, 5.25), (x, 4.5), muted, dashed=True)
    if not own:
        axes.text(-0.6, 4.9, "loss", ha="left", va="center", fontsize=11, color=muted)


def _text(axes: Axes, x: float, y: float, text: str, colour: str = "") -> None:
    ink = colour or style.LIGHT["ink"]
    weight = "bold" if colour else "normal"
    axes.text(x, y, text, ha="center", va="center", fontsize=12, color=ink, weight=weight)
