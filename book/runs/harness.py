"""What the full-size runs of all translators share: data, training, choice of the epoch, measures.

Every model is trained on the same subwords in the same order of batches, its epoch is chosen by
BLEU on the validation set, and the test set is read once, after that.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit import datasets, results
from coursekit.batching import TranslationBatch, batches_by_length
from coursekit.metrics import bleu, entropy
from coursekit.training import device, seed_everything, train
from coursekit.translation import attention_weights, translate
from coursekit.vocabulary import EOS, PAD, SubwordVocabulary

Build = Callable[[int, int], nn.Module]
Schedule = Callable[[int, int], float]  # step from 1, number of all steps
Optimizer = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]

BINS = [(1, 7), (8, 10), (11, 13), (14, 16), (17, 19), (20, 22), (23, 40)]  # words of the source
SMOOTHING = 0.1


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


def used_states(model: nn.Module, sources: list[list[int]], targets: list[list[int]]) -> dict:
    """Return how concentrated the weights are over the model's own translations."""
    kept = [(s, t) for s, t in zip(sources, targets, strict=True) if t]
    rows = attention_weights(model, [s for s, _ in kept], [[*t, EOS] for _, t in kept])
    entropies = torch.cat([entropy(w) for w in rows])
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


def run(
    build: Build,
    options: argparse.Namespace,
    seed: int,
    corpus: datasets.ParallelCorpus,
    attends: bool,
    shared: bool = False,
    schedule: Schedule | None = None,
    optimizer: Optimizer | None = None,
) -> dict:
    """Train once; return the run's seed, metrics, seconds, history and further measurements."""
    seed_everything(seed)
    if shared:  # one vocabulary, learnt from both sides
        both = SubwordVocabulary([text for pair in corpus.train for text in pair], options.subwords)
        source_words = target_words = both
    else:
        source_words = SubwordVocabulary([s for s, _ in corpus.train], options.subwords)
        target_words = SubwordVocabulary([t for _, t in corpus.train], options.subwords)

    def encoded(pairs: Sequence[tuple[str, str]]) -> list[tuple[list[int], list[int]]]:
        return [(source_words.encode(s), target_words.encode(t)) for s, t in pairs]

    short = [pair for pair in corpus.train if len(pair[0].split()) <= options.max_words]
    training, validation = encoded(short), encoded(corpus.validation)
    model = build(len(source_words), len(target_words))

    def translated(pairs: Sequence[tuple[str, str]]) -> list[str]:
        found = translate(model, [source_words.encode(s) for s, _ in pairs])
        return [target_words.decode(ids) for ids in found]

    def validate(_: nn.Module) -> dict[str, float]:
        score = bleu(translated(corpus.validation), [t for _, t in corpus.validation]).score
        row = {"bleu": score, "perplexity": perplexity(model, validation)}
        print(f"seed {seed}: {row}, {time.perf_counter() - started:.0f} s", flush=True)
        return row

    def batches(epoch: int) -> Iterator[TranslationBatch]:
        return batches_by_length(training, options.batch_size, seed=1000 * seed + epoch)

    steps = options.epochs * sum(1 for _ in batches(1))
    started = time.perf_counter()
    history = train(
        model,
        batches,
        loss,
        epochs=options.epochs,
        learning_rate=options.learning_rate,
        decay=schedule is None,
        schedule=None if schedule is None else lambda step: schedule(step, steps),
        optimizer=optimizer,
        validate=validate,
        select="bleu",
        patience=options.patience,
        precision=getattr(torch, options.precision),
        progress=False,
    )
    seconds = time.perf_counter() - started
    sources, references = [s for s, _ in corpus.test], [t for _, t in corpus.test]
    hypotheses = translated(corpus.test)  # the one reading of the test set
    score = bleu(hypotheses, references)
    found = {
        "seed": seed,
        "metrics": {
            "bleu": score.score,
            "perplexity": perplexity(model, encoded(corpus.test)),
            "validation_bleu": history.epochs[history.best_epoch - 1]["bleu"],
        },
        "seconds": seconds,
        "best_epoch": history.best_epoch,
        "training_pairs": len(training),
        "parameters": sum(p.numel() for p in model.parameters()),
        "signature": score.signature,
        "history": history.epochs,
        "by_length": by_length(sources, hypotheses, references),
        "examples": [
            {"source": sources[i], "reference": references[i], "translation": hypotheses[i]}
            for i in range(0, len(sources), len(sources) // 10)
        ],
    }
    if attends:
        encoded_sources = [source_words.encode(s) for s in sources]
        found["used_states"] = used_states(
            model, encoded_sources, translate(model, encoded_sources)
        )
        found["alignments"] = pictures(model, source_words, target_words, encoded_sources[:400:40])
    if options.weights:
        torch.save(model.state_dict(), options.weights)
    return found


def pictures(
    model: nn.Module,
    source_words: SubwordVocabulary,
    target_words: SubwordVocabulary,
    sources: list[list[int]],
) -> list[dict]:
    """Return the weights behind some translations, to be drawn: rows are target subwords."""
    targets = [[*ids, EOS] for ids in translate(model, sources)]
    return [
        {
            "source": source_words.tokens(source),
            "target": target_words.tokens(target),
            "weights": [[round(w, 3) for w in row] for row in weights.tolist()],
        }
        for source, target, weights in zip(
            sources, targets, attention_weights(model, sources, targets), strict=True
        )
    ]


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser of the options that every full-size run has."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--max-words", type=int, default=100, help="longest source sentence")
    found.add_argument("--seeds", type=int, nargs="+", default=[1])
    found.add_argument("--epochs", type=int, default=14)
    found.add_argument("--patience", type=int, default=None)
    found.add_argument("--batch-size", type=int, default=64)
    found.add_argument("--width", type=int, default=256)
    found.add_argument("--dropout", type=float, default=0.2)
    found.add_argument("--learning-rate", type=float, default=1.5e-3)
    found.add_argument(
        "--precision",
        choices=["float32", "bfloat16"],
        default="bfloat16",
        help="bfloat16 is faster where the processor has it",
    )
    found.add_argument("--subwords", type=int, default=8000)
    found.add_argument("--data", default="multi30k-de-en")
    found.add_argument("--weights", help="also save the trained weights in this file")
    return found


def record(
    name: str,
    program: str,
    options: argparse.Namespace,
    build: Build,
    attends: bool,
    defaults: argparse.Namespace,
    shared: bool = False,
    schedule: Schedule | None = None,
    optimizer: Optimizer | None = None,
) -> None:
    """Train with each seed and write book/results/<name>.<data>.json.

    Args:
        name: of the model.
        program: the file that is run, as it stands in the recorded command.
        options: of the command line.
        build: `build(source_size, target_size)` returns a new translator.
        attends: whether the translator returns attention weights.
        defaults: what the options are when nothing is given; the command names the others.
        shared: whether source and target have one vocabulary.
        schedule: the learning rate of a step, from 1, and the number of all steps; in place of a
            linear decay.
        optimizer: returns another optimiser than Adam.
    """
    corpus = datasets.load(options.data)
    runs = [
        run(build, options, seed, corpus, attends, shared, schedule, optimizer)
        for seed in options.seeds
    ]
    given = [
        f"--{key.replace('_', '-')} {' '.join(map(str, value)) if key == 'seeds' else value}"
        for key, value in vars(options).items()
        if key != "weights" and value != getattr(defaults, key)
    ]
    results.record(
        name,
        options.data,
        runs=[{k: v for k, v in r.items() if k not in ("parameters", "signature")} for r in runs],
        parameters=runs[0]["parameters"],
        data_sha256=corpus.data_sha256,
        command=" ".join([f"python {program}", *given]),
        scorer=runs[0]["signature"],
        settings={k: v for k, v in vars(options).items() if k not in ("data", "seeds", "weights")},
    )
