"""Shared code of the full-size translation runs: data, training, model selection, measurements.

Every model is trained on the same subwords in the same order of batches, its epoch is chosen by
BLEU on the validation set, and the test set is read once, after that. It is translated greedily,
and with --beam also by beam search. For the beam search, the validation set decides between the
best epoch's weights and the mean of the last epochs' (--average).
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit import datasets
from coursekit.data.batching import TranslationBatch, batches_by_length, source_batch
from coursekit.models.translation import Translator, attention_weights, translate
from coursekit.text.vocabulary import BOS, EOS, PAD, SubwordVocabulary, until_eos
from coursekit.training import History, device, results, seed_everything, train
from coursekit.training.metrics import bleu, bleu_interval, entropy
from solutions.seq2seq.decoding import beam_search

from .run_registry import command

BINS = [(1, 7), (8, 10), (11, 13), (14, 16), (17, 19), (20, 22), (23, 40)]  # words of the source
SMOOTHING = 0.1


@dataclass(frozen=True)
class Plan:
    """The settings that are specific to one model's run.

    Attributes:
        build: `build(source_size, target_size)` returns a new translator.
        attends: whether to measure its attention weights and record some of them.
        shared: whether source and target have one vocabulary, learned from both sides.
        schedule: `schedule(step, steps)` returns the learning rate of a step, counted from 1, out
            of `steps`; it replaces the linear decay.
        optimizer: returns an optimiser to use in place of Adam.
    """

    build: Callable[[int, int], Translator]
    attends: bool = False
    shared: bool = False
    schedule: Callable[[int, int], float] | None = None
    optimizer: Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer] | None = None


def loss(model: nn.Module, batch: TranslationBatch) -> Tensor:
    """Return the label-smoothed cross entropy per real target token."""
    logits, _ = model(batch.source, batch.lengths, batch.previous)  # (B, T, V)
    return F.cross_entropy(
        logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD, label_smoothing=SMOOTHING
    )


@torch.no_grad()
def perplexity(model: nn.Module, pairs: Sequence[tuple[list[int], list[int]]]) -> float:
    """Return exp of the mean negative log probability per subword, teacher forced, all tokens."""
    total, count = 0.0, 0
    for batch in batches_by_length(pairs, 128, seed=0):
        batch = batch.to(device())
        logits, _ = model(batch.source, batch.lengths, batch.previous)
        total += F.cross_entropy(
            logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD, reduction="sum"
        ).item()
        count += int((batch.target != PAD).sum())
    return float(torch.tensor(total / count).exp())


@torch.no_grad()
def search(
    model: Translator, sources: Sequence[list[int]], beam: int, penalty: float
) -> list[list[int]]:
    """Translate encoded sentences with beam search, the counterpart of the greedy `translate`."""
    model.eval()
    found = []
    for ids in sources:
        source, lengths = source_batch([ids])  # (1, S), (1,)
        state = model.encode(source.to(device()), lengths.to(device()))
        tokens, _ = beam_search(model.step, state, beam, BOS, EOS, 2 * len(ids) + 10, penalty)
        found.append(until_eos(tokens.tolist()))
    return found


def mean_weights(states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of several state dicts of one model."""
    return {name: torch.stack([s[name] for s in states]).mean(0) for name in states[0]}


def choose_weights(
    model: nn.Module, candidates: dict[str, dict[str, Tensor]], measure: Callable[[], float]
) -> dict[str, float]:
    """Load the weights that measure best into the model; return the scores of all candidates."""
    candidates = copy.deepcopy(candidates)  # loading would overwrite the model's own weights
    scores = {}
    for name, state in candidates.items():
        model.load_state_dict(state)
        scores[name] = measure()
        print(f"beam search with the weights of the {name}: {scores[name]:.2f}", flush=True)
    model.load_state_dict(candidates[max(scores, key=scores.__getitem__)])
    return scores


def by_length(
    sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[str]
) -> list[dict[str, float]]:
    """Return BLEU and the number of sentences for each range of source lengths, in words."""
    rows = []
    for low, high in BINS:
        chosen = [i for i, s in enumerate(sources) if low <= len(s.split()) <= high]
        if chosen:
            score = bleu([hypotheses[i] for i in chosen], [references[i] for i in chosen]).score
            rows.append({"from": low, "to": high, "sentences": len(chosen), "bleu": score})
    return rows


def used_states(model: Translator, sources: list[list[int]], targets: list[list[int]]) -> dict:
    """Return the concentration of the attention weights over the model's own translations.

    Rows that do not sum to 1, such as those of local-p, are normalised first, because entropy is
    defined for distributions.
    """
    kept = [(s, t) for s, t in zip(sources, targets, strict=True) if t]
    rows = attention_weights(model, [s for s, _ in kept], [[*t, EOS] for _, t in kept])
    entropies = torch.cat([entropy(w / w.sum(dim=-1, keepdim=True)) for w in rows])
    largest = torch.cat([w.max(dim=-1).values for w in rows])
    lengths = torch.cat([torch.full((len(w),), float(w.shape[1])) for w in rows])
    shares = torch.tensor([0.1, 0.25, 0.5, 0.75, 0.9])
    return {
        "mean_entropy_nats": entropies.mean().item(),
        "mean_effective_states": entropies.exp().mean().item(),
        "mean_states": lengths.mean().item(),
        "mean_largest_weight": largest.mean().item(),
        "effective_states_quantiles": entropies.exp().quantile(shares).tolist(),
        "quantiles": shares.tolist(),
        "target_tokens": len(entropies),
    }


class SubwordPair:
    """The subwords of both languages, learned from the training pairs.

    Args:
        pairs: training pairs of texts.
        size: number of subwords of each vocabulary.
        shared: whether both languages have one vocabulary, learned from both sides.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]], size: int, shared: bool):
        if shared:
            self.source = SubwordVocabulary([text for pair in pairs for text in pair], size)
            self.target = self.source
        else:
            self.source = SubwordVocabulary([source for source, _ in pairs], size)
            self.target = SubwordVocabulary([target for _, target in pairs], size)

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[int], list[int]]]:
        """Return pairs of texts as pairs of ids."""
        return [(self.source.encode(s), self.target.encode(t)) for s, t in pairs]

    def translate(
        self, model: Translator, sources: Sequence[str], beam: int = 1, penalty: float = 0.0
    ) -> list[str]:
        """Translate texts greedily, or with a beam search."""
        ids = [self.source.encode(text) for text in sources]
        found = translate(model, ids) if beam == 1 else search(model, ids, beam, penalty)
        return [self.target.decode(translation) for translation in found]


def run(
    plan: Plan, options: argparse.Namespace, seed: int, corpus: datasets.Corpus[tuple[str, str]]
) -> dict:
    """Train once; return the run's seed, metrics, seconds, history and further measurements."""
    seed_everything(seed)
    subwords = SubwordPair(corpus.train, options.subwords, plan.shared)
    short = [pair for pair in corpus.train if len(pair[0].split()) <= options.max_words]
    training = subwords.encode(short)
    model = plan.build(len(subwords.source), len(subwords.target))
    history = train_translator(plan, options, seed, model, subwords, training, corpus.validation)
    sources, references = [s for s, _ in corpus.test], [t for _, t in corpus.test]
    hypotheses = subwords.translate(model, sources)  # the only use of the test set
    score = bleu(hypotheses, references)
    measured: dict[str, Any] = {
        "seed": seed,
        "metrics": {
            "bleu": score.score,
            "perplexity": perplexity(model, subwords.encode(corpus.test)),
            "validation_bleu": history.epochs[history.best_epoch - 1]["bleu"],
        },
        "seconds": history.seconds,
        "best_epoch": history.best_epoch,
        "training_pairs": len(training),
        "parameters": sum(p.numel() for p in model.parameters()),
        "signature": score.signature,
        "history": history.epochs,
        "by_length": by_length(sources, hypotheses, references),
        "intervals": {"bleu": bleu_interval(hypotheses, references)},
        "examples": [
            {"source": sources[i], "reference": references[i], "translation": hypotheses[i]}
            for i in range(0, len(sources), len(sources) // 10)
        ],
    }
    if plan.attends:
        encoded = [subwords.source.encode(text) for text in sources]
        measured["used_states"] = used_states(model, encoded, translate(model, encoded))
        measured["alignments"] = pictures(model, subwords, encoded[:400:40])
    if options.weights:
        torch.save(model.state_dict(), options.weights)
    if options.beam > 1:
        last = history.last_weights if options.average else []
        searched = measure_search(options, model, subwords, corpus, last)
        for part, found in searched.items():
            measured[part] = measured.get(part, {}) | found
    return measured


def train_translator(
    plan: Plan,
    options: argparse.Namespace,
    seed: int,
    model: Translator,
    subwords: SubwordPair,
    training: Sequence[tuple[list[int], list[int]]],
    validation: Sequence[tuple[str, str]],
) -> History:
    """Train the model and leave it with the weights of the epoch with the best BLEU."""
    encoded = subwords.encode(validation)
    sources, references = [s for s, _ in validation], [t for _, t in validation]

    def validate(_: nn.Module) -> dict[str, float]:
        score = bleu(subwords.translate(model, sources), references).score
        row = {"bleu": score, "perplexity": perplexity(model, encoded)}
        print(f"seed {seed}: {row}, {time.perf_counter() - started:.0f} s", flush=True)
        return row

    def batches(epoch: int) -> Iterator[TranslationBatch]:
        return batches_by_length(training, options.batch_size, seed=1000 * seed + epoch)

    schedule, steps = plan.schedule, options.epochs * sum(1 for _ in batches(1))
    started = time.perf_counter()
    return train(
        model,
        batches,
        loss,
        epochs=options.epochs,
        learning_rate=options.learning_rate,
        decay=schedule is None,
        schedule=None if schedule is None else lambda step: schedule(step, steps),
        optimizer=plan.optimizer,
        validate=validate,
        select="bleu",
        patience=options.patience,
        precision=getattr(torch, options.precision),
        keep_last=options.average,
        progress=False,
    )


def measure_search(
    options: argparse.Namespace,
    model: Translator,
    subwords: SubwordPair,
    corpus: datasets.Corpus[tuple[str, str]],
    last_weights: Sequence[dict[str, Tensor]],
) -> dict[str, dict]:
    """Return the measurements of a beam search, to be added to a run's.

    The validation set decides between the best epoch's weights and the mean of the last epochs'.
    """

    def translate_all(pairs: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
        sources, references = [s for s, _ in pairs], [t for _, t in pairs]
        found = subwords.translate(model, sources, options.beam, options.length_penalty)
        return found, references

    candidates = {"best epoch": model.state_dict()}
    if last_weights:
        candidates["mean of the last epochs"] = mean_weights(last_weights)
    scores = choose_weights(
        model, candidates, lambda: bleu(*translate_all(corpus.validation)).score
    )
    found, references = translate_all(corpus.test)
    return {
        "validation_bleu_of_weights": scores,
        "metrics": {
            "bleu_searched": bleu(found, references).score,
            "validation_bleu_searched": max(scores.values()),
        },
        "intervals": {"bleu_searched": bleu_interval(found, references)},
    }


def pictures(model: Translator, subwords: SubwordPair, sources: list[list[int]]) -> list[dict]:
    """Return the weights of some translations, for figures; rows are target subwords."""
    targets = [[*ids, EOS] for ids in translate(model, sources)]
    return [
        {
            "source": subwords.source.tokens(source),
            "target": subwords.target.tokens(target),
            "weights": [[round(w, 3) for w in row] for row in weights.tolist()],
        }
        for source, target, weights in zip(
            sources, targets, attention_weights(model, sources, targets), strict=True
        )
    ]


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser of the options of all translators; its text is `description`'s first line."""
    arguments = argparse.ArgumentParser(description=description.splitlines()[0])
    arguments.add_argument("--max-words", type=int, default=100, help="longest source sentence")
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1])
    arguments.add_argument("--epochs", type=int, default=14)
    arguments.add_argument("--patience", type=int, default=None)
    arguments.add_argument("--batch-size", type=int, default=64)
    arguments.add_argument("--width", type=int, default=256)
    arguments.add_argument("--dropout", type=float, default=0.2)
    arguments.add_argument("--learning-rate", type=float, default=1.5e-3)
    arguments.add_argument(
        "--precision",
        choices=["float32", "bfloat16"],
        default="bfloat16",
        help="bfloat16 is faster if the processor supports it",
    )
    arguments.add_argument("--subwords", type=int, default=8000)
    arguments.add_argument(
        "--beam", type=int, default=1, help="also search with a beam of this size"
    )
    arguments.add_argument(
        "--length-penalty",
        type=float,
        default=0.6,
        help="power of the length that scores are divided by",
    )
    arguments.add_argument(
        "--average",
        type=int,
        default=0,
        help="number of last epochs whose weights are averaged for the beam search",
    )
    arguments.add_argument("--data", default="multi30k-de-en")
    arguments.add_argument("--weights", help="also save the trained weights in this file")
    return arguments


def record(name: str, program: str, options: argparse.Namespace, plan: Plan) -> None:
    """Train with each seed and write book/results/<name>.<data>.json.

    Args:
        name: name of the model.
        program: name of the program, a module in this folder.
        options: options of its command line.
        plan: how the model is built and trained.
    """
    corpus = datasets.load(options.data)
    runs = [run(plan, options, seed, corpus) for seed in options.seeds]
    results.write_result(
        name,
        options.data,
        runs=[{k: v for k, v in r.items() if k not in ("parameters", "signature")} for r in runs],
        parameters=runs[0]["parameters"],
        data_sha256=corpus.data_sha256,
        command=command(program, options, leave=["weights"]),
        scorer=runs[0]["signature"],
        settings={k: v for k, v in vars(options).items() if k not in ("data", "seeds", "weights")},
    )
