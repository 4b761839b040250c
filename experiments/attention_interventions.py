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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from coursekit.corpora.grammar.korean_morphology import PARTICLES, particle
from coursekit.corpora.grammar.lexicon import NOUNS
from coursekit.data.batching import batches_by_length, source_batch
from coursekit.data.lesson_data import TranslationData
from coursekit.models.translation import AttentionTranslator, translate
from coursekit.text.vocabulary import BOS, WordVocabulary
from coursekit.training import results, seed_everything
from coursekit.widgets import as_packed

from . import bottleneck
from .comparison_harness import Comparison, Train
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
SENTENCES = 200  # of the test set: those whose steps are changed
KIND = {form: kind for kind, forms in PARTICLES.items() for form in forms}
NAMES = {noun.korean for noun in NOUNS} - bottleneck.COUNTERS  # a dog is written as a counter is
EVERY = 10  # of the nouns, the first of every ten is forced


def load() -> tuple[dict[str, FreshPairs], str]:
    """Return the two corpora, by target language, and their SHA-256."""
    corpora = {language: FreshPairs(language, *sizes) for language, sizes in CORPORA.items()}
    joined = "".join(corpus.sha256() for corpus in corpora.values())
    return corpora, hashlib.sha256(joined.encode()).hexdigest()


@dataclass
class ForcedDecoding:
    """The decoding of one sentence, word by word, with words or contexts from outside.

    Attributes:
        model: a trained translator with attention.
        words: of the target language, by id.
        state: the decoder's state (1, d).
        read: annotations (1, S, 2d), mask (1, S) and projected annotations (1, S, d).
    """

    model: AttentionTranslator
    words: Sequence[str]
    state: Tensor
    read: tuple[Tensor, ...]

    @classmethod
    def start(cls, model: AttentionTranslator, data: TranslationData, i: int) -> ForcedDecoding:
        """Return the decoding of the i-th test sentence before its first word."""
        words = data.target_words
        assert isinstance(words, WordVocabulary)
        state, *read = model.encode(*source_batch([data.test[i][0]]))
        return cls(model, words.words, state, tuple(read))

    def step(self, previous: int, look_at: int | None = None) -> str:
        """Read the previous word and return the next one.

        Args:
            previous: id of the previous word.
            look_at: source position that gets all the weight; None leaves the weights alone.
        """
        decoder = self.model.decoder
        embedded = decoder.embedding(torch.tensor([previous]))  # (1, e)
        if look_at is None:
            self.state, context, _ = decoder.step(embedded, self.state, *self.read)
        else:
            context = self.read[0][:, look_at]  # (1, 2d)
            self.state = decoder.cell(torch.cat([embedded, context], dim=-1), self.state)
        return self.words[decoder.readout(embedded, self.state, context).argmax().item()]


@dataclass(frozen=True)
class NounSteps:
    """Where a test sentence writes its first noun, and a noun that it might write instead.

    Attributes:
        sentence: index in the test set.
        step: of the first noun.
        source_of_last: source position of the last noun.
        last: the last noun.
    """

    sentence: int
    step: int
    source_of_last: int
    last: str


def find_noun_steps(data: TranslationData) -> Iterator[NounSteps]:
    """Yield the test sentences whose first and last noun differ."""
    assert data.links is not None
    for i in range(SENTENCES):
        written = data.target_words.tokens(data.test[i][1])
        links = sorted(data.links[i], key=lambda link: link[1])
        places = [(j, t) for j, t in links if written[t] in NAMES]
        if len(places) > 1 and written[places[0][1]] != written[places[-1][1]]:
            yield NounSteps(i, places[0][1], places[-1][0], written[places[-1][1]])


@torch.no_grad()
def intervene(model: AttentionTranslator, data: TranslationData) -> dict[str, float]:
    """Return how often the translation follows an intervention at the step of the first noun.

    "moved": all weight lies on the last noun, and the model writes that one. "followed": another
    noun is forced, which needs the other form of the particle after it, and the model writes that
    form. Each is a share of the number of cases beside it.
    """
    model.eval()
    words = data.target_words
    assert isinstance(words, WordVocabulary)
    known = sorted(NAMES & words.ids.keys())
    moved, followed = [], []
    for case in find_noun_steps(data):
        target = [BOS, *data.test[case.sentence][1]]
        decoding = ForcedDecoding.start(model, data, case.sentence)
        for token in target[: case.step]:
            decoding.step(token)
        before = decoding.state
        moved.append(decoding.step(target[case.step], case.source_of_last) == case.last)
        true = words.words[target[case.step + 2]]
        if true not in KIND:
            continue
        decoding.state = before
        decoding.step(target[case.step])
        after = decoding.state
        for noun in known[::EVERY]:
            needed = particle(KIND[true], noun)
            if needed != true:
                decoding.state = after
                followed.append(decoding.step(words.ids[noun]) == needed)
    return {
        "moved": sum(moved) / len(moved),
        "moved_cases": len(moved),
        "followed": sum(followed) / len(followed),
        "followed_cases": len(followed),
    }


def measure_rounding(
    model: AttentionTranslator, data: TranslationData, levels: int
) -> dict[str, float]:
    """Return what rounding the parameters to so many levels changes in the test translations."""
    rounded = as_packed(model, levels)
    sources = [source for source, _ in data.test]
    pairs = zip(translate(model, sources), translate(rounded, sources), strict=True)
    return {
        "same_when_rounded": sum(a == b for a, b in pairs) / len(sources),
        "exact_when_rounded": compare_with_references(rounded, data.test)[0].mean().item(),
    }


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
        run["metrics"] |= intervene(model, data)
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
