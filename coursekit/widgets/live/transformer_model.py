"""Base widget that sends a packed Transformer and its vocabulary to the browser."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anywidget
import traitlets

from coursekit.text.vocabulary import BOS, EOS, WordVocabulary
from coursekit.widgets.live.weight_packing import Packed

_NEEDED = (
    "embedding.weight",
    "encoder_layers.0.feed_forward_norm.bias",
    "decoder_layers.0.memory_attention.query.weight",
)


class TransformerWidget(anywidget.AnyWidget):
    """Widget with a Transformer translator.

    Args:
        weights: a `Transformer` of `EncoderLayer` and `DecoderLayer`, as `pack` returns it.
        words: the vocabulary of both languages.
        source_words: the words of the vocabulary that are in the source language.
        heads: the number of heads in each attention.
        options: further traits.

    Raises:
        ValueError: the model is of another kind, or a source word is not in the vocabulary.
    """

    weights = traitlets.Dict().tag(sync=True)
    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    source_words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    heads = traitlets.Int(1).tag(sync=True)
    bos = traitlets.Int(BOS).tag(sync=True)
    eos = traitlets.Int(EOS).tag(sync=True)

    def __init__(
        self,
        weights: Packed,
        words: WordVocabulary,
        source_words: Iterable[str],
        heads: int,
        **options: Any,
    ) -> None:
        if not all(name in weights for name in _NEEDED):
            raise ValueError("weights must be a packed Transformer.")
        of_source = sorted(set(source_words))
        require_known(of_source, words)
        super().__init__(
            weights=weights, words=words.words, source_words=of_source, heads=heads, **options
        )


def require_known(used: Iterable[str], words: WordVocabulary) -> None:
    """Raise ValueError if a word is not in the vocabulary."""
    for word in used:
        if word not in words.ids:
            raise ValueError(f"{word!r} is not in the vocabulary.")
