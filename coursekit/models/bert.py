"""BERT pre-training and fine-tuning: batches, and an encoder with both pre-training heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from coursekit.data.batching import Batch, Batches, order_by_length

EncodedPair = tuple[Sequence[int], Sequence[int], int]  # ids, segments, label
Mask = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
Pool = Callable[[Tensor, Tensor, Tensor], Tensor]
IGNORED = -100


@dataclass(frozen=True)
class BertBatch(Batch):
    """Token sequences as padded ids.

    Attributes:
        tokens: (B, N).
        segments: (B, N), 0 or 1; 0 at padding.
        labels: in pre-training the true ids (B, N), -100 where nothing is to be predicted; in
            fine-tuning the class of each text (B,).
        is_next: bool (B,), for pre-training only.
    """

    tokens: Tensor
    segments: Tensor
    labels: Tensor
    is_next: Tensor


class PretrainingModel(nn.Module):
    """An encoder with both pre-training heads on top.

    Parameters, d = hidden_size: `encoder.*`; `pooler.weight` (d, d), `pooler.bias` (d,); `head.*`;
    `next.weight` (2, d), `next.bias` (2,).

    Args:
        encoder: `encoder(tokens, segments) -> states (B, N, d)`.
        head: `head(states (..., d)) -> token logits (..., V)`.
        hidden_size: d.
        pool: `pool(states (B, N, d), W (d, d), b (d,)) -> (B, d)`.
    """

    def __init__(self, encoder: nn.Module, head: nn.Module, hidden_size: int, pool: Pool):
        super().__init__()
        self.encoder = encoder
        self.head = head
        self.pooler = nn.Linear(hidden_size, hidden_size)
        self.next = nn.Linear(hidden_size, 2)
        self.pool = pool

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return token logits (B, N, V) and logits of "is next", "is not", (B, 2)."""
        states = self.encoder(tokens, segments)  # (B, N, d)
        return self.head(states), self.next(self.summarise(states))

    def summarise(self, states: Tensor) -> Tensor:
        """Return the pooled vector of the whole input, (B, d)."""
        return self.pool(states, self.pooler.weight, self.pooler.bias)


def initialise(model: nn.Module, deviation: float = 0.02) -> nn.Module:
    """Initialise like BERT, with normally distributed weights and zero biases; return the model."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=deviation)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    return model


def pad_items(items: Sequence[EncodedPair], pad_id: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids (B, N), segments (B, N) and labels (B,), shorter rows padded at the end."""
    columns = max(len(ids) for ids, _, _ in items)
    tokens = [[*ids, *[pad_id] * (columns - len(ids))] for ids, _, _ in items]
    segments = [[*row, *[0] * (columns - len(row))] for _, row, _ in items]
    labels = torch.tensor([label for _, _, label in items])  # (B,)
    return torch.tensor(tokens), torch.tensor(segments), labels


def pretraining_batches(
    items: Sequence[EncodedPair], batch_size: int, seed: int, mask: Mask, special: Sequence[int]
) -> Batches[BertBatch]:
    """Return an iterator over all pairs, in random batches of similar length, freshly masked.

    Args:
        items: (ids, segments, 1 if the second text is the next one else 0).
        batch_size: pairs in a batch.
        seed: determines the order; pass a different one in each epoch.
        mask: `mask(tokens, special) -> (inputs, labels)`.
        special: the ids that are never masked.
    """
    never = torch.tensor(list(special))

    def masked(tokens: Tensor, segments: Tensor, labels: Tensor) -> BertBatch:
        inputs, wanted = mask(tokens, torch.isin(tokens, never))
        return BertBatch(inputs, segments, wanted, labels == 1)

    return _padded_batches(items, batch_size, seed, masked)


def labelled_batches(
    items: Sequence[EncodedPair], batch_size: int, seed: int
) -> Batches[BertBatch]:
    """Return an iterator over all texts or pairs, in random batches of similar length.

    They are for fine-tuning.

    Args:
        items: (ids, segments, class).
        batch_size: texts in a batch.
        seed: determines the order; pass a different one in each epoch.
    """

    def labelled(tokens: Tensor, segments: Tensor, labels: Tensor) -> BertBatch:
        return BertBatch(tokens, segments, labels, torch.zeros(len(labels), dtype=torch.bool))

    return _padded_batches(items, batch_size, seed, labelled)


def _padded_batches(
    items: Sequence[EncodedPair],
    batch_size: int,
    seed: int,
    make_batch: Callable[[Tensor, Tensor, Tensor], BertBatch],
) -> Batches[BertBatch]:
    order = order_by_length([len(ids) for ids, _, _ in items], batch_size, seed)
    padded = (pad_items([items[i] for i in batch]) for batch in order)
    return Batches(len(order), (make_batch(*item) for item in padded))
