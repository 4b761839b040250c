"""Widget that runs a trained Transformer translator in the browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import traitlets

from coursekit.text.vocabulary import WordVocabulary
from coursekit.widgets.assets import script, stylesheet
from coursekit.widgets.live.transformer_model import TransformerWidget, require_known
from coursekit.widgets.live.weight_packing import Packed


class TransformerExplorer(TransformerWidget):
    """Explorer of a Transformer: the translation of the reader's sentence, and each word's path.

    The colours are one head's weights, in one of the three attentions, for the chosen word. Single
    heads, whole attentions, the positions and the causal mask can be switched off; the translation
    is recomputed. Strips show the chosen word's vector from the embedding to the last layer. A
    microscope shows one weight step by step, from the two vectors to the product with the value. It
    works in the published page without a kernel, and the URL stores the view.

    Args:
        weights: a `Transformer` of `EncoderLayer` and `DecoderLayer`, as `pack` returns it.
        words: the vocabulary of both languages.
        source_words: the words of the vocabulary that are in the source language.
        heads: the number of heads in each attention.
        examples: example sentences, each (source words, target words, look): `look` is the initial
            view, such as {"head": "encoder.2.1", "source": 4}. The first example is shown
            initially.
        longest: words in the longest source sentence that the model was trained on.

    Raises:
        ValueError: there is no example, an example has an unknown word, or the model is of another
            kind.
    """

    _esm = script("live/engine", "live/shared", "live/microscope", "live/transformer")
    _css = stylesheet("live/transformer", parts=["live/microscope"])

    longest = traitlets.Int(0).tag(sync=True)
    examples = traitlets.List(traitlets.Dict()).tag(sync=True)
    # The reader's choices: words, head ("encoder.1.2": the second of the first layer), source,
    # target (positions), key (position under the microscope; -1: closed), off (heads), positions,
    # causal (whether the model has them).
    shown = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        weights: Packed,
        words: WordVocabulary,
        source_words: Iterable[str],
        heads: int,
        examples: Sequence[tuple[Sequence[str], Sequence[str], Mapping[str, Any]]],
        longest: int = 20,
        **options: Any,
    ) -> None:
        if not examples:
            raise ValueError("examples must hold at least one sentence.")
        require_known((word for s, t, _ in examples for word in (*s, *t)), words)
        super().__init__(
            weights,
            words,
            source_words,
            heads,
            examples=[
                {"source": [*source], "target": [*target], "look": dict(look)}
                for source, target, look in examples
            ],
            longest=longest,
            **options,
        )
