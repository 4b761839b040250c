"""Pre-train a small BERT on WikiText-2, fine-tune it, and record what pre-training is worth.

    python book/runs/bert.py                            # pre-training; weights to --weights
    python book/runs/bert.py --data sst-2               # fine-tuning, with it and without
    python book/runs/bert.py --data sst-2 --labels 50   # on few labels
    python book/runs/bert.py --data mrpc                # on pairs of sentences

Writes book/results/bert.wikitext-2.json, then bert-finetuned-<labels>.<data>.json. The epoch is
chosen on validation data; the test set is read once, after that. SST-2's own test labels are not
public: its validation part is the test set here, and validation data are taken out of the training
part.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit import datasets, results
from coursekit.bert import (
    BertBatch,
    EncodedPair,
    PretrainingModel,
    initialise,
    labelled_batches,
    pretraining_batches,
)
from coursekit.training import device, seed_everything, train
from coursekit.wordpiece import WordPieceVocabulary
from solutions.bert.finetuning import SequenceClassifier
from solutions.bert.inputs import BertEmbeddings, mask_tokens, next_sentence_pairs
from solutions.bert.pretraining import (
    BertEncoder,
    BertLayer,
    MaskedLanguageModelHead,
    pool_first,
    pretraining_loss,
)

TITLE = re.compile(r"^= [^=].*[^=] =$")
HELD_OUT = 1000  # validation phrases taken out of SST-2's training part


def articles(lines: Iterable[str]) -> list[list[str]]:
    """Return the articles of WikiText as lists of paragraphs; headings are left out."""
    found: list[list[str]] = []
    for line in lines:
        if TITLE.match(line):
            found.append([])
        elif line and not line.startswith("=") and found:
            found[-1].append(clean(line))
    return found


def clean(text: str) -> str:
    """Undo WikiText's own marks: `@-@` for a hyphen inside a word, `<unk>` for a rare word."""
    return re.sub(r" @(.)@ ", r"\1", text).replace("<unk>", "[UNK]")


def chunks(ids: Sequence[int], stop: int, most: int) -> Iterator[list[int]]:
    """Cut a paragraph behind full stops into texts of at most `most` pieces where that goes."""
    text: list[int] = []
    for is_stop, group in groupby(ids, key=lambda i: i == stop):
        part = list(group)
        if not is_stop and text and len(text) + len(part) >= most:
            yield text
            text = []
        text += part
    if text:
        yield text


def documents(lines: Iterable[str], words: WordPieceVocabulary, most: int) -> list[list[list[int]]]:
    """Return articles as lists of texts of a few sentences, each at most `most` pieces."""
    stop = words.id(".")
    return [
        [
            text[start : start + most]  # a sentence that is longer is cut into several texts
            for paragraph in article
            for text in chunks(words.ids(paragraph), stop, most)
            for start in range(0, len(text), most)
        ]
        for article in articles(lines)
    ]


def encoder_of(options: argparse.Namespace, size: int) -> BertEncoder:
    """Return an encoder of the options' sizes, with new weights."""
    d, drop = options.width, options.dropout
    layers = [BertLayer(d, options.heads, 4 * d, drop) for _ in range(options.layers)]
    embeddings = BertEmbeddings(size, d, options.length, dropout=drop)
    encoder = BertEncoder(embeddings, layers)
    initialise(encoder)
    return encoder


def heads_loss(model: nn.Module, batch: BertBatch) -> Tensor:
    """Return the loss of pre-training; words are scored where one was chosen, nowhere else."""
    assert isinstance(model, PretrainingModel)
    states = model.encoder(batch.tokens, batch.segments)  # (B, N, d)
    chosen = batch.labels != -100  # (B, N)
    logits = model.head(states[chosen])  # (M, V)
    next_logits = model.next(model.pooled(states))  # (B, 2)
    labels = batch.labels[chosen]  # (M,)
    return pretraining_loss(logits[None].float(), next_logits.float(), labels[None], batch.is_next)


@torch.no_grad()
def measured(model: PretrainingModel, batches: Iterable[BertBatch]) -> dict[str, float]:
    """Return how well masked words and next sentences are told."""
    right = loss = words = right_next = pairs = 0.0
    for batch in batches:
        batch = batch.to(device())
        states = model.encoder(batch.tokens, batch.segments)
        chosen = batch.labels != -100
        logits, labels = model.head(states[chosen]), batch.labels[chosen]
        right += (logits.argmax(dim=-1) == labels).sum().item()
        loss += F.cross_entropy(logits, labels, reduction="sum").item()
        words += len(labels)
        is_next = model.next(model.pooled(states)).argmax(dim=-1) == 0
        right_next += (is_next == batch.is_next).sum().item()
        pairs += len(is_next)
    return {
        "masked_accuracy": right / words,
        "masked_perplexity": float(torch.tensor(loss / words).exp()),
        "next_accuracy": right_next / pairs,
    }


def warm(peak: float, warmup: int, steps: int) -> Callable[[int], float]:
    """Return the paper's schedule: up in a line for `warmup` steps, then down in a line to 0."""
    return lambda step: peak * min(step / warmup, max(steps - step + 1, 0) / (steps - warmup))


def adamw(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Return Adam with decay of the weights of matrices, as in appendix A.2."""
    kinds: dict[bool, list[nn.Parameter]] = {True: [], False: []}
    for parameter in parameters:
        kinds[parameter.dim() > 1].append(parameter)
    groups = [
        {"params": kinds[True], "weight_decay": 0.01},
        {"params": kinds[False], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, betas=(0.9, 0.999))


def vocabulary_of(corpus: datasets.TextCorpus, options: argparse.Namespace) -> WordPieceVocabulary:
    """Return the pieces learnt from the text of pre-training."""
    paragraphs = [p for article in articles(corpus.train) for p in article]
    return WordPieceVocabulary(paragraphs, options.vocabulary)


def pretrain(corpus: datasets.TextCorpus, options: argparse.Namespace, seed: int) -> dict:
    """Pre-train once; return the run's seed, metrics, seconds and history."""
    seed_everything(seed)
    words = vocabulary_of(corpus, options)
    encoder = encoder_of(options, len(words))
    head = MaskedLanguageModelHead(encoder.embeddings.token)
    model = PretrainingModel(encoder, head, options.width, pool_first)
    initialise(nn.ModuleList([head.transform, model.pooler, model.next]))
    most = (options.length - 3) // 2
    texts = {p: documents(corpus.split(p), words, most) for p in ("train", "validation", "test")}

    def batches(part: str, turn: int) -> Iterator[BertBatch]:
        generator = torch.Generator().manual_seed(turn)
        pairs = next_sentence_pairs(texts[part], generator)
        items: list[EncodedPair] = [
            (*words.joined(first, second, options.length), int(follows))
            for first, second, follows in pairs
        ]

        def mask(tokens: Tensor, special: Tensor) -> tuple[Tensor, Tensor]:
            return mask_tokens(tokens, special, len(words), words.mask_id, generator)

        return pretraining_batches(items, options.batch_size, turn, mask, words.special_ids)

    pairs = sum(max(len(d) - 1, 0) for d in texts["train"])
    steps = options.epochs * (pairs // options.batch_size + 1)
    started = time.perf_counter()

    def validate(_: nn.Module) -> dict[str, float]:
        row = measured(model, batches("validation", 0))
        print(f"seed {seed}: {row}, {time.perf_counter() - started:.0f} s", flush=True)
        return {**row, "score": -row["masked_perplexity"]}

    history = train(
        model,
        lambda epoch: batches("train", 1000 * seed + epoch),
        heads_loss,
        epochs=options.epochs,
        schedule=warm(options.learning_rate, max(steps // 10, 1), steps),
        optimizer=adamw,
        validate=validate,
        select="score",
        precision=getattr(torch, options.precision),
        progress=options.progress,
    )
    seconds = time.perf_counter() - started
    Path(options.weights).parent.mkdir(parents=True, exist_ok=True)
    torch.save(
        {"encoder": encoder.state_dict(), "pooler": model.pooler.state_dict()}, options.weights
    )
    best = history.epochs[history.best_epoch - 1]
    return {
        "seed": seed,
        "metrics": {
            **measured(model, batches("test", 0)),
            "validation_masked_perplexity": best["masked_perplexity"],
        },
        "seconds": seconds,
        "best_epoch": history.best_epoch,
        "training_pairs": pairs,
        "training_pieces": sum(len(text) for d in texts["train"] for text in d),
        "steps": steps,
        "parameters": sum(p.numel() for p in model.parameters()),
        "history": history.epochs,
        "filled_in": filled_in(model.eval(), words, texts["test"]),
    }


@torch.no_grad()
def filled_in(model: PretrainingModel, words: WordPieceVocabulary, texts: Any) -> list[dict]:
    """Return some test sentences with one word hidden, and what the model would fill in."""
    found = []
    for document in texts[:24:2]:
        ids, segments = words.joined(document[len(document) // 2][:40])
        place = len(ids) // 2
        hidden = [*ids[:place], words.mask_id, *ids[place + 1 :]]
        tokens = torch.tensor([hidden], device=device())
        states = model.encoder(tokens, torch.tensor([segments], device=device()))
        best = model.head(states[0, place]).float().softmax(dim=-1).topk(5)
        found.append(
            {
                "tokens": words.tokens(ids),
                "place": place,
                "guesses": words.tokens(best.indices.tolist()),
                "probabilities": best.values.tolist(),
            }
        )
    return found


def finetune(
    parts: dict[str, list[EncodedPair]],
    state: dict[str, Any] | None,
    size: int,
    options: argparse.Namespace,
    seed: int,
) -> dict:
    """Fine-tune once, from a pre-trained state or from nothing; return what was measured."""
    seed_everything(seed)
    encoder = encoder_of(options, size)
    model = SequenceClassifier(encoder, options.width, 2, options.dropout)
    initialise(nn.ModuleList([model.pooler, model.output]))
    if state is not None:
        encoder.load_state_dict(state["encoder"])
        model.pooler.load_state_dict(state["pooler"])
    training = parts["train"]
    batch_size = min(options.batch_size, max(8, len(training) // 10))
    epochs = max(options.epochs, min(30, 4000 // len(training)))
    steps = epochs * (len(training) // batch_size + 1)

    def loss(model: nn.Module, batch: BertBatch) -> Tensor:
        return F.cross_entropy(model(batch.tokens, batch.segments).float(), batch.labels)

    @torch.no_grad()
    def scores(part: str) -> dict[str, float]:
        """Accuracy, and F1 of class 1 as GLUE has it: 2 TP / (2 TP + FP + FN)."""
        right = both_say = either_says = 0
        for batch in labelled_batches(parts[part], 128, 0):
            batch = batch.to(device())
            told = model(batch.tokens, batch.segments).argmax(dim=-1)
            right += int((told == batch.labels).sum())
            both_say += int((told * batch.labels).sum())
            either_says += int((told + batch.labels).sum())
        return {
            "accuracy": right / len(parts[part]),
            "f1": 2 * both_say / either_says if either_says else 0.0,
        }

    started = time.perf_counter()
    history = train(
        model,
        lambda epoch: labelled_batches(training, batch_size, 1000 * seed + epoch),
        loss,
        epochs=epochs,
        schedule=warm(options.learning_rate, max(steps // 10, 1), steps),
        optimizer=adamw,
        validate=lambda _: scores("validation"),
        select="accuracy",
        precision=getattr(torch, options.precision),
        progress=options.progress,
    )
    seconds = time.perf_counter() - started
    return {
        "metrics": {
            **scores("test"),  # the test set's one reading
            "validation_accuracy": history.epochs[history.best_epoch - 1]["accuracy"],
        },
        "seconds": seconds,
        "epochs": epochs,
        "best_epoch": history.best_epoch,
    }


def labelled(corpus: Any, words: WordPieceVocabulary, length: int) -> dict[str, list[EncodedPair]]:
    """Return training, validation and test part as ids, segments and classes."""

    def encoded(items: Sequence[Any]) -> list[EncodedPair]:
        return [
            (*words.encode(item[0], item[1] if len(item) == 3 else None, length), item[-1])
            for item in items
        ]

    if "test" in corpus.splits:
        return {p: encoded(corpus.split(p)) for p in ("train", "validation", "test")}
    order = torch.randperm(len(corpus.train), generator=torch.Generator().manual_seed(0)).tolist()
    training = encoded([corpus.train[i] for i in order])
    return {
        "train": training[HELD_OUT:],
        "validation": training[:HELD_OUT],
        "test": encoded(corpus.validation),
    }


def both(
    parts: dict[str, list[EncodedPair]], state: Any, size: int, options: Any, seed: int
) -> dict:
    """Fine-tune on some labels of a seed's choice, from the pre-trained state and from nothing."""
    draw = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(parts["train"]), generator=draw).tolist()
    chosen = {**parts, "train": [parts["train"][i] for i in order[: options.labels or None]]}
    positive = fmean(item[-1] for item in parts["test"])
    found: dict[str, Any] = {
        "seed": seed,
        "labels": len(chosen["train"]),
        "metrics": {"commonest_class": max(positive, 1 - positive)},  # always that answer
    }
    for begun, suffix in ((state, ""), (None, "_from_scratch")):
        one = finetune(chosen, begun, size, options, seed)
        print(f"seed {seed}{suffix}: {one}", flush=True)
        found["metrics"] |= {name + suffix: value for name, value in one.pop("metrics").items()}
        found |= {name + suffix: value for name, value in one.items()}
    return found


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    found.add_argument("--data", choices=["wikitext-2", "sst-2", "mrpc"], default="wikitext-2")
    found.add_argument("--seeds", type=int, nargs="+", default=[1])
    found.add_argument("--epochs", type=int, help="pre-training 6, fine-tuning 3 or more")
    found.add_argument("--batch-size", type=int, default=32)
    found.add_argument("--learning-rate", type=float, help="pre-training 1e-3, fine-tuning 3e-4")
    found.add_argument("--width", type=int, default=128)
    found.add_argument("--layers", type=int, default=4)
    found.add_argument("--heads", type=int, default=4)
    found.add_argument("--length", type=int, default=96, help="pieces of a pair, marks included")
    found.add_argument("--vocabulary", type=int, default=8000)
    found.add_argument("--dropout", type=float, default=0.1)
    found.add_argument("--labels", type=int, default=0, help="to fine-tune on; 0: all")
    found.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    found.add_argument("--progress", action="store_true", help="show a progress bar")
    found.add_argument("--weights", default="_build/weights/bert.pt", help="of the encoder")
    return found


def main() -> None:
    """Read the command line, train with each seed, record."""
    arguments = parser()
    options = arguments.parse_args()
    pretraining = options.data == "wikitext-2"
    given = [
        f"--{key.replace('_', '-')} {' '.join(map(str, v)) if isinstance(v, list) else v}"
        for key, v in vars(options).items()
        if key not in ("weights", "progress") and v != arguments.get_default(key)
    ]
    options.epochs = options.epochs or (6 if pretraining else 3)
    options.learning_rate = options.learning_rate or (1e-3 if pretraining else 3e-4)
    text = datasets.load("wikitext-2")
    if pretraining:
        corpus: Any = text
        runs = [pretrain(text, options, seed) for seed in options.seeds]
    else:
        if not Path(options.weights).is_file():
            arguments.error(f"there is no {options.weights}: pre-train first, without --data")
        state = torch.load(options.weights, weights_only=True, map_location="cpu")
        corpus = datasets.load(options.data)
        words = vocabulary_of(text, options)
        parts = labelled(corpus, words, options.length)
        runs = [both(parts, state, len(words), options, seed) for seed in options.seeds]
    parameters = runs[0].pop("parameters", None) or sum(
        p.numel() for p in encoder_of(options, options.vocabulary).parameters()
    )
    results.record(
        "bert" if pretraining else f"bert-finetuned-{options.labels or 'all'}",
        options.data,
        runs=runs,
        parameters=parameters,
        data_sha256=corpus.data_sha256,
        command=" ".join(["python book/runs/bert.py", *given]),
        scorer="share of words, pairs or texts that are told right",
        settings={
            k: v
            for k, v in vars(options).items()
            if k not in ("data", "seeds", "weights", "progress")
        },
    )


if __name__ == "__main__":
    main()
