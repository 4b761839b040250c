"""Compare attention with manual word alignments: error rates on the Canadian Hansards.

    python -m experiments alignment --model ibm-1         # the classical baseline
    python -m experiments alignment                       # Bahdanau's attention
    python -m experiments alignment --model luong         # Luong's, global, general score
    python -m experiments alignment --model transformer   # each layer and head

A model for each direction is trained on the same pairs and reads the aligned sentences with their
reference translations. Each word is linked to the word it attends to most, or to none if that is
<eos>. The epoch is selected by perplexity on held-out pairs, the head by error rate on the
validation sentences, both before the test sentences are read.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from coursekit import datasets
from coursekit.corpora import SentencePair
from coursekit.data.batching import TranslationBatch, batches_by_length
from coursekit.models.attention_hooks import recorded_weights
from coursekit.models.translation import Translator, attention_weights
from coursekit.text.vocabulary import WordVocabulary
from coursekit.training import device, results, seed_everything, train
from coursekit.training.metrics import alignment_error_rate, argmax_links

from . import bahdanau, luong, transformer, translation_harness
from .hansards_data import Words, plain_pairs, read_debates
from .ibm_model_1 import IBM1
from .run_registry import command

HELD_OUT = 1000  # held-out pairs that select the epoch
MODELS = {
    "ibm-1": "ibm-1", "rnnsearch": "rnnsearch", "luong": "luong-general",
    "luong-local-p": "luong-local-p", "transformer": "transformer",
}  # fmt: skip
Links = list[set[tuple[int, int]]]
# Returns the weights (T, S + 1) of each sentence, for each attention or head of a model; the last
# column means no word: <eos>, or model 1's NULL.
Reader = Callable[[Sequence[SentencePair]], dict[str, list[Tensor]]]


def error_rate(links: Links, gold: Sequence[SentencePair]) -> float:
    """Return the alignment error rate over the sentences."""
    return alignment_error_rate(links, [pair.links for pair in gold], [p.possible for p in gold])


def compare_links(links: Links, gold: Sequence[SentencePair]) -> dict[str, float]:
    """Return precision (the share of links that are possible) and recall (of the sure links)."""
    hits = sum(len(a & (p.links | p.possible)) for a, p in zip(links, gold, strict=True))
    sure = sum(len(a & p.links) for a, p in zip(links, gold, strict=True))
    return {
        "precision": hits / sum(map(len, links)),
        "recall": sure / sum(len(pair.links) for pair in gold),
    }


def measure_links(gold: Sequence[SentencePair]) -> dict[str, float]:
    """Return what the links that people drew allow to an aligner that links every target word.

    Returns:
        "linked", the share of the target words that have a link; and "aer_perfect", the alignment
        error rate if all these links are found, and each other target word has one wrong link.
    """
    words = sum(len(pair.target) for pair in gold)
    having = [{j for _, j in pair.links | pair.possible} for pair in gold]
    guessed = [
        {*pair.links, *((0, j) for j in range(len(pair.target)) if j not in found)}
        for pair, found in zip(gold, having, strict=True)
    ]
    return {"linked": sum(map(len, having)) / words, "aer_perfect": error_rate(guessed, gold)}


def turn_round(pairs: Sequence[SentencePair]) -> list[SentencePair]:
    """Return the pairs with source and target swapped."""

    def back(links: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        return frozenset((j, i) for i, j in links)

    return [
        SentencePair(p.target, p.source, back(p.links), possible=back(p.possible)) for p in pairs
    ]


def build(options: argparse.Namespace, source_size: int, target_size: int) -> Translator:
    """Return a new translator, built as in the full-size runs of its chapter."""
    program, given = {
        "rnnsearch": (bahdanau, []),
        "luong": (luong, []),
        "luong-local-p": (luong, ["--attention", "local-p"]),
        "transformer": (transformer, []),
    }[options.model]
    own = program.parser().parse_args(given)
    own.width, own.dropout = options.width, options.dropout
    if program is transformer:  # one vocabulary for both sides
        return transformer.build(own, source_size)
    return program.build(own, source_size, target_size)


def read_looks(
    model: Translator, encoded: list[tuple[list[int], list[int]]]
) -> dict[str, list[Tensor]]:
    """Return the weights (T, S) of each sentence, for each attention or head of the model."""
    sources, targets = [s for s, _ in encoded], [t for _, t in encoded]
    if not hasattr(model, "model"):
        return {"attention": attention_weights(model, sources, targets)}
    found: dict[str, list[Tensor]] = {}
    for source, target in encoded:  # one at a time, so that no row has padding
        with recorded_weights(model) as heard, torch.no_grad():
            attention_weights_of(model, source, target)
        layers = [w[-1][0] for name, w in heard.items() if name.endswith("memory_attention")]
        for layer, weights in enumerate(layers, 1):  # (h, T, S)
            found.setdefault(f"layer {layer}, mean", []).append(weights.mean(0).cpu())
            for head, row in enumerate(weights, 1):
                found.setdefault(f"layer {layer}, head {head}", []).append(row.cpu())
    return found


def attention_weights_of(model: Translator, source: list[int], target: list[int]) -> None:
    """Run the model on one pair."""
    (batch,) = batches_by_length([(source, target)], 1, seed=0)
    batch = batch.to(device())
    model(batch.source, batch.lengths, batch.previous)


def train_direction(
    options: argparse.Namespace, pairs: list[tuple[Words, Words]]
) -> tuple[Reader, dict]:
    """Train one direction; return its reader of aligned sentences and the run's record."""
    seed_everything(options.seeds[0])
    started = time.perf_counter()
    if options.model == "transformer":
        both = WordVocabulary([words for pair in pairs for words in pair], size=2 * options.words)
        source_words = target_words = both
    else:
        source_words = WordVocabulary([source for source, _ in pairs], size=options.words)
        target_words = WordVocabulary([target for _, target in pairs], size=options.words)
    encoded = [(source_words.encode(s), target_words.encode(t)) for s, t in pairs]
    held_out, training = encoded[:HELD_OUT], encoded[HELD_OUT:]
    model = build(options, len(source_words), len(target_words))

    def validate(_: nn.Module) -> dict[str, float]:
        perplexity = translation_harness.perplexity(model, held_out)
        print(f"perplexity {perplexity:.2f}, {time.perf_counter() - started:.0f} s", flush=True)
        return {"perplexity": perplexity, "minus_perplexity": -perplexity}

    def batches(epoch: int) -> Iterator[TranslationBatch]:
        return batches_by_length(training, options.batch_size, seed=epoch)

    own: dict = {"learning_rate": options.learning_rate, "decay": True}
    if options.model == "transformer":
        steps, paper = options.epochs * sum(1 for _ in batches(1)), transformer.parser()
        rates = paper.parse_args(["--width", str(options.width)])
        own = {
            "schedule": lambda step: transformer.rate(rates, step, steps),
            "optimizer": transformer.adam,
        }
    history = train(
        model, batches, translation_harness.loss, epochs=options.epochs, validate=validate,
        select="minus_perplexity", precision=getattr(torch, options.precision), progress=False,
        **own,
    )  # fmt: skip

    def read(gold: Sequence[SentencePair]) -> dict[str, list[Tensor]]:
        sentences = [(source_words.encode(p.source), target_words.encode(p.target)) for p in gold]
        found = read_looks(model, sentences)  # (T + 1, S + 1), both with <eos>
        return {name: [w[:-1].float() for w in weights] for name, weights in found.items()}

    record = {
        "seconds": history.seconds,
        "best_epoch": history.best_epoch,
        "perplexity": history.epochs[history.best_epoch - 1]["perplexity"],
        "parameters": sum(p.numel() for p in model.parameters()),
        "history": [{k: v for k, v in e.items() if k[:5] != "minus"} for e in history.epochs],
    }
    return read, record


def count_links(
    options: argparse.Namespace, pairs: list[tuple[Words, Words]]
) -> tuple[Reader, dict]:
    """Fit model 1 in one direction; return its reader of aligned sentences and the run's record."""
    started = time.perf_counter()
    source_words = WordVocabulary([source for source, _ in pairs], size=options.words)
    target_words = WordVocabulary([target for _, target in pairs], size=options.words)

    def ids(source: Words, target: Words) -> tuple[list[int], list[int]]:
        return source_words.encode(source, eos=False), target_words.encode(target, eos=False)

    model = IBM1([ids(*pair) for pair in pairs[HELD_OUT:]], options.epochs)

    def read(gold: Sequence[SentencePair]) -> dict[str, list[Tensor]]:
        found = [model.shares(*ids(pair.source, pair.target)) for pair in gold]
        return {"table": [torch.from_numpy(shares) for shares in found]}

    return read, {"seconds": time.perf_counter() - started, "parameters": len(model)}


def link_words(weights: Tensor) -> set[tuple[int, int]]:
    """Link target words to source words; weights (T, S + 1), the last column means no word."""
    return {(i, j) for i, j in argmax_links(weights) if i < weights.shape[1] - 1}


def pick_examples(
    weights: list[Tensor], gold: Sequence[SentencePair], count: int = 3
) -> dict[str, list[dict]]:
    """Return the best and the worst sentences of 8 to 16 words, with their weights."""
    fit = [k for k, pair in enumerate(gold) if 8 <= len(pair.source) <= 16 and pair.links]
    order = sorted(fit, key=lambda k: (error_rate([link_words(weights[k])], [gold[k]]), k))

    def shown(k: int) -> dict:
        return {
            "source": gold[k].source,
            "target": gold[k].target,
            "sure": sorted(gold[k].links),
            "possible": sorted(gold[k].possible),
            "error_rate": error_rate([link_words(weights[k])], [gold[k]]),
            "weights": [[round(w, 3) for w in row] for row in weights[k].tolist()],
        }

    return {"best": [shown(k) for k in order[:count]], "worst": [shown(k) for k in order[-count:]]}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--model", choices=list(MODELS), default="rnnsearch")
    arguments.add_argument("--pairs", type=int, default=100_000, help="number of training pairs")
    arguments.add_argument("--longest", type=int, default=25, help="words of a training sentence")
    arguments.add_argument("--words", type=int, default=12_000, help="ids of a vocabulary")
    arguments.add_argument("--seeds", type=int, nargs=1, default=[1])
    arguments.add_argument("--epochs", type=int, default=3)
    arguments.add_argument("--batch-size", type=int, default=64)
    arguments.add_argument("--width", type=int, default=256)
    arguments.add_argument("--dropout", type=float, default=0.2)
    arguments.add_argument("--learning-rate", type=float, default=1.5e-3)
    arguments.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    return arguments


def main(options: argparse.Namespace) -> None:
    """Train both directions, select on validation sentences, evaluate on test sentences, record."""
    corpus, by_hand, elsewhere = map(
        datasets.load, ("hansards-en-fr", "alignment-hansards", "alignment-en-fr")
    )
    everything = {**corpus.sha256, **by_hand.sha256, **elsewhere.sha256}
    golds = {
        "validation": plain_pairs(by_hand.validation),
        "test": plain_pairs(by_hand.test),
        "PUD": plain_pairs(elsewhere.test),
    }
    everyone = [pair for gold in golds.values() for pair in gold]
    pairs = read_debates(corpus.train, options.longest, everyone)[: HELD_OUT + options.pairs]
    learn = count_links if options.model == "ibm-1" else train_direction
    record: dict = {}
    found: dict[str, dict[str, Links]] = {split: {} for split in golds}
    for direction in ("forward", "backward"):
        ahead = direction == "forward"
        sentences = golds if ahead else {split: turn_round(gold) for split, gold in golds.items()}
        read, record[direction] = learn(options, pairs if ahead else [(t, s) for s, t in pairs])
        rates = {
            way: error_rate([link_words(w) for w in weights], sentences["validation"])
            for way, weights in read(sentences["validation"]).items()
        }
        chosen = min(rates, key=lambda way: (rates[way], way))
        record[direction] |= {"chosen": chosen, "validation": rates}
        for split, gold in sentences.items():
            weights = read(gold)[chosen]
            links = [link_words(w) for w in weights]
            found[split][direction] = links if ahead else [{(j, i) for i, j in k} for k in links]
            if ahead and split == "test":
                record["examples"] = pick_examples(weights, gold)
    for split, sides in found.items():
        both = zip(sides["forward"], sides["backward"], strict=True)
        sides["intersection"] = [one & other for one, other in both]
        record[split] = {side: error_rate(links, golds[split]) for side, links in sides.items()}
    record["found"] = {
        side: compare_links(links, golds["test"]) for side, links in found["test"].items()
    }
    metrics = {f"aer_{side}": rate for side, rate in record.pop("test").items()}
    metrics |= {f"pud_aer_{side}": rate for side, rate in record.pop("PUD").items()}
    metrics |= {f"pud_{name}": value for name, value in measure_links(golds["PUD"]).items()}
    seconds = record["forward"]["seconds"] + record["backward"]["seconds"]
    results.write_result(
        MODELS[options.model],
        "hansards-en-fr",
        runs=[{"seed": options.seeds[0], "metrics": metrics, "seconds": seconds}],
        parameters=record["forward"]["parameters"],
        data_sha256=replace(corpus, sha256=everything).data_sha256,
        command=command("alignment", options),
        scorer="alignment error rate, sure and possible links (Och and Ney 2003)",
        training_pairs=len(pairs) - HELD_OUT,
        **record,
        settings={k: v for k, v in vars(options).items() if k != "seeds"},
    )
    print({name: round(value, 3) for name, value in metrics.items()})
