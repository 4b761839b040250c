"""Figure of chapter 8: what each head of the encoder attends to from a pronoun."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor

from coursekit.plots import style


def draw_weights_of_it(texts: Sequence[str], weights: Sequence[Tensor], heads: int) -> Figure:
    """Draw a heat map for each text: a row for each head, a column for each word.

    Args:
        texts: the sentences, without their last token <eos>.
        weights: for each text the weights of all heads, the first layer's first, (L h, S).
        heads: heads in a layer.
    """
    size = (style.WIDTH, 3.1 * len(texts))
    figure, axes = plt.subplots(len(texts), 1, figsize=size, layout="constrained")
    for ax, text, rows in zip(axes, texts, weights, strict=True):
        words = [*text.split(), "<eos>"]
        names = [f"layer {i // heads + 1}, head {i % heads + 1}" for i in range(len(rows))]
        ax.imshow(rows, cmap=style.ATTENTION, vmin=0, vmax=1, aspect="auto")
        ax.set_xticks(range(len(words)), words, rotation=45, ha="right", fontsize=9)
        ax.set_yticks(range(len(rows)), names, fontsize=9)
        ax.grid(False)
    return figure
