"""Tests of the probe for the words in a sentence's vector."""

from __future__ import annotations

import pytest
import torch

from coursekit.corpora.everyday_pairs import everyday_english_french
from coursekit.training import results, train
from experiments import everyday_data, five_translators, word_content_probe
from experiments.everyday_data import EverydaySentences
from experiments.word_content_probe import (
    LinearProbe,
    ProbedSentences,
    find_words_read_back,
    occurrences,
    sentence_vectors,
)


@pytest.fixture(scope="module")
def data():
    patch = pytest.MonkeyPatch()
    patch.setattr(everyday_data, "PAIRS", 400)
    translators = EverydaySentences(
        test=everyday_english_french(60, seed=1, max_length=24),
        twins=everyday_english_french(8, seed=3, max_length=12),
        validation=everyday_english_french(10, seed=4, max_length=8),
        stories={},
    )
    yield ProbedSentences(translators, everyday_english_french(200, seed=5, max_length=12))
    patch.undo()


def test_as_many_words_are_read_back_as_occur():
    occur = torch.tensor([[1.0, 0, 1, 0], [0, 0, 0, 1]])
    logits = torch.tensor([[3.0, 2, 1, 0], [0, 1, 2, 3]])
    assert find_words_read_back(logits, occur).tolist() == [[1, 1, 0, 0], [0, 0, 0, 1]]
    assert find_words_read_back(logits, torch.zeros(2, 4)).sum() == 0


def test_a_word_occurs_once_however_often_it_is_there():
    assert occurrences([[5, 7, 5, 3], [4]], [7, 5, 9]).tolist() == [[1, 1, 0], [0, 0, 0]]


def test_content_words_are_nouns_adjectives_and_verbs():
    words = word_content_probe.content_words()
    assert {"cat", "cats", "big", "sleep", "sleeps", "slept"} <= words
    assert not {"the", "it", "because", "too", "and", "quickly", "in"} & words


@pytest.mark.parametrize("name", ["cho", "sutskever"])
def test_the_vector_does_not_depend_on_the_sentences_beside_it(data, name):
    torch.manual_seed(0)
    model = five_translators.build(name, data.translators).eval()
    sources = [[5, 6, 7, 3], [8, 3], [9, 5, 8, 7, 6, 3]]
    together = sentence_vectors(model, sources)
    alone = torch.cat([sentence_vectors(model, [source]) for source in sources])
    torch.testing.assert_close(together, alone)
    assert together.shape[1] == 112 * (1 if name == "cho" else 2)
    state = model.encode(torch.tensor([sources[0]]), torch.tensor([4]))
    first = state[1] if name == "cho" else torch.cat(state, dim=-1)  # what the decoder gets
    torch.testing.assert_close(first, together[:1])


def test_a_probe_reads_back_what_is_linearly_there(data):
    generator = torch.Generator().manual_seed(1)
    directions = torch.randn(20, 64, generator=generator)
    occur = (torch.rand(2000, 20, generator=generator) < 0.2).float()
    vectors = 3 + 100 * (occur @ directions)
    probe = LinearProbe(vectors, 20)
    train(
        probe,
        lambda epoch: [
            word_content_probe.ProbeBatch(*part)
            for part in zip(vectors.split(100), occur.split(100), strict=True)
        ],
        lambda probe, batch: torch.nn.functional.binary_cross_entropy_with_logits(
            probe(batch.vectors), batch.occur
        ),
        epochs=30,
        learning_rate=3e-2,
        progress=False,
    )
    found = find_words_read_back(probe(vectors.to(probe.mean.device)).cpu(), occur)
    assert (found == occur).float().mean() > 0.99


@pytest.mark.parametrize("row", word_content_probe.COMPARISON.rows)
def test_a_row_is_fitted_and_measured(data, row):
    def translators():
        return {
            name: five_translators.build(name, data.translators) for name in ("cho", "sutskever")
        }, None

    written = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_content_probe, "read_translators", translators)
        patch.setattr(word_content_probe, "EPOCHS", 1)
        patch.setattr(results, "write_weights", lambda name, *_: written.append(name))
        run = word_content_probe.train_row(row, 1, data, train)
    metrics = run["metrics"]
    assert (
        0 < metrics["read_back"] < 1
        and abs(metrics["read_back_packed"] - metrics["read_back"]) < 0.2
    )
    assert len(run["by_length"]) == 7 and len(run["by_quarter"]) == 4
    assert written == ([] if "untrained" in row else [f"word_content_probe-{row}"])


def test_the_recorded_probes_fit_the_recorded_translators():
    models, words = five_translators.read_recorded()
    probes, content = word_content_probe.read_recorded(words.apart.source)
    text = ["the", "big", "dog", "sees", "a", "small", "cat"]
    for name, probe in probes.items():
        logits = probe(sentence_vectors(models[name], [words.apart.source.encode(text)]))[0]
        best = [content[i] for i in logits.argsort(descending=True)[:5]]
        assert len(content) == len(probe.bias) and len({*best} & {*text}) >= 3, (name, best)
