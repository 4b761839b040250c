"""Intervene in a translator: move the weight of a step, or force another previous word.

    python -m experiments attention_interventions --jobs 2

The models are those of `bottleneck`, trained for fewer epochs. The row "short" repeats with several
seeds what chapter 3 trains in its page. The rows "attention" and "fixed" are the two models that
its explorer runs; for the browser their parameters are rounded, and the record says what that
changes. The row "french" translates into French, for a picture of its weights.

Writes book/results/attention_interventions.english-korean.json, and the weights of the first seed
of the explorer's models.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from coursekit.data.batching import batches_by_length
from coursekit.data.lesson_data import TranslationData
from coursekit.models.translation import AttentionTranslator
from coursekit.training import results, seed_everything
from coursekit.widgets import as_packed

from . import bottleneck
from .comparison_harness import Comparison, Train
from .step_interventions import intervene_at_counters, intervene_at_nouns
from .synthetic_translation import (
    BATCH,
    RATE,
    FreshPairs,
    compare_with_references,
    cross_entropy,
    describe_run,
    measure_alignment,
    validate_exactly,
    weights_for,
)

EPOCHS = {"short": 2, "attention": 12, "fixed": 12, "french": 8}
CORPORA = {"korean": (14_000, 26), "french": (6_000, 12)}  # pairs of an epoch, longest source
GROUPS = {"korean": (bottleneck.EDGES, bottleneck.LONG), "french": ((4, 8, 13), 8)}  # by length
LEVELS = {"attention": 13, "fixed": 31}  # of each parameter in the browser: a page must stay small


def load() -> tuple[dict[str, FreshPairs], str]:
    """Return the two corpora, by target language, and their SHA-256."""
    corpora = {language: FreshPairs(language, *sizes) for language, sizes in CORPORA.items()}
    joined = "".join(corpus.sha256() for corpus in corpora.values())
    return corpora, hashlib.sha256(joined.encode()).hexdigest()


def measure_rounding(
    model: AttentionTranslator, data: TranslationData, levels: int
) -> dict[str, float]:
    """Return how many test translations are exact with the parameters rounded to so many levels."""
    exact, _ = compare_with_references(as_packed(model, levels), data.test)
    return {"exact_when_rounded": exact.mean().item()}


def picture(weights: Sequence[Tensor], data: TranslationData) -> dict[str, Any]:
    """Return the weights of the test sentence in which the most links cross, and its words."""
    assert data.links is not None
    links = data.links
    crossings = [sum(a < c and b > d for a, b in gold for c, d in gold) for gold in links]
    i = crossings.index(max(crossings))
    source, target = data.test[i]
    return {
        "source": data.source_words.tokens(source),
        "target": data.glossed(target),
        "links": sorted(map(list, links[i])),
        "weights": weights[i].tolist(),
    }


def train_row(row: str, seed: int, corpora: dict[str, FreshPairs], train: Train) -> dict[str, Any]:
    """Train one model; return its metrics, its history and what its weights show."""
    language = "french" if row == "french" else "korean"
    corpus = corpora[language]
    data = corpus.data
    seed_everything(seed)
    model = bottleneck.build("fixed" if row == "fixed" else "attention", data)
    if row == "short":  # the same pairs in every epoch, as in the page
        history = train(
            model,
            lambda epoch: batches_by_length(data.train, BATCH, seed=1000 * seed + epoch),
            cross_entropy,
            epochs=EPOCHS[row],
            learning_rate=RATE,
            decay=True,
            validate=lambda _: validate_exactly(model, data.validation),
            progress=False,
        )
    else:
        history = corpus.train(model, seed, train, epochs=EPOCHS[row], select="exact")
    model.cpu()
    run = describe_run(model, history, data, *GROUPS[language])
    if row != "fixed":
        weights = weights_for(model, data.test)
        run["metrics"] |= measure_alignment(weights, data)
    if row == "attention":
        run["metrics"] |= intervene_at_nouns(model, data) | intervene_at_counters(model, data)
        across = bottleneck.measure_across_an_adjective(model, data)
        run["metrics"] |= {f"counter_across_{name}": value for name, value in across.items()}
    if row == "french":
        run["picture"] = picture(weights, data)
    if row in LEVELS:
        run["metrics"] |= measure_rounding(model, data, LEVELS[row])
        if seed == COMPARISON.seeds[0]:
            results.write_weights(f"{COMPARISON.program}-{row}", COMPARISON.data, model)
    return run


COMPARISON = Comparison(
    program="attention_interventions",
    data="english-korean",
    rows={
        "short": "attention, as trained in the page",
        "attention": "attention",
        "fixed": "one fixed vector",
        "french": "attention, into French",
    },
    seeds=(1, 2, 3, 4, 5),
    settings={
        "embedding": bottleneck.EMBEDDING,
        "width": bottleneck.WIDTHS["attention"],
        "batch": BATCH,
        "epochs": EPOCHS,
        "pairs_per_epoch": {language: pairs for language, (pairs, _) in CORPORA.items()},
        "levels": LEVELS,
    },
    load=load,
    train_row=train_row,
    scorer="share of sentences translated word for word as the reference",
)
parser, main = COMPARISON.parser, COMPARISON.main
