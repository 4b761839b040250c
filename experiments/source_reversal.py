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
from collections.abc import Collection, Sequence
from statistics import fmean
from typing import Any

from torch import Tensor

from coursekit.models.translation import SequenceTranslator
from coursekit.training import seed_everything
from solutions.seq2seq.encoder_decoder import Seq2Seq, reverse_source

from .comparison_harness import Comparison, Train
from .synthetic_translation import (
    BATCH,
    MAKE,
    FreshPairs,
    describe_run,
    gradients_by_length,
    log_probs_of_references,
)

EMBEDDING, WIDTH = 48, 128
PAIRS, EPOCHS, MAX_LENGTH = 10_000, 16, 12
EDGES = (4, 6, 8, 10, 13)  # words of the source
LONG = 10  # words
POSITIONS = 8  # of the target, for the probability of the right word


def load() -> tuple[dict[str, FreshPairs], str]:
    """Return the two corpora and their SHA-256."""
    corpora = {language: FreshPairs(language, PAIRS, MAX_LENGTH) for language in MAKE}
    joined = "".join(corpus.sha256() for corpus in corpora.values())
    return corpora, hashlib.sha256(joined.encode()).hexdigest()


def mean_distances(
    source_lengths: Sequence[int], links: Sequence[Collection[tuple[int, int]]], reverse: bool
) -> tuple[float, float]:
    """Return how many steps lie between reading a source word and writing its translation.

    Args:
        source_lengths: words of each source sentence.
        links: its gold links (source position, target position).
        reverse: whether the source is read reversed.

    Returns:
        The means over sentences of their mean distance and of their smallest; 1 is the next step.
    """
    means, smallest = [], []
    for n, pairs in zip(source_lengths, links, strict=True):
        steps = [(s if reverse else n - 1 - s) + t + 1 for s, t in pairs]
        means.append(fmean(steps))
        smallest.append(min(steps))
    return fmean(means), fmean(smallest)


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
    embedding = model.model.source_embedding
    before = gradients_by_length(model, embedding, pairs)
    history = corpus.train(model, seed, train, epochs=EPOCHS)
    model.cpu()
    log_p, real = log_probs_of_references(model, data.test)
    run = describe_run(model, history, data, EDGES, LONG)
    run["metrics"]["perplexity"] = (-log_p[real].mean()).exp().item()
    return run | {
        "by_position": by_position(log_p, real),
        "gradient_before": before,
        "gradient_after": gradients_by_length(model, embedding, pairs),
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
