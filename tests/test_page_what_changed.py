"""The closing chapter as it was built: its cells measured what its text says."""

import html
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from coursekit.timeline import AFTERWARDS, ENTRIES

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "_build" / "html" / "book" / "10_what_changed.html"
RESULTS = ROOT / "book" / "results"
RECURRENT = ("LSTM encoder-decoder (Sutskever)", "GRU encoder-decoder (Cho)")
SHORT = ("attention (Luong)", "attention (Bahdanau)", "Transformer")


@pytest.fixture(scope="module")
def page():
    if not PAGE.exists():
        pytest.skip("the book is not built: run make book")
    text = re.sub(r"<[^>]+>", " ", PAGE.read_text(encoding="utf-8"))
    return " ".join(html.unescape(text).split())


def numbers(page, row, count):
    """The numbers that stand behind a row's name."""
    one = r" [-+]?[\d.,]+(?:e[-+]\d+)?(?: \([\d.]+(?: %)?\))?"
    found = re.search(re.escape(row) + rf"((?:{one}){{{count}}})(?![\d.])", page)
    assert found, row
    parts = re.sub(r"\([^)]*\)", "", found[1]).split()
    return [float(part.replace(",", "")) for part in parts]


def part(page, start, end):
    """What stands between two texts."""
    first = page.index(start)
    return page[first : page.index(end, first)]


def test_the_gradient_vanishes_without_attention_and_is_shared_out_with_it(page):
    table = part(page, "norm, as a share of that for 4 words", "recurrent steps on the way")
    for name in RECURRENT:
        row = numbers(table, name, 5)
        assert row[-1] < 1e-8
        assert all(b < 0.3 * a for a, b in pairwise(row))
    for name in SHORT:
        row = numbers(table, name, 5)
        assert all(0.4 * a < b < 0.65 * a for a, b in pairwise(row))  # half for twice the length


def test_attention_keeps_its_quality_on_longer_sentences(page):
    table = part(page, "test BLEU (share of that for 8 to 10 words)", "keep most of what they have")

    def kept(name):
        found = re.search(re.escape(name) + r" [\d.]+ [\d.]+((?: [\d.]+ \(\d+ %\)){3})", table)
        return [int(share) for share in re.findall(r"\((\d+) %\)", found[1])]

    fixed = [kept(name) for name in ("LSTM, one vector", "GRU, one vector")]
    attending = [kept(name) for name in ("attention (Bahdanau)", "attention (Luong)")]
    for i in (0, 1):
        assert min(row[i] for row in attending) > max(row[i] for row in fixed) + 5
    assert all(row[2] < row[1] for row in (*fixed, *attending))


def test_all_recorded_weights_are_counted(page):
    table = part(page, "effective number share", "On the captions")
    for path in RESULTS.glob("*.json"):
        run = json.loads(path.read_text(encoding="utf-8"))
        states = run["runs"][0].get("used_states")
        if states and "mean_effective_states" in states:
            shown = f"{states['mean_states']:.1f} {states['mean_effective_states']:.1f}"
            assert f"{run['model']}, {run['data']} source words {shown}" in table
    for name in ("rnnsearch-all", "luong-general"):
        there, used = numbers(table, f"{name}, multi30k-de-en source words", 2)
        assert used < 0.4 * there
    there, used = numbers(table, "han, imdb sentences of a text", 2)
    assert used > 0.8 * there


def test_all_measures_find_the_words_that_decide(page):
    table = part(page, "strongest words that decide, %", "do they agree with each other")
    chance, _ = numbers(table, "by chance", 2)
    weights, top = numbers(table, "weights", 2)
    left_out, _ = numbers(table, "leave one out", 2)
    assert weights > 3 * chance
    assert top > 5 * chance
    assert left_out > weights


def test_weights_agree_weakly_and_no_less_than_two_trainings_do(page):
    table = part(page, "middle half of the reviews", "tied pairs")

    def taus(name):
        found = re.search(
            re.escape(name) + r" (-?[\d.]+) -?[\d.]+ to -?[\d.]+ (-?[\d.]+) (-?[\d.]+) (\d+)", table
        )
        return [float(x) for x in found.groups()]

    gradient, left_out = taus("weights and gradient times input"), taus("weights and leave one out")
    others, twins = taus("gradient times input and leave one out"), taus("weights of two trainings")
    assert max(gradient[0], left_out[0]) < others[0] - 0.1
    assert gradient[1] > gradient[2]  # deciding words against the others
    assert twins[0] < gradient[0] + 0.25
    assert gradient[0] > 0.1


def test_other_weights_change_the_answer_and_the_strongest_word_keeps_it(page):
    table = part(page, "in place of the weights median", "taken away")
    shuffled = numbers(table, "the model's weights in another order", 2)[1]
    even = numbers(table, "even weights", 2)[1]
    strongest = numbers(table, "all weight on the strongest word", 2)[1]
    assert min(shuffled, even) > 20
    assert strongest < 15


def test_the_largest_weights_are_what_has_to_go(page):
    table = part(page, "taken away share of weights", "On these reviews")
    weight, gradient, product, chance = (
        numbers(table, name, 2)[1]
        for name in (
            *("largest weight first", "largest gradient times weight first"),
            *("largest gradient times input first", "at random"),
        )
    )
    assert gradient <= weight + 1
    assert weight < product < chance


def test_the_weights_help_a_model_without_context(page):
    table = part(page, "reads each word by itself test accuracy, %", "With even weights the model")
    even = numbers(table, "even", 1)[0]
    own = numbers(table, "its own, learned word by word", 1)[0]
    given = numbers(table, "those of the BiLSTM", 1)[0]
    assert given > max(even, own) + 10
    assert own < even + 8


def test_heads_find_the_links_and_differ(page):
    table = part(page, "strongest word is linked, %", "Here the weights do well")
    heads = [numbers(table, f"layer {i}, head {h}", 3)[0] for i in (1, 2) for h in (1, 2, 3, 4)]
    mean, tau, other_tau = numbers(table, "mean of all heads", 3)
    product = numbers(table, "Transformer, gradient times input", 2)[0]
    left_out = numbers(table, "Transformer, leave one out", 1)[0]
    assert mean > product + 10
    assert abs(mean - left_out) < 15
    assert max(heads) > min(heads) + 15
    assert max(tau, other_tau) < 0.6


def test_a_state_is_about_more_than_its_word(page):
    table = part(page, "of a state of the encoder words", "Weight on the state of")
    for name in (
        *("BiLSTM, reviews", "GRU from left to right, sentences"),
        "Transformer, two layers, sentences",
    ):
        words, own, _ = numbers(table, name, 3)
        assert 100 / words < own < 90, name


def test_memory_grows_with_the_square_and_not_with_the_fused_operator(page):
    table = part(page, "multiplications, self-attention (counted)", "The counter agrees")
    plain = numbers(table, "kept for the gradient, MB: self-attention", 5)
    fused = numbers(table, "kept for the gradient, MB: the same, fused", 5)
    recurrent = numbers(table, "kept for the gradient, MB: GRU", 5)
    assert plain[-1] > 3 * plain[-2]
    assert fused[-1] < 2.5 * fused[-2]
    assert recurrent[-1] < 2.5 * recurrent[-2]
    counted = numbers(table, "multiplications, self-attention (counted), million", 5)
    assert counted[-1] == round((4 * 2048 * 64**2 + 2 * 2048**2 * 64) / 1e6)


def test_kendalls_tau_is_that_of_the_library():
    """The page's own function, with ties, against scipy's tau-b."""
    import torch
    from scipy.stats import kendalltau

    source = (ROOT / "book" / "10_what_changed.md").read_text(encoding="utf-8")
    code = re.search(r"^def kendall.*?\n\n\n", source, re.S | re.M)[0]
    space = {"torch": torch}
    exec(code, space)
    generator = torch.Generator().manual_seed(1)
    for n in (2, 5, 30):
        for _ in range(5):
            a, b = torch.randint(0, 6, (2, n), generator=generator).float()
            expected = kendalltau(a.numpy(), b.numpy()).statistic
            assert space["kendall"](a, b) == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_what_came_after_is_in_order_cited_and_after_the_course():
    dates = [(entry.year, entry.month, entry.day) for entry in (*ENTRIES, *AFTERWARDS)]
    assert dates == sorted(dates)
    source = (ROOT / "book" / "10_what_changed.md").read_text(encoding="utf-8")
    bibliography = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    for entry in AFTERWARDS:
        assert f"`{entry.key}`" in source
        assert f"{{{entry.key}," in bibliography
        assert entry.chapter == "10_what_changed"
        assert entry.arxiv[:2] == str(entry.year)[2:]
        assert int(entry.arxiv[2:4]) == entry.month
