"""Widget that compares the four attention scores of a movable query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import numpy as np
import traitlets

from coursekit.plots.charts import to_numpy
from coursekit.widgets.assets import script, stylesheet

LIMIT = 3.0  # the drawn plane reaches from -3 to 3 on both axes


class ScoresExplorer(anywidget.AnyWidget):
    """Explorer of four scores side by side, for a movable query and fixed keys in the plane.

    The reader drags the query, moves it with the arrow keys (with Shift in larger steps), or
    changes its length with buttons. For each key, the browser computes the score and the softmax
    weight: q . k; q . k / sqrt(2); q^T W k; v^T tanh(W [q; k]).

    Args:
        words: a name for each of the N keys.
        keys: (N, 2), each number between -3 and 3.
        query: the initial query, (2,), each number between -3 and 3.
        general: W of the general score, (2, 2).
        concat: W of the concat score, (h, 4); its first two columns belong to the query.
        v: v of the concat score, (h,).

    Raises:
        ValueError: the sizes do not match, or a number is out of range.
    """

    _esm = script("attention_scores")
    _css = stylesheet("attention_scores", "scores")

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    points = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    query = traitlets.List(traitlets.Float()).tag(sync=True)
    general = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    concat = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    v = traitlets.List(traitlets.Float()).tag(sync=True)

    def __init__(
        self,
        words: Sequence[str],
        keys: Any,
        query: Any,
        general: Any,
        concat: Any,
        v: Any,
        **options: Any,
    ) -> None:
        words = list(words) if not isinstance(words, str) else []
        if not words or not all(isinstance(word, str) and word for word in words):
            raise ValueError("words must be a list of names, one for each key.")
        hidden = _numbers(v, "v", 1).shape[0]
        super().__init__(
            words=words,
            points=_fit(keys, "keys", (len(words), 2), LIMIT),
            query=_fit(query, "query", (2,), LIMIT),
            general=_fit(general, "general", (2, 2)),
            concat=_fit(concat, "concat", (hidden, 4)),
            v=_fit(v, "v", (hidden,)),
            **options,
        )


def _numbers(values: Any, name: str, axes: int) -> np.ndarray:
    try:
        numbers = to_numpy(values)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.ndim != axes or not numbers.size or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be an array of finite numbers with {axes} axes.")
    return numbers


def _fit(values: Any, name: str, shape: tuple[int, ...], limit: float = np.inf) -> list[Any]:
    numbers = _numbers(values, name, len(shape))
    if numbers.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, not {numbers.shape}.")
    if (abs(numbers) > limit).any():
        raise ValueError(f"{name} must lie between {-limit:g} and {limit:g}.")
    return numbers.tolist()
