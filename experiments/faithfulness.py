"""Test how faithful attention is: what a text classifier's weights say about its answers.

    python -m experiments faithfulness --jobs 2

The classifier and the reviews are those of `pooling`, row "attention". It is explained on test
reviews whose deciding words are known, and compared with a second training; with models that are
trained to give its answers with other weights; and with a model that reads each word by itself and
is given weights. The tests are those of Jain and Wallace (2019), Wiegreffe and Pinter (2019) and
Serrano and Smith (2019).

Writes book/results/faithfulness.reviews.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.data.batching import Batch, pad
from coursekit.data.documents import EncodedText, TextBatch
from coursekit.models.baseline_classifiers import accuracy, predictions
from coursekit.text.vocabulary import PAD
from coursekit.training import device, seed_everything
from solutions.sentences.pooling import AttentionClassifier

from . import faithfulness_measures as measures
from .comparison_harness import Comparison, Train
from .pooling import (
    SEEDS,
    TRAIN,
    EncodedReviews,
    build,
    even_weights,
    in_batches,
    load,
    train_classifier,
    weights_for,
)

EXPLAINED = 200  # of the test reviews
MIXED = 40  # of the test reviews, for how much of a state is about its word
TWIN = 100  # added to the seed of the second training of the same classifier
# Row -> weight of the divergence from the classifier's weights in the loss of its imitation.
PRICES = {"imitation": 0.0, "adversary-weak": 0.001, "adversary": 0.01, "adversary-strong": 0.1}
# Row -> where the weights of the model that reads each word by itself come from.
GUIDES = ("even", "own", "attention", "adversary")
WORD_EPOCHS, WORD_RATE, WORD_BATCH, WORD_WIDTH = 8, 1e-2, 32, 32
QUANTILES = 21  # of the divergences, from the smallest to the largest


def train_attention(
    seed: int, data: EncodedReviews, train: Train, init: int | None = None
) -> tuple[AttentionClassifier, Any]:
    """Return the classifier of `pooling`, trained on the reviews of a seed, and the history.

    Args:
        seed: of the reviews.
        data: the reviews.
        train: the training loop.
        init: seed of the first weights and of the batches' order, if it is another one.
    """
    seed_everything(seed if init is None else init)
    model = build("attention", len(data.vocabulary))
    assert isinstance(model, AttentionClassifier)
    history = train_classifier(model, data, seed, train, order=init)
    return model.cpu().eval(), history


class ImitationLoss:
    """The loss of a model that gives a classifier's answers, and weighs the words otherwise.

    The cross entropy to the classifier's probabilities, less `price` times the Kullback-Leibler
    divergence of the model's weights from the classifier's.

    Args:
        classifier: is moved to the device of the training.
        price: of the divergence.
    """

    def __init__(self, classifier: AttentionClassifier, price: float):
        self.classifier, self.price = classifier.to(device()), price

    def __call__(self, model: nn.Module, batch: TextBatch) -> Tensor:
        """Return the mean loss of a batch."""
        with torch.no_grad():
            answer, alpha = self.classifier(batch.tokens, batch.lengths)  # (B, 2), (B, N)
        logits, own = model(batch.tokens, batch.lengths)
        unlike = F.cross_entropy(logits, answer.softmax(dim=-1), reduction="none")  # (B,)
        apart = (own * ((own + 1e-12).log() - (alpha + 1e-12).log())).sum(dim=-1)  # KL, (B,)
        return (unlike - self.price * apart).mean()


def train_imitation(
    classifier: AttentionClassifier, price: float, seed: int, data: EncodedReviews, train: Train
) -> tuple[AttentionClassifier, Any]:
    """Return a classifier that imitates another one on the reviews of a seed, and the history."""
    seed_everything(seed + TWIN)
    model = build("attention", len(data.vocabulary))
    assert isinstance(model, AttentionClassifier)
    history = train_classifier(model, data, seed, train, ImitationLoss(classifier, price))
    return model.cpu().eval(), history


@dataclass(frozen=True)
class WeighedBatch(Batch):
    """Texts with a weight for each word.

    Attributes:
        tokens: (B, N).
        weights: (B, N), 0 on padding.
        labels: (B,).
    """

    tokens: Tensor
    weights: Tensor
    labels: Tensor


class WordByWord(nn.Module):
    """A layer on each word by itself, summed with weights that are given or learned word by word.

    Args:
        vocabulary_size: number of ids.
        width: of the embeddings and of the layer.
        own: whether the model learns weights of its own.
    """

    def __init__(self, vocabulary_size: int, width: int, own: bool):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)
        self.inner, self.output = nn.Linear(width, width), nn.Linear(width, 2)
        self.score = nn.Linear(width, 1) if own else None

    def forward(self, tokens: Tensor, weights: Tensor) -> Tensor:
        """Return logits (B, 2) for tokens and weights (B, N)."""
        hidden = self.inner(self.embedding(tokens)).tanh()  # (B, N, d)
        if self.score is not None:
            scores = self.score(hidden)[..., 0].masked_fill(tokens == PAD, -torch.inf)  # (B, N)
            weights = scores.softmax(dim=1)
        return self.output((weights.unsqueeze(2) * hidden).sum(dim=1))  # (B, 2)


def weigh(items: Sequence[EncodedText], rows: Sequence[Tensor]) -> WeighedBatch:
    """Return all texts with their weights, rows of (N,), as one batch."""
    tokens = pad([ids for ids, _ in items])  # (M, N)
    weights = torch.zeros(tokens.shape)
    for i, row in enumerate(rows):
        weights[i, : len(row)] = row
    return WeighedBatch(tokens, weights, torch.tensor([label for _, label in items]))


def weighed_batches(data: WeighedBatch, seed: int) -> Iterator[WeighedBatch]:
    """Yield the texts in batches, in an order that a seed determines."""
    order = torch.randperm(len(data.labels), generator=torch.Generator().manual_seed(seed))
    for some in order.split(WORD_BATCH):
        yield WeighedBatch(data.tokens[some], data.weights[some], data.labels[some])


def weighed_loss(model: nn.Module, batch: WeighedBatch) -> Tensor:
    """Return the cross entropy."""
    return F.cross_entropy(model(batch.tokens, batch.weights), batch.labels)


def _explain(
    model: AttentionClassifier, twin: AttentionClassifier, seed: int, data: EncodedReviews
) -> dict[str, Any]:
    found = data.reviews.test[:EXPLAINED]
    texts = [ids for ids, _ in data.test[:EXPLAINED]]
    deciding = [torch.tensor(sorted(review.deciding_positions)) for review in found]
    weights, products, classes = measures.gradient_times_input(model, texts)
    left_out = measures.leave_one_out(model, texts, classes)
    other_weights, other_products, other_classes = measures.gradient_times_input(twin, texts)
    rows = {"weights": weights, "product": products, "left_out": left_out}
    metrics = {
        f"{what}_{name}": value
        for name, row in rows.items()
        for what, value in measures.measure_precision(row, deciding).items()
    }
    pairs = {
        "weights_product": (weights, products),
        "weights_left_out": (weights, left_out),
        "product_left_out": (products, left_out),
        "weights_twin": (weights, other_weights),
        "product_twin": (products, other_products),
    }
    for name, (first, second) in pairs.items():
        for what, value in measures.measure_agreement(first, second, deciding).items():
            metrics[f"{what}_{name}"] = value
    states = measures.states_of(model, texts)
    output = model.output
    metrics |= measures.measure_replacements(output, weights, states, seed)
    ranked = {"weight": weights, "product": products, "left_out": left_out}
    metrics |= measures.measure_erasure(model, texts, ranked, states, classes, seed)
    searched = torch.tensor(
        [measures.furthest(output, *pair) for pair in zip(weights, states, strict=True)]
    )
    apart = _divergences(weights, other_weights)
    metrics |= {
        "searched_divergence": searched.median().item(),
        "twin_divergence": apart.median().item(),
        "twin_same_answer": (other_classes == classes).double().mean().item(),
    }
    return {
        "metrics": metrics,
        "divergences": [
            {"searched": a, "twin": b}
            for a, b in zip(_spread(searched), _spread(apart), strict=True)
        ],
    }


def _divergences(first: Sequence[Tensor], second: Sequence[Tensor]) -> Tensor:
    return torch.stack([measures.divergence(a, b) for a, b in zip(first, second, strict=True)])


def _spread(values: Tensor) -> list[float]:
    return values.quantile(torch.linspace(0, 1, QUANTILES)).tolist()


def _mix(model: AttentionClassifier, data: EncodedReviews) -> dict[str, float]:
    texts = [ids for ids, _ in data.test[:MIXED]]
    held: list[nn.utils.rnn.PackedSequence] = []
    hook = model.rnn.register_forward_hook(lambda module, given, output: held.append(output[0]))
    _, _, embedded = measures.read(model, texts)
    hook.remove()
    states, lengths = nn.utils.rnn.pad_packed_sequence(held[0], batch_first=True)  # (B, N, 2d)
    mixed = measures.measure_mixing(states, embedded, lengths)
    return {f"mixed_{name}": value for name, value in mixed.items()}


def _compare(
    model: AttentionClassifier, other: AttentionClassifier, data: EncodedReviews
) -> dict[str, Any]:
    items = data.test[:EXPLAINED]
    weights, other_weights = ([w[0] for w in weights_for(m, items)] for m in (model, other))
    classes, other_classes = (predictions(m, in_batches(items))[0] for m in (model, other))
    apart = _divergences(weights, other_weights)
    return {
        "metrics": {
            "divergence": apart.median().item(),
            "same_answer": (other_classes == classes).double().mean().item(),
        },
        "divergences": [{"trained": value} for value in _spread(apart)],
    }


def train_row(row: str, seed: int, data: EncodedReviews, train: Train) -> dict[str, Any]:
    """Train the models of one row; return metrics, and divergences of weights."""
    if row.startswith("words-"):
        return _train_word_by_word(row.removeprefix("words-"), seed, data, train)
    measured: dict[str, Any] = {"metrics": {}}
    if row == "even":
        seed_everything(seed)
        model = build("attention", len(data.vocabulary))
        assert isinstance(model, AttentionClassifier)
        model.v.requires_grad_(False).zero_()  # all scores are 0
        history = train_classifier(model, data, seed, train)
        model.eval()
    elif row == "attention":
        model, history = train_attention(seed, data, train)
        twin, _ = train_attention(seed, data, train, init=seed + TWIN)
        measured = _explain(model, twin, seed, data)
        measured["metrics"] |= _mix(model, data)
        measured["metrics"]["twin_accuracy"] = accuracy(twin, in_batches(data.test))
    else:
        classifier, _ = train_attention(seed, data, train)
        model, history = train_imitation(classifier, PRICES[row], seed, data, train)
        measured = _compare(classifier, model, data)
    measured["metrics"]["accuracy"] = accuracy(model, in_batches(data.test))
    return measured | {
        "seconds": history.seconds,
        "history": history.epochs,
        "parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
    }


def _train_word_by_word(
    guide: str, seed: int, data: EncodedReviews, train: Train
) -> dict[str, Any]:
    reviews = data.training_reviews(seed)
    items = data.encode(reviews)
    if guide in ("even", "own"):
        rows, test_rows = even_weights(reviews), even_weights(data.reviews.test)
    else:
        reader, _ = train_attention(seed, data, train)
        if guide == "adversary":
            reader, _ = train_imitation(reader, PRICES["adversary"], seed, data, train)
        rows, test_rows = (
            [weights[0] for weights in weights_for(reader, some)] for some in (items, data.test)
        )
    weighed, test = weigh(items, rows), weigh(data.test, test_rows)
    seed_everything(seed)
    model = WordByWord(len(data.vocabulary), WORD_WIDTH, guide == "own")
    history = train(
        model,
        lambda epoch: weighed_batches(weighed, 1000 * seed + epoch),
        weighed_loss,
        epochs=WORD_EPOCHS,
        learning_rate=WORD_RATE,
        decay=True,
        progress=False,
    )
    model.cpu().eval()
    with torch.no_grad():
        picked = model(test.tokens, test.weights).argmax(dim=1)  # (M,)
    return {
        "metrics": {"accuracy": (picked == test.labels).double().mean().item()},
        "seconds": history.seconds,
        "history": history.epochs,
        "parameters": sum(p.numel() for p in model.parameters()),
    }


COMPARISON = Comparison(
    program="faithfulness",
    data="reviews",
    rows={
        "attention": "BiLSTM with attention",
        "even": "BiLSTM, even weights",
        "imitation": "imitation",
        "adversary-weak": "adversary, 0.001",
        "adversary": "adversary, 0.01",
        "adversary-strong": "adversary, 0.1",
        "words-even": "even",
        "words-own": "its own, learned word by word",
        "words-attention": "those of the BiLSTM",
        "words-adversary": "those of the adversary, 0.01",
    },
    seeds=SEEDS,
    settings={
        "training_reviews": TRAIN,
        "explained": EXPLAINED,
        "prices": PRICES,
        "permutations": measures.PERMUTATIONS,
        "allowed": measures.ALLOWED,
    },
    load=load,
    train_row=train_row,
    scorer="share of the test reviews that are classified correctly",
)
parser, main = COMPARISON.parser, COMPARISON.main
