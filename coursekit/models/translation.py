"""One interface for training and translating with the chapters' encoder-decoders.

    model = AttentionTranslator(encoder, decoder)       # or another of the classes below
    logits, weights = model(source, lengths, previous)  # training: (B, T, V) and (B, T, S)
    state = model.encode(source, lengths)               # decoding, greedy or with a beam:
    log_probs, state = model.step(tokens, state)        # (B, V), after each word

`translate` and `attention_weights` do this for lists of sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.data.batching import TranslationBatch, length_mask, source_batch, translation_batch
from coursekit.models.attention_hooks import recorded_weights
from coursekit.models.greedy_decoding import greedy_decode
from coursekit.text.vocabulary import BOS, EOS, until_eos

Prepare = Callable[[Tensor, Tensor], Tensor]


class Translator(nn.Module):
    """Base class of the translators.

    Attributes:
        prepare: preprocessing of the source, `prepare(tokens (B,S), lengths (B,)) -> tokens`, such
            as the reversal of Sutskever et al. (2014).
    """

    prepare: Prepare | None = None
    # Called by the public methods with a prepared source; a subclass calls its chapter's modules.
    _forward: Callable[..., tuple[Tensor, Tensor | None]]
    _encode: Callable[..., Any]
    _step: Callable[..., tuple[Tensor, Any]]

    def forward(
        self, source: Tensor, lengths: Tensor, previous: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Predict each target word from the true words before it.

        Args:
            source: ids (B, S), padded at the end.
            lengths: number of real tokens of each source sentence, (B,).
            previous: ids (B, T), beginning with <bos>.

        Returns:
            logits (B, T, V), and weights (B, T, S), or None for a model without weights.
        """
        return self._forward(self._prepare(source, lengths), lengths, previous)

    def encode(self, source: Tensor, lengths: Tensor) -> Any:
        """Encode source sentences (B, S) with lengths (B,); return the initial state for `step`.

        A state consists of tensors with the sentences on axis 0, so that a beam search can select
        hypotheses, and of None.
        """
        return self._encode(self._prepare(source, lengths), lengths)

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Return log p of every next word, (B, V), after `tokens` (B,), and the new state."""
        return self._step(tokens, state)

    def _prepare(self, source: Tensor, lengths: Tensor) -> Tensor:
        return source if self.prepare is None else self.prepare(source, lengths)


class SequenceTranslator(Translator):
    """One module that is both encoder and decoder, like Sutskever's.

    Args:
        model: `model(source, lengths, previous) -> logits (B,T,V)`, with
            `encode(source, lengths) -> state` and `step(tokens (B,), state) -> (log_probs, state)`.
        prepare: see `Translator`.
    """

    model: Any  # a module with the interface above: the reader's own or the reference

    def __init__(self, model: nn.Module, prepare: Prepare | None = None):
        super().__init__()
        self.model = model
        self.prepare = prepare

    def _forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, None]:
        return self.model(source, lengths, previous), None

    def _encode(self, source: Tensor, lengths: Tensor) -> Any:
        return self.model.encode(source, lengths)

    def _step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        return self.model.step(tokens, state)


class TransformerTranslator(SequenceTranslator):
    """A Transformer, which derives its padding mask from the tokens.

    Args:
        model: `model(source (B,S), previous (B,T)) -> logits (B,T,V)`, with
            `start(source) -> state` and `step(tokens (B,), state) -> (log_probs, state)`.
    """

    def _forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, None]:
        return self.model(source, previous), None

    def _encode(self, source: Tensor, lengths: Tensor) -> Any:
        return self.model.start(source)


class EncoderDecoder(Translator):
    """An encoder and a decoder as two modules: the reader's own or the reference solution's."""

    encoder: Any
    decoder: Any

    def __init__(self, encoder: nn.Module, decoder: nn.Module, prepare: Prepare | None = None):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.prepare = prepare


class ContextTranslator(EncoderDecoder):
    """An encoder that returns one vector and a decoder that reads it at every step, like Cho's.

    Args:
        encoder: `encoder(tokens (B,S), lengths (B,)) -> (states (B,S,d), final (B,d))`.
        decoder: `decoder(tokens (B,T), context (B,d)) -> logits (B,T,V)`, with `embedding`,
            `start`, `step` and `readout`.
        prepare: see `Translator`.
    """

    def _forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, None]:
        return self.decoder(previous, self.encoder(source, lengths)[1]), None

    def _encode(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        context = self.encoder(source, lengths)[1]  # (B, d)
        return self.decoder.start(context), context

    def _step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        hidden, context = state  # (B, d) each
        embedded = self.decoder.embedding(tokens)  # (B, e)
        hidden = self.decoder.step(embedded, hidden, context)  # (B, d)
        logits = self.decoder.readout(embedded, hidden, context)  # (B, V)
        return logits.log_softmax(dim=-1), (hidden, context)


class AttentionTranslator(EncoderDecoder):
    """An encoder and a decoder that attends with its previous state, like Bahdanau's.

    Args:
        encoder: `encoder(tokens (B,S), lengths (B,)) -> (annotations (B,S,a), first_state (B,d))`.
        decoder: `decoder(tokens (B,T), annotations, mask (B,S), first_state)
            -> (logits (B,T,V), weights (B,T,S))`, with `embedding`, `attention.project`, `step` and
            `readout`.
    """

    def _read(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        annotations, first_state = self.encoder(source, lengths)  # (B, S, a), (B, d)
        return annotations, length_mask(lengths, source.shape[1]), first_state

    def _forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        return self.decoder(previous, *self._read(source, lengths))

    def _encode(self, source: Tensor, lengths: Tensor) -> tuple[Tensor | None, ...]:
        annotations, mask, first_state = self._read(source, lengths)
        return first_state, annotations, mask, self.decoder.attention.project(annotations)

    def _step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        hidden, *source = state
        embedded = self.decoder.embedding(tokens)  # (B, e)
        hidden, context, _ = self.decoder.step(embedded, hidden, *source)  # (B, d), (B, a)
        logits = self.decoder.readout(embedded, hidden, context)  # (B, V)
        return logits.log_softmax(dim=-1), (hidden, *source)


class LuongTranslator(AttentionTranslator):
    """An encoder and a decoder that attends with its new state, like Luong's.

    Args:
        encoder: `encoder(tokens (B,S), lengths (B,)) -> (keys (B,S,a), first_state (B,d))`.
        decoder: `decoder(tokens (B,T), keys, mask (B,S), first_state)
            -> (logits (B,T,V), weights (B,T,S))`, with `embedding`, `step` and `output`.
    """

    def _encode(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        keys, mask, hidden = self._read(source, lengths)
        position = torch.zeros_like(lengths)  # (B,), a tensor like the rest of the state
        return hidden, torch.zeros_like(hidden), keys, mask, position

    def _step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        *before, keys, mask, position = state
        embedded = self.decoder.embedding(tokens)  # (B, e)
        hidden, attentional, _ = self.decoder.step(embedded, *before, keys, mask, int(position[0]))
        logits = self.decoder.output(attentional)  # (B, V)
        return logits.log_softmax(dim=-1), (hidden, attentional, keys, mask, position + 1)


class FixedContext(nn.Module):
    """Replacement for attention: the same summary of the sentence at every step.

    c = [h->_S ; h<-_1], the forward state at the last word and the backward state at the first.
    It has the interface of attention, so that a decoder with it differs from one with attention in
    nothing else. One context for all steps is the idea of Cho et al. (2014), whose context comes
    from a forward RNN only.
    """

    def project(self, keys: Tensor) -> None:
        """Return None: there is nothing to project."""

    def forward(
        self, query: Tensor, keys: Tensor, mask: Tensor, projected_keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the summary (B, 2d), whatever the query, and weights of 0, (B, N).

        Args:
            query: not used.
            keys: annotations [h-> ; h<-], (B, N, 2d).
            mask: bool (B, N), True = a real word; real words come first.
            projected_keys: not used.
        """
        half = keys.shape[-1] // 2
        last = (mask.sum(dim=1) - 1).clamp(min=0)  # (B,)
        rows = torch.arange(keys.shape[0], device=keys.device)  # (B,)
        forward = keys[rows, last, :half]  # (B, d)
        backward = keys[:, 0, half:]  # (B, d)
        return torch.cat([forward, backward], dim=-1), keys.new_zeros(mask.shape)


@torch.no_grad()
def translate(
    model: Translator, sources: Sequence[Sequence[int]], batch_size: int = 128
) -> list[list[int]]:
    """Translate encoded sentences (each with its <eos>) greedily.

    Returns:
        the ids of each translation, in order, without <eos>; at most 2 n + 10 for a sentence of
        n ids.
    """
    model.eval()
    where = next(model.parameters()).device
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    translations: list[list[int]] = [[] for _ in sources]
    for start in range(0, len(order), batch_size):
        members = order[start : start + batch_size]
        source, lengths = source_batch([sources[i] for i in members])
        state = model.encode(source.to(where), lengths.to(where))
        tokens = greedy_decode(model.step, state, BOS, EOS, 2 * source.shape[1] + 10)  # (B, L)
        for i, row in zip(members, tokens.tolist(), strict=True):
            # Truncate by its own length, so that a translation does not depend on its batch.
            translations[i] = until_eos(row[: 2 * len(sources[i]) + 10])
    return translations


def predict_references(model: Translator, batch: TranslationBatch) -> tuple[Tensor, Tensor]:
    """Predict each target word from the true words before it; return where the model looks, too.

    Args:
        model: a translator with attention.
        batch: sentences and their references.

    Returns:
        logits (B, T, V), and the attention weights (B, T, S) from target to source; those of a
        Transformer are the mean of the heads of the last decoder layer.

    Raises:
        ValueError: the model has no attention.
    """
    with recorded_weights(model) as recorded:
        logits, weights = model(batch.source, batch.lengths, batch.previous)
    if weights is None:
        layers = [calls for name, calls in recorded.items() if "memory_attention" in name]
        if not layers:
            raise ValueError("the model has no attention from its target to its source.")
        weights = layers[-1][-1].mean(dim=1)  # (B, T, S)
    return logits, weights


@torch.no_grad()
def attention_weights(
    model: Translator,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    batch_size: int = 128,
) -> list[Tensor]:
    """Return the attention weights of a model for the given translations.

    Args:
        model: a translator with attention.
        sources: encoded sentences, each with its <eos>.
        targets: encoded translations, each with its <eos>: the model's own or the references.
        batch_size: sentences per batch.

    Returns:
        the weights (T, S) of each pair, on the CPU, without padding.
    """
    model.eval()
    where = next(model.parameters()).device
    pairs = list(zip(sources, targets, strict=True))
    weights_of_pairs: list[Tensor] = []
    for start in range(0, len(pairs), batch_size):
        members = pairs[start : start + batch_size]
        batch = translation_batch(members).to(where)
        _, weights = predict_references(model, batch)  # (B, T, S)
        weights_of_pairs += [
            row[: len(target), : len(source)].cpu()  # (T, S)
            for row, (source, target) in zip(weights, members, strict=True)
        ]
    return weights_of_pairs
