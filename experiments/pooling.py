"""Compare ways to pool the states of a BiLSTM into one vector, on reviews with known verdicts.

    python -m experiments pooling --jobs 2

The reviews are synthetic: the words that express the verdict are known, so that attention can be
compared with them. Each seed trains on reviews of its own; the validation and test reviews are the
same for all. Recorded beside the accuracy: how much of the weight lies on the deciding words, what
the query of the final state changes, how alike the hops are, and what mistakes with padding cost.

Writes book/results/pooling.reviews.json, and the weights of the first seed of "attention" and of
"two-axes".
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.corpora.reviews import ReviewSplits, splits
from coursekit.corpora.reviews.generator import Review
from coursekit.corpora.reviews.lexicon import AWFUL, BAD, GOOD, GREAT
from coursekit.data.documents import EncodedText, TextBatch, text_batch, text_batches
from coursekit.models.bag_of_words import bag_classifier
from coursekit.models.baseline_classifiers import (
    PooledClassifier,
    accuracy,
    classification_loss,
    compute_outputs,
    predictions,
)
from coursekit.text.vocabulary import WordVocabulary
from coursekit.training import device, results, seed_everything
from coursekit.training.metrics import hop_similarity
from solutions.sentences.pooling import AttentionClassifier, last_state, masked_max, masked_mean
from solutions.sentences.structured import (
    StructuredClassifier,
    StructuredSelfAttention,
    redundancy_penalty,
)

from .comparison_harness import Comparison, Train

EMBEDDING, WIDTH, ATTENTION, INNER, DROPOUT = 32, 32, 32, 32, 0.1
TRAIN, VALIDATION, TEST = 2_000, 1_000, 1_000  # reviews; the first number is that of one seed
SEEDS = (1, 2, 3, 4, 5)
BATCH, EPOCHS, RATE = 32, 15, 5e-3
HOPS = 4
PENALTY = 0.05  # weight of the penalty in the loss
EDGES = (1, 3, 5, 7, 9)  # sentences of a review
PADDING = (0, 5, 20, 80)  # positions added
PADDED_REVIEWS = 200  # of the test set
PRAISE_AND_BLAME = {"praise": {*GREAT, *GOOD}, "blame": {*AWFUL, *BAD}}


@dataclass(frozen=True)
class EncodedReviews:
    """Synthetic reviews of two classes, with ids.

    Attributes:
        reviews: training, validation and test set.
        vocabulary: of the training set.
        validation: ids and label of each validation review.
        test: ids and label of each test review.
    """

    reviews: ReviewSplits
    vocabulary: WordVocabulary
    validation: list[EncodedText]
    test: list[EncodedText]

    def encode(self, reviews: Sequence[Review]) -> list[EncodedText]:
        """Return the ids and the label of each review."""
        return _encode(self.vocabulary, reviews)

    def training_reviews(self, seed: int) -> Sequence[Review]:
        """Return the training reviews of a seed; those of `SEEDS` have none in common."""
        part = (seed - 1) % len(SEEDS)
        return self.reviews.train[part * TRAIN : (part + 1) * TRAIN]


def _encode(vocabulary: WordVocabulary, reviews: Sequence[Review]) -> list[EncodedText]:
    return [(vocabulary.encode(review.words, eos=False), review.label) for review in reviews]


def load_reviews() -> EncodedReviews:
    """Return the reviews with 1, 2, 4 or 5 stars: those with 3 have no class."""
    reviews = splits(TRAIN * len(SEEDS), VALIDATION, TEST, seed=1, ratings=(1, 2, 4, 5))
    vocabulary = WordVocabulary([review.words for review in reviews.train])
    parts = (_encode(vocabulary, part) for part in (reviews.validation, reviews.test))
    return EncodedReviews(reviews, vocabulary, *parts)


def load() -> tuple[EncodedReviews, str]:
    """Return the reviews and their SHA-256."""
    data = load_reviews()
    return data, hashlib.sha256(repr(data.reviews).encode()).hexdigest()


def bag_accuracy(data: EncodedReviews, seed: int, ngrams: int) -> float:
    """Return the test accuracy of logistic regression on the n-grams of up to `ngrams` words."""
    made, test = data.training_reviews(seed), data.reviews.test
    bag = bag_classifier("logistic regression", ngrams)
    bag.fit([list(review.words) for review in made], [review.label for review in made])
    return bag.accuracy([list(review.words) for review in test], [review.label for review in test])


def final_state(states: Tensor, mask: Tensor) -> Tensor:
    """Return the last state of each direction, (B, 2d): the backward one is at the first word.

    Args:
        states: of a bidirectional LSTM, (B, N, 2d).
        mask: bool (B, N), True = a real word.
    """
    d = states.shape[2] // 2
    forward = last_state(states[..., :d], mask.sum(dim=1).clamp(min=1))  # (B, d)
    return torch.cat([forward, states[:, 0, d:]], dim=1)  # (B, 2d)


class LearnedQuery(nn.Module):
    """Pooling by attention whose query is a parameter: structured self-attention with one hop."""

    def __init__(self, hidden_size: int, attention_size: int):
        super().__init__()
        self.attention = StructuredSelfAttention(hidden_size, attention_size, hops=1)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return sentence vectors (B, d) for states (B, N, d)."""
        return self.attention(states, mask)[0].squeeze(1)  # (B, d)


def build(row: str, vocabulary_size: int) -> nn.Module:
    """Return the untrained classifier of a row."""
    sizes = vocabulary_size, EMBEDDING, WIDTH
    if row == "attention":
        return AttentionClassifier(*sizes, ATTENTION, 2, DROPOUT)
    if row in STRUCTURED:
        hops, attention_size = STRUCTURED[row]
        attention = StructuredSelfAttention(2 * WIDTH, attention_size, hops)
        return StructuredClassifier(*sizes, attention, hops, INNER, 2, DROPOUT)
    pools: dict[str, Callable[[], Callable[[Tensor, Tensor], Tensor]]] = {
        "last": lambda: final_state,
        "mean": lambda: masked_mean,
        "max": lambda: masked_max,
        "learned-query": lambda: LearnedQuery(2 * WIDTH, ATTENTION),
    }
    return PooledClassifier(*sizes, pools[row](), 2, DROPOUT)


# Row -> its hops and the size of the score's hidden layer.
STRUCTURED = {
    "one-hop": (1, ATTENTION),
    "four-hops": (HOPS, ATTENTION),
    "four-hops-penalty": (HOPS, ATTENTION),
    "two-axes": (2, 2),
}


def penalised_loss(model: nn.Module, batch: TextBatch) -> Tensor:
    """Return the cross entropy plus the weighted penalty ||A A^T - I||^2 of a structured model."""
    logits, A = model(batch.tokens, batch.lengths)  # (B, C), (B, r, N)
    return F.cross_entropy(logits, batch.labels) + PENALTY * redundancy_penalty(A)


def in_batches(items: Sequence[EncodedText]) -> Iterator[TextBatch]:
    """Yield the texts in order, in batches of 100 that mix lengths."""
    for start in range(0, len(items), 100):
        yield text_batch(items[start : start + 100])


@torch.no_grad()
def weights_for(model: nn.Module, items: Sequence[EncodedText]) -> list[Tensor]:
    """Return the weights of each text, (r, N); r = 1 for plain attention."""
    found = []
    for batch in in_batches(items):
        _, weights = compute_outputs(model, batch.to(device()))
        weights = weights.cpu().reshape(len(batch.lengths), -1, weights.shape[-1])  # (B, r, N)
        found += [rows[:, :n] for rows, n in zip(weights, batch.lengths.tolist(), strict=True)]
    return found


def sentence_mask(review: Review) -> Tensor:
    """Return which words stand in a deciding sentence, bool (N,)."""
    inside = [i in review.deciding_sentences for i, s in enumerate(review.sentences) for _ in s]
    return torch.tensor(inside)


def measure_focus(weights: Sequence[Tensor], reviews: Sequence[Review]) -> dict[str, float]:
    """Compare one row of weights per review, (N,), with the words that decide.

    Returns:
        means over the reviews: "on_words", the share of the weight on the deciding words;
        "pointing", how often the largest weight lies on one of them, ties counted in parts; and
        "in_sentence", the share of the weight in the deciding sentences.
    """
    sums = {"on_words": 0.0, "pointing": 0.0, "in_sentence": 0.0}
    for row, review in zip(weights, reviews, strict=True):
        where = list(review.deciding_positions)
        largest = row == row.max()  # (N,)
        sums["on_words"] += row[where].sum().item()
        sums["pointing"] += (largest[where].sum() / largest.sum()).item()
        sums["in_sentence"] += row[sentence_mask(review)].sum().item()
    return {name: value / len(reviews) for name, value in sums.items()}


def even_weights(reviews: Sequence[Review]) -> list[Tensor]:
    """Return the same weight for every word of a review, (N,) each: chance."""
    return [torch.full((len(review.words),), 1 / len(review.words)) for review in reviews]


def measure_praise_and_blame(
    weights: Sequence[Tensor], reviews: Sequence[Review]
) -> dict[str, float]:
    """Return the mean weight of words of praise and of blame, where they decide and elsewhere.

    A weight is a multiple of an even share of its review.
    """
    measured = {}
    for name, family in PRAISE_AND_BLAME.items():
        multiples: dict[bool, list[float]] = {True: [], False: []}
        for row, review in zip(weights, reviews, strict=True):
            for k, word in enumerate(review.words):
                if word in family:
                    decides = k in review.deciding_positions
                    multiples[decides].append(row[k].item() * len(review.words))
        for decides, found in multiples.items():
            where = "deciding" if decides else "elsewhere"
            measured[f"{name}_{where}"] = fmean(found)
            measured[f"{name}_{where}_words"] = len(found)
    return measured


@contextmanager
def _replaced(module: nn.Module, name: str, value: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def measure_without_query(model: AttentionClassifier, items: Sequence[EncodedText]) -> float:
    """Return the accuracy with W = 0, so that every text has the same query."""
    with _replaced(model, "W", nn.Parameter(torch.zeros_like(model.W))):
        return accuracy(model, in_batches(items))


@torch.no_grad()
def measure_padding(
    model: AttentionClassifier, items: Sequence[EncodedText]
) -> list[dict[str, float]]:
    """Return accuracy and weight on padding for texts with padding behind them, masked and not."""
    rows: list[dict[str, float]] = []
    for more in PADDING:
        row: dict[str, float] = {"added": more}
        for masked in (True, False):
            hits, on_padding = 0, 0.0
            for ids, label in items:
                batch = text_batch([(ids, label)], length=len(ids) + more).to(device())
                read = batch.lengths if masked else batch.lengths + more  # (1,)
                logits, weights = model(batch.tokens, read)  # (1, C), (1, N)
                hits += int(logits[0].argmax() == label)
                on_padding += weights[0, len(ids) :].sum().item()
            name = "masked" if masked else "unmasked"
            row[f"accuracy_{name}"] = hits / len(items)
            row[f"weight_{name}"] = on_padding / len(items)
        rows.append(row)
    return rows


def measure_mistakes(row: str, model: nn.Module, items: Sequence[EncodedText]) -> dict[str, float]:
    """Return the accuracy of a trained model with a mistake that raises no error."""
    if row == "attention":
        generator = torch.Generator().manual_seed(1)

        def shuffled(batch: TextBatch) -> Tensor:
            return batch.lengths[torch.randperm(len(batch.lengths), generator=generator)]

        def whole(batch: TextBatch) -> Tensor:
            return torch.full_like(batch.lengths, batch.tokens.shape[1])

        return {
            "accuracy_padding_read": _accuracy_with_lengths(model, items, whole),
            "accuracy_lengths_unsorted": _accuracy_with_lengths(model, items, shuffled),
        }
    wrong: dict[str, tuple[str, Callable[[Tensor, Tensor], Tensor]]] = {
        "last": ("last_column", lambda states, mask: states[:, -1]),
        "mean": ("divided_by_columns", lambda states, mask: states.mean(dim=1)),
        "max": ("padding_in_maximum", lambda states, mask: states.amax(dim=1)),
    }
    if row not in wrong:
        return {}
    name, pool = wrong[row]
    with _replaced(model, "pool", pool):
        return {f"accuracy_{name}": accuracy(model, in_batches(items))}


@torch.no_grad()
def _accuracy_with_lengths(
    model: nn.Module, items: Sequence[EncodedText], change: Callable[[TextBatch], Tensor]
) -> float:
    hits = 0
    for batch in in_batches(items):
        lengths = change(batch).to(device())
        there = batch.to(device())
        logits = compute_outputs(model, TextBatch(there.tokens, lengths, there.labels))[0]
        hits += int((logits.argmax(dim=1) == there.labels).sum())
    return hits / len(items)


def select_examples(reviews: Sequence[Review]) -> list[int]:
    """Return the test reviews with recorded weights: 20 of 15 to 22 words, and 4 longer ones."""
    short = [
        i
        for i, review in enumerate(reviews)
        if 15 <= len(review.words) <= 22 and len(review.deciding_positions) >= 2
    ]
    long = [i for i, review in enumerate(reviews) if 30 <= len(review.words) <= 50]
    return [*short[:20], *long[:4]]


def train_classifier(
    model: nn.Module,
    data: EncodedReviews,
    seed: int,
    train: Train,
    loss: Any = classification_loss,
    order: int | None = None,
) -> Any:
    """Train a classifier on the reviews of a seed, and return the history.

    Args:
        model: the untrained classifier.
        data: the reviews.
        seed: of the training reviews.
        train: the training loop.
        loss: `loss(model, batch)`.
        order: seed of the order of the batches, if it is another one.
    """
    order = seed if order is None else order
    items = data.encode(data.training_reviews(seed))
    return train(
        model,
        lambda epoch: text_batches(items, BATCH, seed=1000 * order + epoch),
        loss,
        epochs=EPOCHS,
        learning_rate=RATE,
        decay=True,
        validate=lambda model: {"accuracy": accuracy(model, in_batches(data.validation))},
        progress=False,
    )


def train_row(row: str, seed: int, data: EncodedReviews, train: Train) -> dict[str, Any]:
    """Train one classifier; return its metrics, its history and what its weights show."""
    seed_everything(seed)
    model = build(row, len(data.vocabulary))
    penalised = row in ("four-hops-penalty", "two-axes")
    loss = penalised_loss if penalised else classification_loss
    history = train_classifier(model, data, seed, train, loss)
    model.eval()
    predicted, true = predictions(model, in_batches(data.test))
    right = (predicted == true).double()  # (M,)
    sentences = torch.tensor([len(review.sentences) for review in data.reviews.test])  # (M,)
    groups = [(low, high, (sentences >= low) & (sentences < high)) for low, high in pairwise(EDGES)]
    run: dict[str, Any] = {
        "metrics": {"accuracy": right.mean().item()} | measure_mistakes(row, model, data.test),
        "seconds": history.seconds,
        "history": history.epochs,
        "parameters": sum(p.numel() for p in model.parameters()),
        "by_length": [
            {"from": low, "to": high - 1, "sentences": int(group.sum()),
             "accuracy": right[group].mean().item()}
            for low, high, group in groups
        ],
    }  # fmt: skip
    if row == "attention":
        assert isinstance(model, AttentionClassifier)
        run["metrics"]["accuracy_without_query"] = measure_without_query(model, data.test)
        run["padding"] = measure_padding(model, data.test[:PADDED_REVIEWS])
    if row == "attention" or row in STRUCTURED:
        _measure_weights(run, weights_for(model, data.test), data)
    if row in ("attention", "two-axes") and seed == SEEDS[0]:
        results.write_weights(f"{COMPARISON.program}-{row}", COMPARISON.data, model)
    if row in ("four-hops", "four-hops-penalty") and seed == SEEDS[0]:
        run["examples"] = list(_examples(model, data))
    return run


def _measure_weights(run: dict[str, Any], weights: list[Tensor], data: EncodedReviews) -> None:
    reviews = data.reviews.test
    hops = len(weights[0])
    each = [measure_focus([rows[k] for rows in weights], reviews) for k in range(hops)]
    if hops == 1:
        plain = [rows[0] for rows in weights]
        run["metrics"] |= each[0] | measure_praise_and_blame(plain, reviews)
    else:
        run["hops"] = each
        alike = [hop_similarity(rows) for rows in weights]
        for name in alike[0]:
            run["metrics"][name] = fmean(found[name].item() for found in alike)


@torch.no_grad()
def _examples(model: nn.Module, data: EncodedReviews) -> Iterator[dict[str, Any]]:
    for i in select_examples(data.reviews.test):
        batch = text_batch([data.test[i]]).to(device())
        logits, weights = model(batch.tokens, batch.lengths)  # (1, C), (1, r, N)
        yield {
            "review": i,
            "weights": weights[0].tolist(),
            "probability": logits.softmax(dim=1)[0, 1].item(),
        }


COMPARISON = Comparison(
    program="pooling",
    data="reviews",
    rows={
        "last": "last state",
        "mean": "mean",
        "max": "maximum",
        "attention": "attention, final state as query",
        "learned-query": "attention, learned query",
        "one-hop": "structured, 1 hop",
        "four-hops": "structured, 4 hops",
        "four-hops-penalty": "structured, 4 hops, penalty",
        "two-axes": "structured, 2 hops, penalty, d_a = 2",
    },
    seeds=SEEDS,
    settings={
        "embedding": EMBEDDING,
        "width": WIDTH,
        "attention": ATTENTION,
        "inner": INNER,
        "dropout": DROPOUT,
        "batch": BATCH,
        "epochs": EPOCHS,
        "rate": RATE,
        "penalty": PENALTY,
        "training_reviews": TRAIN,
    },
    load=load,
    train_row=train_row,
    scorer="share of the test reviews that are classified correctly",
)
parser, main = COMPARISON.parser, COMPARISON.main
