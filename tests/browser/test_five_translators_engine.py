"""Tests of the five translators in Chromium: they compute the same as torch, word by word."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from coursekit.corpora.everyday_pairs import everyday_english_french
from coursekit.data.batching import translation_batch
from coursekit.models.translation import translate
from coursekit.text.vocabulary import BOS, EOS, WordVocabulary, until_eos
from coursekit.widgets.live.weight_packing import as_packed, pack
from experiments import five_translators
from experiments.everyday_data import Languages
from experiments.word_content_probe import LinearProbe, sentence_vectors
from tests.helpers.browser_engine import close, made, open_engine

pytestmark = pytest.mark.browser

PAIRS = everyday_english_french(100, seed=8)
SOURCE, TARGET = (WordVocabulary(getattr(p, side) for p in PAIRS) for side in ("source", "target"))
BOTH = WordVocabulary(words for pair in PAIRS for words in (pair.source, pair.target))
DATA = SimpleNamespace(apart=Languages(SOURCE, TARGET), joint=Languages(BOTH, BOTH))
FIVE = ("cho", "sutskever", "bahdanau", "luong", "transformer")
BUILD = {
    "transformer": "transformerByWord(unpack(packed), 4, { off: new Set(off) })",
    **{name: f"{name}(unpack(packed))" for name in FIVE[:4]},
}
FOLLOW = """(() => {
  const read = model.encode(ids);
  let { state } = read;
  return previous.map((token) => {
    const found = model.step(token, state, read, mask, hand ? Float32Array.from(hand) : undefined);
    ({ state } = found);
    return { logits: found.logits, weights: found.weights };
  });
})()"""


@pytest.fixture(scope="module")
def engine(chromium):
    with open_engine(chromium, "live/engine", "live/translators") as evaluate:
        yield evaluate


def build(engine, name, levels=None, off=()):
    """Return a translator with random weights, as the browser has it, and its languages."""
    model = made(3, lambda: five_translators.build(name, DATA))
    inner = model.model if name == "transformer" else model
    packed = pack(inner, levels)
    engine(f"window.model = {BUILD[name]}, 0", packed=packed, off=list(off))
    languages = DATA.joint if name == "transformer" else DATA.apart
    return as_packed(model, levels), languages


def follow(engine, source, target, mask=None, hand=None):
    return engine(FOLLOW, ids=source, previous=[BOS, *target[:-1]], mask=mask, hand=hand)


@pytest.mark.parametrize("levels", [None, five_translators.LEVELS])
@pytest.mark.parametrize("name", FIVE)
def test_a_translator_computes_the_same_as_torch(engine, name, levels):
    model, languages = build(engine, name, levels)
    pairs = languages.encode(PAIRS)
    for source, target in pairs:
        batch = translation_batch([(source, target)])
        logits, weights = model(batch.source, batch.lengths, batch.previous)
        found = follow(engine, source, target)
        close([step["logits"] for step in found], logits[0], 2e-3)
        if weights is not None:
            close([step["weights"] for step in found], weights[0], 1e-4)


@pytest.mark.parametrize("name", FIVE[2:])
def test_a_barred_word_gets_no_weight_and_weights_by_hand_are_taken(engine, name):
    _, languages = build(engine, name)
    source, target = languages.encode(PAIRS)[0]
    free = follow(engine, source, target)
    mask = [j != 1 for j in range(len(source))]
    barred = follow(engine, source, target, mask=mask)
    assert all(step["weights"][1] == 0 for step in barred)
    close([sum(step["weights"]) for step in barred], torch.ones(len(barred)))
    assert barred[-1]["logits"] != free[-1]["logits"]
    by_hand = [float(j == 2) for j in range(len(source))]
    given = follow(engine, source, target, hand=by_hand)
    assert all(step["weights"] == by_hand for step in given)


def test_a_head_of_the_last_layer_that_is_off_adds_nothing(engine):
    model, languages = build(engine, "transformer", off=[2])
    source, target = languages.encode(PAIRS)[1]
    output = model.model.decoder_layers[-1].memory_attention.output
    output.weight[:, 32:48] = 0  # what the third of four heads of 16 adds
    batch = translation_batch([(source, target)])
    logits, _ = model(batch.source, batch.lengths, batch.previous)
    close([step["logits"] for step in follow(engine, source, target)], logits[0], 2e-3)


def test_models_with_one_vector_have_no_weights(engine):
    for name in ("cho", "sutskever"):
        _, languages = build(engine, name)
        source, target = languages.encode(PAIRS)[0]
        assert all(step["weights"] is None for step in follow(engine, source, target))


@pytest.mark.parametrize("name", FIVE[:2])
def test_a_probe_computes_the_same_as_torch(engine, name):
    model, languages = build(engine, name)
    sources = [source for source, _ in languages.encode(PAIRS[:10])]
    vectors = sentence_vectors(model, sources)
    probe = made(5, lambda: LinearProbe(vectors, 7))
    for source, logits in zip(sources, as_packed(probe)(vectors), strict=True):
        call = "wordContent(model.encode(ids).vector, unpack(packed))"
        close(engine(call, ids=source, packed=pack(probe)), logits.sigmoid(), 1e-4)


@pytest.mark.parametrize("name", FIVE)
def test_the_recorded_translators_write_the_same_as_torch(engine, name):
    models, words = five_translators.read_recorded()
    model = as_packed(models[name], five_translators.LEVELS)
    languages = words.joint if name == "transformer" else words.apart
    inner = models[name].model if name == "transformer" else models[name]
    packed = pack(inner, five_translators.LEVELS)
    engine(f"window.model = {BUILD[name]}, 0", packed=packed, off=[])
    sources = [source for source, _ in languages.encode(PAIRS)]
    ours = translate(model, sources)
    same = 0
    for source, expected in zip(sources, ours, strict=True):
        written = engine(
            "translate(model, ids, { bos, eos, most }).steps.map(step => step.token)",
            ids=source, bos=BOS, eos=EOS, most=2 * len(source) + 10,
        )  # fmt: skip
        same += until_eos(written) == until_eos(expected)
    assert same == len(PAIRS)
