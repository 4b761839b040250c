"""Count and learn language models on a part of WikiText-2 and record their perplexities.

    python book/runs/language_models.py

As many words as the Brown corpus gave Bengio et al. (2003) for training, a vocabulary of the 10,000
most frequent, n-gram models of 1 to 5 words, neural language models of three sizes that see four
words, and the mean of the best of both. Discounts, epoch and size are chosen on the validation set;
the test set is read once, after that. Writes book/results/<model>.wikitext-2.json.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit import datasets, results
from coursekit.ngrams import NgramModel, context_windows, perplexity
from coursekit.training import device, seed_everything, train
from coursekit.vocabulary import UNK, WordVocabulary
from solutions.embeddings.vectors import NeuralLanguageModel

DATA = "wikitext-2"
WINDOW = 4  # words of context, those that a 5-gram has
ORDERS = (1, 2, 3, 4, 5)
SIZES = ((15, 25), (30, 50), (60, 100))  # numbers in a word's vector, hidden units
SCORER = "exp of the mean negative log probability of a word or <eos>, <unk> counted as a word"


class Text:
    """The corpus as ids: the training part up to so many words, validation and test whole."""

    def __init__(self, corpus: datasets.TextCorpus, words: int, vocabulary_size: int) -> None:
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
        """How many words each part has, and how many of them are unknown."""
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
    """Return the cross entropy per word of rows (B, window + 1): the context and what follows."""
    return F.cross_entropy(model(rows[:, :-1]), rows[:, -1])


@torch.no_grad()
def probabilities(model: nn.Module, contexts: Tensor, words: Tensor) -> np.ndarray:
    """Return what the model gave each word that came, (N,)."""
    found = []
    for context, word in zip(contexts.split(1024), words.split(1024), strict=True):
        logits = model(context.to(device()))  # (B, V)
        found.append(-F.cross_entropy(logits, word.to(device()), reduction="none").cpu())
    return torch.cat(found).double().exp().numpy()


def learn(
    text: Text, embedding: int, hidden: int, options: argparse.Namespace
) -> tuple[nn.Module, dict[str, Any]]:
    """Train a neural language model; return it and its run without test results."""
    seed_everything(options.seed)
    rows = torch.column_stack(context_windows(text.training, WINDOW))  # (N, window + 1)
    held_out = context_windows(text.validation, WINDOW)
    model = NeuralLanguageModel(len(text.vocabulary), embedding, WINDOW, hidden)

    def batches(epoch: int) -> Sequence[Tensor]:
        generator = torch.Generator().manual_seed(1000 * options.seed + epoch)
        return rows[torch.randperm(len(rows), generator=generator)].split(options.batch_size)

    def validate(m: nn.Module) -> dict[str, float]:
        found = perplexity(probabilities(m, *held_out))
        print(f"m = {embedding}, h = {hidden}: {found:.1f}", flush=True)
        return {"perplexity": found, "better": -found}

    history = train(
        model,
        batches,
        loss,
        epochs=options.epochs,
        learning_rate=options.learning_rate,
        decay=True,
        validate=validate,
        select="better",
        precision=getattr(torch, options.precision),
        progress=False,
    )
    return model, {
        "seed": options.seed,
        "metrics": {"validation_perplexity": history.epochs[history.best_epoch - 1]["perplexity"]},
        "seconds": history.seconds,
        "best_epoch": history.best_epoch,
        "history": [
            {key: value for key, value in epoch.items() if key != "better"}
            for epoch in history.epochs
        ],
    }


def seen(text: Text) -> np.ndarray:
    """Tell of each word of the test set whether it stood in training after the same context."""
    rows = torch.column_stack(context_windows(text.training, WINDOW)).tolist()
    known = set(map(tuple, rows))
    test = torch.column_stack(context_windows(text.test, WINDOW)).tolist()
    return np.array([tuple(row) in known for row in test])


def main() -> None:
    """Read the command line, count, train, choose, read the test set, record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--words", type=int, default=800_000, help="of the training set")
    parser.add_argument("--vocabulary-size", type=int, default=10_000)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument(
        "--precision",
        choices=["float32", "bfloat16"],
        default="bfloat16",
        help="bfloat16 is faster where the processor has it",
    )
    options = parser.parse_args()
    corpus = datasets.load(DATA)
    text = Text(corpus, options.words, options.vocabulary_size)
    models: dict[str, tuple[Any, int, dict[str, Any], dict[str, Any]]] = {}
    for order in ORDERS:
        started = time.perf_counter()
        counted = NgramModel(order, len(text.vocabulary)).fit(text.training)
        counted.tune(text.validation)
        metrics = {"validation_perplexity": counted.perplexity(text.validation)}
        print(f"{order}-gram: {metrics}", flush=True)
        seconds = time.perf_counter() - started
        run = {"seed": options.seed, "metrics": metrics, "seconds": seconds}
        more = {"order": order, "discounts": counted.discounts}
        models[f"ngram-{order}"] = (counted, counted.stored_counts, run, more)
    for embedding, hidden in SIZES:
        learnt, run = learn(text, embedding, hidden, options)
        size = sum(p.numel() for p in learnt.parameters())
        more = {"embedding": embedding, "hidden": hidden, "window": WINDOW}
        models[f"neural-lm-{embedding}-{hidden}"] = (learnt, size, run, more)

    def best(kind: str) -> str:
        names = [name for name in models if name.startswith(kind)]
        return min(names, key=lambda name: models[name][2]["metrics"]["validation_perplexity"])

    pair = best("neural-lm"), best("ngram")
    # The one reading of the test set.
    test_windows = context_windows(text.test, WINDOW)
    found = {
        name: model.probabilities(text.test)
        if isinstance(model, NgramModel)
        else probabilities(model, *test_windows)
        for name, (model, *_) in models.items()
    }
    held_out = [
        models[pair[0]][0],
        models[pair[1]][0],
    ]
    mixed_validation = (
        probabilities(held_out[0], *context_windows(text.validation, WINDOW))
        + held_out[1].probabilities(text.validation)
    ) / 2
    found["mixed"] = (found[pair[0]] + found[pair[1]]) / 2
    models["mixed"] = (
        None,
        models[pair[0]][1] + models[pair[1]][1],
        {
            "seed": options.seed,
            "metrics": {"validation_perplexity": perplexity(mixed_validation)},
            "seconds": models[pair[0]][2]["seconds"] + models[pair[1]][2]["seconds"],
        },
        {"of": pair, "weights": [0.5, 0.5]},
    )
    known = seen(text)
    for name, (_, size, run, more) in models.items():
        metrics = {
            "perplexity": perplexity(found[name]),
            **run["metrics"],
            "perplexity_of_seen": perplexity(found[name][known]),
            "perplexity_of_unseen": perplexity(found[name][~known]),
        }
        results.record(
            name,
            DATA,
            runs=[run | {"metrics": metrics}],
            parameters=size,
            data_sha256=corpus.data_sha256,
            command="python book/runs/language_models.py",
            scorer=SCORER,
            settings=vars(options) | more,
            text=text.describe() | {"test_unseen": float(np.mean(~known))},
        )


if __name__ == "__main__":
    main()
