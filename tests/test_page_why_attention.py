"""The first chapter as it was built: what its cells measured bears out what its text says."""

import html
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "_build" / "html" / "book" / "01_why_attention.html"
RESULTS = ROOT / "book" / "results"


@pytest.fixture(scope="module")
def page():
    if not PAGE.exists():
        pytest.skip("the book is not built: run make book")
    text = re.sub(r"<[^>]+>", " ", PAGE.read_text(encoding="utf-8"))
    return " ".join(html.unescape(text).split())


def test_most_of_the_longest_ngrams_were_never_seen(page):
    rows = re.findall(r"(\d) \d\.\de\+\d+ ([\d,]+) ([\d.]+) %", page)
    seen = [int(count.replace(",", "")) for _, count, _ in rows]
    never = [float(share) for _, _, share in rows]
    assert len(rows) == 5
    assert seen == sorted(seen) and never == sorted(never)
    assert never[0] == 0 and never[-1] > 50


def test_the_neural_model_needs_less_and_predicts_better(page):
    found = re.findall(r"best (?:n-gram|neural) model: .*?, ([\d.]+) with ([\d,]+) numbers", page)
    counted, learnt = [(float(p), int(n.replace(",", ""))) for p, n in found]
    assert learnt[0] < 0.9 * counted[0]
    assert learnt[1] < counted[1] / 2


def test_the_gain_comes_from_what_was_never_seen(page):
    pattern = r"5-grams never seen .*? 5-gram ([\d.]+), neural ([\d.]+)"
    counted, learnt = map(float, re.search(pattern, page).groups())
    assert learnt < 0.8 * counted


def test_words_of_a_kind_are_neighbours(page):
    pattern = (
        r"of (\d+) nouns: skip-gram (\d+), language model (\d+), words drawn at random ([\d.]+)"
    )
    nouns, skipgram, model, chance = map(float, re.search(pattern, page).groups())
    assert skipgram > 0.9 * nouns
    assert model > 5 * chance


def test_long_vectors_are_favoured_by_the_dot_product_only(page):
    shares = re.findall(
        r"most similar by (?:dot product|cosine)\s*: for (\d+) % of the words", page
    )
    product, cosine = map(int, shares)
    assert product > 2 * cosine


def test_means_do_not_know_the_order_and_states_do(page):
    means = re.findall(r"mean \|a - b\| / \|a\| = ([\d.]+)", page)
    states = re.findall(r"last state \|a - b\| / \|a\| = ([\d.]+)", page)
    assert len(means) == len(states) == 3
    assert all(float(x) < 1e-5 for x in means)
    assert all(float(x) > 0.1 for x in states)


def test_the_page_shows_the_recorded_runs(page):
    recorded = [*RESULTS.glob("ngram-*.wikitext-2.json"), *RESULTS.glob("neural-lm-*.json")]
    assert len(recorded) == 8
    for path in [*recorded, RESULTS / "mixed.wikitext-2.json"]:
        metrics = json.loads(path.read_text(encoding="utf-8"))["metrics"]
        assert f"{metrics['perplexity']:.1f}" in page, path.name
