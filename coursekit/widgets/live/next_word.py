"""Widget that runs language models in the browser to go on with the reader's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import traitlets
from torch import nn

from coursekit.models.ngrams import NgramModel
from coursekit.widgets.assets import script, stylesheet
from coursekit.widgets.live.weight_packing import pack, pack_ids

STOP = "."  # how the end of a sentence is written
_NEEDED = {
    "neural": ("embedding.weight", "hidden.weight", "output.weight", "direct.weight"),
    "decoder": ("embedding.weight", "blocks.0.query.weight", "blocks.0.gate.weight", "norm.weight"),
}


class NextWordExplorer(anywidget.AnyWidget):
    """Explorer of one or two language models: the reader writes a text, they predict each word.

    The reader types the beginning of a text, presses a word to see what was predicted in its place,
    puts a predicted word there, or lets a model draw the words that follow. For an n-gram model the
    explorer says which context was counted, for a neural one which words have similar vectors. It
    works in the published page without a kernel, and the URL stores the view.

    Args:
        models: name -> an `NgramModel`, a `NeuralLanguageModel`, or the result of `pack_decoder`.
        words: the vocabulary by id; marks first.
        beginnings: example texts, each (words, the place that is chosen, counted from 0; len(words)
            for the next word). "." ends a sentence. The first example is shown initially.
        begin: id of the mark that begins a text.
        end: id of the mark that ends a sentence, "." in the texts.
        special: ids below this are marks.
        sentences: maximum number of sentences in a text.
        most: maximum number of words in a text, ends of sentences included.
        controls: whether temperature, top-k and top-p can be set.
        levels: as in `pack`, for the weights of neural models.

    Raises:
        ValueError: there is no model or no example, an example has an unknown word, more words than
            `most`, or no such place, or a model is of another kind or size.
    """

    _esm = script("live/engine", "live/language_models", "live/shared", "live/next_word")
    _css = stylesheet("live/next_word", "nextword")

    models = traitlets.List(traitlets.Dict()).tag(sync=True)
    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    bos = traitlets.Int().tag(sync=True)
    eos = traitlets.Int().tag(sync=True)
    special = traitlets.Int().tag(sync=True)
    sentences = traitlets.Int(1).tag(sync=True)
    most = traitlets.Int(30).tag(sync=True)
    controls = traitlets.Bool(False).tag(sync=True)
    beginnings = traitlets.List(traitlets.Dict()).tag(sync=True)
    # The reader's choices: text (words), at (a place), temperature, topK (0 for all), topP.
    shown = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        models: Mapping[str, NgramModel | nn.Module | Mapping[str, Any]],
        words: Sequence[str],
        beginnings: Sequence[tuple[Sequence[str], int]],
        *,
        begin: int,
        end: int,
        special: int,
        levels: int | None = None,
        **options: Any,
    ) -> None:
        if not models or not beginnings:
            raise ValueError("give at least one model and one beginning of a text.")
        known = {*words[special:], STOP}
        most = options.get("most", 30)
        for text, at in beginnings:
            unknown = [word for word in text if word not in known]
            if unknown:
                raise ValueError(f"{unknown[0]!r} is not in the vocabulary.")
            if not 0 <= at <= len(text) <= most:
                raise ValueError(
                    f"a text has at most {most} words, and its place is from 0 to their number."
                )
        super().__init__(
            models=[
                {"name": name} | _describe(name, given, len(words), levels)
                for name, given in models.items()
            ],
            words=[*words],
            beginnings=[{"text": [*text], "at": at} for text, at in beginnings],
            bos=begin,
            eos=end,
            special=special,
            **options,
        )


def pack_decoder(decoder: nn.Module, heads: int, levels: int | None = None) -> dict[str, Any]:
    """Return a decoder with the parts of today as `NextWordExplorer` takes it.

    Args:
        decoder: a language model whose state has `embedding.weight`, which is its output as well,
            `blocks.0.query.weight` and so on, and `norm.weight`: pre-RMSNorm, rotary positions,
            grouped queries, SwiGLU, no biases.
        heads: the number of heads of queries.
        levels: as in `pack`.

    Returns:
        its kind, its packed weights and the number of heads.

    Raises:
        ValueError: as in `pack`.
    """
    return {"kind": "decoder", "weights": pack(decoder, levels), "heads": heads}


def _describe(
    name: str, given: NgramModel | nn.Module | Mapping[str, Any], size: int, levels: int | None
) -> dict[str, Any]:
    """Return a model as the browser reads it."""
    if isinstance(given, NgramModel):
        if given.vocabulary_size != size or not given.sentences:
            raise ValueError(f"{name} must be fitted, to ids of these {size} words.")
        text = pack_ids(given.sentences)
        return {"kind": "ngram", "text": text, "discounts": [*given.discounts]}
    described: dict[str, Any] = (
        {"kind": "neural", "weights": pack(given, levels)}
        if isinstance(given, nn.Module)
        else {**given}
    )
    weights = described["weights"]
    if not all(part in weights for part in _NEEDED[described["kind"]]):
        raise ValueError(f"{name} must be a NeuralLanguageModel or what pack_decoder returns.")
    if weights["embedding.weight"]["shape"][0] != size:
        raise ValueError(f"{name} must have one vector for each of the {size} words.")
    return described
