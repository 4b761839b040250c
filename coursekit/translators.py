"""The glue of the other translators: each pairs an encoder with a decoder for `translate`.

All have the interface of `translation.Translator`: `model(source, lengths, previous)` returns
logits and weights (None where there is no attention), `start` encodes and `step` scores the next
word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.translation import length_mask

Prepare = Callable[[Tensor, Tensor], Tensor]


class ContextTranslator(nn.Module):
    """An encoder that ends in one vector and a decoder that sees it at every step.

    Args:
        encoder: `encoder(tokens (B,S), lengths (B,)) -> (states (B,S,d), final (B,d))`.
        decoder: `decoder(tokens (B,T), context (B,d)) -> logits (B,T,V)`, with `embedding`,
            `start`, `step` and `readout`.
        prepare: what is done to the source first, `prepare(tokens, lengths) -> tokens`.
    """

    encoder: Any  # any module with the interface above: the reader's own, or the reference
    decoder: Any

    def __init__(self, encoder: nn.Module, decoder: nn.Module, prepare: Prepare | None = None):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.prepare = prepare

    def _context(self, source: Tensor, lengths: Tensor) -> Tensor:
        if self.prepare is not None:
            source = self.prepare(source, lengths)
        return self.encoder(source, lengths)[1]  # (B, d)

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, None]:
        """Predict each target word from the true words before it; logits (B, T, V) and None."""
        return self.decoder(previous, self._context(source, lengths)), None

    def start(self, source: Tensor, lengths: Tensor) -> dict[str, Tensor]:
        """Encode the sentences; return the state that `step` carries from word to word."""
        context = self._context(source, lengths)
        return {"state": self.decoder.start(context), "context": context}

    def step(self, tokens: Tensor, state: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """Return log p of every next word, (B, V), after `tokens` (B,), and the new state."""
        embedded = self.decoder.embedding(tokens)  # (B, e)
        hidden = self.decoder.step(embedded, state["state"], state["context"])  # (B, d)
        logits = self.decoder.readout(embedded, hidden, state["context"])  # (B, V)
        return logits.log_softmax(dim=-1), {**state, "state": hidden}


class SequenceTranslator(nn.Module):
    """A model that is encoder and decoder in one.

    Args:
        model: `model(source, lengths, previous) -> logits (B,T,V)`, with
            `encode(source, lengths) -> state` and `step(tokens (B,), state) -> (log_probs, state)`.
        prepare: what is done to the source first, `prepare(tokens, lengths) -> tokens`.
    """

    model: Any

    def __init__(self, model: nn.Module, prepare: Prepare | None = None):
        super().__init__()
        self.model = model
        self.prepare = prepare

    def _prepared(self, source: Tensor, lengths: Tensor) -> Tensor:
        return source if self.prepare is None else self.prepare(source, lengths)

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, None]:
        """Predict each target word from the true words before it; logits (B, T, V) and None."""
        return self.model(self._prepared(source, lengths), lengths, previous), None

    def start(self, source: Tensor, lengths: Tensor) -> Any:
        """Encode the sentences; return the state that `step` carries from word to word."""
        return self.model.encode(self._prepared(source, lengths), lengths)

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Return log p of every next word, (B, V), after `tokens` (B,), and the new state."""
        return self.model.step(tokens, state)


class LuongTranslator(nn.Module):
    """An encoder and a decoder that attends with its new state.

    Args:
        encoder: `encoder(tokens (B,S), lengths (B,)) -> (keys (B,S,a), first_state (B,d))`.
        decoder: `decoder(tokens (B,T), keys, mask (B,S), first_state)
            -> (logits (B,T,V), weights (B,T,S))`, with `embedding`, `step` and `output`.
    """

    encoder: Any
    decoder: Any

    def __init__(self, encoder: nn.Module, decoder: nn.Module):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """Predict each target word from the true words before it; logits and weights."""
        keys, first_state = self.encoder(source, lengths)
        return self.decoder(previous, keys, length_mask(lengths, source), first_state)

    def start(self, source: Tensor, lengths: Tensor) -> dict[str, Tensor]:
        """Encode the sentences; return the state that `step` carries from word to word."""
        keys, first_state = self.encoder(source, lengths)
        return {
            "state": first_state,
            "attentional": torch.zeros_like(first_state),
            "keys": keys,
            "mask": length_mask(lengths, source),
            # A tensor like the rest, so that a search may choose among the hypotheses on axis 0.
            "position": torch.zeros_like(lengths),
        }

    def step(self, tokens: Tensor, state: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """Return log p of every next word, (B, V), after `tokens` (B,), and the new state."""
        hidden, attentional, _ = self.decoder.step(
            self.decoder.embedding(tokens),
            state["state"],
            state["attentional"],
            state["keys"],
            state["mask"],
            int(state["position"][0]),
        )
        logits = self.decoder.output(attentional)  # (B, V)
        moved = {"state": hidden, "attentional": attentional, "position": state["position"] + 1}
        return logits.log_softmax(dim=-1), {**state, **moved}


class TransformerTranslator(nn.Module):
    """A Transformer, which finds padding by itself.

    Args:
        model: `model(source (B,S), previous (B,T)) -> logits (B,T,V)`, with
            `start(source) -> state` and `step(tokens (B,), state) -> (log_probs, state)`.
    """

    model: Any

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, None]:
        """Predict each target word from the true words before it; logits (B, T, V) and None."""
        return self.model(source, previous), None

    def start(self, source: Tensor, lengths: Tensor) -> Any:
        """Encode the sentences; return the state that `step` carries from word to word."""
        return self.model.start(source)

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Return log p of every next word, (B, V), after `tokens` (B,), and the new state."""
        return self.model.step(tokens, state)
