"""Interventions in the recorded Transformer of chapter 8, the same that its explorer offers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from coursekit.corpora.sentence_pair import SentencePair
from coursekit.data.batching import source_batch
from coursekit.models.attention_hooks import recorded_weights
from coursekit.models.translation import TransformerTranslator, translate
from coursekit.text.vocabulary import BOS, EOS, WordVocabulary, until_eos
from solutions.transformer.model import Transformer

from .pronoun_data import PronounSentences, find_pronoun
from .pronoun_measures import observe
from .pronoun_resolution import no_positions
from .transformer_properties import read_written

Heads = Iterable[tuple[str, int, int]]  # "encoder", "decoder" or "memory"; layer, head, from 1


def choose_sentences(model: TransformerTranslator, data: PronounSentences) -> list[SentencePair]:
    """Choose test sentences to look into.

    The two shortest pairs of twins that are all translated exactly, two sentences with `it` that
    are, one that is not, and a sentence of nine words.
    """
    exact = {}
    for kind in ("twins", "own"):
        encoded = data.encode(data.test[kind])
        written = translate(model, [source for source, _ in encoded])
        exact[kind] = [
            tuple(data.vocabulary.tokens(ids)) == pair.target
            for ids, pair in zip(written, data.test[kind], strict=True)
        ]
    twins, own, general = (data.test[kind] for kind in ("twins", "own", "general"))
    right = [i for i in range(0, len(twins), 2) if all(exact["twins"][i : i + 2])]
    shortest = sorted(right, key=lambda i: len(twins[i].source))[:2]
    chosen = [twins[j] for i in shortest for j in (i, i + 1)]
    chosen += [pair for pair, ok in zip(own, exact["own"], strict=True) if ok][:2]
    chosen += [pair for pair, ok in zip(own, exact["own"], strict=True) if not ok][:1]
    return chosen + [pair for pair in general if len(pair.source) == 9][:1]


def observe_heads(
    model: TransformerTranslator, data: PronounSentences, pairs: Sequence[SentencePair]
) -> list[dict[str, Any]]:
    """Return each sentence with the weights of all heads, as `HeadsExplorer` takes it."""
    return [
        {
            "source": [*one.pair.source, "<eos>"],
            "target": ["<bos>", *one.pair.target],
            "word": find_pronoun(one.pair)[0] if one.pair.antecedents else 0,
            **one.weights,
        }
        for one in observe(model, data, pairs)
    ]


def open_at_pronoun(pair: SentencePair, layer: int, head: int) -> dict[str, Any]:
    """Return what `TransformerExplorer` shows first: `it` in a head of the encoder, from 1."""
    if not pair.antecedents:
        return {}
    it, _, translated = find_pronoun(pair)
    return {"head": f"encoder.{layer}.{head}", "source": it, "target": translated}


@torch.no_grad()
def find_weights(model: TransformerTranslator, vocabulary: WordVocabulary, text: str) -> Tensor:
    """Return the weights of `it` in all heads of the encoder, the first layer's first, (L h, S)."""
    words = text.split()
    source, lengths = source_batch([vocabulary.encode(words)])
    with recorded_weights(model) as weights:
        model.encode(source, lengths)
    every = torch.cat([found[-1][0] for found in weights.values()])  # (L h, S, S)
    return every[:, words.index("it")]


def switch_off(model: Transformer, heads: Heads) -> Transformer:
    """Return a copy of the model to which some heads add nothing."""
    model = deepcopy(model)
    for part, layer, head in heads:
        layers = model.encoder_layers if part == "encoder" else model.decoder_layers
        kind = "memory_attention" if part == "memory" else "attention"
        attention: Any = getattr(layers[layer - 1], kind)
        size = attention.output.weight.shape[1] // attention.heads
        attention.output.weight.data[:, (head - 1) * size : head * size] = 0
    return model


@contextmanager
def head_off_at(model: Transformer, layer: int, head: int, place: int) -> Iterator[None]:
    """Let a head of the encoder add nothing to the word at `place`, while this is open."""
    attention: Any = model.encoder_layers[layer - 1].attention
    size = attention.output.weight.shape[1] // attention.heads

    def remove(_: Any, given: tuple[Tensor, ...]) -> tuple[Tensor]:
        joined = given[0].clone()  # (B, S, d)
        joined[:, place, (head - 1) * size : head * size] = 0
        return (joined,)

    hook = attention.output.register_forward_pre_hook(remove)
    try:
        yield
    finally:
        hook.remove()


@torch.no_grad()
def translate_with(
    model: Transformer,
    vocabulary: WordVocabulary,
    text: str,
    off: Heads = (),
    positions: bool = True,
    causal: bool = True,
) -> str:
    """Translate a text with some heads off, without positions or without the causal mask."""
    model = switch_off(model, off)
    if not positions:
        model.positions = no_positions
    ids = vocabulary.encode(text.split())
    if causal:
        (written,) = translate(TransformerTranslator(model), [ids])
        return " ".join(vocabulary.tokens(written))
    memory, memory_mask = model.encode(torch.tensor([ids]))
    previous = [BOS]
    while previous[-1] != EOS and len(previous) < 2 * len(ids) + 10:
        t = len(previous)
        everything = torch.ones(1, t, t, dtype=torch.bool)
        logits = read_written(model, torch.tensor([previous]), memory, memory_mask, everything)
        previous.append(int(logits.argmax()))
    return " ".join(vocabulary.tokens(until_eos(previous[1:])))


@torch.no_grad()
def compare_with_keys(
    model: Transformer,
    vocabulary: WordVocabulary,
    text: str,
    layer: int,
    head: int,
    word: str = "it",
) -> tuple[Tensor, Tensor]:
    """Compare the query of a word in a head of the encoder with the keys of all words.

    Returns:
        the products of their components, (S, d_k), and the scores, (S).
    """
    attention: Any = model.encoder_layers[layer - 1].attention
    kept: dict[str, Tensor] = {}
    parts: Sequence[str] = ("query", "key")
    hooks = [
        getattr(attention, name).register_forward_hook(
            lambda module, given, found, name=name: kept.update({name: found[0]})
        )
        for name in parts
    ]
    model.encode(torch.tensor([vocabulary.encode(text.split())]))
    for hook in hooks:
        hook.remove()
    size = kept["key"].shape[1] // attention.heads
    own = slice((head - 1) * size, head * size)
    query, keys = kept["query"][text.split().index(word), own], kept["key"][:, own]
    return query * keys, keys @ query / size**0.5
