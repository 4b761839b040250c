"""The glue of a translator: an encoder, a decoder, and what stands in for attention without it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.batching import pad, source_batch
from coursekit.decoding import greedy_decode
from coursekit.vocabulary import BOS, EOS, until_eos


class FixedContext(nn.Module):
    """What a decoder without attention sees: the same summary of the sentence at every step.

    c = [h->_S ; h<-_1], the forward state at the last word and the backward state at the first.
    It has attention's interface, so that a decoder with it differs from one with attention in
    nothing else. The idea of one context for all steps is that of Cho et al. (2014); theirs comes
    from a forward RNN alone.
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


class Translator(nn.Module):
    """An encoder and a decoder with attention as one model, for training and for decoding.

    Args:
        encoder: `encoder(tokens (B,S), lengths (B,)) -> (annotations (B,S,a), first_state (B,d))`.
        decoder: `decoder(tokens (B,T), annotations, mask (B,S), first_state)
            -> (logits (B,T,V), weights (B,T,S))`, with `embedding`, `attention.project`, `step` and
            `readout`.
    """

    encoder: Any  # any module with the interface above: the reader's own, or the reference
    decoder: Any

    def __init__(self, encoder: nn.Module, decoder: nn.Module):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """Predict each target word from the true words before it.

        Args:
            source: ids (B, S), padded at the end.
            lengths: (B,).
            previous: ids (B, T), beginning with <bos>.

        Returns:
            logits (B, T, V) and weights (B, T, S).
        """
        annotations, first_state = self.encoder(source, lengths)
        return self.decoder(previous, annotations, length_mask(lengths, source), first_state)

    def start(self, source: Tensor, lengths: Tensor) -> dict[str, Any]:
        """Encode the sentences; return the state that `step` carries from word to word."""
        annotations, first_state = self.encoder(source, lengths)
        return {
            "state": first_state,
            "annotations": annotations,
            "mask": length_mask(lengths, source),
            "projected_keys": self.decoder.attention.project(annotations),
        }

    def step(self, tokens: Tensor, state: dict[str, Any]) -> tuple[Tensor, dict[str, Any]]:
        """Return log p of every next word, (B, V), after `tokens` (B,), and the new state."""
        embedded = self.decoder.embedding(tokens)  # (B, e)
        hidden, context, _ = self.decoder.step(
            embedded,
            state["state"],
            state["annotations"],
            state["mask"],
            state["projected_keys"],
        )
        logits = self.decoder.readout(embedded, hidden, context)  # (B, V)
        return logits.log_softmax(dim=-1), {**state, "state": hidden}


def length_mask(lengths: Tensor, tokens: Tensor) -> Tensor:
    """Return bool (B, S), True where the position is below the sentence's length."""
    positions = torch.arange(tokens.shape[1], device=tokens.device)  # (S,)
    return positions < lengths.to(tokens.device).unsqueeze(1)  # (B, S)


@torch.no_grad()
def translate(
    model: Translator, sources: Sequence[Sequence[int]], batch_size: int = 128
) -> list[list[int]]:
    """Translate encoded sentences (each with its <eos>) greedily.

    Returns:
        for each sentence, in order, the ids of its translation without <eos>; at most twice as
        many as it has itself, plus ten.
    """
    model.eval()
    where = next(model.parameters()).device
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    found: list[list[int]] = [[] for _ in sources]
    for start in range(0, len(order), batch_size):
        members = order[start : start + batch_size]
        source, lengths = source_batch([sources[i] for i in members])
        state = model.start(source.to(where), lengths.to(where))
        tokens = greedy_decode(model.step, state, BOS, EOS, 2 * source.shape[1] + 10)  # (B, L)
        for i, row in zip(members, tokens.tolist(), strict=True):
            # Cut by its own length, so that a translation does not depend on its neighbours.
            found[i] = until_eos(row[: 2 * len(sources[i]) + 10])
    return found


@torch.no_grad()
def attention_weights(
    model: Translator,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    batch_size: int = 128,
) -> list[Tensor]:
    """Return where the model looks when it writes the given translations.

    Args:
        model: a translator with attention.
        sources: encoded sentences, each with its <eos>.
        targets: encoded translations, each with its <eos>; the model's own or true ones.
        batch_size: sentences at a time.

    Returns:
        for each pair weights (T, S), on the CPU, padding cut off.
    """
    model.eval()
    where = next(model.parameters()).device
    found = []
    for start in range(0, len(sources), batch_size):
        some_sources = sources[start : start + batch_size]
        some_targets = targets[start : start + batch_size]
        source, lengths = source_batch(some_sources)
        previous = pad([[BOS, *target[:-1]] for target in some_targets])  # (B, T)
        _, weights = model(source.to(where), lengths.to(where), previous.to(where))
        for row, one_source, one_target in zip(weights, some_sources, some_targets, strict=True):
            found.append(row[: len(one_target), : len(one_source)].cpu())  # (T, S)
    return found
