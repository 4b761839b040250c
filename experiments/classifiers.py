"""Train the classifiers of sentences and documents at full size and record their accuracy.

    python -m experiments classifiers                              # BiLSTM with attention, IMDB
    python -m experiments classifiers --model han                  # likewise for each of MODELS
    python -m experiments classifiers --data nsmc                  # Korean film reviews, subwords
    python -m experiments classifiers --data bbc --model han       # news topics

Writes book/results/<model>.<data>.json. The epoch is chosen by accuracy on validation data held out
from the training set; the test set is read once, after that.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from coursekit import datasets
from coursekit.data.documents import (
    DocumentBatch,
    TextBatch,
    document_batches,
    encode_document,
    middle_cut,
    sentences,
    text_batches,
    words,
)
from coursekit.models.baseline_classifiers import (
    ConvolutionalClassifier,
    PooledClassifier,
    accuracy,
    classification_loss,
    compute_outputs,
)
from coursekit.text.vocabulary import UNK, SubwordVocabulary, WordVocabulary
from coursekit.training import device, results, seed_everything, train
from solutions.han.attention import AttentionPooling
from solutions.han.network import HierarchicalAttentionNetwork
from solutions.sentences.pooling import AttentionClassifier, masked_max, masked_mean
from solutions.sentences.structured import (
    StructuredClassifier,
    StructuredSelfAttention,
    redundancy_penalty,
)

from . import classifier_attention
from .pooling import final_state
from .run_registry import command

MODELS = (
    "bilstm-attention",
    "bilstm-last",
    "bilstm-mean",
    "bilstm-max",
    "structured",
    "structured-no-penalty",
    "han",
    "hn-ave",
    "hn-max",
    "cnn",
    "average",
)
Batch = TextBatch | DocumentBatch
SUBWORDS = {"nsmc", "naver-shopping", "steam"}  # Korean, whose words have too many forms


class Pooled(nn.Module):
    """Replacement for HAN's attention: mean or max pooling of the real rows, uniform weights.

    Args:
        pool: `pool(states (B, N, d), mask (B, N)) -> (B, d)`.
    """

    def __init__(self, pool: Callable[[Tensor, Tensor], Tensor]):
        super().__init__()
        self.pool = pool

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the pooled vectors (B, d) and weights (B, N)."""
        even = mask / mask.sum(dim=1, keepdim=True).clamp(min=1)  # (B, N)
        return self.pool(states, mask), even


# The pooling of both levels of the hierarchy; the paper's HN-AVE and HN-MAX have no attention.
HIERARCHIES: dict[str, Callable[[int, int], nn.Module]] = {
    "han": AttentionPooling,
    "hn-ave": lambda states, attention: Pooled(masked_mean),
    "hn-max": lambda states, attention: Pooled(masked_max),
}


@dataclass(frozen=True)
class Task:
    """A corpus encoded for one kind of model: as texts, or as documents for hierarchical models."""

    vocabulary: WordVocabulary | SubwordVocabulary
    parts: dict[str, list[Any]]
    hierarchical: bool
    classes: int

    def batches(self, part: str, batch_size: int, seed: int = 0) -> Iterator[Batch]:
        """Return the batches of a part: train, validation or test."""
        make = document_batches if self.hierarchical else text_batches
        return make(self.parts[part], batch_size, seed)

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the words or subwords of ids."""
        return self.vocabulary.tokens(ids)


def prepare(corpus: datasets.Corpus[tuple[str, int]], options: argparse.Namespace) -> Task:
    """Encode a corpus; the vocabulary is learned from the training set only."""
    hierarchical = options.model in HIERARCHIES
    texts = [text for text, _ in corpus.train]
    vocabulary: WordVocabulary | SubwordVocabulary
    if corpus.name in SUBWORDS and not hierarchical:
        vocabulary = subwords = SubwordVocabulary(texts, options.vocabulary)

        def encode(text: str) -> list[Any]:
            return middle_cut(subwords.encode(text, eos=False), options.max_words)
    else:
        vocabulary = known = WordVocabulary(
            map(words, texts), options.minimum_count, options.vocabulary
        )

        def encode(text: str) -> list[Any]:
            if hierarchical:
                return encode_document(sentences(text), known)
            return middle_cut(known.encode(words(text), eos=False), options.max_words)

    parts = {
        part: [(encode(text), label) for text, label in corpus.split(part)]
        for part in ("train", "validation", "test")
    }
    return Task(vocabulary, parts, hierarchical, 1 + max(label for _, label in corpus.train))


def build(task: Task, options: argparse.Namespace) -> nn.Module:
    """Return the model selected by the options."""
    size, e, d = len(task.vocabulary), options.embedding, options.width
    a, drop, classes = options.attention, options.dropout, task.classes
    model = options.model
    if model == "bilstm-attention":
        return AttentionClassifier(size, e, d, a, classes, drop)
    if model.startswith("structured"):
        looks = StructuredSelfAttention(2 * d, a, options.hops)
        return StructuredClassifier(size, e, d, looks, options.hops, 4 * d, classes, drop)
    if model in HIERARCHIES:
        make = HIERARCHIES[model]
        pools = make(2 * d, a), make(2 * d, a)
        return HierarchicalAttentionNetwork(size, e, d, *pools, classes, drop)
    if model == "cnn":
        return ConvolutionalClassifier(size, e, 100, classes, dropout=drop)
    if model == "average":
        return PooledClassifier(size, e, 0, masked_mean, classes, drop)
    pool = {"last": final_state, "mean": masked_mean, "max": masked_max}[model.split("-")[1]]
    return PooledClassifier(size, e, d, pool, classes, drop)


def loss_of(options: argparse.Namespace) -> Callable[[nn.Module, Batch], Tensor]:
    """Return the loss: cross entropy with word dropout, plus the penalty if there is one."""
    penalty = options.penalty if options.model == "structured" else 0.0

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        if options.word_dropout:
            batch = hidden_words(batch, options.word_dropout)
        if not penalty:
            return classification_loss(model, batch)
        logits, weights = compute_outputs(model, batch)
        entropy = nn.functional.cross_entropy(logits, batch.labels)
        return entropy + penalty * redundancy_penalty(weights.float())

    return loss


def hidden_words(batch: Batch, share: float) -> Batch:
    """Return a batch with a share of the words replaced by <unk> (word dropout)."""
    tokens = batch.tokens if isinstance(batch, TextBatch) else batch.documents
    hide = (torch.rand(tokens.shape, device=tokens.device) < share) & (tokens != 0)
    tokens = tokens.masked_fill(hide, UNK)
    if isinstance(batch, TextBatch):
        return TextBatch(tokens, batch.lengths, batch.labels)
    return DocumentBatch(tokens, batch.labels)


def run(corpus: datasets.Corpus[tuple[str, int]], options: argparse.Namespace, seed: int) -> dict:
    """Train once; return the run's seed, metrics, seconds, history and attention measures."""
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
    best = history.column("accuracy")[history.best_epoch - 1]
    if options.no_test or best < options.at_least:
        return {"metrics": {"validation_accuracy": best}}
    measured = {
        "seed": seed,
        "metrics": {
            "accuracy": accuracy(model, task.batches("test", 128)),  # the only use of the test set
            "validation_accuracy": best,
        },
        "seconds": history.seconds,
        "best_epoch": history.best_epoch,
        "texts_per_second": len(task.parts["train"]) * len(history.epochs) / history.seconds,
        "training_texts": len(task.parts["train"]),
        "parameters": sum(p.numel() for p in model.parameters()),
        "history": history.epochs,
    }
    if options.weights:
        torch.save(model.state_dict(), options.weights)
    return measured | classifier_attention.look_at(model.to(device()), task, corpus, options)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--model", choices=MODELS, default="bilstm-attention")
    arguments.add_argument("--data", default="imdb")
    arguments.add_argument("--name", help="record the run under this name, not under the model's")
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1])
    arguments.add_argument("--epochs", type=int, default=8)
    arguments.add_argument("--batch-size", type=int, default=64)
    arguments.add_argument("--embedding", type=int, default=128)
    arguments.add_argument("--width", type=int, default=64, help="size of a state, each direction")
    arguments.add_argument(
        "--attention", type=int, default=64, help="size of the attention's layer"
    )
    arguments.add_argument("--hops", type=int, default=8)
    arguments.add_argument("--penalty", type=float, default=0.03, help="weight of hops' redundancy")
    arguments.add_argument("--dropout", type=float, default=0.5)
    arguments.add_argument("--word-dropout", type=float, default=0.1, help="share of words hidden")
    arguments.add_argument("--learning-rate", type=float, default=1e-3)
    arguments.add_argument("--vocabulary", type=int, default=30_000, help="ids at most")
    arguments.add_argument("--minimum-count", type=int, default=3)
    arguments.add_argument(
        "--max-words",
        type=int,
        default=400,
        help=("maximum words of a text; longer texts are truncated in the middle"),
    )
    arguments.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    arguments.add_argument("--progress", action="store_true", help="show a progress bar")
    arguments.add_argument(
        "--no-test", action="store_true", help="only try settings; record nothing"
    )
    arguments.add_argument(
        "--at-least",
        type=float,
        default=0.0,
        help="use the test set and record only if the validation accuracy reaches this value",
    )
    arguments.add_argument("--weights", help="also save the trained weights in this file")
    return arguments


def main(options: argparse.Namespace) -> None:
    """Train with each seed and record."""
    corpus = datasets.load(options.data)
    runs = [run(corpus, options, seed) for seed in options.seeds]
    if any("accuracy" not in one["metrics"] for one in runs):
        return  # the test set was not read
    unnamed = ("weights", "progress", "no_test", "at_least")
    results.write_result(
        options.name or options.model,
        options.data,
        runs=[{k: v for k, v in r.items() if k != "parameters"} for r in runs],
        parameters=runs[0]["parameters"],
        data_sha256=corpus.data_sha256,
        command=command("classifiers", options, leave=unnamed),
        scorer="share of texts that get their class",
        settings={
            k: v for k, v in vars(options).items() if k not in ("data", "seeds", "name", *unnamed)
        },
    )
