"""Interventions in a translator: what is forced, where the nouns are, and what is counted."""

from __future__ import annotations

import pytest
import torch

from coursekit.corpora.grammar.lexicon import NOUNS
from coursekit.models.translation import translate
from coursekit.text.vocabulary import BOS
from coursekit.training import seed_everything
from experiments import attention_interventions as interventions
from experiments import bottleneck
from experiments.synthetic_translation import FreshPairs

KOREAN = {noun.korean: noun for noun in NOUNS}


@pytest.fixture(scope="module")
def data():
    return FreshPairs("korean", 1500, 12).data


@pytest.fixture(scope="module")
def model(data):
    seed_everything(1)
    return bottleneck.build("attention", data).eval()


def test_decoding_without_an_intervention_is_greedy(model, data):
    source = data.test[0][0]
    (expected,) = translate(model, [source])
    decoding = interventions.ForcedDecoding.start(model, data, 0)
    token, words = BOS, []
    for _ in expected:
        words.append(decoding.step(token))
        token = data.target_words.ids[words[-1]]
    assert words == [data.target_words.words[i] for i in expected]


def test_all_weight_on_a_word_is_a_mask_over_the_others(model, data):
    forced, masked = (interventions.ForcedDecoding.start(model, data, 0) for _ in range(2))
    annotations, mask, projected = masked.read
    only = torch.zeros_like(mask)
    only[0, 2] = True
    masked.read = (annotations, only, projected)
    assert forced.step(BOS, look_at=2) == masked.step(BOS)
    assert torch.allclose(forced.state, masked.state, atol=1e-6)


def test_the_steps_are_those_of_two_different_nouns(data):
    found = list(interventions.find_noun_steps(data))
    assert len(found) > 50
    for case in found:
        source, target = data.test[case.sentence]
        written = data.target_words.tokens(target)
        english = data.source_words.tokens(source)[case.source_of_last]
        assert written[case.step] in KOREAN and written[case.step] != case.last
        assert english in (KOREAN[case.last].english, KOREAN[case.last].english_plural)


def test_what_follows_an_intervention_is_counted(data, monkeypatch):
    """A decoding that obeys counts as moved and followed; one that writes the reference not."""

    class Decoding:
        obeys = True

        def __init__(self, i):
            self.state, self.target = 0, data.test[i][1]
            self.nouns = {case.sentence: case.last for case in interventions.find_noun_steps(data)}
            self.i = i

        def step(self, previous, look_at=None):
            true = data.target_words.words[self.target[self.state]]
            self.state += 1
            word = data.target_words.words[previous]
            if self.obeys and look_at is not None:
                return self.nouns[self.i]
            if self.obeys and word in KOREAN and true in interventions.KIND:
                return interventions.particle(interventions.KIND[true], word)
            return true

    monkeypatch.setattr(interventions.ForcedDecoding, "start", lambda model, data, i: Decoding(i))
    counted = interventions.intervene(torch.nn.Module(), data)
    assert counted["moved"] == counted["followed"] == 1
    assert counted["moved_cases"] > 50 and counted["followed_cases"] > 50
    Decoding.obeys = False
    counted = interventions.intervene(torch.nn.Module(), data)
    assert counted["moved"] == counted["followed"] == 0


def test_the_picture_shows_the_sentence_with_the_most_crossings(data):
    weights = [torch.rand(len(target), len(source)) for source, target in data.test]
    shown = interventions.picture(weights, data)
    i = next(i for i, w in enumerate(weights) if w.tolist() == shown["weights"])
    assert shown["source"] == data.source_words.tokens(data.test[i][0])

    def crossings(gold):
        return sum(a < c and b > d for a, b in gold for c, d in gold)

    assert crossings(shown["links"]) == max(map(crossings, data.links)) > 3
