"""Record some thirty snapshots of two translators during their training.

    python -m experiments training_snapshots --jobs 2

The row "bahdanau" has the model and the data that chapter 3 trains in its page, and three epochs;
the row "transformer" is that of `pronoun_resolution`. Each snapshot measures the test sentences,
every word after the true words before it, and looks at a few single sentences: how probable the
words of their references are, where the model looks, and what it writes by itself. The
probabilities of these are recorded for every seed, the weights for the first.

Writes book/results/training_snapshots.english-french-korean.json.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf
from statistics import fmean
from typing import Any

from torch import nn

from coursekit.data.batching import EncodedPair, batches_by_length, translation_batch
from coursekit.data.lesson_data import TranslationData, translation_data
from coursekit.models.translation import predict_references, translate
from coursekit.text.vocabulary import EOS, PAD, SPECIAL
from coursekit.training import History, results, seed_everything
from coursekit.training.snapshots import Snapshots, spread_updates
from coursekit.widgets import TrainingExplorer

from . import bottleneck, pronoun_resolution
from .comparison_harness import Comparison, Train
from .pronoun_data import PronounSentences, load_sentences
from .pronoun_measures import resolve
from .synthetic_translation import BATCH, RATE, cross_entropy

SNAPSHOTS = 31
SENTENCES = 300  # of the test set
EPOCHS = {"bahdanau": 3, "transformer": pronoun_resolution.EPOCHS}
FOLLOWED = {  # single sentences of the test sets
    "bahdanau": ("three bags that the man finds are small",),
    "transformer": (
        "the big mouse eats the cake because it is happy",
        "the big mouse eats the cake because it is expensive",
    ),
}
WEIGHTED = 1  # seed whose weights are recorded


@dataclass(frozen=True)
class Corpora:
    """The sentences of both rows."""

    korean: TranslationData
    french: PronounSentences


def load() -> tuple[Corpora, str]:
    """Return the sentences of both rows, and their SHA-256."""
    korean, french = translation_data("quick"), load_sentences()
    digest = repr([korean.train, korean.test, french.training_pairs(1), french.test])
    return Corpora(korean, french), hashlib.sha256(digest.encode()).hexdigest()


def follow(model: Any, pairs: Sequence[EncodedPair], words: Any) -> list[dict[str, Any]]:
    """Return for each pair what the model knows about the reference, and what it writes.

    Args:
        model: a translator with attention.
        pairs: encoded sentences and references.
        words: the target vocabulary.

    Returns:
        for each pair the "probabilities" (T,) of the reference's words and the "weights" (T, S),
        both without <eos> as a word to write, and the words "written", at most as many as the
        reference has and three more.
    """
    found = []
    for source, target in pairs:
        batch = translation_batch([(source, target)]).to(next(model.parameters()).device)
        logits, weights = predict_references(model, batch)  # (1, T, V), (1, T, S)
        chances = logits.softmax(dim=-1).gather(-1, batch.target[..., None])[0, :-1, 0]  # (T,)
        (written,) = translate(model, [source])
        found.append(
            {
                "probabilities": [round(p, 3) for p in chances.tolist()],
                "weights": [[round(w, 3) for w in row] for row in weights[0, :-1].tolist()],
                "written": words.tokens(written[: len(target) + 2]),
            }
        )
    return found


def measure_words(model: Any, pairs: Sequence[EncodedPair], links: Any) -> dict[str, float]:
    """Return how many words of the references are right, and how many weights on linked words.

    Args:
        model: a translator with attention.
        pairs: encoded sentences and references.
        links: for each pair the (source, target) positions of words that belong together.

    Returns:
        "words": share of the words, <eos> included, that are the most probable ones after the true
        words before them; "aligned": share of the words with a link whose largest weight is on a
        word linked to them.
    """
    batch = translation_batch(pairs).to(next(model.parameters()).device)
    logits, weights = predict_references(model, batch)  # (N, T, V), (N, T, S)
    real = batch.target != PAD  # (N, T)
    right = (logits.argmax(dim=-1) == batch.target)[real]
    chosen = weights.argmax(dim=-1).tolist()  # (N, T)
    on_linked = [
        (row[t], t) in gold
        for row, gold in zip(chosen, links, strict=True)
        for t in {t for _, t in gold}
    ]
    return {"words": right.float().mean().item(), "aligned": fmean(on_linked)}


def _find(pairs: Sequence[EncodedPair], words: Any, sentence: str) -> EncodedPair:
    """Return the pair of a sentence of the test set."""
    wanted = words.encode(sentence.split())
    return next(pair for pair in pairs if pair[0] == wanted)


def train_row(row: str, seed: int, corpora: Corpora, train: Train) -> dict[str, Any]:
    """Train one translator; return what was seen on the way."""
    seed_everything(seed)
    if row == "bahdanau":
        return _train_bahdanau(seed, corpora.korean, train)
    return _train_transformer(seed, corpora.french, train)


def _train_bahdanau(seed: int, data: TranslationData, train: Train) -> dict[str, Any]:
    assert data.links is not None
    model = bottleneck.build("attention", data)
    followed = [_find(data.test, data.source_words, text) for text in FOLLOWED["bahdanau"]]
    some, links = data.test[:SENTENCES], data.links[:SENTENCES]

    def look(model: nn.Module) -> dict[str, Any]:
        seen = follow(model, followed, data.target_words)
        return measure_words(model, some, links) | {"sentences": seen}

    snapshots = Snapshots(look, _when("bahdanau", len(data.train)))
    history = train(
        model,
        lambda epoch: batches_by_length(data.train, BATCH, seed=1000 * seed + epoch),
        snapshots.watch(cross_entropy),
        epochs=EPOCHS["bahdanau"],
        learning_rate=RATE,
        decay=True,
        progress=False,
    )
    described = [
        {"source": data.source_words.tokens(source), "target": data.glossed(target[:-1])}
        for source, target in followed
    ]
    return _describe(model, snapshots, history, described, seed)


def _train_transformer(seed: int, data: PronounSentences, train: Train) -> dict[str, Any]:
    model = pronoun_resolution.build("transformer", len(data.vocabulary))
    pairs = {kind: data.test[kind][:SENTENCES] for kind in ("own", "twins")}
    encoded = data.encode(pairs["own"])
    twins = data.encode(data.test["twins"])
    followed = [_find(twins, data.vocabulary, text) for text in FOLLOWED["transformer"]]

    def look(model: nn.Module) -> dict[str, Any]:
        return {
            **measure_words(model, encoded, [pair.links for pair in pairs["own"]]),
            **{kind: resolve(model, data, some).right for kind, some in pairs.items()},
            "sentences": follow(model, followed, data.vocabulary),
        }

    snapshots = Snapshots(look, _when("transformer", len(data.training_pairs(seed))))
    loss = snapshots.watch(pronoun_resolution.smoothed_loss)
    history = pronoun_resolution.train_translator(model, data, seed, train, loss=loss)
    described = [
        {"source": data.vocabulary.tokens(source), "target": data.vocabulary.tokens(target[:-1])}
        for source, target in followed
    ]
    return _describe(model, snapshots, history, described, seed)


def read_runs(row: str) -> list[dict[str, Any]]:
    """Return the recorded runs of a row, one for each seed."""
    record = results.read(COMPARISON.program, COMPARISON.data, results.FOLDER)
    return record["rows"][row]["runs"]


def play_back(row: str, **options: Any) -> TrainingExplorer:
    """Return an explorer of the training of a row with the seed whose weights are recorded."""
    (run,) = (run for run in read_runs(row) if run["seed"] == WEIGHTED)
    snapshots = [
        snapshot
        | {
            "sentences": [
                seen | {"written": " ".join(seen["written"]).replace("' ", "'")}
                for seen in snapshot["sentences"]
            ]
        }
        for snapshot in run["snapshots"]
    ]
    followed = [
        one | {"title": " ".join(word for word in one["source"] if word != SPECIAL[EOS])}
        for one in run["followed"]
    ]
    return TrainingExplorer(followed, snapshots, **options)


def find_learned(run: dict[str, Any], sentence: int = 0) -> list[float]:
    """Return from which update on each word of a reference has a probability above one half.

    It stays there to the end of the training; infinity for a word that does not.
    """
    chances = [s["sentences"][sentence]["probabilities"] for s in run["snapshots"]]
    found = []
    for row in zip(*chances, strict=True):
        below = [i for i, chance in enumerate(row) if chance <= 0.5]
        first = below[-1] + 1 if below else 0
        found.append(run["snapshots"][first]["update"] if first < len(row) else inf)
    return found


def find_snapshot(run: dict[str, Any], words: float) -> dict[str, Any]:
    """Return the first snapshot in which at least this share of the words is right."""
    return next(snapshot for snapshot in run["snapshots"] if snapshot["words"] >= words)


def _when(row: str, pairs: int) -> list[int]:
    """Return after how many updates to look at the model of a row."""
    return spread_updates(EPOCHS[row] * ceil(pairs / BATCH), SNAPSHOTS)


def _describe(
    model: nn.Module,
    snapshots: Snapshots,
    history: History,
    followed: list[dict[str, Any]],
    seed: int,
) -> dict[str, Any]:
    """Return the run of a row: its snapshots, each with the mean loss since the one before."""
    snapshots.take(model)
    losses, taken = snapshots.losses, snapshots.taken
    for before, now in zip([taken[0], *taken], taken, strict=False):
        since = losses[before["update"] : now["update"]] or losses[:1]
        now["loss"] = round(fmean(since), 3)
        for seen in now["sentences"] if seed != WEIGHTED else []:
            del seen["weights"], seen["written"]
    final = {name: value for name, value in taken[-1].items() if isinstance(value, float)}
    return {
        "metrics": final,
        "history": history.epochs,
        "seconds": history.seconds,
        "parameters": sum(p.numel() for p in model.parameters()),
        "followed": followed,
        "snapshots": taken,
    }


COMPARISON = Comparison(
    program="training_snapshots",
    data="english-french-korean",
    rows={"bahdanau": "Bahdanau 2015, into Korean", "transformer": "Transformer, into French"},
    seeds=(1, 2, 3, 4, 5),
    settings={"snapshots": SNAPSHOTS, "sentences": SENTENCES, "batch": BATCH, "epochs": EPOCHS},
    load=load,
    train_row=train_row,
    scorer="share of reference words that are the most probable after the true words before them",
)
parser, main = COMPARISON.parser, COMPARISON.main
