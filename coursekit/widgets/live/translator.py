"""Widget that runs a trained translator with additive attention in the browser."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from coursekit.text.vocabulary import BOS, EOS, SPECIAL, WordVocabulary
from coursekit.widgets.assets import script, stylesheet
from coursekit.widgets.live.weight_packing import Packed

_NEEDED = ("encoder.rnn.weight_hh_l0_reverse", "decoder.cell.weight_ih", "decoder.output.bias")


class TranslatorExplorer(anywidget.AnyWidget):
    """Explorer of a translator: every stage of every step, and controls to change it.

    The reader types a sentence from the vocabulary. The explorer shows the annotations, scores and
    weights of one step, the resulting vectors and the model's candidate words. Source words can be
    excluded, another target word can be forced, and a step's weights can be set by hand; the
    translation is recomputed. A microscope shows one weight step by step, from the state and the
    annotation to the context. It works in the published page without a kernel, and the URL stores
    the view.

    Args:
        attention: an `AttentionTranslator` of `BidirectionalEncoder`, `AttentionDecoder` and
            `AdditiveAttention`, as `pack` returns it.
        source_words: vocabulary of the source language.
        target_words: vocabulary of the target language.
        examples: example sentences, each (source words, target words, links): `links` are gold
            links (source position, target position) counted from 0, or None. The first example is
            shown initially.
        fixed: the same model with `FixedContext` in place of the attention, packed; or None.
        glosses: target word -> its meaning, where known.
        longest: words in the longest sentence that the models were trained on.

    Raises:
        ValueError: there is no example, an example has an unknown word, or a model is of another
            kind.
    """

    _esm = script("live/engine", "live/shared", "live/microscope", "live/translator")
    _css = stylesheet("live/translator", parts=["live/microscope"])

    attention = traitlets.Dict().tag(sync=True)
    fixed = traitlets.Dict().tag(sync=True)
    source_words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    target_words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    examples = traitlets.List(traitlets.Dict()).tag(sync=True)
    glosses = traitlets.Dict().tag(sync=True)
    longest = traitlets.Int(0).tag(sync=True)
    bos = traitlets.Int(BOS).tag(sync=True)
    eos = traitlets.Int(EOS).tag(sync=True)
    special = traitlets.Int(len(SPECIAL)).tag(sync=True)  # ids below this are not words
    # The reader's choices: words, step, barred (positions), forced (step -> word), hand (step ->
    # one number for each source word).
    shown = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        attention: Packed,
        source_words: WordVocabulary,
        target_words: WordVocabulary,
        examples: Sequence[tuple[Sequence[str], Sequence[str], Collection[Any] | None]],
        fixed: Packed | None = None,
        glosses: Mapping[str, str] | None = None,
        longest: int = 20,
        **options: Any,
    ) -> None:
        if not examples:
            raise ValueError("examples must hold at least one sentence.")
        for name, packed in (("attention", attention), ("fixed", fixed or attention)):
            if not all(key in packed for key in _NEEDED):
                raise ValueError(f"{name} must be a packed AttentionTranslator.")
        if "decoder.attention.W" not in attention:
            raise ValueError("attention must have an AdditiveAttention.")
        for words, vocabulary in [
            pair for s, t, _ in examples for pair in ((s, source_words), (t, target_words))
        ]:
            unknown = [word for word in words if word not in vocabulary.ids]
            if unknown:
                raise ValueError(f"{unknown[0]!r} is not in the vocabulary.")
        super().__init__(
            attention=attention,
            fixed=fixed or {},
            source_words=source_words.words,
            target_words=target_words.words,
            examples=[
                {"source": [*s], "target": [*t], "links": sorted([*map(list, links or ())])}
                for s, t, links in examples
            ],
            glosses=dict(glosses or {}),
            longest=longest,
            **options,
        )
