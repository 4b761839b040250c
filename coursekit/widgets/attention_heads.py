"""Widget that shows a Transformer's attention weights by layer and head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import numpy as np
import traitlets

from coursekit.widgets.assets import script, stylesheet

PARTS = ("encoder", "decoder", "memory")


class HeadsExplorer(anywidget.AnyWidget):
    """Explorer of attention heads: a thumbnail of every head of every layer, one head in detail.

    The reader picks the sentence, the attention (in the encoder, in the decoder, or from the
    decoder to the encoder), a head and a word, and sees the head's weights for that word. A model
    may have only some of the three attentions. It works in the published page without a kernel.

    Args:
        sentences: each a mapping with
            "source": the S words that the encoder reads;
            "target": the T words that the decoder reads; optional for an encoder alone;
            "encoder", "decoder", "memory": the weights of the attentions that the model has,
                (L, h, S, S), (L, h, T, T) and (L, h, T, S); rounded to 3 decimals;
            "word": optional, the position of the initial source word;
            "title": optional, the title of the sentence in the list.
        layer: layer of the initial head, from 0.
        head: the initial head, from 0.

    Raises:
        ValueError: there is no sentence, or the sizes of words and weights do not match.
    """

    _esm = script("attention_heads")
    _css = stylesheet("attention_heads", "heads")

    sentences = traitlets.List(traitlets.Dict()).tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    part = traitlets.Unicode("").tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    word = traitlets.Int(0).tag(sync=True)

    def __init__(
        self, sentences: Sequence[Mapping[str, Any]], layer: int = 0, head: int = 0, **options: Any
    ) -> None:
        if not len(sentences):
            raise ValueError("sentences must hold at least one sentence.")
        prepared = [_prepare(sentence, i) for i, sentence in enumerate(sentences)]
        parts = [part for part in PARTS if part in prepared[0]["weights"]]
        sizes = {part: _layers_and_heads(prepared[0], part) for part in parts}
        for i, one in enumerate(prepared):
            if {part: _layers_and_heads(one, part) for part in one["weights"]} != sizes:
                raise ValueError(f"sentence {i} must have weights of the same layers and heads.")
        layers, heads = sizes[parts[0]]
        if not (0 <= layer < layers and 0 <= head < heads):
            raise ValueError(f"there are {layers} layers and {heads} heads; both count from 0.")
        options = {"part": parts[0], "word": prepared[0]["word"]} | options
        super().__init__(sentences=prepared, layer=layer, head=head, **options)


def _layers_and_heads(sentence: dict[str, Any], part: str) -> tuple[int, int]:
    weights = sentence["weights"][part]
    return len(weights), len(weights[0])


def _prepare(sentence: Mapping[str, Any], i: int) -> dict[str, Any]:
    """Return one sentence as plain values for the browser; weights as integer thousandths."""
    words = {}
    for name in ("source", "target"):
        given = sentence.get(name, ())
        if isinstance(given, str) or (name == "source" and not len(given)):
            raise ValueError(f"the {name} of sentence {i} must be a list of words.")
        words[name] = list(given)
    S, T = len(words["source"]), len(words["target"])
    weights = {}
    for part, shape in (("encoder", (S, S)), ("decoder", (T, T)), ("memory", (T, S))):
        if part not in sentence:
            continue
        given = sentence[part]
        values = given.detach().cpu().numpy() if hasattr(given, "detach") else np.asarray(given)
        if values.ndim != 4 or values.shape[2:] != shape or 0 in values.shape:
            raise ValueError(
                f"the {part} weights of sentence {i} must have the shape "
                f"(layers, heads, {shape[0]}, {shape[1]}), not {values.shape}."
            )
        if not (np.isfinite(values).all() and values.min() >= -1e-6 and values.max() <= 1 + 1e-4):
            raise ValueError(f"the {part} weights of sentence {i} must be from 0 to 1.")
        weights[part] = np.rint(1000 * values.clip(0, 1)).astype(int).tolist()
    if not weights:
        raise ValueError(f"sentence {i} must have the weights of at least one attention.")
    word = int(sentence.get("word", 0))
    if not 0 <= word < S:
        raise ValueError(f"sentence {i} has {S} source words; its word is out of range.")
    return {**words, "weights": weights, "word": word, "title": sentence.get("title", "")}
