"""Tests of the alignment experiment: words, IBM model 1, the program."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from coursekit import datasets
from coursekit.corpora import SentencePair, english_french
from coursekit.training import results
from experiments import alignment
from experiments.__main__ import main
from experiments.hansards_data import plain_pairs, read_debates, read_english, read_french
from experiments.ibm_model_1 import IBM1, NULL


def test_words_are_those_of_the_aligned_sentences():
    assert " ".join(read_english("Mr. Speaker, the hon. member's budget of $3.5 (today)...")) == (
        "mr. speaker , the hon. member 's budget of $ 3.5 ( today ) ..."
    )
    assert " ".join(read_french("L'hon. député n'a qu'à voir, aujourd'hui, l'état du pays.")) == (
        "le hon. depute ne a que a voir , aujourd' hui , le etat de le pays ."
    )
    assert " ".join(read_french("Est-ce le rapport des comités, M. Roy, au «début»?")) == (
        'est - ce le rapport de les comites , m. roy , a le " debut " ?'
    )


def test_debates_are_without_long_repeated_and_aligned_pairs():
    lines = [("Yes.", "Oui."), ("Yes.", "Oui."), ("I agree.", "D'accord."), ("a b c d", "a")]
    (known,) = plain_pairs(
        [SentencePair(("I", "agree", "."), ("d", "'", "accord", "."), frozenset())]
    )
    assert known.source == ("i", "agree", ".")
    kept = read_debates(lines, 3, [])
    assert sorted(kept) == [
        (("i", "agree", "."), ("de", "accord", ".")),
        (("yes", "."), ("oui", ".")),
    ]
    told = SentencePair(("yes", "."), ("oui", "."), frozenset())
    assert read_debates(lines, 3, [told]) == [(("i", "agree", "."), ("de", "accord", "."))]


def by_hand(pairs, iterations):
    """Return model 1's table by its equations, one pair of words after the other."""
    table = {(e, f): 1.0 for source, target in pairs for e in [NULL, *source] for f in target}
    for _ in range(iterations):
        counts = dict.fromkeys(table, 0.0)
        for source, target in pairs:
            for f in target:
                total = sum(table[e, f] for e in [NULL, *source])
                for e in [NULL, *source]:
                    counts[e, f] += table[e, f] / total
        table = {
            (e, f): count / sum(c for (other, _), c in counts.items() if other == e)
            for (e, f), count in counts.items()
        }
    return table


def test_model_1_is_what_its_equations_say():
    draw = random.Random(3)
    pairs = [
        ([draw.randint(1, 6) for _ in range(draw.randint(1, 5))],
         [draw.randint(1, 7) for _ in range(draw.randint(1, 5))])
        for _ in range(30)
    ]  # fmt: skip
    for iterations in (0, 1, 5):
        model, table = IBM1(pairs, iterations), by_hand(pairs, iterations)
        for source, target in pairs[:8]:
            wanted = np.array([[table[e, f] for e in [*source, NULL]] for f in target])
            wanted /= wanted.sum(axis=1, keepdims=True)
            assert np.allclose(model.shares(source, target), wanted)
    assert len(model) == len(table)


def test_model_1_finds_who_translates_whom_and_leaves_strangers_to_null():
    """Three sentences are enough: only *house* is there whenever *Haus* is."""
    the, house, book, a = 1, 2, 3, 4
    das, haus, buch, ein = 1, 2, 3, 4
    pairs = [([the, house], [das, haus]), ([the, book], [das, buch]), ([a, book], [ein, buch])]
    shares = IBM1(pairs, 20).shares([the, house], [das, haus])
    assert shares.argmax(axis=1).tolist() == [0, 1]
    assert IBM1(pairs, 20).shares([a], [haus]).tolist() == [[0.0, 1.0]]


@pytest.fixture
def recorded(monkeypatch):
    """Return a function that runs the program on synthetic English and French."""
    pairs, written = plain_pairs(english_french(1200, seed=1)), []
    lines = [(" ".join(pair.source), " ".join(pair.target)) for pair in pairs]
    words = [p for p, (_, line) in zip(pairs, lines, strict=True) if read_french(line) == p.target][
        :60
    ]
    parts = {"validation": words[:20], "test": words[20:]}
    corpora = {
        "hansards-en-fr": datasets.ParallelCorpus("a", "", "", {"a": "1"}, {"train": lines}),
        "alignment-hansards": datasets.AlignedCorpus("b", "", "", {"b": "2"}, parts),
        "alignment-en-fr": datasets.AlignedCorpus("c", "", "", {"c": "3"}, {"test": words[:9]}),
    }
    monkeypatch.setattr(datasets, "load", corpora.__getitem__)
    monkeypatch.setattr(alignment, "HELD_OUT", 20)
    monkeypatch.setattr(
        results, "write_result", lambda *names, **more: written.append((names, more))
    )

    def run(*options: str) -> dict:
        assert main(["alignment", *options]) == 0
        ((names, more),) = written
        return {"names": names, **more}

    return run


def test_model_1_is_measured_in_both_directions(recorded):
    outcome = recorded("--model", "ibm-1", "--epochs", "8")
    assert outcome["names"] == ("ibm-1", "hansards-en-fr")
    metrics = outcome["runs"][0]["metrics"]
    assert metrics["aer_forward"] < 0.5 and metrics["aer_backward"] < 0.5
    assert outcome["found"]["intersection"]["precision"] >= max(
        outcome["found"][side]["precision"] for side in ("forward", "backward")
    )
    best, worst = (outcome["examples"][kind][0] for kind in ("best", "worst"))
    assert best["error_rate"] <= worst["error_rate"]
    assert len(best["weights"]) == len(best["target"])
    assert all(len(row) == len(best["source"]) + 1 for row in best["weights"])


@pytest.mark.parametrize("model", ["rnnsearch", "luong", "luong-local-p", "transformer"])
def test_translators_are_read_as_aligners(recorded, model):
    few = ["--epochs", "1", "--width", "16", "--precision", "float32"]
    outcome = recorded("--model", model, *few)
    assert outcome["names"][0] == alignment.MODELS[model]
    for direction in ("forward", "backward"):
        side = outcome[direction]
        heads = 3 * (8 + 1) if model == "transformer" else 1  # each head, and each layer's mean
        assert len(side["validation"]) == heads
        assert side["validation"][side["chosen"]] == min(side["validation"].values())
        assert math.isfinite(side["perplexity"])
    for example in outcome["examples"]["best"]:
        assert all(sum(row) < 1.01 for row in example["weights"])


def test_words_without_a_link_cost_an_aligner_that_links_every_word():
    pairs = [
        SentencePair(("a", "b"), ("x", "y", "z"), frozenset({(1, 0)})),
        SentencePair(("a",), ("x",), frozenset({(0, 0)})),
    ]
    # Four links, of which two are right, and two links that people drew.
    expected = {"linked": 2 / 4, "aer_perfect": 1 - (2 + 2) / (4 + 2)}
    assert alignment.measure_links(pairs) == pytest.approx(expected)
    assert alignment.measure_links(pairs[1:]) == {"linked": 1, "aer_perfect": 0}


def test_turning_a_pair_twice_gives_it_back():
    pairs = [SentencePair(("a", "b"), ("c",), frozenset({(1, 0)}), possible=frozenset({(0, 0)}))]
    (once,) = alignment.turn_round(pairs)
    assert (once.links, once.possible) == ({(0, 1)}, {(0, 0)})
    assert alignment.turn_round([once]) == pairs
    perfect = [{(1, 0), (0, 0)}]
    assert alignment.error_rate(perfect, pairs) == 0
    assert alignment.compare_links(perfect, pairs) == {"precision": 1.0, "recall": 1.0}
