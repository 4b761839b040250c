"""The published all-MiniLM-L6-v2: loading, mean states, low-rank corrections and classifiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from coursekit import datasets
from coursekit.models.bert import BertBatch, EncodedPair, PretrainingModel, pad_items
from coursekit.text.wordpiece import WordPieceVocabulary
from coursekit.training import device
from coursekit.training.checkpoints import load_or_compute
from solutions.bert.finetuning import load_pretrained
from solutions.bert.inputs import BertEmbeddings
from solutions.bert.pretraining import BertEncoder, BertLayer, MaskedLanguageModelHead, pool_first

LAYERS, WIDTH, HEADS, POSITIONS = 6, 384, 12, 512


def average(states: Tensor, tokens: Tensor) -> Tensor:
    """Return the mean (B, d) of the states (B, N, d) of all tokens (B, N) except padding."""
    real = (tokens != 0).unsqueeze(-1)  # (B, N, 1)
    return (states * real).sum(1) / real.sum(1)  # (B, d)


class MeanClassifier(nn.Module):
    """Classifier of texts or pairs from the mean of their states h_i.

    c = mean of h_i over the real tokens,  logits = W c + b

    Args:
        encoder: `encoder(tokens, segments) -> states (B, N, d)`.
        hidden_size: d.
        classes: C.
        dropout: dropout rate of c.

    Source: Reimers and Gurevych (2019), section 3, for the mean of the states.
    """

    def __init__(self, encoder: nn.Module, hidden_size: int, classes: int, dropout: float):
        super().__init__()
        self.encoder = encoder
        self.output = nn.Linear(hidden_size, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """Return logits (B, C) for ids (B, N) and segments (B, N)."""
        c = average(self.encoder(tokens, segments), tokens)  # (B, d)
        return self.output(self.dropout(c))  # (B, C)


class LowRank(nn.Module):
    """A frozen matrix W (m, d) with a trained correction, W + (16 / r) B A; B starts at 0."""

    def __init__(self, weight: Tensor, rank: int):
        super().__init__()
        self.A = nn.Parameter(torch.randn(rank, weight.shape[1]) / rank)
        self.B = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, weight: Tensor) -> Tensor:
        """Return the corrected matrix, (m, d)."""
        return weight + (16 / len(self.A)) * self.B @ self.A


def add_corrections(encoder: nn.Module, rank: int) -> None:
    """Freeze an encoder, and add low-rank corrections to its queries and values."""
    encoder.requires_grad_(False)
    layers: Any = encoder.layers
    for layer in layers:
        for linear in (layer.attention.query, layer.attention.value):
            parametrize.register_parametrization(linear, "weight", LowRank(linear.weight, rank))


@torch.no_grad()
def mean_states(encoder: nn.Module, items: Sequence[EncodedPair]) -> Tensor:
    """Return the mean of each text's states, special tokens included, (number of texts, d)."""

    def of(some: Sequence[EncodedPair]) -> Tensor:
        means = torch.empty(len(some), WIDTH)
        for rows, batch in by_length(some):
            states = encoder(batch.tokens, batch.segments)  # (B, N, d)
            means[rows] = average(states, batch.tokens).float().cpu()  # (B, d)
        return means

    # Long texts take an hour, so an interrupted run keeps its finished parts.
    parts = [items[start : start + 4096] for start in range(0, len(items), 4096)]
    return torch.cat([load_or_compute(encoder, partial(of, part)) for part in parts])


def by_length(items: Sequence[EncodedPair]) -> Iterator[tuple[list[int], BertBatch]]:
    """Yield all items in batches of similar length, with their indices in the list."""
    order = sorted(range(len(items)), key=lambda i: len(items[i][0]))
    for start in range(0, len(order), 64):
        rows = order[start : start + 64]
        tokens, segments, labels = pad_items([items[i] for i in rows])
        is_next = torch.zeros(len(rows), dtype=torch.bool)
        yield rows, BertBatch(tokens, segments, labels, is_next).to(device())


def compute_features(encoder: nn.Module, items: Sequence[EncodedPair]) -> np.ndarray:
    """Return features from frozen states: the mean u of a text, or |u - v| and u v of a pair."""
    if not any(1 in segments for _, segments, _ in items):
        return mean_states(encoder, items).numpy()
    first, second = (
        mean_states(encoder, [split_pair(item, part) for item in items]) for part in (0, 1)
    )
    return torch.cat([(first - second).abs(), first * second], dim=-1).numpy()


def load_published() -> tuple[PretrainingModel, WordPieceVocabulary, str]:
    """Return the course's BERT with the published weights, the word pieces and the checksum."""
    weights = datasets.load("minilm-l6")
    pieces = WordPieceVocabulary.from_pieces(weights.split("pieces"))
    embeddings = BertEmbeddings(len(pieces), WIDTH, POSITIONS)
    encoder = BertEncoder(embeddings, [BertLayer(WIDTH, HEADS, 4 * WIDTH) for _ in range(LAYERS)])
    head = MaskedLanguageModelHead(embeddings.token)
    model = PretrainingModel(encoder, head, WIDTH, pool_first)
    load_pretrained(model, dict(weights.split("weights")))
    return model.eval(), pieces, weights.data_sha256


def split_pair(item: EncodedPair, part: int) -> EncodedPair:
    """Return the first or the second text of a pair, with its own special tokens."""
    ids, segments, label = item
    own = [i for i, segment in zip(ids, segments, strict=True) if segment == part]
    own = own if part == 0 else [ids[0], *own]
    return own, [0] * len(own), label
