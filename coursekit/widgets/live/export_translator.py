"""Saves a reader's own translator to a file that the page of the five translators opens."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.data.batching import EncodedPair, translation_batch
from coursekit.models.attention_hooks import recorded_weights
from coursekit.models.translation import (
    AttentionTranslator,
    ContextTranslator,
    TransformerTranslator,
    Translator,
)
from coursekit.text.vocabulary import WordVocabulary
from coursekit.widgets.live.weight_packing import pack_tensors, unpack

FORMAT = "attention course, translator, 1"
# For each kind of translator a parameter that no other kind has.
IDENTIFYING_PARAMETERS = {
    "cho": "decoder.first_state.weight",
    "sutskever": "model.target_embedding.weight",
    "bahdanau": "decoder.attention.U",
    "luong": "decoder.attention.score.W",
    "transformer": "decoder_layers.0.memory_attention.query.weight",
}


def save_translator(
    path: str | Path,
    model: Translator,
    source_words: WordVocabulary,
    target_words: WordVocabulary,
    example: EncodedPair,
) -> Path:
    """Save a translator for the page "One sentence through the history".

    The file holds the parameters as float16, the words, and what the model computes for an example:
    the encoder's states, the attention weights and the logits. The page computes the same from the
    parameters with the exercise's equations, and names the first stage that differs.

    Args:
        path: of the file, such as "my_bahdanau.json".
        model: a translator like Cho's, Sutskever's, Bahdanau's, Luong's with the general score, or
            a Transformer, whose parameters have the names of the exercises.
        source_words: its vocabulary of the source.
        target_words: its vocabulary of the target; a Transformer's is that of the source.
        example: the ids of a sentence and its translation, both with <eos>.

    Returns:
        the path.

    Raises:
        ValueError: the model is none of these.
    """
    inner: nn.Module = model.model if isinstance(model, TransformerTranslator) else model
    packed = pack_tensors(dict(inner.named_parameters(remove_duplicate=False)))
    kinds = [kind for kind, name in IDENTIFYING_PARAMETERS.items() if name in packed]
    if len(kinds) != 1:
        raise ValueError(
            "This model cannot be saved for the page: it must be a translator like Cho's, "
            "Sutskever's, Bahdanau's, Luong's with the general score, or a Transformer, with the "
            "exercises' names for its parameters."
        )
    with _rounded(inner, unpack(packed)):
        traced = _trace(model, example)
    content = {
        "format": FORMAT,
        "kind": kinds[0],
        "source_words": source_words.words,
        "target_words": target_words.words,
        "weights": packed,
        "trace": traced,
    }
    written = Path(path)
    written.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return written


@contextmanager
def _rounded(model: nn.Module, parameters: Mapping[str, Tensor]) -> Iterator[None]:
    """Give a model the parameters that the page has, inside; and its own back at the end."""
    training = model.training
    own = {name: value.detach().clone() for name, value in model.named_parameters()}
    try:
        model.eval()
        model.load_state_dict(parameters, strict=False)
        yield
    finally:
        model.load_state_dict(own, strict=False)
        model.train(training)


@torch.no_grad()
def _trace(model: Any, example: EncodedPair) -> dict[str, Any]:
    """Return what a model computes for a pair, stage by stage, as lists; None for NaN."""
    batch = translation_batch([example]).to(next(model.parameters()).device)
    stages: dict[str, Tensor] = {}
    if isinstance(model, TransformerTranslator):
        stages["states"] = model.model.encode(batch.source)[0][0]  # (S, d)
    elif isinstance(model, AttentionTranslator):
        states, first = model.encoder(batch.source, batch.lengths)
        stages |= {"states": states[0], "first": first[0]}  # (S, a), (d,)
    elif isinstance(model, ContextTranslator):
        states, final = model.encoder(batch.source, batch.lengths)
        first = model.decoder.start(final)
        stages |= {"states": states[0], "vector": final[0], "first": first[0]}
    else:
        read = model.prepare(batch.source, batch.lengths) if model.prepare else batch.source
        stages["vector"] = torch.cat(model.model.encode(read, batch.lengths), dim=-1)[0]  # (2d,)
    with recorded_weights(model) as recorded:
        logits, weights = model(batch.source, batch.lengths, batch.previous)  # (1, T, V), (1, T, S)
    source, target = example
    traced: dict[str, Any] = {"source": list(source), "target": list(target)}
    if isinstance(model, TransformerTranslator):
        last = max(name for name in recorded if "memory_attention" in name)
        weights = recorded[last][-1].mean(dim=1)  # (1, T, S)
        traced["heads"] = recorded[last][-1].shape[1]
    if weights is not None:
        stages["weights"] = weights[0]
    stages["logits"] = logits[0]
    return traced | {
        name: [
            [round(x, 5) if math.isfinite(x) else None for x in row]
            for row in torch.atleast_2d(values).tolist()
        ]
        for name, values in stages.items()
    }
