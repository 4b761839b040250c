"""Widget that shows how much of each earlier word a recurrent state retains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from coursekit.plots.charts import to_numpy
from coursekit.widgets.assets import script, stylesheet


class StateExplorer(anywidget.AnyWidget):
    """Explorer of a recurrent state: how much of each earlier word it retains after each word.

    The reader moves through the sentence with a slider, the arrow keys, the buttons, a click or
    "play"; a list selects among several sentences. It works in the published page without a kernel.

    Args:
        words: the S words that are read, or a list of several sentences' words.
        left: (S, S), row t for the state after word t, column j for how much of word j is left in
            it (array, tensor or nested list); only j <= t is used. Or one such table for each
            sentence. Rounded to 3 decimals.
        what: one sentence that explains the measure, shown below the picture.

    Raises:
        ValueError: the sizes of words and numbers do not match.
    """

    _esm = script("recurrent_state")
    _css = stylesheet("recurrent_state", "state")

    examples = traitlets.List(traitlets.Dict()).tag(sync=True)
    example = traitlets.Int(0).tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)
    what = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        words: Sequence[str] | Sequence[Sequence[str]],
        left: Any,
        what: str = "",
        **options: Any,
    ) -> None:
        if isinstance(words, str) or not len(words):
            raise ValueError("words must be a list of at least one word.")
        if isinstance(words[0], str):
            examples = [_example(words, left, "")]
        else:
            if len(words) != len(left):
                raise ValueError(
                    f"there are {len(words)} sentences but {len(left)} tables in left."
                )
            examples = [
                _example(sentence, table, f" of sentence {i}")
                for i, (sentence, table) in enumerate(zip(words, left, strict=True))
            ]
        # Open after the last word: the picture of what is left of each is the point.
        options.setdefault("position", len(examples[options.get("example", 0)]["words"]) - 1)
        super().__init__(examples=examples, what=what, **options)


def _example(words: Any, left: Any, where: str) -> dict[str, Any]:
    """Return one sentence as plain lists for the browser: row t has t + 1 numbers."""
    words = list(words)
    if not words or not all(isinstance(word, str) for word in words):
        raise ValueError(f"the words{where} must be a list of at least one word.")
    table = to_numpy(left)
    if table.shape != (len(words), len(words)):
        raise ValueError(
            f"left{where} must have one row and one column for each of the {len(words)} words, "
            f"not the shape {table.shape}."
        )
    rows = [[round(value, 3) for value in row[: t + 1]] for t, row in enumerate(table.tolist())]
    if not all(math.isfinite(value) and value >= 0 for row in rows for value in row):
        raise ValueError(f"left{where} must contain only finite numbers from 0 up.")
    return {"words": words, "left": rows}
