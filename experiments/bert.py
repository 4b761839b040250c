"""Pre-train a small BERT on WikiText-2, fine-tune it, and record the gain from pre-training.

    python -m experiments bert                            # pre-training; weights to --weights
    python -m experiments bert --data sst-2               # fine-tuning, pre-trained and not
    python -m experiments bert --data sst-2 --labels 50   # on few labels
    python -m experiments bert --data mrpc                # on pairs of sentences

Writes book/results/bert.wikitext-2.json, then bert-finetuned-<labels>.<data>.json. The epoch is
chosen on validation data; the test set is read once, after that. SST-2's own test labels are not
public: its validation set is the test set here, and validation data are held out from the training
set.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit import datasets
from coursekit.models.bert import (
    BertBatch,
    EncodedPair,
    PretrainingModel,
    initialise,
    labelled_batches,
    pretraining_batches,
)
from coursekit.text.wordpiece import WordPieceVocabulary
from coursekit.training import device, results, seed_everything, train
from solutions.bert.finetuning import SequenceClassifier
from solutions.bert.inputs import BertEmbeddings, mask_tokens, next_sentence_pairs
from solutions.bert.pretraining import BertEncoder, BertLayer, MaskedLanguageModelHead, pool_first

from .bert_loss_and_schedule import bert_loss, warm_up_and_decay
from .run_registry import command

TITLE = re.compile(r"^= [^=].*[^=] =$")
HELD_OUT = 1000  # validation phrases held out from SST-2's training set


def split_articles(lines: Iterable[str]) -> list[list[str]]:
    """Return the articles of WikiText as lists of paragraphs, without headings."""
    texts: list[list[str]] = []
    for line in lines:
        if TITLE.match(line):
            texts.append([])
        elif line and not line.startswith("=") and texts:
            texts[-1].append(clean(line))
    return texts


def clean(text: str) -> str:
    """Undo WikiText's markup: `@-@` for a hyphen inside a word, `<unk>` for a rare word."""
    return re.sub(r" @(.)@ ", r"\1", text).replace("<unk>", "[UNK]")


def cut_paragraph(ids: Sequence[int], stop: int, most: int) -> Iterator[list[int]]:
    """Split a paragraph after full stops into texts of at most `most` pieces where possible."""
    text: list[int] = []
    for is_stop, group in groupby(ids, key=lambda i: i == stop):
        part = list(group)
        if not is_stop and text and len(text) + len(part) >= most:
            yield text
            text = []
        text += part
    if text:
        yield text


def read_documents(
    lines: Iterable[str], words: WordPieceVocabulary, most: int
) -> list[list[list[int]]]:
    """Return articles as lists of texts of a few sentences, each at most `most` pieces."""
    stop = words.id(".")
    return [
        [
            text[start : start + most]  # a longer sentence is split into several texts
            for paragraph in article
            for text in cut_paragraph(words.ids(paragraph), stop, most)
            for start in range(0, len(text), most)
        ]
        for article in split_articles(lines)
    ]


def encoder_of(options: argparse.Namespace, size: int) -> BertEncoder:
    """Return a newly initialised encoder of the options' sizes."""
    d, drop = options.width, options.dropout
    layers = [BertLayer(d, options.heads, 4 * d, drop) for _ in range(options.layers)]
    embeddings = BertEmbeddings(size, d, options.length, dropout=drop)
    encoder = BertEncoder(embeddings, layers)
    initialise(encoder)
    return encoder


@torch.no_grad()
def measure(model: PretrainingModel, batches: Iterable[BertBatch]) -> dict[str, float]:
    """Return accuracy and perplexity of masked words, and accuracy of next sentences."""
    right = loss = words = right_next = pairs = 0.0
    for batch in batches:
        batch = batch.to(device())
        states = model.encoder(batch.tokens, batch.segments)
        chosen = batch.labels != -100
        logits, labels = model.head(states[chosen]), batch.labels[chosen]
        right += (logits.argmax(dim=-1) == labels).sum().item()
        loss += F.cross_entropy(logits, labels, reduction="sum").item()
        words += len(labels)
        is_next = model.next(model.summarise(states)).argmax(dim=-1) == 0
        right_next += (is_next == batch.is_next).sum().item()
        pairs += len(is_next)
    return {
        "masked_accuracy": right / words,
        "masked_perplexity": float(torch.tensor(loss / words).exp()),
        "next_accuracy": right_next / pairs,
    }


def adamw(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Return Adam with weight decay on matrices, as in appendix A.2."""
    kinds: dict[bool, list[nn.Parameter]] = {True: [], False: []}
    for parameter in parameters:
        kinds[parameter.dim() > 1].append(parameter)
    groups = [
        {"params": kinds[True], "weight_decay": 0.01},
        {"params": kinds[False], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, betas=(0.9, 0.999))


def vocabulary_of(corpus: datasets.Corpus[str], options: argparse.Namespace) -> WordPieceVocabulary:
    """Return the vocabulary learned from the pre-training text."""
    paragraphs = [p for article in split_articles(corpus.train) for p in article]
    return WordPieceVocabulary(paragraphs, options.vocabulary)


def pretrain(corpus: datasets.Corpus[str], options: argparse.Namespace, seed: int) -> dict:
    """Pre-train once; return the run's seed, metrics, seconds and history."""
    seed_everything(seed)
    words = vocabulary_of(corpus, options)
    encoder = encoder_of(options, len(words))
    embeddings: Any = encoder.embeddings
    head = MaskedLanguageModelHead(embeddings.token)
    model = PretrainingModel(encoder, head, options.width, pool_first)
    initialise(nn.ModuleList([head.transform, model.pooler, model.next]))
    most = (options.length - 3) // 2
    texts = {
        p: read_documents(corpus.split(p), words, most) for p in ("train", "validation", "test")
    }

    def batches(part: str, turn: int) -> Iterator[BertBatch]:
        generator = torch.Generator().manual_seed(turn)
        pairs = next_sentence_pairs(texts[part], generator)
        items: list[EncodedPair] = [
            (*words.join(first, second, options.length), int(follows))
            for first, second, follows in pairs
        ]

        def mask(tokens: Tensor, special: Tensor) -> tuple[Tensor, Tensor]:
            return mask_tokens(tokens, special, len(words), words.mask_id, generator)

        return pretraining_batches(items, options.batch_size, turn, mask, words.special_ids)

    pairs = sum(max(len(d) - 1, 0) for d in texts["train"])
    steps = options.epochs * (pairs // options.batch_size + 1)
    started = time.perf_counter()

    def validate(_: nn.Module) -> dict[str, float]:
        row = measure(model, batches("validation", 0))
        print(f"seed {seed}: {row}, {time.perf_counter() - started:.0f} s", flush=True)
        return {**row, "score": -row["masked_perplexity"]}

    history = train(
        model,
        lambda epoch: batches("train", 1000 * seed + epoch),
        bert_loss,
        epochs=options.epochs,
        schedule=warm_up_and_decay(options.learning_rate, max(steps // 10, 1), steps),
        optimizer=adamw,
        validate=validate,
        select="score",
        precision=getattr(torch, options.precision),
        progress=options.progress,
    )
    Path(options.weights).parent.mkdir(parents=True, exist_ok=True)
    torch.save(
        {"encoder": encoder.state_dict(), "pooler": model.pooler.state_dict()}, options.weights
    )
    best = history.epochs[history.best_epoch - 1]
    return {
        "seed": seed,
        "metrics": {
            **measure(model, batches("test", 0)),
            "validation_masked_perplexity": best["masked_perplexity"],
        },
        "seconds": history.seconds,
        "best_epoch": history.best_epoch,
        "training_pairs": pairs,
        "training_pieces": sum(len(text) for d in texts["train"] for text in d),
        "steps": steps,
        "parameters": sum(p.numel() for p in model.parameters()),
        "history": history.epochs,
    }


def judge(told: Sequence[int], labels: Sequence[int]) -> dict[str, float]:
    """Return GLUE's metrics for two classes: accuracy, F1 of class 1, Matthews correlation."""
    from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

    return {
        "accuracy": float(accuracy_score(labels, told)),
        "f1": float(f1_score(labels, told, zero_division=0.0)),
        "matthews": float(matthews_corrcoef(labels, told)),
    }


def finetune(
    parts: dict[str, list[EncodedPair]],
    state: dict[str, Any] | None,
    size: int,
    options: argparse.Namespace,
    seed: int,
    select: str = "accuracy",
    prepare: Callable[[BertEncoder], None] = lambda encoder: None,
) -> dict:
    """Fine-tune once, from a pre-trained state or from scratch; return metrics and run data.

    `prepare` may change the encoder after its initial weights are set.
    """
    seed_everything(seed)
    encoder = encoder_of(options, size)
    model = SequenceClassifier(encoder, options.width, 2, options.dropout)
    initialise(nn.ModuleList([model.pooler, model.output]))
    if state is not None:
        encoder.load_state_dict(state["encoder"])
        model.pooler.load_state_dict(state["pooler"])
    prepare(encoder)
    training = parts["train"]
    batch_size = min(options.batch_size, max(8, len(training) // 10))
    epochs = max(options.epochs, min(30, 4000 // len(training)))
    steps = epochs * (len(training) // batch_size + 1)

    def loss(model: nn.Module, batch: BertBatch) -> Tensor:
        return F.cross_entropy(model(batch.tokens, batch.segments).float(), batch.labels)

    @torch.no_grad()
    def scores(part: str) -> dict[str, float]:
        told: list[int] = []
        labels: list[int] = []
        for batch in labelled_batches(parts[part], 128, 0):
            batch = batch.to(device())
            told += model(batch.tokens, batch.segments).argmax(dim=-1).tolist()
            labels += batch.labels.tolist()
        return judge(told, labels)

    history = train(
        model,
        lambda epoch: labelled_batches(training, batch_size, 1000 * seed + epoch),
        loss,
        epochs=epochs,
        schedule=warm_up_and_decay(options.learning_rate, max(steps // 10, 1), steps),
        optimizer=adamw,
        validate=lambda _: scores("validation"),
        select=select,
        precision=getattr(torch, options.precision),
        progress=options.progress,
    )
    return {
        "metrics": {
            **scores("test"),  # the only use of the test set
            f"validation_{select}": history.epochs[history.best_epoch - 1][select],
        },
        "seconds": history.seconds,
        "epochs": epochs,
        "best_epoch": history.best_epoch,
        "trained_parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
    }


def divide_parts(corpus: datasets.Corpus[Any]) -> dict[str, list[Any]]:
    """Return training, validation and test sets.

    If the test set has no public labels, the validation set serves as the test set, and validation
    items are held out from the training set.
    """
    if "test" in corpus.splits:
        return {p: corpus.split(p) for p in ("train", "validation", "test")}
    order = torch.randperm(len(corpus.train), generator=torch.Generator().manual_seed(0)).tolist()
    training = [corpus.train[i] for i in order]
    return {
        "train": training[HELD_OUT:],
        "validation": training[:HELD_OUT],
        "test": corpus.validation,
    }


def encode_parts(
    parts: dict[str, list[Any]], words: WordPieceVocabulary, length: int
) -> dict[str, list[EncodedPair]]:
    """Return the items of each part as ids, segments and class."""
    return {
        part: [
            (*words.encode(item[0], item[1] if len(item) == 3 else None, length), item[-1])
            for item in items
        ]
        for part, items in parts.items()
    }


def finetune_both(
    parts: dict[str, list[EncodedPair]], state: Any, size: int, options: Any, seed: int
) -> dict:
    """Fine-tune on labels drawn by the seed, from the pre-trained state and from scratch."""
    draw = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(parts["train"]), generator=draw).tolist()
    chosen = {**parts, "train": [parts["train"][i] for i in order[: options.labels or None]]}
    positive = fmean(item[-1] for item in parts["test"])
    run: dict[str, Any] = {
        "seed": seed,
        "labels": len(chosen["train"]),
        "metrics": {"commonest_class": max(positive, 1 - positive)},  # majority baseline
    }
    for begun, suffix in ((state, ""), (None, "_from_scratch")):
        one = finetune(chosen, begun, size, options, seed)
        print(f"seed {seed}{suffix}: {one}", flush=True)
        run["metrics"] |= {name + suffix: value for name, value in one.pop("metrics").items()}
        run |= {name + suffix: value for name, value in one.items()}
    return run


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data", choices=["wikitext-2", "sst-2", "mrpc"], default="wikitext-2")
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1])
    arguments.add_argument("--epochs", type=int, help="pre-training 6, fine-tuning 3 or more")
    arguments.add_argument("--batch-size", type=int, default=32)
    arguments.add_argument(
        "--learning-rate", type=float, help="pre-training 1e-3, fine-tuning 3e-4"
    )
    arguments.add_argument("--width", type=int, default=128)
    arguments.add_argument("--layers", type=int, default=4)
    arguments.add_argument("--heads", type=int, default=4)
    arguments.add_argument(
        "--length",
        type=int,
        default=96,
        help=("maximum word pieces of a pair, special tokens included"),
    )
    arguments.add_argument("--vocabulary", type=int, default=8000)
    arguments.add_argument("--dropout", type=float, default=0.1)
    arguments.add_argument("--labels", type=int, default=0, help="to fine-tune on; 0: all")
    arguments.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    arguments.add_argument("--progress", action="store_true", help="show a progress bar")
    arguments.add_argument("--weights", default="_build/weights/bert.pt", help="of the encoder")
    return arguments


def main(options: argparse.Namespace) -> None:
    """Train with each seed and record."""
    pretraining = options.data == "wikitext-2"
    repeat = command("bert", options, leave=("weights", "progress"))
    options.epochs = options.epochs or (6 if pretraining else 3)
    options.learning_rate = options.learning_rate or (1e-3 if pretraining else 3e-4)
    text = datasets.load("wikitext-2")
    if pretraining:
        corpus: Any = text
        runs = [pretrain(text, options, seed) for seed in options.seeds]
    else:
        if not Path(options.weights).is_file():
            sys.exit(f"There is no {options.weights}: pre-train first, without --data.")
        state = torch.load(options.weights, weights_only=True, map_location="cpu")
        corpus = datasets.load(options.data)
        words = vocabulary_of(text, options)
        parts = encode_parts(divide_parts(corpus), words, options.length)
        runs = [finetune_both(parts, state, len(words), options, seed) for seed in options.seeds]
    parameters = runs[0].pop("parameters", None) or sum(
        p.numel() for p in encoder_of(options, options.vocabulary).parameters()
    )
    results.write_result(
        "bert" if pretraining else f"bert-finetuned-{options.labels or 'all'}",
        options.data,
        runs=runs,
        parameters=parameters,
        data_sha256=corpus.data_sha256,
        command=repeat,
        scorer="share of words, pairs or texts that are told right",
        settings={
            k: v
            for k, v in vars(options).items()
            if k not in ("data", "seeds", "weights", "progress")
        },
    )
