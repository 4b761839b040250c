"""The chapter on sentences as it was built: what it claims is what its numbers show."""

import html
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "_build" / "html" / "book" / "06_sentences.html"
RESULTS = ROOT / "book" / "results"


@pytest.fixture(scope="module")
def shown() -> str:
    if not PAGE.exists():
        pytest.skip("the book is not built: run make book")
    page = PAGE.read_text(encoding="utf-8")
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def numbers(shown: str, pattern: str) -> list[float]:
    found = re.search(pattern, shown)
    assert found, pattern
    return [float(group.replace(",", "")) for group in found.groups()]


NUMBER = r"([\d.,]+)"


def test_single_words_do_not_tell_the_verdict_and_attention_does(shown):
    (words,) = numbers(shown, rf"single words {NUMBER}")
    _, attention, _ = numbers(shown, rf" attention {NUMBER} {NUMBER} {NUMBER}")
    assert words < 85 and attention > words + 10


def test_attention_points_at_the_deciding_words(shown):
    row = rf"{NUMBER} {NUMBER} {NUMBER}"
    share, pointing, sentence = numbers(
        shown, rf"share in the deciding sentence, % attention {row}"
    )
    chance = numbers(shown, rf" chance {row}")
    assert share > 2 * chance[0] and pointing > 2 * chance[1] and sentence > chance[2]


def test_the_penalty_makes_hops_differ(shown):
    row = rf"{NUMBER} {NUMBER} {NUMBER} {NUMBER}"
    _, overlap, _, cosine = numbers(shown, rf" no penalty {row}")
    _, with_penalty, _, with_cosine = numbers(shown, rf"(?<!no) penalty {row}")
    assert with_penalty < overlap / 3
    assert with_cosine < cosine / 2


def test_padding_in_the_softmax_costs_accuracy_and_a_mask_prevents_it(shown):
    row = rf" {NUMBER} 0\.0 {NUMBER} {NUMBER}"
    none = numbers(shown, rf" 0{row}")
    much = numbers(shown, rf" 80{row}")
    assert much[0] == none[0] == none[1]
    assert much[1] < none[1] - 5 and much[2] > 10


def test_recorded_recipes_are_as_the_text_says():
    """The prose beside the recipe's rows: whoever records them anew has to read it again."""
    run = {
        name: json.loads((RESULTS / f"{name}.imdb.json").read_text(encoding="utf-8"))
        for name in ("recipe", "recipe-masked")
    }
    rising, moving = (
        [epoch["accuracy"] for epoch in run[name]["runs"][0]["history"]]
        for name in ("recipe", "recipe-masked")
    )
    assert run["recipe-masked"]["metrics"]["accuracy"] < run["recipe"]["metrics"]["accuracy"]
    assert rising == sorted(rising)  # "still rising when it ends"
    assert moving[-1] < max(moving) and max(moving) - moving[-1] > 0.005  # "moves by a point"


def test_recorded_last_state_has_not_settled():
    run = json.loads((RESULTS / "bilstm-last.imdb.json").read_text(encoding="utf-8"))
    others = json.loads((RESULTS / "bilstm-attention.imdb.json").read_text(encoding="utf-8"))
    last, settled = (
        [epoch["accuracy"] for epoch in one["runs"][0]["history"]] for one in (run, others)
    )
    assert max(last) < min(settled)  # "learns slowest"
    steps = [b - a for a, b in pairwise(last)]
    assert max(steps) > 0.01 and min(steps) < -0.005  # "goes up and down"


def test_recorded_hops_are_as_the_text_says():
    """The prose below "Paper against our run", over the files that it speaks of."""
    run = {
        name: json.loads((RESULTS / f"{name}.imdb.json").read_text(encoding="utf-8"))
        for name in ("structured", "structured-no-penalty", "structured-strong", "bilstm-max")
    }
    score = {name: one["metrics"]["accuracy"] for name, one in run.items()}
    assert score["structured"] > score["bilstm-max"] + 0.01  # "is there"
    largest = [epoch["accuracy"] for epoch in run["bilstm-max"]["runs"][0]["history"]]
    assert largest == sorted(largest)  # "still getting better"
    assert abs(score["structured"] - score["structured-no-penalty"]) < 0.003  # "as good as"
    assert score["structured-strong"] < score["structured"] - 0.003  # "it gets worse"
    alike = {
        name: one["runs"][0]["selection"]["cosine"]
        for name, one in run.items()
        if name != "bilstm-max"
    }
    assert abs(alike["structured"] - alike["structured-no-penalty"]) < 0.05  # "nearly as alike"
    assert alike["structured-strong"] < alike["structured"] - 0.15  # "they differ"
    weight = {
        name: run[name]["settings"]["penalty"] for name in ("structured", "structured-strong")
    }
    assert weight["structured-strong"] == pytest.approx(10 * weight["structured"])
