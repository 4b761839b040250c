"""Compare attention with one fixed vector, and with one of twice the size, over sentence length.

    python -m experiments bottleneck --jobs 2

English sentences of 4 to 26 words are translated into Korean. The models differ in the context
alone: `AdditiveAttention`, or the two last states of the encoder for every target word. Every epoch
has new sentences, so that a model cannot learn its pairs by heart; the learning rate falls to 0;
and the best epoch on validation data is tested.

Writes book/results/bottleneck.english-korean.json.
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

from coursekit.corpora.grammar.lexicon import NOUNS
from coursekit.data.lesson_data import TranslationData
from coursekit.models.translation import AttentionTranslator, FixedContext
from coursekit.training import seed_everything
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder

from .comparison_harness import Comparison, Train
from .synthetic_translation import BATCH, FreshPairs, describe_run, measure_alignment, weights_for

EMBEDDING = 64
WIDTHS = {"attention": 96, "fixed": 96, "fixed-wide": 192}
PAIRS, EPOCHS, MAX_LENGTH = 14_000, 32, 26
EDGES = (4, 8, 12, 16, 20, 23, 27)  # words of the source
LONG = 20  # words
COUNTERS = {noun.counter for noun in NOUNS}


def load() -> tuple[FreshPairs, str]:
    """Return the corpus and its SHA-256."""
    corpus = FreshPairs("korean", PAIRS, MAX_LENGTH)
    return corpus, corpus.sha256()


def build(row: str, data: TranslationData) -> AttentionTranslator:
    """Return the untrained translator of a row."""
    d = WIDTHS[row]
    attention = AdditiveAttention(d, 2 * d, d) if row == "attention" else FixedContext()
    encoder = BidirectionalEncoder(len(data.source_words), EMBEDDING, d)
    decoder = AttentionDecoder(len(data.target_words), EMBEDDING, d, 2 * d, attention)
    return AttentionTranslator(encoder, decoder)


def measure_attention(model: AttentionTranslator, data: TranslationData) -> dict[str, float]:
    """Return where the weights lie: on the links, on how many words, and before a counter.

    A counter stands after a noun and a number, and is linked to the number, as the Korean number
    is. "beside_others" is the weight on the source of the word two places back, which is the noun
    before a counter, where the target word is no counter.
    """
    assert data.links is not None
    rows = weights_for(model, data.test)
    on_number, on_noun, beside_others = [], [], []
    for w, (_, target), gold in zip(rows, data.test, data.links, strict=True):
        for t, token in enumerate(data.target_words.tokens(target)):
            own, last, before = ([j for j, k in gold if k == t - back] for back in (0, 1, 2))
            if not own or not before or set(own) & set(before):
                continue
            if token in COUNTERS and own == last:
                on_number.append(w[t, own].sum().item())
                on_noun.append(w[t, before].sum().item())
            else:
                beside_others.append(w[t, before].sum().item())
    return measure_alignment(rows, data) | {
        "counter_on_number": fmean(on_number),
        "counter_on_noun": fmean(on_noun),
        "beside_others": fmean(beside_others),
    }


def measure_across_an_adjective(
    model: AttentionTranslator, data: TranslationData
) -> dict[str, float]:
    """Return the mean weights before a counter whose number and noun an adjective separates.

    In "five old books" they are those of "number", "adjective" and "noun". The noun is what the
    counter depends on, the adjective what stands to the right of the linked word.
    """
    assert data.links is not None
    found: dict[str, list[float]] = {"number": [], "adjective": [], "noun": []}
    for w, (_, target), gold in zip(
        weights_for(model, data.test), data.test, data.links, strict=True
    ):
        for t, token in enumerate(data.target_words.tokens(target)):
            own, last, before = ([j for j, k in gold if k == t - back] for back in (0, 1, 2))
            if token in COUNTERS and len(own) == 1 and own == last and before == [own[0] + 2]:
                for place, values in enumerate(found.values()):
                    values.append(w[t, own[0] + place].item())
    return {name: fmean(values) for name, values in found.items()}


def train_row(row: str, seed: int, corpus: FreshPairs, train: Train) -> dict[str, Any]:
    """Train one model; return its metrics, its history and its score by length."""
    data = corpus.data
    seed_everything(seed)
    model = build(row, data)
    history = corpus.train(model, seed, train, epochs=EPOCHS, select="exact")
    run = describe_run(model, history, data, EDGES, LONG)
    if row == "attention":
        run["metrics"] |= measure_attention(model, data)
    return run


COMPARISON = Comparison(
    program="bottleneck",
    data="english-korean",
    rows={
        "attention": "attention",
        "fixed": "one fixed vector",
        "fixed-wide": "one fixed vector, twice the size",
    },
    seeds=(1, 2, 3, 4, 5),
    settings={
        "embedding": EMBEDDING,
        "widths": WIDTHS,
        "batch": BATCH,
        "epochs": EPOCHS,
        "pairs_per_epoch": PAIRS,
    },
    load=load,
    train_row=train_row,
    scorer="share of sentences translated word for word as the reference",
)
parser, main = COMPARISON.parser, COMPARISON.main
