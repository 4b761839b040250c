"""Compare attention on words and on sentences, on synthetic reviews with known verdicts.

    python -m experiments hierarchical_attention --jobs 2

A review has 3 to 10 sentences, of which one or two express the verdict, a rating from 1 to 5. Each
seed trains on reviews of its own; the validation and test reviews are the same for all. Recorded
beside the accuracy: how much weight lies on what decides, what is left without the deciding
sentences, and the weights of *good* and *bad* in their contexts.

Writes book/results/hierarchical_attention.reviews.json, and the weights of the first seed of "han".
"""

from __future__ import annotations

import hashlib
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.corpora.reviews import Review, reviews
from coursekit.data.documents import document_batch, document_batches, text_batch, text_batches
from coursekit.models.bag_of_words import bag_classifier
from coursekit.models.baseline_classifiers import (
    ConvolutionalClassifier,
    PooledClassifier,
    accuracy,
    classification_loss,
)
from coursekit.text.vocabulary import EOS, WordVocabulary
from coursekit.training import device, results, seed_everything
from coursekit.training.metrics import entropy
from solutions.han.attention import AttentionPooling
from solutions.han.network import HierarchicalAttentionNetwork
from solutions.sentences.pooling import AttentionClassifier, masked_mean

from .classifiers import Pooled
from .comparison_harness import Comparison, Train
from .opinion_weights import RATINGS, collect_opinions, describe_opinions, replace_good_verdicts
from .pooling import LearnedQuery, final_state

WIDTH = 32  # of embeddings, of states in each direction, and of the hidden layer of the scores
TRAIN, VALIDATION, TEST = 1_000, 500, 1_500  # reviews; the first number is that of one seed
SENTENCES = (3, 10)  # of a review
SEEDS = (1, 2, 3, 4, 5)
BATCH, RATE = 32, 4e-3
EPOCHS, TOPIC_EPOCHS = 18, 3
TOPICS = ["film", "book", "hotel", "restaurant"]


@dataclass(frozen=True)
class RatedReviews:
    """Synthetic reviews with ratings from 1 to 5.

    Attributes:
        train: training reviews, `TRAIN` for each of `SEEDS`.
        validation: validation reviews.
        test: test reviews.
        vocabulary: of the training reviews.
    """

    train: Sequence[Review]
    validation: Sequence[Review]
    test: Sequence[Review]
    vocabulary: WordVocabulary

    def training_reviews(self, seed: int) -> Sequence[Review]:
        """Return the training reviews of a seed; those of `SEEDS` have none in common."""
        part = (seed - 1) % len(SEEDS)
        return self.train[part * TRAIN : (part + 1) * TRAIN]

    def as_document(self, review: Review, label: int) -> tuple[list[list[int]], int]:
        """Return the ids of each sentence, and the label."""
        ids = [self.vocabulary.encode(sentence, eos=False) for sentence in review.sentences]
        return ids, label

    def as_text(self, review: Review, label: int, ends: bool = False) -> tuple[list[int], int]:
        """Return the ids of all words and the label; `ends` marks the end of each sentence."""
        ids = (self.vocabulary.encode(sentence, eos=ends) for sentence in review.sentences)
        return list(chain.from_iterable(ids)), label


def load_reviews() -> RatedReviews:
    """Return the reviews."""
    low, high = SENTENCES
    number = TEST + VALIDATION + TRAIN * len(SEEDS)
    made = reviews(number, seed=1, min_sentences=low, max_sentences=high)
    test, validation = made[:TEST], made[TEST : TEST + VALIDATION]
    train = made[TEST + VALIDATION :]
    vocabulary = WordVocabulary(sentence for review in train for sentence in review.sentences)
    return RatedReviews(train, validation, test, vocabulary)


def load() -> tuple[RatedReviews, str]:
    """Return the reviews and their SHA-256."""
    data = load_reviews()
    parts = (data.train, data.validation, data.test)
    return data, hashlib.sha256(repr(parts).encode()).hexdigest()


# Row -> whether attention, or else a mean, pools the words and the sentences.
HIERARCHIES = {
    "han-ave": (False, False),
    "han-sentences": (False, True),
    "han-words": (True, False),
    "han": (True, True),
    "han-verdict": (True, True),
    "han-topic": (True, True),
}
BAGS = {"bag-words": 1, "bag-pairs": 2}  # row -> length of the longest n-gram
REGULARISATION = 0.1  # of the bags
ENDS = "-ends"  # of a row whose flat model reads a mark at the end of each sentence
# Row -> the label of a review, and the number of classes.
LABELS: dict[str, tuple[Callable[[Review], int], int]] = {
    "han-verdict": (lambda review: review.label, 2),
    "han-topic": (lambda review: TOPICS.index(review.topic), len(TOPICS)),
}


def label_of(row: str) -> tuple[Callable[[Review], int], int]:
    """Return the function from a review to its label in a row, and the number of classes."""
    return LABELS.get(row, (lambda review: review.rating - 1, len(RATINGS)))


def build(row: str, vocabulary_size: int) -> nn.Module:
    """Return the untrained classifier of a row."""
    _, classes = label_of(row)
    if row in HIERARCHIES:
        of_words, of_sentences = (
            AttentionPooling(2 * WIDTH, WIDTH) if attends else Pooled(masked_mean)
            for attends in HIERARCHIES[row]
        )
        return HierarchicalAttentionNetwork(
            vocabulary_size, WIDTH, WIDTH, of_words, of_sentences, classes
        )
    sizes = vocabulary_size, WIDTH, WIDTH
    models: dict[str, Callable[[], nn.Module]] = {
        "word-average": lambda: PooledClassifier(
            vocabulary_size, 2 * WIDTH, 0, masked_mean, classes
        ),
        "cnn": lambda: ConvolutionalClassifier(*sizes, classes),
        "lstm-last": lambda: PooledClassifier(*sizes, final_state, classes),
        "lstm-mean": lambda: PooledClassifier(*sizes, masked_mean, classes),
        "lstm-attention": lambda: AttentionClassifier(*sizes, WIDTH, classes),
        "lstm-learned-query": lambda: PooledClassifier(
            *sizes, LearnedQuery(2 * WIDTH, WIDTH), classes
        ),
    }
    return models[row.removesuffix(ENDS)]()


def make_items(row: str, data: RatedReviews, found: Sequence[Review]) -> list[Any]:
    """Return the ids and the label of each review, as the model of a row takes them."""
    label, _ = label_of(row)
    if row in HIERARCHIES:
        return [data.as_document(review, label(review)) for review in found]
    return [data.as_text(review, label(review), row.endswith(ENDS)) for review in found]


def make_batches(row: str, items: Sequence[Any], size: int, seed: int) -> Iterable[Any]:
    """Return batches of documents or of texts, as the model of a row takes them."""
    return (document_batches if row in HIERARCHIES else text_batches)(items, size, seed=seed)


@torch.no_grad()
def read_documents(
    model: nn.Module, data: RatedReviews, found: Sequence[Review]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return logits (M, C), word weights (M, L, T) and sentence weights (M, L) of HAN."""
    documents = document_batch([data.as_document(review, 0) for review in found]).documents
    parts = [
        tuple(tensor.cpu() for tensor in model(some.to(device()))) for some in documents.split(250)
    ]
    logits, words, sentences = (torch.cat(part) for part in zip(*parts, strict=True))
    return logits, words, sentences


def document_views(words: Sequence[Tensor], sentences: Tensor) -> dict[str, dict[str, Any]]:
    """Return "weights" and "sentence_weights" for `WordsExplorer`, in three views.

    Args:
        words: the weights in each sentence, (T_i,).
        sentences: the weights of the sentences, (L,).
    """
    views = {
        "words in the document": [a * row for a, row in zip(sentences, words, strict=True)],
        "words, and the root of their sentence": [
            a.sqrt() * row for a, row in zip(sentences, words, strict=True)
        ],
        "words in their sentence": list(words),
    }
    return {"weights": views, "sentence_weights": dict.fromkeys(views, sentences)}


def weights_in_document(words: Tensor, sentences: Tensor, found: Sequence[Review]) -> list[Tensor]:
    """Return the weights of each review's words in the document, (N,): a_i a_it."""
    joint = words * sentences.unsqueeze(2)  # (M, L, T)
    return [
        torch.cat([joint[b, i, : len(s)] for i, s in enumerate(review.sentences)])
        for b, review in enumerate(found)
    ]


@torch.no_grad()
def weights_in_text(
    model: nn.Module, data: RatedReviews, found: Sequence[Review], ends: bool = False
) -> list[Tensor]:
    """Return the weights of each review's words by flat attention, (N,).

    If the text has marks at the ends of its sentences, their weights are left out.
    """
    rows: list[Tensor] = []
    for start in range(0, len(found), 250):
        batch = text_batch([data.as_text(review, 0, ends) for review in found[start : start + 250]])
        there = batch.to(device())
        weights = model(there.tokens, there.lengths)[1].cpu()  # (B, N)
        rows += [
            row[:n][ids[:n] != EOS]
            for row, ids, n in zip(weights, batch.tokens, batch.lengths.tolist(), strict=True)
        ]
    return rows


def sum_by_sentence(review: Review, row: Tensor) -> Tensor:
    """Return the weight of each sentence, the sum over its words, (L,)."""
    return torch.stack([part.sum() for part in row.split([len(s) for s in review.sentences])])


def measure_focus(rows: Sequence[Tensor], found: Sequence[Review]) -> dict[str, float]:
    """Compare the weights of the words of each review, (N,), with what decides; means over reviews.

    Returns:
        "on_sentences" and "on_words", the share of the weight on what decides;
        "strongest_sentence", how often the sentence with the most weight decides; and
        "strongest_words", the share of deciding words among as many of the strongest.
    """
    values: dict[str, list[float]] = defaultdict(list)
    for review, row in zip(found, rows, strict=True):
        places = torch.tensor(sorted(review.deciding_positions))
        lines = torch.tensor(sorted(review.deciding_sentences))
        sums = sum_by_sentence(review, row)  # (L,)
        values["on_sentences"].append(sums[lines].sum().item())
        values["strongest_sentence"].append(float(sums.argmax() in lines))
        values["on_words"].append(row[places].sum().item())
        strongest = row.topk(len(places)).indices
        values["strongest_words"].append(torch.isin(strongest, places).double().mean().item())
    return {name: fmean(value) for name, value in values.items()}


def measure_chance(found: Sequence[Review]) -> dict[str, float]:
    """Return the chance level of `measure_focus`.

    For a share of the weight, every word has the same; for what is strongest, a sentence or a word
    is picked at random.
    """
    even = [torch.full((len(r.words),), 1 / len(r.words)) for r in found]
    words = fmean(len(r.deciding_words) / len(r.words) for r in found)
    return {
        "on_sentences": measure_focus(even, found)["on_sentences"],
        "strongest_sentence": fmean(len(r.deciding_sentences) / len(r.sentences) for r in found),
        "on_words": words,
        "strongest_words": words,
    }


def measure_removal(
    model: nn.Module, data: RatedReviews, strongest: Sequence[int] | None = None
) -> dict[str, float]:
    """Return the accuracy with only some sentences left, or without some.

    Args:
        model: a network that reads documents and predicts the rating.
        data: the reviews.
        strongest: for each test review the sentence with the most weight, if the model has weights.
    """
    chooser = random.Random(1)
    anyone = [chooser.randrange(len(review.sentences)) for review in data.test]
    keep: dict[str, Callable[[int, int], bool]] = {
        "only_deciding": lambda b, i: i in data.test[b].deciding_sentences,
        "without_deciding": lambda b, i: i not in data.test[b].deciding_sentences,
        "only_random": lambda b, i: i == anyone[b],
        "without_random": lambda b, i: i != anyone[b],
    }
    if strongest is not None:
        keep |= {
            "only_strongest": lambda b, i: i == strongest[b],
            "without_strongest": lambda b, i: i != strongest[b],
        }
    measured = {}
    for name, kept in keep.items():
        items = []
        for b, review in enumerate(data.test):
            ids, label = data.as_document(review, review.rating - 1)
            items.append(([s for i, s in enumerate(ids) if kept(b, i)], label))
        measured[f"accuracy_{name}"] = accuracy(model, document_batches(items, 250, seed=0))
    return measured


def measure_replacement(model: nn.Module, data: RatedReviews) -> dict[str, float]:
    """Return how many of the test reviews whose verdict is *good* a network takes for good ones.

    Args:
        model: a network that tells good reviews from others.
        data: the reviews.

    Returns:
        the share "found_with_good", as the reviews are, "found_without", if that word is left out,
        and "found_with_bad", if it is replaced.
    """
    words = {"found_with_good": ["good"], "found_without": [], "found_with_bad": ["bad"]}
    read = {
        name: read_documents(model, data, replace_good_verdicts(data.test, *instead))[0]
        for name, instead in words.items()
    }  # (M, 2) each
    return {name: logits.argmax(dim=1).double().mean().item() for name, logits in read.items()}


def invent_review(*sentences: str) -> Review:
    """Return a review that nobody wrote, of these sentences."""
    split = tuple(tuple(sentence.split()) for sentence in sentences)
    return Review(split, 3, frozenset(), frozenset(), "film")


def weigh_sentence(model: nn.Module, data: RatedReviews, sentence: str) -> dict[str, Any]:
    """Return what a network makes of a sentence between two others that express no opinion.

    Returns:
        "text"; "word", the weight of *good* in the sentence, if it is there; "strongest", the word
        with the most weight; "sentence", the weight of the sentence; and "rating", the mean of the
        ratings, each times its probability.
    """
    review = invent_review(BEFORE, sentence, AFTER)
    logits, words, sentences = read_documents(model, data, [review])
    middle = review.sentences[1]
    row: dict[str, Any] = {
        "text": sentence,
        "strongest": middle[int(words[0, 1].argmax())],
        "sentence": sentences[0, 1].item(),
        "rating": logits[0].softmax(dim=0).dot(torch.tensor([*RATINGS]).float()).item(),
    }
    return row | ({"word": words[0, 1, middle.index("good")].item()} if "good" in middle else {})


BEFORE, AFTER = "i went there on a monday with my sister", "we took the bus from rome"
CONTEXTS = [
    "it was good",
    "it was very good",
    "it was not good",
    "it was not good at all",
    "the acting was good but it was bad",
    "it was good although the acting was bad",
    "my friend found it good",
    "the book before it was good",
    "i expected something good",
    "there were five of us",
]


def rank_words(rows: Sequence[Tensor], found: Sequence[Review], count: int = 12) -> list[str]:
    """Return the words with the largest mean multiple of an even weight, if seen 30 times."""
    shares: dict[str, list[float]] = defaultdict(list)
    for review, row in zip(found, rows, strict=True):
        for word, weight in zip(review.words, row.tolist(), strict=True):
            shares[word].append(weight * len(review.words))
    means = {word: fmean(values) for word, values in shares.items() if len(values) >= 30}
    return sorted(means, key=lambda word: -means[word])[:count]


def _measure_weights(row: str, model: nn.Module, data: RatedReviews, run: dict[str, Any]) -> None:
    found, metrics = data.test, run["metrics"]
    if row not in HIERARCHIES:
        rows = weights_in_text(model, data, found, row.endswith(ENDS))
        if row.endswith(ENDS):
            metrics["on_marks"] = 1 - fmean(weights.sum().item() for weights in rows)
            rows = [weights / weights.sum() for weights in rows]
    else:
        _, words, sentences = read_documents(model, data, found)
        rows = weights_in_document(words, sentences, found)
        metrics["effective_sentences"] = entropy(sentences).exp().mean().item()
        metrics["effective_words_of_sentence"] = fmean(
            entropy(words[b, i]).exp().item()
            for b, review in enumerate(found)
            for i, sentence in enumerate(review.sentences)
            if len(sentence) > 1
        )
    metrics |= measure_focus(rows, found)
    metrics["effective_words"] = fmean(entropy(weights).exp().item() for weights in rows)
    run["strongest_words"] = rank_words(rows, found)
    if row in ("han", "han-ave"):
        strongest = sentences.argmax(dim=1).tolist() if row == "han" else None
        metrics |= measure_removal(model, data, strongest)
    if row in ("han", "han-verdict"):
        run["opinions"] = describe_opinions(collect_opinions(words, sentences, found))
    if row == "han-verdict":
        metrics |= measure_replacement(model, data)
    if row == "han":
        run["contexts"] = [weigh_sentence(model, data, sentence) for sentence in CONTEXTS]


def fit_bag(row: str, seed: int, data: RatedReviews) -> dict[str, Any]:
    """Fit logistic regression on words, or on words and pairs of neighbours."""
    started = time.perf_counter()
    bag = bag_classifier("logistic regression", BAGS[row], regularisation=REGULARISATION)
    found = data.training_reviews(seed)
    bag.fit([review.words for review in found], [review.rating for review in found])
    seconds = time.perf_counter() - started
    right = bag.accuracy([r.words for r in data.test], [r.rating for r in data.test])
    return {
        "metrics": {"accuracy": right},
        "seconds": seconds,
        "history": [],
        "parameters": bag.parameters,
    }


def train_row(row: str, seed: int, data: RatedReviews, train: Train) -> dict[str, Any]:
    """Train one classifier; return its metrics, its history and what its weights show."""
    if row in BAGS:
        return fit_bag(row, seed, data)
    seed_everything(seed)
    model = build(row, len(data.vocabulary))
    items = make_items(row, data, data.training_reviews(seed))
    validation = make_items(row, data, data.validation)
    history = train(
        model,
        lambda epoch: make_batches(row, items, BATCH, 1000 * seed + epoch),
        classification_loss,
        epochs=TOPIC_EPOCHS if row == "han-topic" else EPOCHS,
        learning_rate=RATE,
        decay=True,
        validate=lambda model: {"accuracy": accuracy(model, make_batches(row, validation, 250, 0))},
        progress=False,
    )
    model.eval()
    test = make_items(row, data, data.test)
    run: dict[str, Any] = {
        "metrics": {"accuracy": accuracy(model, make_batches(row, test, 250, 0))},
        "seconds": history.seconds,
        "history": history.epochs,
        "parameters": sum(p.numel() for p in model.parameters()),
    }
    if row.startswith("lstm-attention") or row in HIERARCHIES:
        _measure_weights(row, model, data, run)
    if row == "han" and seed == SEEDS[0]:
        results.write_weights(f"{COMPARISON.program}-{row}", COMPARISON.data, model)
    return run


COMPARISON = Comparison(
    program="hierarchical_attention",
    data="reviews",
    rows={
        "bag-words": "logistic regression on words",
        "bag-pairs": "logistic regression on words and pairs",
        "word-average": "average of word vectors",
        "cnn": "CNN",
        "lstm-last": "LSTM, last states",
        "lstm-mean": "LSTM, mean of the states",
        "lstm-mean-ends": "LSTM, mean of the states, sentence ends marked",
        "lstm-attention": "LSTM, flat attention",
        "lstm-attention-ends": "LSTM, flat attention, sentence ends marked",
        "lstm-learned-query-ends": "LSTM, flat attention, learned query, sentence ends marked",
        "han-ave": "HAN, averages on both levels",
        "han-sentences": "HAN, attention to sentences only",
        "han-words": "HAN, attention to words only",
        "han": "HAN",
        "han-verdict": "HAN, good or not",
        "han-topic": "HAN, topic",
    },
    seeds=SEEDS,
    settings={
        "width": WIDTH,
        "batch": BATCH,
        "epochs": EPOCHS,
        "topic_epochs": TOPIC_EPOCHS,
        "rate": RATE,
        "training_reviews": TRAIN,
        "regularisation": REGULARISATION,
    },
    load=load,
    train_row=train_row,
    scorer="share of the test reviews that are classified correctly",
)
parser, main = COMPARISON.parser, COMPARISON.main
