"""Tests of the five translators: their data, sizes, training and measures."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from coursekit.corpora import SentencePair
from coursekit.corpora.everyday_pairs import everyday_english_french
from coursekit.corpora.grammar.lexicon import EVERYDAY
from coursekit.training import results
from experiments import everyday_data, five_translators
from experiments.everyday_data import EverydaySentences, read_stories

ROWS = ("cho", "sutskever", "bahdanau", "luong", "transformer")


@pytest.fixture(scope="module")
def data():
    patch = pytest.MonkeyPatch()
    patch.setattr(everyday_data, "PAIRS", 400)
    stories = read_stories()
    yield EverydaySentences(
        test=everyday_english_french(20, seed=1, max_length=24),
        twins=everyday_english_french(8, seed=3, max_length=12),
        validation=everyday_english_french(10, seed=4, max_length=8),
        stories={"love": stories["love"][:2]},
    )
    patch.undo()


def test_no_training_sentence_is_in_a_test(data):
    made = everyday_english_french(400, seed=1020)
    held_out = made[7].source
    other = EverydaySentences([made[7]], data.twins, data.validation, {})
    assert held_out not in {pair.source for pair in other.training_pairs(20)}
    assert len(other.training_pairs(20)) >= 390


def test_the_transformer_alone_has_one_vocabulary(data):
    assert data.joint.source is data.joint.target
    assert set(data.joint.source.words) == {*data.apart.source.words, *data.apart.target.words}


@pytest.mark.parametrize("row", ROWS)
def test_a_translator_is_trained_and_measured(data, row):
    from coursekit.training import train

    def a_little(model, batches, loss, **settings):
        some = [next(iter(batches(1))) for _ in range(2)]
        return train(model, lambda epoch: some, loss, **(settings | {"epochs": 1}))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "write_weights", lambda *_: None)
        run = five_translators.train_row(row, 1, data, a_little)
    assert 0 <= run["metrics"]["exact"] <= 1 and len(run["by_length"]) == 7
    assert ("largest_on_linked" in run["metrics"]) == (row not in ("cho", "sutskever"))
    assert len(run["stories"]["love"]) == 2 and run["words"]["source"][4:]


def test_sizes_differ_by_less_than_a_quarter():
    rows = results.read("five_translators", "english-french")["rows"]
    sizes = [row["runs"][0]["parameters"] for row in rows.values()]
    assert max(sizes) < 1.25 * min(sizes)


def test_the_learning_rate_rises_to_its_peak_and_falls_to_0():
    rates = [five_translators.learning_rate(step, 1000) for step in range(1, 1001)]
    assert max(rates) == rates[199] == five_translators.PEAK
    assert rates[-1] == 0 and rates[0] == five_translators.PEAK / 200


def test_twins_count_only_together():
    words = ["il", "elle", "<bos>"]
    languages = SimpleNamespace(target=SimpleNamespace(words=words))
    twins = [SentencePair(("a",), (pronoun,), frozenset()) for pronoun in ("il", "elle") * 2]
    said = iter(["il", "elle", "elle", "elle"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(five_translators, "_translate", lambda *_: list(said))
        assert five_translators._measure_twins(None, twins, languages) == (0.5, 0.5)


def test_the_largest_weight_is_compared_with_the_links():
    pair = SentencePair(("a", "b"), ("x", "y", "z"), frozenset({(0, 0), (1, 1)}))
    weights = torch.tensor([[[0.9, 0.1, 0.0], [0.8, 0.1, 0.1], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])

    class Model(torch.nn.Linear):
        def forward(self, source, lengths, previous):
            return None, weights

    languages = SimpleNamespace(encode=lambda pairs: [([4, 5, 3], [4, 5, 6, 3])])
    # x looks at its word, y at another one; z has no link and is not counted
    assert five_translators.share_on_linked(Model(1, 1), [pair], languages) == 0.5


def test_the_stories_grow_and_have_words_that_can_be_written():
    stories = read_stories()
    for name, pairs in stories.items():
        lengths = [len(pair.source) for pair in pairs]
        assert name == "typed" or lengths == sorted(set(lengths)), name
    nouns = {form for n in EVERYDAY.nouns for form in (n.english, n.english_plural)}
    assert {"animal", "street", "mother", "friend"} <= nouns
    known = set(
        results.read("five_translators", "english-french")["rows"]["cho"]["runs"][0]["words"][
            "source"
        ]
    )
    assert all(set(pair.source) <= known for pairs in stories.values() for pair in pairs)


def test_the_recorded_translators_are_read_back():
    models, words = five_translators.read_recorded()
    assert tuple(models) == ROWS
    assert words.joint.source is words.joint.target and len(words.apart.source) > 380
    love = words.apart.source.encode(["i", "love", "you"])
    (said,) = five_translators.translate(models["luong"], [love])
    assert words.apart.target.tokens(said) == ["je", "t'", "aime"]
