"""Widget that moves the window of local attention over a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import numpy as np
import traitlets

from coursekit.plots.charts import to_numpy
from coursekit.widgets.assets import script, stylesheet


class WindowExplorer(anywidget.AnyWidget):
    """Explorer of local attention over one sentence, with sliders for position, window, Gaussian.

    For each source position s the browser computes the softmax of the scores over the window
    |s - p| <= D, the Gaussian exp(-(s - p)^2 / (2 sigma^2)) and their product, which is not
    renormalised. sigma is D/2 unless the reader sets it separately.

    Args:
        words: the S source words.
        scores: (S,), the score of each word before the softmax.
        position: initial p, from 0 to S.
        D: initial half-width of the window, from 0.5 to S, in steps of 0.5.

    Raises:
        ValueError: the sizes do not match, or a number is out of range.
    """

    _esm = script("local_attention")
    _css = stylesheet("local_attention", "window")

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    scores = traitlets.List(traitlets.Float()).tag(sync=True)
    position = traitlets.Float(0.0).tag(sync=True)
    D = traitlets.Float(1.0).tag(sync=True)
    sigma = traitlets.Float(None, allow_none=True).tag(sync=True)  # None: D / 2

    def __init__(
        self, words: Sequence[str], scores: Any, position: float, D: float, **options: Any
    ) -> None:
        words = list(words) if not isinstance(words, str) else []
        if not words or not all(isinstance(word, str) and word for word in words):
            raise ValueError("words must be a list of the sentence's words.")
        try:
            numbers = to_numpy(scores)
        except (TypeError, ValueError):
            numbers = np.empty(0)
        if numbers.shape != (len(words),) or not np.isfinite(numbers).all():
            raise ValueError(f"scores must be {len(words)} finite numbers, one for each word.")
        position, D = float(position), float(D)
        if not 0 <= position <= len(words):
            raise ValueError(f"position must be from 0 to {len(words)}, not {position:g}.")
        if not 0.5 <= D <= len(words) or (2 * D) % 1 != 0:
            raise ValueError(f"D must be 0.5, 1, 1.5 and so on up to {len(words)}, not {D:g}.")
        rounded = [round(value, 4) for value in numbers.tolist()]
        super().__init__(words=words, scores=rounded, position=round(position, 1), D=D, **options)
