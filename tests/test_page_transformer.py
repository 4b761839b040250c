"""The chapter on the Transformer as it was built: its cells measured what its text says."""

import html
import json
import math
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "_build" / "html" / "book" / "08_transformer.html"
RESULTS = ROOT / "book" / "results"


@pytest.fixture(scope="module")
def page():
    if not PAGE.exists():
        pytest.skip("the book is not built: run make book")
    text = re.sub(r"<[^>]+>", " ", PAGE.read_text(encoding="utf-8"))
    return " ".join(html.unescape(text).split())


def numbers(page, row, count, after=""):
    """The numbers that stand behind a row's name, in a table behind some words."""
    rest = page[page.index(after) :]
    found = re.search(
        re.escape(row) + rf"((?: [-+]?\d[\d.,]*(?:e[-+]\d+)?){{{count}}})(?= |$)", rest
    )
    assert found, row
    return [float(part.replace(",", "")) for part in found[1].split()]


def test_recurrence_is_sequential_and_forgets(page):
    table = "self-attention, the same"
    for words in (32, 128):
        row = numbers(page, f" {words}", 7, after=table)
        assert row[3:5] == [words, 1]  # operations in a row
        assert row[5] < 0.01 < 0.1 < row[6]
    short, long = (numbers(page, f" {words}", 7, after=table)[5] for words in (8, 32))
    assert short > long


def test_by_hand_it_is_the_cat(page):
    rows = re.search(r"3\. weights, row by row cat.*? it ([\d.]+) ([\d.]+) ([\d.]+) animal", page)
    cat, street, itself = map(float, rows.groups())
    assert cat > 0.9 > 0.1 > max(street, itself)
    assert math.isclose(cat + street + itself, 1, abs_tol=0.02)
    assert float(re.search(r"torch's operator: largest difference (\d\S*)", page)[1]) < 1e-6


def test_scaling_keeps_the_softmax_soft(page):
    rows = {d: numbers(page, f" {d}", 5, after="derivative, scaled") for d in (1, 4, 16, 64, 256)}
    for d, (variance, plain, scaled, derivative, derivative_scaled) in rows.items():
        assert 0.8 * d < variance < 1.2 * d
        assert abs(scaled - rows[1][2]) < 0.15
        assert abs(derivative_scaled - rows[1][4]) < 0.03
        assert plain <= scaled + 0.01
        if d >= 64:
            assert plain < scaled / 4 and derivative < 0.7 * derivative_scaled


def test_without_positions_order_does_not_matter(page):
    found = re.search(r"shuffled before or after: largest difference (\d\S*)", page)
    assert float(found[1]) < 1e-5


def test_a_step_is_one_linear_map(page):
    table = page[page.index("best map, random vectors") :]
    for k in (1, 2, 5, 20):
        exact, waves, random = numbers(table, f" {k}", 3)
        assert exact < 1e-5 and waves < 1e-5
        assert random > 1


def test_residuals_and_norms_keep_gradients_alive(page):
    table = "spread at the end"
    neither = numbers(page, "neither", 4, after=table)
    both = numbers(page, "residual, then LayerNorm", 4, after=table)
    assert neither[2] < 1e-6
    assert all(0.3 < value < 3 for value in both)


def test_layers_are_torchs(page):
    for name in ("encoder", "decoder"):
        found = re.search(rf"{name} layer: largest difference (\d\S*), below 1e-5: (\w+)", page)
        assert float(found[1]) < 1e-5 and found[2] == "True"


def test_masks_do_not_leak(page):
    found = re.search(r"logits by position: ((?:[\d.]+ ){5})", page)[1].split()
    assert [float(change) for change in found[:3]] == [0, 0, 0]
    assert float(found[3]) > 0.1
    assert float(re.search(r"padding change the logits by (\d\S*)", page)[1]) < 1e-5
    assert "a source of padding alone gives finite logits: True" in page


def test_smoothing_has_its_minimum_where_it_should(page):
    for e in ("0.0", "0.1", "0.3"):
        at, formula = re.search(
            rf"ε = {e}: least loss [\d.]+ at probability ([\d.]+); 1 - ε \+ ε/V = ([\d.]+)", page
        ).groups()
        assert float(at) == pytest.approx(float(formula), abs=0.02)


def test_pronouns_are_found_out_and_not_guessed(page):
    table = "guess: the last noun, %"
    (general,) = numbers(page, " all kinds", 1, after=table)
    exact, pronouns, guess = numbers(page, " with it", 3, after=table)
    twins_exact, twins, both, twins_guess = numbers(page, " twins", 4, after=table)
    assert general > 75 and exact > 75
    assert pronouns > 85 and pronouns > guess + 25
    assert twins > 90 and both > 85 and twins_exact > 85
    assert 40 < twins_guess < 60


def test_it_looks_at_its_noun_but_not_by_what_it_means(page):
    table = "by chance, % pronouns right, %"
    own = numbers(page, " with it", 6, after=table)
    twins = numbers(page, " twins", 6, after=table)
    weight, other, even, strongest, chance, _ = own
    assert weight > 3 * even and weight > 2 * other
    assert strongest > chance + 20
    assert abs(twins[0] - twins[1]) < 0.1
    assert abs(twins[3] - twins[4]) < 10
    for last, pronoun in (("tired", "il est fatigué"), ("wide", "elle est large")):
        said = f"because it is {last} le chat ne traverse pas la rue parce qu' {pronoun}"
        assert said in page


def test_what_is_needed_is_the_look_of_the_last_word(page):
    table = "twins: pronouns right, %"
    rows = {
        name: numbers(page, f" {name}", 2, after=table)
        for name in ("nobody", "it", "what comes after it", "all other words")
    }
    nobody, it, behind, everybody = (row[1] for row in rows.values())
    assert it > nobody - 15
    assert behind < nobody - 15
    assert everybody < nobody - 25
    assert rows["all other words"][0] < rows["nobody"][0] - 15


def test_longer_sentences_than_in_training_fail(page):
    shown = re.search(r"exact, %: (4 to 6: \d.*?17 to 20: \d+)", page)[1]
    right = [int(value) for value in re.findall(r": (\d+)", shown)]
    assert min(right[:3]) > 55
    assert max(right[4:]) < 30


def test_heads_grow_apart(page):
    table = page[page.index("attention layer before training after") :]
    for name in ("encoder", "decoder, to itself", "decoder, to the encoder"):
        for layer, before, after in re.findall(rf" {name} (\d) ([\d.]+) ([\d.]+)", table)[:2]:
            assert float(after) > 2 * float(before), (name, layer)


def test_attention_to_the_source_aligns(page):
    table = page[page.index("mean of the heads best head worst head") :]
    last = numbers(table, " 2", 3)
    assert min(last[:2]) < 0.2


def test_the_cache_saves_work_and_changes_nothing(page):
    found = re.search(r"with and without cache: largest difference (\d\S*)", page)
    assert float(found[1]) < 1e-4
    ratios = []
    for words in (8, 24, 64):
        row = f" {words} {words * (words + 1) // 2:,} {words}"
        ratios.append(numbers(page, row, 4, after="ratio of times")[2])
    assert ratios == sorted(ratios) and ratios[-1] > 10


def test_depth_slows_post_norm_down_more_than_pre_norm(page):
    post, _, pre, _ = numbers(page, " 8", 4, after="pre-norm, warm-up, %")
    assert pre > post + 20


def test_the_page_shows_the_recorded_run(page):
    path = RESULTS / "transformer.multi30k-de-en.json"
    if not path.exists():
        assert "Transformer: not recorded" in page
        return
    result = json.loads(path.read_text(encoding="utf-8"))
    assert f"{result['metrics']['bleu']:.2f}" in page
    assert result["scorer"] in page


def test_the_recorded_transformer_rises_late_and_ends_above():
    """What the page says about its epochs and Bahdanau's."""
    ours, theirs = (
        json.loads((RESULTS / f"{name}.multi30k-de-en.json").read_text(encoding="utf-8"))
        for name in ("transformer", "rnnsearch-all")
    )
    assert ours["metrics"]["bleu"] > theirs["metrics"]["bleu"]
    assert ours["parameters"] < theirs["parameters"]
    (mine,), (other,) = ours["runs"], theirs["runs"]
    assert mine["best_epoch"] > other["best_epoch"]
    scores, best = [[row["bleu"] for row in run["history"]] for run in (mine, other)]
    assert scores[other["best_epoch"] - 1] < max(best)
    assert all(score < rival - 2 for score, rival in zip(scores[:7], best, strict=False))
