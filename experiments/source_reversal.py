"""Compare an LSTM that reads the source as it stands with one that reads it reversed.

    python -m experiments source_reversal --jobs 2

English is translated into French, whose words keep their order for the most part, and into Korean,
where the verb comes last. Every epoch has new sentences of 4 to 12 words, and the learning rate
falls to 0. Recorded beside the scores: the probability of the right word at each position, and the
first word's share of the gradient before and after training, up to 26 words.

Writes book/results/source_reversal.english-french-korean.json.
"""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from torch import Tensor

from coursekit.data.batching import EncodedPair
from coursekit.models.translation import SequenceTranslator
from coursekit.training import seed_everything
from solutions.seq2seq.encoder_decoder import Seq2Seq, reverse_source

from .comparison import Comparison, Train
from .synthetic_translation import (
    MAKE,
    FreshPairs,
    compare_with_references,
    cross_entropy,
    first_word_gradients,
    group_by_length,
    log_probs_of_references,
    validate_exactly,
)

EMBEDDING, WIDTH, BATCH, RATE = 48, 128, 64, 6e-3
PAIRS, EPOCHS, MAX_LENGTH = 10_000, 16, 12
EDGES = (4, 6, 8, 10, 13)  # words of the source
GRADIENT_EDGES = (4, 7, 10, 13, 16, 19, 22, 27)
POSITIONS = 8  # of the target, for the probability of the right word


def load() -> tuple[dict[str, FreshPairs], str]:
    """Return the two corpora and their SHA-256."""
    corpora = {language: FreshPairs(language, PAIRS, MAX_LENGTH) for language in MAKE}
    joined = "".join(corpus.sha256() for corpus in corpora.values())
    return corpora, hashlib.sha256(joined.encode()).hexdigest()


def measure_gradients(model: SequenceTranslator, pairs: list[EncodedPair]) -> list[dict[str, Any]]:
    """Return the geometric mean of r, see `first_word_gradients`, for each range of lengths."""
    log_r = first_word_gradients(model, model.model.source_embedding, pairs).log()  # (N,)
    lengths = [len(source) - 1 for source, _ in pairs]  # without <eos>
    table = group_by_length(GRADIENT_EDGES, lengths, {"r": log_r})
    return [row | {"r": float(torch.tensor(row["r"]).exp())} for row in table]


def by_position(log_p: Tensor, real: Tensor) -> list[float]:
    """Return the mean probability of the right word at the first positions of the target."""
    return [log_p[:, t][real[:, t]].exp().mean().item() for t in range(POSITIONS)]


def train_row(row: str, seed: int, corpora: dict[str, FreshPairs], train: Train) -> dict[str, Any]:
    """Train one model; return its metrics, its history and its measurements."""
    language, order = row.split("-")
    corpus = corpora[language]
    data = corpus.data
    pairs = corpus.draw(400, seed=9, max_length=26)  # longer than any in training
    seed_everything(seed)
    sizes = len(data.source_words), len(data.target_words)
    model = SequenceTranslator(
        Seq2Seq(*sizes, EMBEDDING, WIDTH), reverse_source if order == "reversed" else None
    )
    before = measure_gradients(model, pairs)
    history = train(
        model,
        lambda epoch: corpus.batches(epoch, BATCH, seed),
        cross_entropy,
        epochs=EPOCHS,
        learning_rate=RATE,
        decay=True,
        validate=lambda m: validate_exactly(model, data.validation),
        progress=False,
    )
    model.cpu()
    exact, in_place = compare_with_references(model, data.test)
    log_p, real = log_probs_of_references(model, data.test)
    return {
        "metrics": {
            "exact": exact.mean().item(),
            "in_place": in_place.mean().item(),
            "perplexity": (-log_p[real].mean()).exp().item(),
        },
        "seconds": history.seconds,
        "history": history.epochs,
        "by_length": group_by_length(
            EDGES, data.source_lengths, {"exact": exact, "in_place": in_place}
        ),
        "by_position": by_position(log_p, real),
        "gradient_before": before,
        "gradient_after": measure_gradients(model, pairs),
        "parameters": sum(p.numel() for p in model.parameters()),
    }


COMPARISON = Comparison(
    program="source_reversal",
    data="english-french-korean",
    rows={
        "french-forward": "French, as it stands",
        "french-reversed": "French, reversed",
        "korean-forward": "Korean, as it stands",
        "korean-reversed": "Korean, reversed",
    },
    seeds=(1, 2, 3, 4, 5),
    settings={
        "embedding": EMBEDDING,
        "width": WIDTH,
        "batch": BATCH,
        "epochs": EPOCHS,
        "pairs_per_epoch": PAIRS,
    },
    load=load,
    train_row=train_row,
    scorer="share of sentences translated word for word as the reference",
)
parser, main = COMPARISON.parser, COMPARISON.main
