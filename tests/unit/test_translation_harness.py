"""Tests of the translation harness: beam search, weight averaging, measurements."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from coursekit import datasets
from coursekit.models.translation import translate
from coursekit.training import results
from experiments import transformer, translation_harness
from tests.unit.test_translators import encoded_pairs, translator

NOUNS = ["hund", "katze", "vogel", "fisch", "pferd", "schaf", "maus", "kuh"]
VERBS = ["schläft", "läuft", "springt", "trinkt"]
PAIRS = [(f"der {n} {v} .", f"the {n} {v} now .") for n in NOUNS for v in VERBS]


@pytest.fixture
def recorded(monkeypatch):
    """Train a tiny Transformer on synthetic pairs; return its recorded run."""
    corpus = SimpleNamespace(
        train=PAIRS[:20], validation=PAIRS[20:26], test=PAIRS[20:], data_sha256="0"
    )
    written = []
    monkeypatch.setattr(datasets, "load", lambda name: corpus)
    monkeypatch.setattr(results, "write_result", lambda *names, runs, **more: written.extend(runs))

    def record(*more: str) -> dict:
        small = "--layers 1 --heads 2 --inner 16 --width 16 --epochs 30 --warmup 20 --rate 3"
        options = transformer.parser().parse_args(
            [*small.split(), "--subwords", "90", "--batch-size", "4", "--dropout", "0", *more]
        )
        transformer.main(options)
        return written.pop()

    return record


def test_a_search_is_recorded_beside_greedy_translations(recorded):
    greedy = recorded()
    assert greedy["metrics"].keys() == {"bleu", "perplexity", "validation_bleu"}
    assert greedy["metrics"]["bleu"] > 5, "it has learned something"
    low, high = greedy["intervals"]["bleu"]
    assert low < greedy["metrics"]["bleu"] < high
    searched = recorded("--beam", "3", "--average", "4")
    metrics = searched["metrics"]
    assert {name: metrics[name] for name in greedy["metrics"]} == greedy["metrics"]
    tried = searched["validation_bleu_of_weights"]
    assert tried.keys() == {"best epoch", "mean of the last epochs"}
    assert metrics["validation_bleu_searched"] == max(tried.values())
    low, high = searched["intervals"]["bleu_searched"]
    assert low < metrics["bleu_searched"] < high


def test_a_beam_of_one_without_a_penalty_is_greedy():
    sources = [source for source, _ in encoded_pairs(12)]
    model = translator()
    assert translation_harness.search(model, sources, 1, 0.0) == translate(model, sources)
    wider = translation_harness.search(model, sources, 4, 0.0)
    assert len(wider) == len(sources) and wider != translate(model, sources)


def test_the_mean_is_of_every_weight():
    states = [
        {"a": torch.tensor([1.0, 4.0]), "b": torch.zeros(1)},
        {"a": torch.tensor([3.0, 0.0]), "b": torch.ones(1)},
    ]
    mean = translation_harness.mean_weights(states)
    assert mean["a"].tolist() == [2.0, 2.0] and mean["b"].tolist() == [0.5]


def test_the_weights_that_measure_best_stay():
    model = nn.Linear(1, 1)
    candidates = {}
    for name, weight in (("one", 1.0), ("three", 3.0), ("two", 2.0)):
        candidates[name] = {"weight": torch.tensor([[weight]]), "bias": torch.zeros(1)}
    candidates["now"] = model.state_dict()  # the tensors of the model itself
    now = model.weight.item()
    scores = translation_harness.choose_weights(model, candidates, lambda: model.weight.item())
    assert scores == {"one": 1.0, "three": 3.0, "two": 2.0, "now": now}
    assert model.weight.item() == 3.0
