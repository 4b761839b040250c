"""Fine-tune published weights in the course's own BERT, and compare them with baselines.

    python -m experiments minilm_finetuning --labels 500        # SST-2 with 500 labels
    python -m experiments minilm_finetuning --data mrpc
    python -m experiments minilm_finetuning --labels 500 --rank 8 --learning-rate 2e-3    # LoRA

The weights are those of all-MiniLM-L6-v2, in BERT's architecture: 6 layers, d = 384. They were
trained so that the mean of the states represents a text, and this mean is classified here; the
word piece embeddings stay frozen. The baselines are the same encoder from scratch, logistic
regression on its frozen mean states, and, for single texts, logistic regression on words and
bigrams. Writes book/results/minilm-<labels>.<data>.json. With --rank, the encoder is frozen except
for a correction of that rank to queries and values; the result goes to
minilm-lora-<labels>.<data>.json, without the baselines.

All choices are made on labels of the training set; after that, the test set is read once for each
row. With all labels, the number of updates and each regularisation are chosen on a validation set.
With --labels, no other labels are used: the last update counts, and the regularisation is chosen by
5-fold cross-validation. --on validation trains with --labels and evaluates on the validation set,
to choose a learning rate; it records nothing. SST-2's own test labels are not public: its
validation set is the test set here. Its training set consists of parse-tree phrases; only the whole
sentences are kept, and 885 of them are the validation set.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit import datasets
from coursekit.data.documents import whole_texts, words
from coursekit.models.bag_of_words import BagClassifier
from coursekit.models.bert import (
    BertBatch,
    EncodedPair,
    PretrainingModel,
    initialise,
    labelled_batches,
)
from coursekit.text.wordpiece import WordPieceVocabulary
from coursekit.training import device, results, seed_everything, train
from coursekit.training.checkpoints import load_or_compute

from .bert import adamw, encode_parts, encoder_of, judge
from .bert_loss_and_schedule import warm_up_and_decay
from .minilm_encoder import (
    HEADS,
    LAYERS,
    WIDTH,
    MeanClassifier,
    add_corrections,
    by_length,
    compute_features,
    load_published,
)
from .run_registry import command

WAYS = ("fine-tuned", "from-nothing", "frozen", "bag")
REGULARISATIONS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
HELD_OUT = 885  # validation sentences from SST-2's training set; 6,000 are left

Parts = dict[str, list[Any]]


def measure_reading(
    items: Sequence[EncodedPair], texts: Sequence[Any], pieces: WordPieceVocabulary
) -> dict[str, float]:
    """Return how much truncation leaves: the share of untruncated texts, and of all pieces."""
    whole = [
        len(pieces.encode(text[0], text[1] if len(text) == 3 else None, 1_000_000)[0])
        for text in texts
    ]
    read = [len(ids) for ids, _, _ in items]
    return {
        "whole_texts": sum(a == b for a, b in zip(read, whole, strict=True)) / len(whole),
        "pieces": sum(read) / sum(whole),
    }


def fit_best(
    fit: Callable[[list[int], float], Callable[[list[int]], list[int]]],
    labels: Sequence[int],
    training: int,
) -> tuple[Callable[[list[int]], list[int]], float]:
    """Fit with the regularisation that predicts held-out labels best.

    Args:
        fit: `fit(rows, strength)` fits to these rows and returns a function that predicts rows.
        labels: labels of the training rows, then of the validation rows. Without validation rows,
            5-fold cross-validation on the training rows is used.
        training: number of training rows.

    Returns:
        the predictor fitted to the training rows, and the regularisation.
    """
    rows = list(range(training))
    fifths = [(set(rows[i::5]), rows[i::5]) for i in range(5)]
    divided = [([r for r in rows if r not in out], held) for out, held in fifths]
    if training < len(labels):
        divided = [(rows, list(range(training, len(labels))))]

    def right(strength: float) -> int:
        found = 0
        for seen, held in divided:
            told = fit(seen, strength)(held)
            found += sum(a == labels[r] for a, r in zip(told, held, strict=True))
        return found

    best = max(REGULARISATIONS, key=right)
    return fit(rows, best), best


def classify_frozen(encoder: nn.Module, parts: Parts) -> list[int]:
    """Return the test set's classes as predicted by logistic regression on frozen states."""
    from sklearn.linear_model import LogisticRegression

    items = [*parts["train"], *parts["validation"]]
    labels = [item[-1] for item in items]
    given = compute_features(encoder, [*items, *parts["test"]])

    def fit(rows: list[int], strength: float) -> Callable[[list[int]], list[int]]:
        model = LogisticRegression(C=1 / strength, max_iter=5000)
        model.fit(given[rows], [labels[r] for r in rows])
        return lambda asked: model.predict(given[asked]).tolist()

    best, _ = fit_best(fit, labels, len(parts["train"]))
    return best(list(range(len(items), len(given))))


def bag(texts: Parts) -> list[int]:
    """Return the test set's classes as predicted by logistic regression on words and bigrams."""
    items = [*texts["train"], *texts["validation"]]
    labels = [item[-1] for item in items]
    cut = [words(item[0]) for item in [*items, *texts["test"]]]

    def fit(rows: list[int], strength: float) -> Callable[[list[int]], list[int]]:
        model = BagClassifier("logistic regression", ngrams=2, regularisation=strength)
        model.fit([cut[r] for r in rows], [labels[r] for r in rows])
        return lambda asked: model.predict([cut[r] for r in asked])

    best, _ = fit_best(fit, labels, len(texts["train"]))
    return best(list(range(len(items), len(cut))))


def tune(
    parts: Parts, state: dict[str, Tensor] | None, size: int, options: argparse.Namespace, seed: int
) -> tuple[list[int], dict[str, Any]]:
    """Fine-tune from published weights, or from scratch.

    Args:
        parts: encoded items of each part. Validation items, if any, choose the best update; else
            the last one counts.
        state: state of an encoder; None trains from scratch.
        size: number of word pieces.
        options: options of the command line.
        seed: seed of initial weights, order and dropout.

    Returns:
        the predicted classes of the test set, and the record of the training.
    """
    seed_everything(seed)
    encoder = encoder_of(options, size)
    model = MeanClassifier(encoder, options.width, 2, options.dropout)
    initialise(model.output)
    rate = options.rate_from_nothing
    if state is not None:
        encoder.load_state_dict(state)
        encoder.embeddings.token.requires_grad_(False)
        rate = options.learning_rate
    if options.rank:
        add_corrections(encoder, options.rank)
    training = parts["train"]
    batch_size = min(options.batch_size, max(8, len(training) // 10))
    in_epoch = -(-len(training) // batch_size)
    updates = max(options.updates, options.epochs * in_epoch)
    turns = -(-updates // options.turn)  # each turn ends with a validation
    updates = turns * options.turn

    def batches(turn: int) -> Iterator[BertBatch]:
        endless = (
            batch
            for epoch in count(1)
            for batch in labelled_batches(training, batch_size, 1000 * seed + epoch)
        )
        yield from islice(endless, (turn - 1) * options.turn, turn * options.turn)

    def loss(model: nn.Module, batch: BertBatch) -> Tensor:
        return F.cross_entropy(model(batch.tokens, batch.segments).float(), batch.labels)

    def validate(model: nn.Module) -> dict[str, float]:
        labels = [item[-1] for item in parts["validation"]]
        measured = judge(predict(model, parts["validation"], options), labels)
        print(f"seed {seed}: {measured}", flush=True)
        return measured

    choose = bool(parts["validation"])
    history = train(
        model, batches, loss, epochs=turns,
        schedule=warm_up_and_decay(rate, updates // 10, updates),
        optimizer=adamw, validate=validate if choose else None,
        select="accuracy" if choose else None, precision=getattr(torch, options.precision),
        progress=options.progress,
    )  # fmt: skip
    return (
        load_or_compute(model, lambda: predict(model, parts["test"], options)),
        {
            "seconds": history.seconds,
            "updates": updates,
            "best_update": history.best_epoch * options.turn,
            "trained_parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
            "history": history.epochs if choose else [],
        },
    )


@torch.no_grad()
def predict(
    model: nn.Module, items: Sequence[EncodedPair], options: argparse.Namespace
) -> list[int]:
    """Return the predicted class of each item, computed in the precision of the training."""
    told = torch.empty(len(items), dtype=torch.long)
    half = options.precision == "bfloat16"
    for rows, batch in by_length(items):
        with torch.autocast(device().type, torch.bfloat16, enabled=half):
            told[rows] = model(batch.tokens, batch.segments).argmax(dim=-1).cpu()
    return told.tolist()


def bootstrap_intervals(told: Sequence[int], labels: Sequence[int]) -> dict[str, list[float]]:
    """Return the 95 % bootstrap intervals of accuracy and F1 over resampled test sets."""
    right, says, true = np.array(told) == labels, np.array(told) == 1, np.array(labels) == 1
    draw = np.random.default_rng(0)
    measured = []
    for _ in range(1000):
        rows = draw.integers(len(labels), size=len(labels))
        both = (says & true)[rows].sum()
        marked = says[rows].sum() + true[rows].sum()
        measured.append((right[rows].mean(), 2 * both / marked if marked else 0.0))
    low, high = np.quantile(measured, (0.025, 0.975), axis=0).tolist()
    return {name: [low[i], high[i]] for i, name in enumerate(("accuracy", "f1"))}


def divide(corpus: datasets.Corpus[Any]) -> Parts:
    """Return training, validation and test sets; those of SST-2 are whole sentences."""
    if "test" in corpus.splits:
        return {part: corpus.split(part) for part in ("train", "validation", "test")}
    whole = whole_texts(corpus.train)
    order = torch.randperm(len(whole), generator=torch.Generator().manual_seed(0)).tolist()
    drawn = [whole[i] for i in order]
    return {"train": drawn[HELD_OUT:], "validation": drawn[:HELD_OUT], "test": corpus.validation}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data", choices=["sst-2", "mrpc", "imdb"], default="sst-2")
    arguments.add_argument("--labels", type=int, default=0, help="to train on; 0: all")
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1])
    arguments.add_argument("--epochs", type=int, default=3, help="at least")
    arguments.add_argument("--updates", type=int, default=500, help="at least")
    arguments.add_argument("--turn", type=int, default=100, help="updates before each validation")
    arguments.add_argument("--batch-size", type=int, default=16)
    arguments.add_argument("--learning-rate", type=float, default=5e-5)
    arguments.add_argument("--rate-from-nothing", type=float, default=3e-4)
    arguments.add_argument("--ways", choices=WAYS, nargs="+", default=list(WAYS))
    arguments.add_argument("--rank", type=int, default=0, help="of LoRA's corrections; 0: none")
    arguments.add_argument("--length", type=int, default=64, help="in pieces, marks included")
    arguments.add_argument("--dropout", type=float, default=0.1)
    arguments.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    arguments.add_argument(
        "--on",
        choices=["test", "validation"],
        default="test",
        help=("data set part to evaluate on"),
    )
    arguments.add_argument("--progress", action="store_true", help="show a progress bar")
    arguments.set_defaults(width=WIDTH, layers=LAYERS, heads=HEADS)
    return arguments


def main(options: argparse.Namespace) -> None:
    """Train with each seed and record."""
    repeat = command("minilm_finetuning", options, leave=("progress", "width", "layers", "heads"))
    model, pieces, weights_sha256 = load_published()
    corpus = datasets.load(options.data)
    texts = divide(corpus)
    parts = encode_parts(texts, pieces, options.length)
    runs = [run_seed(model, texts, parts, pieces, options, seed) for seed in options.seeds]
    if options.on == "validation":
        return
    results.write_result(
        f"minilm-{'lora-' if options.rank else ''}{options.labels or 'all'}",
        options.data,
        runs=runs,
        parameters=sum(p.numel() for p in model.encoder.parameters()),
        data_sha256=corpus.data_sha256,
        weights_sha256=weights_sha256,
        command=repeat,
        scorer="accuracy, F1 of class 1 and Matthews' correlation of scikit-learn",
        settings={k: v for k, v in vars(options).items() if k not in ("data", "seeds", "progress")},
    )


def run_seed(
    model: PretrainingModel,
    texts: Parts,
    parts: Parts,
    pieces: WordPieceVocabulary,
    options: argparse.Namespace,
    seed: int,
) -> dict:
    """Return the metrics of each method, trained with labels drawn by the seed."""
    draw = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(parts["train"]), generator=draw).tolist()
    texts, parts = (
        {
            "train": [given["train"][i] for i in order[: options.labels or None]],
            "validation": [] if options.labels else given["validation"],
            "test": given[options.on],
        }
        for given in (texts, parts)
    )
    # Truncate the position embeddings: no text here is longer, and the first rows are unchanged.
    state = dict(model.encoder.state_dict())
    state["embeddings.position.weight"] = state["embeddings.position.weight"][: options.length]
    labels = [item[-1] for item in parts["test"]]
    positive = sum(labels) / len(labels)
    run: dict[str, Any] = {
        "seed": seed,
        "labels": len(parts["train"]),
        "test_texts": len(labels),
        "read": measure_reading(parts["test"], texts["test"], pieces),
        "metrics": {"commonest_class": max(positive, 1 - positive)},
        "intervals": {},
    }
    wanted = {"fine-tuned"} if options.rank else set(options.ways)

    def keep(suffix: str, told: list[int]) -> None:
        run["metrics"] |= {name + suffix: value for name, value in judge(told, labels).items()}
        run["intervals"] |= {
            name + suffix: ends for name, ends in bootstrap_intervals(told, labels).items()
        }
        print(f"{options.data}, seed {seed}{suffix}: {run['metrics']}", flush=True)

    started = time.perf_counter()
    if "frozen" in wanted:
        keep("_frozen", classify_frozen(model.encoder, parts))
    if "bag" in wanted and len(texts["test"][0]) == 2:
        keep("_bag", bag(texts))
    run["seconds_frozen_and_bag"] = time.perf_counter() - started
    starts = {"fine-tuned": (state, ""), "from-nothing": (None, "_from_scratch")}
    for begun, suffix in (start for way, start in starts.items() if way in wanted):
        told, training = tune(parts, begun, len(pieces), options, seed)
        keep(suffix, told)
        run |= {name + suffix: value for name, value in training.items()}
    return run
