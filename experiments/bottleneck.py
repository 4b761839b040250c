"""Compare attention with one fixed vector, and with one of twice the size, over sentence length.

    python -m experiments bottleneck --jobs 2

English sentences of 4 to 26 words are translated into Korean. The models differ in the context
alone: `AdditiveAttention`, or the two last states of the encoder for every target word. All are
trained for 16 epochs with a learning rate that falls to 0, and the best epoch on validation data is
tested. The training losses are recorded, as they show whether a model learns its pairs by heart.

Writes book/results/bottleneck.english-korean.json.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.data.batching import EncodedPair, TranslationBatch, batches_by_length
from coursekit.data.lesson_data import TranslationData, translation_data
from coursekit.models.translation import AttentionTranslator, FixedContext, translate
from coursekit.text.vocabulary import PAD, until_eos
from coursekit.training import seed_everything
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder

from .comparison import Comparison, Train

EMBEDDING, BATCH, RATE = 64, 64, 6e-3
WIDTHS = {"attention": 96, "fixed": 96, "fixed-wide": 192}
EPOCHS = 16
EDGES = (4, 8, 12, 16, 20, 23, 27)  # words of the source
LONG = 20  # words


def load() -> tuple[TranslationData, str]:
    """Return the corpus and its SHA-256."""
    data = translation_data("quick")
    digest = hashlib.sha256()
    for part in (data.train, data.validation, data.test):
        digest.update(repr(part).encode())
    return data, digest.hexdigest()


def build(row: str, data: TranslationData) -> AttentionTranslator:
    """Return the untrained translator of a row."""
    d = WIDTHS[row]
    attention = AdditiveAttention(d, 2 * d, d) if row == "attention" else FixedContext()
    encoder = BidirectionalEncoder(len(data.source_words), EMBEDDING, d)
    decoder = AttentionDecoder(len(data.target_words), EMBEDDING, d, 2 * d, attention)
    return AttentionTranslator(encoder, decoder)


def cross_entropy(model: nn.Module, batch: TranslationBatch) -> Tensor:
    """Return the mean negative log probability per real target word."""
    logits, _ = model(batch.source, batch.lengths, batch.previous)  # (B, T, V)
    return F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD)


def find_exact(model: AttentionTranslator, pairs: Sequence[EncodedPair]) -> Tensor:
    """Return 1 for each sentence that is translated word for word as the reference, else 0."""
    found = translate(model, [source for source, _ in pairs])
    return torch.tensor([float(a == until_eos(b)) for a, (_, b) in zip(found, pairs, strict=True)])


def train_row(row: str, seed: int, data: TranslationData, train: Train) -> dict[str, Any]:
    """Train one model; return its metrics, its history and its score by length."""
    seed_everything(seed)
    model = build(row, data)
    history = train(
        model,
        lambda epoch: batches_by_length(data.train, BATCH, seed=1000 * seed + epoch),
        cross_entropy,
        epochs=EPOCHS,
        learning_rate=RATE,
        decay=True,
        validate=lambda m: {"exact": find_exact(model, data.validation).mean().item()},
        select="exact",
        progress=False,
    )
    exact = find_exact(model, data.test)
    lengths = torch.tensor(data.source_lengths)
    by_length = []
    for low, high in pairwise(EDGES):
        inside = (lengths >= low) & (lengths < high)
        by_length.append(
            {
                "from": low,
                "to": high - 1,
                "sentences": int(inside.sum()),
                "exact": exact[inside].mean().item(),
            }
        )
    return {
        "metrics": {
            "exact": exact.mean().item(),
            "exact_long": exact[lengths >= LONG].mean().item(),
        },
        "seconds": history.seconds,
        "best_epoch": history.best_epoch,
        "history": history.epochs,
        "by_length": by_length,
        "parameters": sum(p.numel() for p in model.parameters()),
    }


COMPARISON = Comparison(
    program="bottleneck",
    data="english-korean",
    rows={
        "attention": "attention",
        "fixed": "one fixed vector",
        "fixed-wide": "one fixed vector, twice the size",
    },
    seeds=(1, 2, 3, 4, 5),
    settings={"embedding": EMBEDDING, "widths": WIDTHS, "batch": BATCH, "epochs": EPOCHS},
    load=load,
    train_row=train_row,
    scorer="share of sentences translated word for word as the reference",
)
parser, main = COMPARISON.parser, COMPARISON.main
