"""Benchmark batches of similar length: one epoch of the same classifier on the same texts.

    python -m experiments bench_bucketing              # the course's synthetic reviews
    python -m experiments bench_bucketing --data imdb  # a sample of IMDB

Trains `AttentionClassifier` on the same texts in batches of similar length, in random batches
padded to the longest text of the batch, and in random batches padded to the longest text of all.
Each is timed twice: with packed sequences, where the LSTM skips the padding, and without packing,
where the padding is read like words. Every round runs all variants in turn. Records texts per
second and the median ratios.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import nn

from coursekit import datasets
from coursekit.corpora.reviews import reviews
from coursekit.data.documents import (
    EncodedText,
    TextBatch,
    middle_cut,
    text_batch,
    text_batches,
    words,
)
from coursekit.models.baseline_classifiers import classification_loss
from coursekit.text.vocabulary import WordVocabulary
from coursekit.training import results
from solutions.sentences.pooling import AttentionClassifier

from .run_registry import command


def load_texts(options: argparse.Namespace) -> tuple[list[list[str]], list[int], str]:
    """Return the words and labels of the texts, and the checksum of their source."""
    if options.data == "reviews":
        made = reviews(options.texts, seed=1, ratings=(1, 2, 4, 5))
        origin = "none: made by coursekit.corpora.reviews, seed 1"
        return [list(r.words) for r in made], [r.label for r in made], origin
    corpus = datasets.load(options.data)
    sample = random.Random(1).sample(list(corpus.train), options.texts)
    return [words(text) for text, _ in sample], [label for _, label in sample], corpus.data_sha256


def list_ways(
    items: Sequence[EncodedText], size: int
) -> dict[str, Callable[[int], Iterator[TextBatch]]]:
    """Return the batching variants by name; each is called with the round as its seed."""
    longest = max(len(ids) for ids, _ in items)

    def at_random(seed: int, length: int = 1) -> Iterator[TextBatch]:
        order = random.Random(seed).sample(items, len(items))
        for start in range(0, len(order), size):
            yield text_batch(order[start : start + size], length)

    packed: dict[str, Callable[[int], Iterator[TextBatch]]] = {
        "similar": lambda seed: text_batches(items, size, seed),
        "random": at_random,
        "longest": lambda seed: at_random(seed, longest),
    }

    def read_padding(way: str) -> Callable[[int], Iterator[TextBatch]]:
        def make(seed: int) -> Iterator[TextBatch]:
            for batch in packed[way](seed):
                whole = torch.full_like(batch.lengths, batch.tokens.shape[1])
                yield TextBatch(batch.tokens, whole, batch.labels)

        return make

    return packed | {f"{way}_read": read_padding(way) for way in packed}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data", default="reviews", help="reviews, or a data set by name")
    arguments.add_argument(
        "--texts", type=int, help=("number of texts; default: 2,000, or 512 for a data set")
    )
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument(
        "--max-words", type=int, default=400, help="more are cut from the middle"
    )
    for name, value in {"batch-size": 64, "embedding": 128, "width": 64, "attention": 64}.items():
        arguments.add_argument(f"--{name}", type=int, default=value)
    return arguments


def main(options: argparse.Namespace) -> None:
    """Time the variants in turn; print and record the results."""
    repeat = command("bench_bucketing", options)
    options.texts = options.texts or (2_000 if options.data == "reviews" else 512)
    split, labels, origin = load_texts(options)
    vocabulary = WordVocabulary(split)
    items = [
        (middle_cut(vocabulary.encode(text, eos=False), options.max_words), label)
        for text, label in zip(split, labels, strict=True)
    ]
    torch.manual_seed(1)
    model = AttentionClassifier(
        len(vocabulary), options.embedding, options.width, options.attention, 2
    )
    optimizer = torch.optim.Adam(model.parameters())

    def seconds(batches: list[TextBatch]) -> float:
        started = time.perf_counter()
        for batch in batches:
            take_step(model, optimizer, batch)
        return time.perf_counter() - started

    makers = list_ways(items, options.batch_size)
    seconds(list(makers["similar"](0))[:2])  # warm-up
    rounds = [
        {name: seconds(list(make(number))) for name, make in makers.items()}
        for number in range(1, options.rounds + 1)
    ]
    real = sum(len(ids) for ids, _ in items)
    metrics = {
        f"per_second_{name}": statistics.median(len(items) / times[name] for times in rounds)
        for name in makers
    }
    metrics |= {  # relative to similar lengths with the same packing
        f"ratio_{name}": statistics.median(
            times[name] / times["similar_read" if name.endswith("_read") else "similar"]
            for times in rounds
        )
        for name in makers
    }
    metrics |= {
        f"real_{name}": real / sum(batch.tokens.numel() for batch in make(1))
        for name, make in makers.items()
    }
    results.write_result(
        "bench-bucketing",
        options.data,
        runs=[
            {
                "seed": 1,
                "metrics": metrics,
                "seconds": sum(sum(times.values()) for times in rounds),
                "rounds": rounds,
            }
        ],
        parameters=sum(p.numel() for p in model.parameters()),
        data_sha256=origin,
        command=repeat,
        scorer="medians over the rounds; an epoch of training with Adam, batches made beforehand",
        settings=vars(options)
        | {"longest": max(len(ids) for ids, _ in items), "mean_length": real / len(items)},
    )
    for name, number in metrics.items():
        print(f"{name:24} {number:.3g}")


def take_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: TextBatch) -> None:
    """Take one training step."""
    optimizer.zero_grad(set_to_none=True)
    classification_loss(model, batch).backward()
    optimizer.step()
