"""Fine-tune published weights in the course's own BERT, and record what they are worth.

    python -m book.runs minilm --labels 500        # SST-2 with 500 labels
    python -m book.runs minilm --data mrpc
    python -m book.runs minilm --labels 500 --rank 8 --learning-rate 1e-3    # LoRA

The weights are those of all-MiniLM-L6-v2, in BERT's architecture: 6 layers, d = 384. Beside them
stand the same encoder from nothing, logistic regression on its frozen states, and, for single
texts, logistic regression on words and pairs of words. Writes
book/results/minilm-<labels>.<data>.json. With --rank the encoder is frozen but for a correction of
that rank to queries and values; that goes to minilm-lora-<labels>.<data>.json, without the others.
With many labels frozen states take longer than fine-tuning: --ways chooses.

The epoch and each regularisation are chosen on validation data; the test set is read once for each
row, after that. Who has few labels has few to validate with, too: with --labels there are as many
as to train on, 200 at least. SST-2's and CoLA's own test labels are not public: their validation
parts are the test sets here, and 1,000 validation texts are taken out of the training parts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from coursekit import datasets, results
from coursekit.bags import BagClassifier
from coursekit.bert import EncodedPair, PretrainingModel, pad_items
from coursekit.documents import words
from coursekit.training import device
from coursekit.wordpiece import WordPieceVocabulary
from solutions.bert.finetuning import load_pretrained
from solutions.bert.inputs import BertEmbeddings
from solutions.bert.pretraining import BertEncoder, BertLayer, MaskedLanguageModelHead, pool_first

from .bert import divide_parts, encode_parts, finetune, judge
from .commands import command

LAYERS, WIDTH, HEADS, POSITIONS = 6, 384, 12, 512
WAYS = ("fine-tuned", "from-nothing", "frozen", "bag")
REGULARISATIONS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SELECT = {"cola": "matthews"}  # by what the epoch is chosen; accuracy if not named


def published() -> tuple[PretrainingModel, WordPieceVocabulary, str]:
    """Return the course's BERT with the published weights, their word pieces and their checksum."""
    weights = datasets.load("minilm-l6")
    pieces = WordPieceVocabulary.from_pieces(weights.split("pieces"))
    embeddings = BertEmbeddings(len(pieces), WIDTH, POSITIONS)
    encoder = BertEncoder(embeddings, [BertLayer(WIDTH, HEADS, 4 * WIDTH) for _ in range(LAYERS)])
    head = MaskedLanguageModelHead(embeddings.token)
    model = PretrainingModel(encoder, head, WIDTH, pool_first)
    load_pretrained(model, dict(weights.split("weights")))
    return model.eval(), pieces, weights.data_sha256


class LowRank(nn.Module):
    """A frozen matrix W (m, d) with a trained correction: W + (16 / r) B A, B being 0 at first."""

    def __init__(self, weight: Tensor, rank: int):
        super().__init__()
        self.A = nn.Parameter(torch.randn(rank, weight.shape[1]) / rank)
        self.B = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, weight: Tensor) -> Tensor:
        """Return the corrected matrix, (m, d)."""
        return weight + (16 / len(self.A)) * self.B @ self.A


def correct(encoder: nn.Module, rank: int) -> None:
    """Freeze an encoder, and give its queries and values corrections of low rank."""
    encoder.requires_grad_(False)
    layers: Any = encoder.layers
    for layer in layers:
        for linear in (layer.attention.query, layer.attention.value):
            parametrize.register_parametrization(linear, "weight", LowRank(linear.weight, rank))


@torch.no_grad()
def mean_states(encoder: nn.Module, items: Sequence[EncodedPair]) -> Tensor:
    """Return the mean of each text's states, marks included, (number of texts, d)."""
    order = sorted(range(len(items)), key=lambda i: len(items[i][0]))
    means = torch.empty(len(items), WIDTH)
    for start in range(0, len(order), 64):
        rows = order[start : start + 64]
        tokens, segments, _ = pad_items([items[i] for i in rows])
        states = encoder(tokens.to(device()), segments.to(device())).cpu()  # (B, N, d)
        real = (tokens != 0).unsqueeze(-1)  # (B, N, 1)
        means[rows] = (states * real).sum(1) / real.sum(1)  # (B, d)
    return means


def features(encoder: nn.Module, items: Sequence[EncodedPair]) -> np.ndarray:
    """Return what frozen states say of texts: the mean u, or of pairs |u - v| and u v."""
    if not any(1 in segments for _, segments, _ in items):
        return mean_states(encoder, items).numpy()
    first, second = (
        mean_states(encoder, [one_text(item, part) for item in items]) for part in (0, 1)
    )
    return torch.cat([(first - second).abs(), first * second], dim=-1).numpy()


def one_text(item: EncodedPair, part: int) -> EncodedPair:
    """Return the first or the second text of a pair, between marks of its own."""
    ids, segments, label = item
    own = [i for i, segment in zip(ids, segments, strict=True) if segment == part]
    own = own if part == 0 else [ids[0], *own]
    return own, [0] * len(own), label


def frozen(encoder: nn.Module, parts: dict[str, list[EncodedPair]]) -> dict[str, float]:
    """Return what logistic regression on frozen states reaches."""
    from sklearn.linear_model import LogisticRegression

    given = {part: features(encoder, items) for part, items in parts.items()}
    labels = {part: [item[-1] for item in items] for part, items in parts.items()}

    def fitted(strength: float) -> LogisticRegression:
        model = LogisticRegression(C=1 / strength, max_iter=5000)
        return model.fit(given["train"], labels["train"])

    def said(strength: float, part: str) -> dict[str, float]:
        return judge(fitted(strength).predict(given[part]).tolist(), labels[part])

    best = max(REGULARISATIONS, key=lambda c: said(c, "validation")["accuracy"])
    return said(best, "test")


def bag(parts: dict[str, list[Any]]) -> dict[str, float]:
    """Return what logistic regression on words and pairs of neighbours reaches."""
    cut = {part: [words(item[0]) for item in items] for part, items in parts.items()}
    labels = {part: [item[-1] for item in items] for part, items in parts.items()}
    tried = [
        BagClassifier("logistic regression", ngrams=2, regularisation=c).fit(
            cut["train"], labels["train"]
        )
        for c in REGULARISATIONS
    ]
    best = max(tried, key=lambda one: one.accuracy(cut["validation"], labels["validation"]))
    return judge(best.predict(cut["test"]), labels["test"])


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data", choices=["sst-2", "mrpc", "cola", "imdb"], default="sst-2")
    arguments.add_argument("--labels", type=int, default=0, help="to train on; 0: all")
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments.add_argument("--epochs", type=int, default=3, help="at least; few labels need more")
    arguments.add_argument("--batch-size", type=int, default=16)
    arguments.add_argument("--learning-rate", type=float, default=1e-4)
    arguments.add_argument("--ways", choices=WAYS, nargs="+", default=list(WAYS))
    arguments.add_argument("--rank", type=int, default=0, help="of LoRA's corrections; 0: none")
    arguments.add_argument("--length", type=int, default=128, help="in pieces, marks included")
    arguments.add_argument("--dropout", type=float, default=0.1)
    arguments.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    arguments.add_argument("--progress", action="store_true", help="show a progress bar")
    arguments.set_defaults(width=WIDTH, layers=LAYERS, heads=HEADS)
    return arguments


def main(options: argparse.Namespace) -> None:
    """Read the command line, train with each seed, record."""
    hidden = ("width", "layers", "heads")
    repeat = command("minilm", options, leave=("progress", *hidden))
    model, pieces, weights_sha256 = published()
    corpus = datasets.load(options.data)
    texts = divide_parts(corpus)
    parts = encode_parts(texts, pieces, options.length)
    runs = [one(model, texts, parts, len(pieces), options, seed) for seed in options.seeds]
    results.record(
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


def one(
    model: PretrainingModel,
    texts: dict[str, list[Any]],
    parts: dict[str, list[EncodedPair]],
    size: int,
    options: argparse.Namespace,
    seed: int,
) -> dict:
    """Return what each way reaches with some labels of a seed's choice."""
    draw = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(parts["train"]), generator=draw).tolist()
    chosen = order[: options.labels or None]
    most = max(options.labels, 200) if options.labels else None
    texts, parts = (
        {
            "train": [given["train"][i] for i in chosen],
            "validation": given["validation"][:most],
            "test": given["test"],
        }
        for given in (texts, parts)
    )
    # A shorter table of positions: no text here is longer, and the first rows are the same ones.
    state: dict[str, Any] = {
        "encoder": dict(model.encoder.state_dict()),
        "pooler": model.pooler.state_dict(),
    }
    position = "embeddings.position.weight"
    state["encoder"][position] = state["encoder"][position][: options.length]
    positive = sum(item[-1] for item in parts["test"]) / len(parts["test"])
    run: dict[str, Any] = {
        "seed": seed,
        "labels": len(parts["train"]),
        "metrics": {"commonest_class": max(positive, 1 - positive)},
    }
    ways: dict[str, dict[str, float]] = {}
    wanted = {"fine-tuned"} if options.rank else set(options.ways)
    started = time.perf_counter()
    if "frozen" in wanted:
        ways["_frozen"] = frozen(model.encoder, parts)
    if "bag" in wanted and len(texts["test"][0]) == 2:
        ways["_bag"] = bag(texts)
    run["seconds_frozen_and_bag"] = time.perf_counter() - started
    starts = {"fine-tuned": (state, ""), "from-nothing": (None, "_from_scratch")}
    for begun, suffix in (start for way, start in starts.items() if way in wanted):
        select = SELECT.get(options.data, "accuracy")
        tuned = finetune(
            parts, begun, size, options, seed, select,
            (lambda encoder: correct(encoder, options.rank)) if options.rank else lambda _: None,
        )  # fmt: skip
        ways[suffix] = tuned.pop("metrics")
        run |= {name + suffix: value for name, value in tuned.items()}
        print(f"{options.data}, seed {seed}{suffix}: {ways}, {run['seconds']:.0f} s", flush=True)
    for suffix, metrics in ways.items():
        run["metrics"] |= {name + suffix: value for name, value in metrics.items()}
    return run
