"""Train n-gram and neural language models on a part of WikiText-2 and record their perplexities.

    python -m experiments language_models --jobs 2

The training set has half as many words as that of Bengio et al. (2003), the vocabulary the 10,000
most frequent words. There are n-gram models of 1 to 5 words, neural language models of three sizes
with four words of context, and the mean of each of them and the best n-gram model. Discounts and
epoch are chosen on the validation set; the test set is read once, after that. Writes
book/results/<model>.wikitext-2.json, with one run for each seed (counting has one).

The word vectors begin with a standard deviation of 0.1; the network of the middle size is also
trained from torch's standard deviation of 1.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit import datasets
from coursekit.data.skipgram import nearest
from coursekit.models.ngrams import NgramModel, context_windows, perplexity
from coursekit.text.vocabulary import UNK, WordVocabulary
from coursekit.training import device, results, seed_everything, train
from solutions.embeddings.vectors import NeuralLanguageModel

from .perplexity_by_context import count_contexts, group_by_context
from .run_registry import command

DATA = "wikitext-2"
WINDOW = 4  # words of context, as in a 5-gram
ORDERS = (1, 2, 3, 4, 5)
SIZES = ((15, 25), (30, 50), (60, 50))  # size of a word vector, hidden units
STD = 0.1  # of the word vectors before training
TORCH_STD = 1.0
LOOKED_UP = ("king", "river", "blue", "three", "she", "city", "wrote", "1990", "album", "large")
SCORER = "exp of the mean negative log probability of a word or <eos>, <unk> counted as a word"


class Text:
    """The corpus as ids: the training set up to `words` words, all of validation and test."""

    def __init__(self, corpus: datasets.Corpus[str], words: int, vocabulary_size: int) -> None:
        training: list[list[str]] = []
        taken = 0
        for line in _lines(corpus.train):
            taken += len(line) + 1  # with its <eos>
            if taken > words:
                break
            training.append(line)
        counts = Counter(word for line in training for word in line if word != "<unk>")
        kept = {word for word, _ in counts.most_common(vocabulary_size)}
        self.vocabulary = WordVocabulary([[w for w in line if w in kept] for line in training])
        self.training = [self.vocabulary.encode(line) for line in training]
        self.validation = [self.vocabulary.encode(line) for line in _lines(corpus.validation)]
        self.test = [self.vocabulary.encode(line) for line in _lines(corpus.test)]

    def describe(self) -> dict[str, Any]:
        """Return the size of the vocabulary, and each part's words and share of unknown words."""
        parts = {"training": self.training, "validation": self.validation, "test": self.test}
        words = {name: sum(map(len, part)) for name, part in parts.items()}
        unknown = {
            name: sum(word == UNK for line in part for word in line) / words[name]
            for name, part in parts.items()
        }
        return {"vocabulary": len(self.vocabulary), "words": words, "unknown": unknown}


def _lines(lines: Sequence[str]) -> list[list[str]]:
    return [line.split() for line in lines if line]


def loss(model: nn.Module, rows: Tensor) -> Tensor:
    """Return the cross entropy per word of rows (B, window + 1): the context and the next word."""
    return F.cross_entropy(model(rows[:, :-1]), rows[:, -1])


@torch.no_grad()
def probabilities(model: nn.Module, contexts: Tensor, words: Tensor) -> np.ndarray:
    """Return the model's probability of each word, (N,)."""
    log_probs = []
    for context, word in zip(contexts.split(1024), words.split(1024), strict=True):
        logits = model(context.to(device()))  # (B, V)
        log_probs.append(-F.cross_entropy(logits, word.to(device()), reduction="none").cpu())
    return torch.cat(log_probs).double().exp().numpy()


@dataclass
class Model:
    """A trained model with its size and its record.

    Attributes:
        given: sentences -> the probability of each of their words, one array (N,).
        parameters: number of values that the model stores.
        run: seed, seconds, metrics and history.
        more: its settings and further entries of the record.
    """

    given: Callable[[list[list[int]]], np.ndarray]
    parameters: int
    run: dict[str, Any]
    more: dict[str, Any]

    @property
    def validation(self) -> float:
        """Perplexity on the validation set, which selects the models before the test."""
        return self.run["metrics"]["validation_perplexity"]


def count(text: Text, order: int) -> Model:
    """Count n-grams and tune the discounts; nothing depends on a seed."""
    started, worked = time.perf_counter(), time.process_time()
    model = NgramModel(order, len(text.vocabulary)).fit(text.training).tune(text.validation)
    run = {
        "seed": 0,
        "metrics": {"validation_perplexity": model.perplexity(text.validation)},
        "seconds": time.perf_counter() - started,
        "processor_seconds": time.process_time() - worked,
    }
    settings = {"order": order, "discounts": model.discounts}
    return Model(model.probabilities, model.stored_counts, run, {"settings": settings})


def learn(
    text: Text, size: tuple[int, int], seed: int, options: argparse.Namespace, std: float = STD
) -> Model:
    """Train a neural language model and keep the epoch with the lowest validation perplexity."""
    embedding, hidden = size
    seed_everything(seed)
    rows = torch.column_stack(context_windows(text.training, WINDOW))  # (N, window + 1)
    model = NeuralLanguageModel(len(text.vocabulary), embedding, WINDOW, hidden)
    nn.init.normal_(model.embedding.weight, std=std)

    def batches(epoch: int) -> Sequence[Tensor]:
        generator = torch.Generator().manual_seed(1000 * seed + epoch)
        return rows[torch.randperm(len(rows), generator=generator)].split(options.batch_size)

    def given(sentences: list[list[int]]) -> np.ndarray:
        return probabilities(model, *context_windows(sentences, WINDOW))

    def validate(_: nn.Module) -> dict[str, float]:
        reached = perplexity(given(text.validation))
        print(
            f"seed {seed}, m = {embedding}, h = {hidden}: validation perplexity {reached:.1f}",
            flush=True,
        )
        return {"perplexity": reached, "minus_perplexity": -reached}

    worked = time.process_time()
    history = train(
        model,
        batches,
        loss,
        epochs=options.epochs,
        learning_rate=options.learning_rate,
        decay=True,
        validate=validate,
        select="minus_perplexity",
        optimizer=lambda parameters: torch.optim.AdamW(
            parameters, lr=options.learning_rate, weight_decay=options.weight_decay, fused=True
        ),
        precision=getattr(torch, options.precision),
        progress=False,
    )
    for epoch in history.epochs:
        del epoch["minus_perplexity"]
    run = {
        "seed": seed,
        "metrics": {"validation_perplexity": history.epochs[history.best_epoch - 1]["perplexity"]},
        "seconds": history.seconds,
        "processor_seconds": time.process_time() - worked,
        "best_epoch": history.best_epoch,
        "history": history.epochs,
    }
    vectors, words = model.embedding.weight.detach().cpu(), text.vocabulary
    more = {
        "settings": {
            key: getattr(options, key)
            for key in ("epochs", "batch_size", "learning_rate", "weight_decay", "precision")
        }
        | {"embedding": embedding, "hidden": hidden, "window": WINDOW, "std": std},
        "neighbours": {
            word: [words.words[i] for i, _ in nearest(vectors, words.ids[word], 5)]
            for word in LOOKED_UP
            if word in words.ids
        },
    }
    return Model(given, sum(p.numel() for p in model.parameters()), run, more)


def mean_of(first: tuple[str, Model], second: tuple[str, Model], text: Text) -> Model:
    """Return a model with the mean of two models' probabilities."""
    (name, one), (other_name, other) = first, second

    def given(sentences: list[list[int]]) -> np.ndarray:
        return (one.given(sentences) + other.given(sentences)) / 2

    run = {
        "seed": one.run["seed"],
        "metrics": {"validation_perplexity": perplexity(given(text.validation))},
        "seconds": one.run["seconds"] + other.run["seconds"],
    }
    settings = {"of": [name, other_name], "weights": [0.5, 0.5]}
    return Model(given, one.parameters + other.parameters, run, {"settings": settings})


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments.add_argument("--words", type=int, default=400_000, help="of the training set")
    arguments.add_argument("--vocabulary-size", type=int, default=10_000)
    arguments.add_argument("--epochs", type=int, default=4)
    arguments.add_argument("--batch-size", type=int, default=256)
    arguments.add_argument("--learning-rate", type=float, default=4e-3)
    arguments.add_argument("--weight-decay", type=float, default=0.1, help="of AdamW")
    arguments.add_argument(
        "--precision",
        choices=["float32", "bfloat16"],
        default="bfloat16",
        help="bfloat16 is faster where the processor has it",
    )
    return arguments


def main(options: argparse.Namespace) -> None:
    """Count, train, evaluate on the test set, record."""
    corpus = datasets.load(DATA)
    text = Text(corpus, options.words, options.vocabulary_size)
    counted = {f"ngram-{n}": count(text, n) for n in ORDERS}
    for name, model in counted.items():
        print(f"{name}: validation perplexity {model.validation:.1f}", flush=True)
    best = min(counted.items(), key=lambda item: item[1].validation)
    learned: dict[str, list[Model]] = {}
    for m, h in SIZES:
        for seed in options.seeds:
            model = learn(text, (m, h), seed, options)
            name = f"neural-lm-{m}-{h}"
            learned.setdefault(name, []).append(model)
            mixed = mean_of((name, model), best, text)
            learned.setdefault(f"mixed-{m}-{h}", []).append(mixed)
    m, h = SIZES[1]
    learned[f"neural-lm-{m}-{h}-std-1"] = [
        learn(text, (m, h), seed, options, TORCH_STD) for seed in options.seeds
    ]
    counts = count_contexts(text.training, text.test, WINDOW)
    for name, models in ({name: [model] for name, model in counted.items()} | learned).items():
        results.write_result(
            name,
            DATA,
            runs=[model.run | _test(model, text, counts) for model in models],
            parameters=models[0].parameters,
            data_sha256=corpus.data_sha256,
            command=command("language_models", options),
            scorer=SCORER,
            text=text.describe(),
            **models[0].more,
        )


def _test(model: Model, text: Text, counts: np.ndarray) -> dict[str, Any]:
    given = model.given(text.test)  # the only use of the test set
    return {
        "metrics": model.run["metrics"] | {"perplexity": perplexity(given)},
        "by_context": group_by_context(given, counts),
    }
