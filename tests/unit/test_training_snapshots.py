"""What a snapshot of a translator measures."""

from __future__ import annotations

from math import inf

import pytest
import torch

from coursekit.data.batching import translation_batch
from coursekit.data.lesson_data import translation_data
from coursekit.models.attention_hooks import recorded_weights
from coursekit.models.translation import (
    SequenceTranslator,
    attention_weights,
    predict_references,
    translate,
)
from coursekit.training import seed_everything
from experiments import bottleneck, pronoun_resolution
from experiments.pronoun_data import load_sentences
from experiments.training_snapshots import (
    find_learned,
    find_snapshot,
    follow,
    measure_words,
    play_back,
    read_runs,
)
from solutions.seq2seq.encoder_decoder import Seq2Seq
from tests.helpers.one_line_errors import refused


@pytest.fixture(scope="module")
def recurrent():
    data = translation_data("quick", pairs=600, max_length=9)
    seed_everything(3)
    return bottleneck.build("attention", data).eval(), data


@pytest.fixture(scope="module")
def transformer():
    data = load_sentences()
    seed_everything(3)
    return pronoun_resolution.build("transformer", len(data.vocabulary)).eval(), data


def test_a_transformer_looks_with_the_mean_of_its_last_layer(transformer):
    model, data = transformer
    batch = translation_batch(data.encode(data.test["own"][:3]))
    with torch.no_grad(), recorded_weights(model) as weights:
        logits, mean = predict_references(model, batch)
    last = weights["model.decoder_layers.1.memory_attention"][-1]  # (B, h, T, S)
    assert torch.equal(mean, last.mean(dim=1))
    assert torch.allclose(logits, model(batch.source, batch.lengths, batch.previous)[0])


def test_a_model_without_attention_is_refused(recurrent):
    _, data = recurrent
    seed_everything(3)
    model = SequenceTranslator(Seq2Seq(len(data.source_words), len(data.target_words), 8, 8))
    with refused("no attention"):
        predict_references(model, translation_batch(data.test[:2]))


def test_a_followed_sentence_has_the_models_own_numbers(recurrent):
    model, data = recurrent
    source, target = data.test[0]
    with torch.no_grad():
        (seen,) = follow(model, [(source, target)], data.target_words)
    batch = translation_batch([(source, target)])
    chances = model(batch.source, batch.lengths, batch.previous)[0].softmax(-1)[0]  # (T, V)
    expected = [round(chances[t, word].item(), 3) for t, word in enumerate(target[:-1])]
    assert seen["probabilities"] == pytest.approx(expected, abs=1e-3)
    (weights,) = attention_weights(model, [source], [target])
    assert torch.allclose(torch.tensor(seen["weights"]), weights[:-1], atol=1e-3)
    written = data.target_words.tokens(translate(model, [source])[0])
    assert seen["written"] == written[: len(target) + 2]


def test_words_are_right_where_they_are_the_most_probable(recurrent):
    model, data = recurrent
    pairs, links = data.test[:20], data.links[:20]
    right, aligned = [], []
    for (source, target), gold in zip(pairs, links, strict=True):
        batch = translation_batch([(source, target)])
        logits, weights = model(batch.source, batch.lengths, batch.previous)
        right += (logits[0].argmax(-1) == torch.tensor(target)).tolist()
        looked = weights[0].argmax(-1).tolist()
        aligned += [(looked[t], t) in gold for t in {t for _, t in gold}]
    with torch.no_grad():
        found = measure_words(model, pairs, links)
    assert found["words"] == pytest.approx(sum(right) / len(right))
    assert found["aligned"] == pytest.approx(sum(aligned) / len(aligned))


def test_a_word_is_learned_from_where_it_stays_above_one_half():
    rows = [[0.1, 0.6, 0.7], [0.9, 0.4, 0.9], [0.9, 0.6, 0.2]]  # by snapshot, three words
    run = {
        "snapshots": [
            {"update": update, "words": update / 10, "sentences": [{"probabilities": row}]}
            for update, row in zip((0, 3, 8), rows, strict=True)
        ]
    }
    assert find_learned(run) == [3, 8, inf]
    assert find_snapshot(run, 0.3)["update"] == 3


@pytest.mark.parametrize("row", ["bahdanau", "transformer"])
def test_the_recorded_training_is_played_back_as_it_was(row):
    explorer = play_back(row, language="fr")
    first = read_runs(row)[0]
    assert explorer.updates == [one["update"] for one in first["snapshots"]]
    assert len(explorer.sentences) == len(first["followed"])
    last = explorer.sentences[0]["frames"][-1]
    assert last["probabilities"] == [
        round(1000 * p) for p in first["snapshots"][-1]["sentences"][0]["probabilities"]
    ]
    assert " '" not in last["written"] and "' " not in last["written"]
