"""Widget that colours the words of a text by a classifier's attention weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from coursekit.plots.charts import to_numpy
from coursekit.widgets.assets import script, stylesheet


class WordsExplorer(anywidget.AnyWidget):
    """Explorer of word weights: the stronger a word's colour, the larger its weight.

    The reader picks the text and the view, which is a model or one of its hops, with keyboard or
    mouse; the colour scale ends at the largest weight shown, or at 1. With sentence weights, each
    sentence has its own line, with its weight in the margin. It works in the published page without
    a kernel.

    Args:
        texts: the texts, each a mapping with
            "words": a list of the words, or a list of sentences that are lists of words;
            "weights": view -> (N,), the weight of each of the N words, one sentence after the
                other (array, tensor or nested list); rounded to 3 decimals. Or, for sentences, a
                list with the weights of each sentence's words;
            "sentence_weights": optional, view -> (L,), the weight of each of the L sentences;
            "marked": optional, the positions of words to underline, such as deciding words;
            "title": optional, the title of the text in the list;
            "told": optional, view -> one sentence, such as the model's prediction.
        marked: description of the underlined words, shown below the text.

    Raises:
        ValueError: there is no text, or the sizes of words and numbers do not match.
    """

    _esm = script("word_weights")
    _css = stylesheet("word_weights", "words")

    texts = traitlets.List(traitlets.Dict()).tag(sync=True)
    # A list, because saving a notebook loses the order of the keys in the texts.
    views = traitlets.List(traitlets.Unicode()).tag(sync=True)
    text = traitlets.Int(0).tag(sync=True)
    view = traitlets.Unicode("").tag(sync=True)
    absolute = traitlets.Bool(False).tag(sync=True)  # colours from 0 to 1
    marked = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self, texts: Sequence[Mapping[str, Any]], marked: str = "", **options: Any
    ) -> None:
        if not len(texts):
            raise ValueError("texts must hold at least one text.")
        prepared = [_prepare(text, i) for i, text in enumerate(texts)]
        views = list(prepared[0]["weights"])
        for i, text in enumerate(prepared):
            if list(text["weights"]) != views:
                raise ValueError(f"text {i} must have weights for {', '.join(views)}.")
        super().__init__(texts=prepared, views=views, view=views[0], marked=marked, **options)


def _prepare(text: Mapping[str, Any], i: int) -> dict[str, Any]:
    """Return one text as plain lists for the browser."""
    given = text["words"]
    if isinstance(given, str):
        raise ValueError(f"the words of text {i} must be a list; split the text first.")
    nested = len(given) > 0 and not isinstance(given[0], str)
    sentences = [list(sentence) for sentence in given] if nested else [list(given)]
    count = sum(map(len, sentences))
    if not text["weights"]:
        raise ValueError(f"text {i} must have the weights of at least one view.")
    weights = {}
    for name, values in text["weights"].items():
        if nested and not _numbers(values):  # a row for each sentence
            values = [value for row in values for value in _numbers(row)]
        weights[name] = _check(values, count, f"the weights of {name!r} in text {i}", "word")
    sentence_weights = {
        name: _check(
            values, len(sentences), f"the sentences' weights of {name!r} in text {i}", "sentence"
        )
        for name, values in text.get("sentence_weights", {}).items()
    }
    marked = sorted(int(position) for position in text.get("marked", ()))
    if any(not 0 <= position < count for position in marked):
        raise ValueError(f"text {i} has {count} words; a marked position is out of range.")
    return {
        "sentences": sentences,
        "weights": weights,
        "sentence_weights": sentence_weights,
        "marked": marked,
        "title": text.get("title", ""),
        "told": dict(text.get("told", {})),
    }


def _numbers(values: Any) -> list[float]:
    """Return the values as a flat list; empty if they are not a row of numbers."""
    try:
        numbers = to_numpy(values)
    except (TypeError, ValueError):
        return []
    return numbers.tolist() if numbers.ndim == 1 else []


def _check(values: Any, count: int, what: str, of: str) -> list[float]:
    """Return the rounded values; raise ValueError unless they are `count` numbers from 0 to 1."""
    numbers = _numbers(values)
    fitting = all(math.isfinite(value) and -1e-6 <= value <= 1 + 1e-4 for value in numbers)
    if len(numbers) != count or not fitting:
        raise ValueError(f"{what} must be {count} numbers from 0 to 1, one for each {of}.")
    return [round(min(max(value, 0.0), 1.0), 3) for value in numbers]
