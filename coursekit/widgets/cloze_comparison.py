"""Widget that compares what several models predict for a hidden word."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from coursekit.widgets.assets import script, stylesheet


class FillExplorer(anywidget.AnyWidget):
    """Explorer of cloze predictions: the reader hides a word, and each model predicts it.

    A word is hidden with a click, or with the arrow keys from word to word. Below the text, each
    model lists its most probable words. The true word is marked, and so is the context that the
    model sees: a left-to-right model reads only the words before the gap. It works in the published
    page without a kernel.

    Args:
        texts: the texts, each a mapping with
            "sentences": the sentences, each a list of words;
            "guesses": model -> for each of the N words, one sentence after the other, the guesses
                for it when it is hidden: pairs (word, probability), the best first;
            "truth": model -> (N,), the probability of the true word;
            "title": optional, the title of the text in the list.
        sees: model -> the side of the gap it reads, "left", "right" or "both" (default).
        hidden: index of the initially hidden word, from 0.

    Raises:
        ValueError: there is no text, or the sizes of words and numbers do not match.
    """

    _esm = script("cloze_comparison")
    _css = stylesheet("cloze_comparison", "fill")

    texts = traitlets.List(traitlets.Dict()).tag(sync=True)
    # A list, because saving a notebook loses the order of the keys in the texts.
    models = traitlets.List(traitlets.Unicode()).tag(sync=True)
    sees = traitlets.Dict().tag(sync=True)
    text = traitlets.Int(0).tag(sync=True)
    hidden = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        texts: Sequence[Mapping[str, Any]],
        sees: Mapping[str, str] | None = None,
        hidden: int = 0,
        **options: Any,
    ) -> None:
        if not len(texts):
            raise ValueError("texts must hold at least one text.")
        prepared = [_prepare(text, i) for i, text in enumerate(texts)]
        models = list(prepared[0]["guesses"])
        for i, text in enumerate(prepared):
            if list(text["guesses"]) != models:
                raise ValueError(f"text {i} must have guesses of {', '.join(models)}.")
        sides = {model: (sees or {}).get(model, "both") for model in models}
        if not set(sides.values()) <= {"left", "right", "both"}:
            raise ValueError('each model sees "left", "right" or "both".')
        if not 0 <= hidden < len(prepared[0]["truth"][models[0]]):
            raise ValueError(f"text 0 has no word {hidden} to hide.")
        super().__init__(texts=prepared, models=models, sees=sides, hidden=hidden, **options)


def _prepare(text: Mapping[str, Any], i: int) -> dict[str, Any]:
    """Return one text as plain lists for the browser."""
    if any(isinstance(sentence, str) for sentence in text["sentences"]):
        raise ValueError(f"the sentences of text {i} must be lists of words; split them first.")
    sentences = [list(sentence) for sentence in text["sentences"]]
    count = sum(map(len, sentences))
    if not count:
        raise ValueError(f"text {i} has no words.")
    if not text["guesses"] or list(text["guesses"]) != list(text["truth"]):
        raise ValueError(f"guesses and truth of text {i} must have the same models.")
    guesses, truth = {}, {}
    for model, rows in text["guesses"].items():
        numbers = [float(value) for value in text["truth"][model]]
        if len(rows) != count or len(numbers) != count:
            raise ValueError(f"{model!r} must have guesses for each of the {count} words.")
        rows = [[(str(word), float(p)) for word, p in row] for row in rows]
        for row, number in zip(rows, numbers, strict=True):
            values = [number, *(p for _, p in row)]
            if not row or not all(math.isfinite(p) and 0 <= p <= 1 + 1e-4 for p in values):
                raise ValueError(f"{model!r} must have guesses with probabilities from 0 to 1.")
            if any(a[1] < b[1] for a, b in itertools.pairwise(row)):
                raise ValueError(f"the guesses of {model!r} must be sorted, the best first.")
        guesses[model] = [[[word, round(min(p, 1.0), 3)] for word, p in row] for row in rows]
        truth[model] = [round(min(p, 1.0), 3) for p in numbers]
    return {
        "sentences": sentences,
        "guesses": guesses,
        "truth": truth,
        "title": text.get("title", ""),
    }
