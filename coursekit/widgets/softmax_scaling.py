"""Widget that shows how scaling by sqrt(d_k) changes the softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import numpy as np
import traitlets

from coursekit.plots.charts import to_numpy
from coursekit.widgets.assets import script, stylesheet


class TemperatureExplorer(anywidget.AnyWidget):
    """Explorer of the softmax over dot products of size d_k, divided by sqrt(d_k) or not.

    A dot product of two vectors of d_k independent numbers with mean 0 and variance 1 has variance
    d_k. The browser multiplies scores of variance 1 by sqrt(d_k), divides them again if the reader
    chooses so, and shows the weights, their entropy and the size of the softmax's derivative, the
    Frobenius norm of diag(a) - a a^T.

    Args:
        words: the N words that the keys belong to.
        scores: (N,), the scores at d_k = 1.
        d_k: initial size of query and key, a power of 2 from 1 to 1024.
        scaled: whether the scores are initially divided by sqrt(d_k).

    Raises:
        ValueError: the sizes do not match, or a number is out of range.
    """

    _esm = script("softmax_scaling")
    _css = stylesheet("softmax_scaling", "temperature")

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    scores = traitlets.List(traitlets.Float()).tag(sync=True)
    d_k = traitlets.Int(64).tag(sync=True)
    scaled = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self, words: Sequence[str], scores: Any, d_k: int = 64, scaled: bool = False, **options: Any
    ) -> None:
        words = list(words) if not isinstance(words, str) else []
        if len(words) < 2 or not all(isinstance(word, str) and word for word in words):
            raise ValueError("words must be a list of at least two words.")
        try:
            numbers = to_numpy(scores)
        except (TypeError, ValueError):
            numbers = np.empty(0)
        if numbers.shape != (len(words),) or not np.isfinite(numbers).all():
            raise ValueError(f"scores must be {len(words)} finite numbers, one for each word.")
        if d_k not in [2**power for power in range(11)]:
            raise ValueError(f"d_k must be a power of 2 from 1 to 1024, not {d_k}.")
        rounded = [round(value, 4) for value in numbers.tolist()]
        super().__init__(words=words, scores=rounded, d_k=int(d_k), scaled=scaled, **options)
