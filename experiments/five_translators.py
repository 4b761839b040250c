"""Compare five translators from 2014 to 2017 on the same everyday sentences.

    python -m experiments five_translators --jobs 2

Cho's and Sutskever's encoder-decoders, Bahdanau's and Luong's translators with attention, and a
Transformer, of 250,000 to 300,000 parameters, translate from English into French. They train
on sentences of up to 20 words; the row "transformer-28" trains on up to 28. Recorded in
addition to the scores by length: Winograd pairs, where the largest weights lie, and the sentences
of the page.

Writes book/results/five_translators.english-french.json, and the weights of the first seed of the
five.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from coursekit.corpora import SentencePair
from coursekit.data.batching import translation_batch
from coursekit.models.translation import (
    AttentionTranslator,
    ContextTranslator,
    LuongTranslator,
    SequenceTranslator,
    TransformerTranslator,
    Translator,
    predict_references,
    translate,
)
from coursekit.text.vocabulary import WordVocabulary
from coursekit.training import History, device, results, seed_everything, train
from coursekit.widgets import as_packed
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder
from solutions.luong.decoder import LuongDecoder
from solutions.luong.scores import GlobalAttention, Score
from solutions.seq2seq.encoder_decoder import ContextDecoder, Encoder, Seq2Seq, reverse_source

from .comparison_harness import Comparison, Train
from .everyday_data import BATCH, LONGEST, LONGEST_TEST, PAIRS, EverydaySentences, Languages, load
from .pronoun_resolution import SMOOTHING, adam, smoothed_loss
from .synthetic_translation import compare_with_references, cross_entropy, group_by_length
from .transformer_factory import make_transformer

EMBEDDING = 48
ONE_VECTOR, ATTENDING = 112, 80  # d of the recurrent models without attention, and with it
WIDTH, HEADS, LAYERS, INNER = 64, 4, 2, 256  # of the Transformer
EPOCHS = 4
RATE = 6e-3  # of the recurrent models, falling to 0
PEAK, WARMUP = 3e-3, 200  # of the Transformer
EDGES = (2, 4, 8, 12, 16, 21, 25, 29)  # words of the source
SEEDS = (1, 2, 3, 4, 5)
LEVELS = 61  # of each weight in the browser: the page must stay small


class Vocabularies(NamedTuple):
    """English and French words apart, and together."""

    apart: Languages
    joint: Languages


def build(row: str, data: EverydaySentences | Vocabularies) -> Translator:
    """Return the untrained translator of a row."""
    source, target = len(data.apart.source), len(data.apart.target)
    if row == "cho":
        encoder = Encoder(source, EMBEDDING, ONE_VECTOR)
        return ContextTranslator(encoder, ContextDecoder(target, EMBEDDING, ONE_VECTOR))
    if row == "sutskever":
        return SequenceTranslator(Seq2Seq(source, target, EMBEDDING, ONE_VECTOR), reverse_source)
    d, keys = ATTENDING, 2 * ATTENDING
    if row == "bahdanau":
        additive = AdditiveAttention(d, keys, d)
        decoder = AttentionDecoder(target, EMBEDDING, d, keys, additive, 0.0)
        return AttentionTranslator(BidirectionalEncoder(source, EMBEDDING, d, 0.0), decoder)
    if row == "luong":
        attention = GlobalAttention(Score("general", query_size=d, key_size=keys))
        luong = LuongDecoder(target, EMBEDDING, d, keys, attention)
        return LuongTranslator(BidirectionalEncoder(source, EMBEDDING, d, 0.0), luong)
    return make_transformer(len(data.joint.source), WIDTH, HEADS, INNER, LAYERS)


def read_recorded() -> tuple[dict[str, Translator], Vocabularies]:
    """Return the five translators of the first seed as they are recorded, and their words."""
    # Also inside `write_results_to`, where another experiment needs the translators.
    rows = results.read("five_translators", "english-french", results.FOLDER)["rows"]

    def languages(row: str) -> Languages:
        words = rows[row]["runs"][0]["words"]
        source = WordVocabulary.from_words(words["source"])
        same = words["source"] == words["target"]
        return Languages(source, source if same else WordVocabulary.from_words(words["target"]))

    vocabularies = Vocabularies(languages("cho"), languages("transformer"))
    models = {}
    for row in (row for row in rows if "words" in rows[row]["runs"][0]):
        models[row] = build(row, vocabularies)
        saved = results.read_weights(f"five_translators-{row}", "english-french", results.FOLDER)
        models[row].load_state_dict(saved, strict=False)
        models[row].eval()
    return models, vocabularies


def learning_rate(step: int, steps: int) -> float:
    """Return the Transformer's learning rate, which rises to its peak and then falls to 0."""
    return PEAK * min(step / WARMUP, max(0.0, (steps - step) / (steps - WARMUP)))


def train_translator(
    row: str, seed: int, data: EverydaySentences, train: Train = train
) -> tuple[Translator, History]:
    """Train the translator of a row; return it in eval mode, with its history."""
    seed_everything(seed)
    model = build(row, data)
    attends_to_itself = isinstance(model, TransformerTranslator)
    languages = data.joint if attends_to_itself else data.apart
    longest = LONGEST_TEST if row == "transformer-28" else LONGEST
    steps = EPOCHS * -(-len(data.training_pairs(longest)) // BATCH)
    settings: dict[str, Any] = {"learning_rate": RATE, "decay": True}
    if attends_to_itself:
        settings = {"schedule": lambda step: learning_rate(step, steps), "optimizer": adam}
    validation = languages.encode(data.validation)
    history = train(
        model,
        data.batches(longest, languages, seed),
        smoothed_loss if attends_to_itself else cross_entropy,
        epochs=EPOCHS,
        progress=False,
        validate=lambda model: {"exact": _share_exact(model, validation)},
        **settings,
    )
    return model.eval(), history


def train_row(row: str, seed: int, data: EverydaySentences, train: Train) -> dict[str, Any]:
    """Train one translator; return its metrics, its history and its measurements."""
    model, history = train_translator(row, seed, data, train)
    languages = data.joint if isinstance(model, TransformerTranslator) else data.apart
    packed = as_packed(model, LEVELS).to(device())
    run = measure(model, packed, data)
    if seed == SEEDS[0] and row != "transformer-28":
        results.write_weights(f"five_translators-{row}", "english-french", model)
        # A page that runs these weights would need minutes to generate the corpus for its words.
        run["words"] = {"source": languages.source.words, "target": languages.target.words}
    return run | {
        "history": history.epochs,
        "seconds": history.seconds,
        "parameters": sum(p.numel() for p in model.parameters()),
    }


def _share_exact(model: Any, pairs: Any) -> float:
    return compare_with_references(model, pairs)[0].mean().item()


def measure(model: Any, packed: Any, data: EverydaySentences) -> dict[str, Any]:
    """Return how a translator translates, and where its largest weights lie.

    Args:
        model: the trained translator.
        packed: the same with its parameters rounded, as the browser has them.
        data: the sentences.
    """
    languages = data.joint if isinstance(model, TransformerTranslator) else data.apart
    test = languages.encode(data.test)
    exact, in_place = compare_with_references(model, test)
    words = [len(pair.source) for pair in data.test]
    usual = torch.tensor([n <= LONGEST for n in words])
    twins, pronouns = _measure_twins(model, data.twins, languages)
    metrics = {
        "exact": exact[usual].mean().item(),
        "exact_longer": exact[~usual].mean().item(),
        "twins_exact": twins,
        "twins_pronoun": pronouns,
        "exact_packed": compare_with_references(packed, test)[0][usual].mean().item(),
    }
    if isinstance(model, AttentionTranslator | TransformerTranslator):
        metrics["largest_on_linked"] = share_on_linked(model, data.test[:500], languages)
    return {
        "metrics": metrics,
        "by_length": group_by_length(EDGES, words, {"exact": exact, "in_place": in_place}),
        "stories": {
            story: _translate(model, pairs, languages) for story, pairs in data.stories.items()
        },
    }


def _translate(model: Any, pairs: Sequence[SentencePair], languages: Any) -> list[str]:
    found = translate(model, [source for source, _ in languages.encode(pairs)])
    return [" ".join(languages.target.words[i] for i in ids) for ids in found]


def _measure_twins(
    model: Any, twins: Sequence[SentencePair], languages: Any
) -> tuple[float, float]:
    """Return the shares of twins of which both are exact, and of which both pronouns are right."""
    found = _translate(model, twins, languages)
    exact = [ours == " ".join(pair.target) for ours, pair in zip(found, twins, strict=True)]
    pronouns = [
        _last_pronoun(ours.split()) == _last_pronoun(pair.target)
        for ours, pair in zip(found, twins, strict=True)
    ]
    return _share_both(exact), _share_both(pronouns)


def _last_pronoun(words: Sequence[str]) -> str:
    return next((word for word in reversed(words) if word in ("il", "elle")), "")


def _share_both(right: Sequence[bool]) -> float:
    both = [a and b for a, b in zip(right[::2], right[1::2], strict=True)]
    return sum(both) / len(both)


@torch.no_grad()
def share_on_linked(model: Any, pairs: Sequence[SentencePair], languages: Any) -> float:
    """Return for how many linked target words the largest weight lies on a word linked to it.

    The Transformer's weights are the mean of the heads of the last layer.
    """
    batch = translation_batch(languages.encode(pairs)).to(next(model.parameters()).device)
    _, weights = predict_references(model, batch)  # (N, T, S)
    chosen = weights.argmax(dim=-1).tolist()  # (N, T)
    right = []
    for row, pair in zip(chosen, pairs, strict=True):
        for t in {t for _, t in pair.links}:
            right.append((row[t], t) in pair.links)
    return sum(right) / len(right)


COMPARISON = Comparison(
    program="five_translators",
    data="english-french",
    rows={
        "cho": "Cho 2014",
        "sutskever": "Sutskever 2014",
        "bahdanau": "Bahdanau 2015",
        "luong": "Luong 2015",
        "transformer": "Transformer 2017",
        "transformer-28": "Transformer, trained on up to 28 words",
    },
    seeds=SEEDS,
    settings={
        "embedding": EMBEDDING,
        "one_vector": ONE_VECTOR,
        "attending": ATTENDING,
        "width": WIDTH,
        "heads": HEADS,
        "layers": LAYERS,
        "inner": INNER,
        "batch": BATCH,
        "pairs": PAIRS,
        "epochs": EPOCHS,
        "rate": RATE,
        "peak": PEAK,
        "warmup": WARMUP,
        "smoothing": SMOOTHING,
        "longest": LONGEST,
        "longest_test": LONGEST_TEST,
        "levels": LEVELS,
    },
    load=load,
    train_row=train_row,
    scorer="share of sentences translated word for word as the reference",
)
parser, main = COMPARISON.parser, COMPARISON.main
