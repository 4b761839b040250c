"""Widget that translates a sentence in the browser and draws one head's weights as ribbons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import traitlets

from coursekit.text.vocabulary import WordVocabulary
from coursekit.widgets.assets import script, stylesheet
from coursekit.widgets.live.transformer_model import TransformerWidget
from coursekit.widgets.live.weight_packing import Packed


class AlignmentExplorer(TransformerWidget):
    """Small explorer of a Transformer translator: the reader's sentence, and what each word reads.

    When it comes into view it plays its first sentence: word after word of the translation appears,
    with ribbons to the source words, as wide as one head's weights. Then the reader may choose
    another sentence, change it, or press a word. Who asked for reduced motion sees the end at once.
    It works in the published page without a kernel.

    Args:
        weights: a `Transformer` of `EncoderLayer` and `DecoderLayer`, as `pack` returns it.
        words: the vocabulary of both languages.
        source_words: the words of the vocabulary that are in the source language.
        heads: the number of heads in each attention.
        shown_head: the layer and the head, from 1, of the attention from target to source that is
            drawn.
        sentences: example sentences; the first one is played.

    Raises:
        ValueError: there is no sentence, one has an unknown word, or the model is of another kind.
    """

    _esm = script("live/engine", "live/shared", "live/alignment")
    _css = stylesheet("live/alignment")

    layer = traitlets.Int(1).tag(sync=True)
    head = traitlets.Int(1).tag(sync=True)
    sentences = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True)

    def __init__(
        self,
        weights: Packed,
        words: WordVocabulary,
        source_words: Iterable[str],
        heads: int,
        shown_head: tuple[int, int],
        sentences: Sequence[Sequence[str]],
    ) -> None:
        if not sentences:
            raise ValueError("sentences must hold at least one sentence.")
        of_source = set(source_words)
        for word in (word for sentence in sentences for word in sentence):
            if word not in of_source:
                raise ValueError(f"{word!r} is not among the source words.")
        layer, head = shown_head
        super().__init__(
            weights,
            words,
            of_source,
            heads,
            layer=layer,
            head=head,
            sentences=[list(sentence) for sentence in sentences],
        )
