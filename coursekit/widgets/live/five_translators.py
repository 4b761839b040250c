"""Widget in which five translators from 2014 to 2017 translate the reader's sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from coursekit.corpora import SentencePair
from coursekit.text.vocabulary import BOS, EOS, SPECIAL, WordVocabulary
from coursekit.widgets.assets import script, stylesheet
from coursekit.widgets.live.export_translator import IDENTIFYING_PARAMETERS
from coursekit.widgets.live.transformer_model import require_known
from coursekit.widgets.live.weight_packing import Packed

_ONE_VECTOR = ("cho", "sutskever")


class HistoryExplorer(anywidget.AnyWidget):
    """Explorer of translators side by side: what each writes, and what each word is read from.

    The reader types a sentence, or makes one longer with a slider. Each translator's output stands
    in a line; of the chosen one, ribbons show what each word reads: one vector, or the source words
    by their attention weights. Source words can be barred, and a target word can be forced in all
    translators at once; what changes is marked. A translator of the reader's own, from the file
    that `save_translator` writes, takes its place beside the others. It works in the published page
    without a kernel, and the URL stores the view.

    Args:
        models: for each kind of translator, "cho", "sutskever", "bahdanau", "luong" and
            "transformer", its label and its parameters as `pack` returns them; a Transformer has 4
            heads.
        words: the source and target vocabularies, and the joint one, which the Transformer has.
        stories: label -> sentences with their translations, each longer than the one before.
        longest: words in the longest sentence that the models were trained on.
        synonyms: words that readers may try -> a source word to offer in place of each, or "" to
            leave it out.
        suggestions: sentences of known words, the nearest of which is offered for a text that has a
            word without a known one near it.
        probes: for a kind of translator with one vector, the packed state of a linear probe for the
            words of its sentence: "mean" and "deviation" (d,), "weight" (C, d) and "bias" (C,).
        content: the C source words.
        options: further traits, such as `shown`.

    Raises:
        ValueError: a model is of another kind, there is no story, or it has an unknown word, or a
            probe is for a model that is not there or that attends.
    """

    _esm = script(
        "live/engine",
        "live/translators",
        "live/own_translator",
        "live/shared",
        "live/nearest_sentence",
        "live/vector_probe",
        "live/five_translators",
    )
    _css = stylesheet("live/five_translators", "history")

    models = traitlets.List(traitlets.Dict()).tag(sync=True)
    source_words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    target_words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    joint_words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    stories = traitlets.List(traitlets.Dict()).tag(sync=True)
    synonyms = traitlets.Dict().tag(sync=True)
    suggestions = traitlets.List(traitlets.Unicode()).tag(sync=True)
    longest = traitlets.Int(0).tag(sync=True)
    bos = traitlets.Int(BOS).tag(sync=True)
    eos = traitlets.Int(EOS).tag(sync=True)
    content = traitlets.List(traitlets.Int()).tag(sync=True)  # source ids
    special = traitlets.Int(len(SPECIAL)).tag(sync=True)  # ids below this are not words
    # The reader's choices: words, model, step, barred (positions), forced (step -> word).
    shown = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        models: Mapping[str, tuple[str, Packed]],
        words: tuple[WordVocabulary, WordVocabulary, WordVocabulary],
        stories: Mapping[str, Sequence[SentencePair]],
        longest: int,
        synonyms: Mapping[str, str] | None = None,
        suggestions: Iterable[Sequence[str]] = (),
        probes: Mapping[str, Packed] | None = None,
        content: Sequence[str] = (),
        **options: Any,
    ) -> None:
        source, target, joint = words
        for kind, (_, packed) in models.items():
            if IDENTIFYING_PARAMETERS.get(kind, "") not in packed:
                kinds = ", ".join(IDENTIFYING_PARAMETERS)
                raise ValueError(f"{kind} must be a packed translator, one of {kinds}.")
        if not models or not any(stories.values()):
            raise ValueError("There must be at least one model and one story.")
        for pair in (pair for pairs in stories.values() for pair in pairs):
            require_known(pair.source, source)
            require_known(pair.target, target)
        suggestions = [*suggestions]
        offered = [word for sentence in suggestions for word in sentence]
        require_known([*filter(None, (synonyms or {}).values()), *content, *offered], source)
        if not {*(probes or {})} <= {*models} & {*_ONE_VECTOR}:
            raise ValueError(
                f"probes are for {' and '.join(_ONE_VECTOR)}, if these are among the models."
            )
        super().__init__(
            models=[
                {
                    "name": kind,
                    "kind": kind,
                    "label": label,
                    "weights": packed,
                    "joint": kind == "transformer",
                    "probe": (probes or {}).get(kind),
                }
                for kind, (label, packed) in models.items()
            ],
            source_words=source.words,
            target_words=target.words,
            joint_words=joint.words,
            stories=[
                {
                    "label": label,
                    "sentences": [{"source": [*p.source], "target": [*p.target]} for p in pairs],
                }
                for label, pairs in stories.items()
            ],
            longest=longest,
            synonyms=dict(synonyms or {}),
            suggestions=[" ".join(sentence) for sentence in suggestions],
            content=[source.ids[word] for word in content],
            **options,
        )
