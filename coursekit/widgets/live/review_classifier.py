"""Widget that runs a trained review classifier with attention in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from coursekit.text.vocabulary import SPECIAL, WordVocabulary
from coursekit.widgets.assets import script, stylesheet
from coursekit.widgets.live.weight_packing import Packed

_NEEDED = ("rnn.weight_hh_l0_reverse", "W", "U", "v", "output.bias")


class ReviewExplorer(anywidget.AnyWidget):
    """Explorer of a classifier: its verdict on the reader's text, and the evidence for it.

    A word's colour is its attention weight, or the change of the verdict without the word, or the
    verdict on the words so far. A word can be excluded from attention, and the text's own query can
    be switched off. It works in the published page without a kernel, and the URL stores the view.

    Args:
        weights: an `AttentionClassifier` of two classes, as `pack` returns it.
        words: its vocabulary.
        examples: example texts, each (words, a sentence that states the truth). The first example
            is shown initially.
        classes: the names of class 0 and class 1.
        most: maximum number of words in a text.

    Raises:
        ValueError: there is no example, an example is empty, too long or has an unknown word, or
            the model is of another kind.
    """

    _esm = script("live/engine", "live/shared", "live/review_classifier")
    _css = stylesheet("live/review_classifier", "review")

    weights = traitlets.Dict().tag(sync=True)
    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    special = traitlets.Int(len(SPECIAL)).tag(sync=True)  # ids below this are not words
    most = traitlets.Int(80).tag(sync=True)
    classes = traitlets.List(traitlets.Unicode()).tag(sync=True)
    examples = traitlets.List(traitlets.Dict()).tag(sync=True)
    # The reader's choices: words, barred (positions), asks (the text's own query), show ("weight",
    # "rests" or "growing").
    shown = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        weights: Packed,
        words: WordVocabulary,
        examples: Sequence[tuple[Sequence[str], str]],
        classes: tuple[str, str] = ("bad", "good"),
        most: int = 80,
        **options: Any,
    ) -> None:
        if not all(name in weights for name in _NEEDED):
            raise ValueError("weights must be a packed AttentionClassifier.")
        if weights["output.bias"]["shape"] != [2]:
            raise ValueError("the model must have two classes.")
        if not examples:
            raise ValueError("examples must hold at least one text.")
        for text, _ in examples:
            unknown = [word for word in text if word not in words.ids]
            if unknown:
                raise ValueError(f"{unknown[0]!r} is not in the vocabulary.")
            if not 0 < len(text) <= most:
                raise ValueError(f"an example must have 1 to {most} words.")
        super().__init__(
            weights=weights,
            words=words.words,
            examples=[{"words": [*text], "truth": truth} for text, truth in examples],
            classes=[*classes],
            most=most,
            **options,
        )
