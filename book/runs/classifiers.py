"""Train the classifiers of sentences and documents at full size and record what they reach.

    python book/runs/classifiers.py                              # BiLSTM with attention, IMDB
    python book/runs/classifiers.py --model han                  # and so on for each of MODELS
    python book/runs/classifiers.py --data nsmc                  # Korean film reviews, subwords
    python book/runs/classifiers.py --data bbc --model han       # topics of news

Writes book/results/<model>.<data>.json. The epoch is chosen by accuracy on validation data that are
taken out of the training part; the test set is read once, after that.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import looking
import torch
from torch import Tensor, nn

from coursekit import datasets, results
from coursekit.classifiers import (
    ConvolutionalClassifier,
    PooledClassifier,
    accuracy,
    classification_loss,
    outputs,
)
from coursekit.documents import (
    DocumentBatch,
    TextBatch,
    document_batches,
    encode_document,
    middle_cut,
    sentences,
    text_batches,
    words,
)
from coursekit.training import device, seed_everything, train
from coursekit.vocabulary import UNK, SubwordVocabulary, WordVocabulary
from solutions.han.attention import AttentionPooling
from solutions.han.network import HierarchicalAttentionNetwork
from solutions.sentences.pooling import AttentionClassifier, last_state, masked_max, masked_mean
from solutions.sentences.structured import (
    StructuredClassifier,
    StructuredSelfAttention,
    redundancy_penalty,
)

MODELS = (
    "bilstm-attention",
    "bilstm-last",
    "bilstm-mean",
    "bilstm-max",
    "structured",
    "structured-no-penalty",
    "han",
    "cnn",
    "average",
)
Batch = TextBatch | DocumentBatch
SUBWORDS = {"nsmc", "naver-shopping", "steam"}  # Korean: words have too many forms


@dataclass(frozen=True)
class Task:
    """A corpus, encoded for one kind of model: texts, or documents for the hierarchical one."""

    vocabulary: WordVocabulary | SubwordVocabulary
    parts: dict[str, list[Any]]
    hierarchical: bool
    classes: int

    def batches(self, part: str, batch_size: int, seed: int = 0) -> Iterator[Batch]:
        """Yield the batches of a part: train, validation or test."""
        make = document_batches if self.hierarchical else text_batches
        return make(self.parts[part], batch_size, seed)

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the words or subwords of ids."""
        return self.vocabulary.tokens(ids)


def prepare(corpus: datasets.LabelledCorpus, options: argparse.Namespace) -> Task:
    """Encode a corpus; the vocabulary is learnt from the training part alone."""
    hierarchical = options.model == "han"
    texts = [text for text, _ in corpus.train]
    vocabulary: WordVocabulary | SubwordVocabulary
    if corpus.name in SUBWORDS:
        vocabulary = SubwordVocabulary(texts, options.vocabulary)
        cut = vocabulary.encode
    else:
        vocabulary = WordVocabulary(map(words, texts), options.minimum_count, options.vocabulary)

        def cut(text: str, eos: bool) -> list[int]:
            return vocabulary.encode(words(text), eos)

    def encoded(text: str) -> list[Any]:
        if hierarchical:
            return encode_document(sentences(text), vocabulary)
        return middle_cut(cut(text, eos=False), options.max_words)

    parts = {
        part: [(encoded(text), label) for text, label in corpus.split(part)]
        for part in ("train", "validation", "test")
    }
    return Task(vocabulary, parts, hierarchical, 1 + max(label for _, label in corpus.train))


def final_state(states: Tensor, mask: Tensor) -> Tensor:
    """Return the last state of the forward RNN and the first of the backward RNN, (B, 2d)."""
    d = states.shape[2] // 2
    ahead = last_state(states[..., :d], mask.sum(dim=1).clamp(min=1))  # (B, d)
    return torch.cat([ahead, states[:, 0, d:]], dim=1)  # (B, 2d)


def build(task: Task, options: argparse.Namespace) -> nn.Module:
    """Return the model that the options name."""
    size, e, d = len(task.vocabulary), options.embedding, options.width
    a, drop, classes = options.attention, options.dropout, task.classes
    model = options.model
    if model == "bilstm-attention":
        return AttentionClassifier(size, e, d, a, classes, drop)
    if model.startswith("structured"):
        looks = StructuredSelfAttention(2 * d, a, options.hops)
        return StructuredClassifier(size, e, d, looks, options.hops, 4 * d, classes, drop)
    if model == "han":
        pools = AttentionPooling(2 * d, a), AttentionPooling(2 * d, a)
        return HierarchicalAttentionNetwork(size, e, d, *pools, classes, drop)
    if model == "cnn":
        return ConvolutionalClassifier(size, e, 100, classes, dropout=drop)
    if model == "average":
        return PooledClassifier(size, e, 0, masked_mean, classes, drop)
    pool = {"last": final_state, "mean": masked_mean, "max": masked_max}[model.split("-")[1]]
    return PooledClassifier(size, e, d, pool, classes, drop)


def loss_of(options: argparse.Namespace):
    """Return the loss: cross entropy, some words hidden, and the penalty where there is one."""
    penalty = options.penalty if options.model == "structured" else 0.0

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        if options.word_dropout:
            batch = hidden_words(batch, options.word_dropout)
        if not penalty:
            return classification_loss(model, batch)
        logits, weights = outputs(model, batch)
        entropy = nn.functional.cross_entropy(logits, batch.labels)
        return entropy + penalty * redundancy_penalty(weights.float())

    return loss


def hidden_words(batch: Batch, share: float) -> Batch:
    """Return a batch in which a share of the words is unknown, so that no word is all there is."""
    is_text = isinstance(batch, TextBatch)
    tokens = batch.tokens if is_text else batch.documents
    hide = (torch.rand(tokens.shape, device=tokens.device) < share) & (tokens != 0)
    tokens = tokens.masked_fill(hide, UNK)
    if is_text:
        return TextBatch(tokens, batch.lengths, batch.labels)
    return DocumentBatch(tokens, batch.labels)


def run(corpus: datasets.LabelledCorpus, options: argparse.Namespace, seed: int) -> dict:
    """Train once; return the run's seed, metrics, seconds, history and what attention looked at."""
    seed_everything(seed)
    task = prepare(corpus, options)
    model = build(task, options)
    started = time.perf_counter()

    def validate(_: nn.Module) -> dict[str, float]:
        row = {"accuracy": accuracy(model, task.batches("validation", 128))}
        print(f"seed {seed}: {row}, {time.perf_counter() - started:.0f} s", flush=True)
        return row

    history = train(
        model,
        lambda epoch: task.batches("train", options.batch_size, 1000 * seed + epoch),
        loss_of(options),
        epochs=options.epochs,
        learning_rate=options.learning_rate,
        decay=True,
        validate=validate,
        select="accuracy",
        precision=getattr(torch, options.precision),
        progress=options.progress,
    )
    seconds = time.perf_counter() - started
    best = history.column("accuracy")[history.best_epoch - 1]
    if options.no_test or best < options.at_least:
        return {"metrics": {"validation_accuracy": best}}
    found = {
        "seed": seed,
        "metrics": {
            "accuracy": accuracy(model, task.batches("test", 128)),  # the test set's one reading
            "validation_accuracy": best,
        },
        "seconds": seconds,
        "best_epoch": history.best_epoch,
        "texts_per_second": len(task.parts["train"]) * len(history.epochs) / seconds,
        "training_texts": len(task.parts["train"]),
        "parameters": sum(p.numel() for p in model.parameters()),
        "history": history.epochs,
    }
    if options.weights:
        torch.save(model.state_dict(), options.weights)
    return found | looking.at(model.to(device()), task, corpus, options)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    found.add_argument("--model", choices=MODELS, default="bilstm-attention")
    found.add_argument("--data", default="imdb")
    found.add_argument("--name", help="record the run under this name, not under the model's")
    found.add_argument("--seeds", type=int, nargs="+", default=[1])
    found.add_argument("--epochs", type=int, default=8)
    found.add_argument("--batch-size", type=int, default=64)
    found.add_argument("--embedding", type=int, default=128)
    found.add_argument("--width", type=int, default=64, help="size of a state, each direction")
    found.add_argument("--attention", type=int, default=64, help="size of the attention's layer")
    found.add_argument("--hops", type=int, default=8)
    found.add_argument("--penalty", type=float, default=0.03, help="weight of hops' redundancy")
    found.add_argument("--dropout", type=float, default=0.5)
    found.add_argument("--word-dropout", type=float, default=0.1, help="share of words hidden")
    found.add_argument("--learning-rate", type=float, default=1e-3)
    found.add_argument("--vocabulary", type=int, default=30_000, help="ids at most")
    found.add_argument("--minimum-count", type=int, default=3)
    found.add_argument("--max-words", type=int, default=400, help="more are cut from the middle")
    found.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    found.add_argument("--progress", action="store_true", help="show a progress bar")
    found.add_argument("--no-test", action="store_true", help="only try settings; record nothing")
    found.add_argument(
        "--at-least",
        type=float,
        default=0.0,
        help="read the test set and record only if the accuracy on validation data gets there",
    )
    found.add_argument("--weights", help="also save the trained weights in this file")
    return found


def main() -> None:
    """Read the command line, train with each seed, record."""
    arguments = parser()
    options = arguments.parse_args()
    corpus = datasets.load(options.data)
    runs = [run(corpus, options, seed) for seed in options.seeds]
    if any("accuracy" not in found["metrics"] for found in runs):
        return  # the test set was not read
    unnamed = ("weights", "progress", "no_test", "at_least")
    defaults = arguments.parse_args([])
    given = [
        f"--{key.replace('_', '-')} {' '.join(map(str, value)) if key == 'seeds' else value}"
        for key, value in vars(options).items()
        if key not in unnamed and value != getattr(defaults, key)
    ]
    results.record(
        options.name or options.model,
        options.data,
        runs=[{k: v for k, v in r.items() if k != "parameters"} for r in runs],
        parameters=runs[0]["parameters"],
        data_sha256=corpus.data_sha256,
        command=" ".join(["python book/runs/classifiers.py", *given]),
        scorer="share of texts that get their class",
        settings={
            k: v for k, v in vars(options).items() if k not in ("data", "seeds", "name", *unnamed)
        },
    )


if __name__ == "__main__":
    main()
