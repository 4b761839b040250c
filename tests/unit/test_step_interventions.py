"""Tests of interventions at single steps: what is forced, at which steps, what is counted."""

from __future__ import annotations

import pytest
import torch

from coursekit.corpora.grammar.lexicon import NOUNS, NUMBERS
from coursekit.models.translation import translate
from coursekit.text.vocabulary import BOS
from coursekit.training import seed_everything
from experiments import bottleneck
from experiments import step_interventions as interventions
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


def test_a_barred_word_gets_no_weight(model, data):
    free, barred = (interventions.ForcedDecoding.start(model, data, 0) for _ in range(2))
    barred.bar(1)
    assert free.read[1][0, 1] and not barred.read[1][0, 1]
    assert (free.read[1] != barred.read[1]).sum() == 1
    free.step(BOS)
    barred.step(BOS)
    assert not torch.allclose(free.state, barred.state)


def test_the_steps_are_those_of_two_different_nouns(data):
    found = list(interventions.find_noun_steps(data))
    assert len(found) > 50
    for case in found:
        source, target = data.test[case.sentence]
        written = data.target_words.tokens(target)
        english = data.source_words.tokens(source)[case.source_of_last]
        assert written[case.step] in KOREAN and written[case.step] != case.last
        first = data.source_words.tokens(source)[case.source_of_first]
        noun = KOREAN[written[case.step]]
        assert first in (noun.english, noun.english_plural)
        assert english in (KOREAN[case.last].english, KOREAN[case.last].english_plural)


def test_what_follows_an_intervention_is_counted(data, monkeypatch):
    """A decoding that obeys counts as moved and followed; one that writes the reference not."""

    class Decoding:
        obeys = True

        def __init__(self, i):
            self.state, self.target = 0, data.test[i][1]
            self.nouns = {case.sentence: case.last for case in interventions.find_noun_steps(data)}
            self.i = i
            self.barred = None

        def bar(self, position):
            self.barred = position

        def step(self, previous, look_at=None):
            true = data.target_words.words[self.target[self.state]]
            self.state += 1
            word = data.target_words.words[previous]
            if self.obeys and (look_at is not None or self.barred is not None):
                return self.nouns[self.i]
            if self.obeys and word in KOREAN and true in interventions.KIND:
                return interventions.particle(interventions.KIND[true], word)
            return true

    monkeypatch.setattr(interventions.ForcedDecoding, "start", lambda model, data, i: Decoding(i))
    counted = interventions.intervene_at_nouns(torch.nn.Module(), data)
    assert counted["moved"] == counted["followed"] == 1 and counted["kept_when_barred"] == 0
    assert counted["moved_cases"] > 50 and counted["followed_cases"] > 50
    Decoding.obeys = False
    counted = interventions.intervene_at_nouns(torch.nn.Module(), data)
    assert counted["moved"] == counted["followed"] == 0 and counted["kept_when_barred"] == 1


def test_a_counter_step_follows_noun_and_number(data):
    numbers = {" ".join(number.english) for number in NUMBERS}
    found = list(interventions.find_counter_steps(data))
    assert len(found) > 30 and sum(len(case.others) for case in found) > 10
    for case in found:
        source, target = data.test[case.sentence]
        written = data.target_words.tokens(target)
        english = data.source_words.tokens(source)
        noun = KOREAN[written[case.step - 2]]
        assert written[case.step] == case.counter == noun.counter
        assert english[case.source_of_noun] in (noun.english, noun.english_plural)
        assert english[case.source_of_number] in numbers
        for place, other in case.others:
            assert other != case.counter
            named = {
                noun.counter
                for noun in NOUNS
                if english[place] in (noun.english, noun.english_plural)
            }
            assert other in named


@pytest.mark.parametrize("obeys", ["weights", "noun", "reference"])
def test_counters_are_counted_by_what_decides_them(data, monkeypatch, obeys):
    """Decodings that write the counter of the word looked at, of the word read, or neither's."""
    words = data.target_words
    cases = list(interventions.find_counter_steps(data))
    counters = interventions.COUNTERS

    class Decoding:
        def __init__(self, i):
            self.state, self.i = (0, ""), i  # the step, and the last noun read

        def step(self, previous, look_at=None):
            t, noun = self.state
            word = words.words[previous]
            noun = word if word in interventions.NAMES else noun
            self.state = t + 1, noun
            true = words.words[data.test[self.i][1][t]]
            if true not in counters:
                return true
            if obeys == "weights" and look_at is not None:
                case = next(case for case in cases if (case.sentence, case.step) == (self.i, t))
                end = len(data.test[self.i][0]) - 1
                own = {case.source_of_noun: case.counter, case.source_of_number: "?", end: "?"}
                return (own | dict(case.others))[look_at]
            return interventions.COUNTER_OF.get(noun, true) if obeys == "noun" else true

    monkeypatch.setattr(interventions.ForcedDecoding, "start", lambda model, data, i: Decoding(i))
    counted = interventions.intervene_at_counters(torch.nn.Module(), data)
    names = ("right", "by_noun", "by_number", "by_end", "moved", "stayed", "followed", "unforced")
    shares = {
        "weights": (1, 1, 0, 0, 1, 0, 0, 1),
        "noun": (1, 1, 1, 1, 0, 1, 1, 0),
        "reference": (1, 1, 1, 1, 0, 1, 0, 1),
    }[obeys]
    assert [counted[f"counter_{name}"] for name in names] == list(shares)
    assert counted["counter_cases"] == len(cases)
    most = max(sum(case.counter == counter for case in cases) for counter in counters)
    assert counted["counter_most_frequent"] == most / len(cases) < 1
