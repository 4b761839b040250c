"""What the chapter on captions says about its numbers is what its page shows."""

import html
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def page():
    path = ROOT / "_build" / "html" / "book" / "05_captioning.html"
    if not path.exists():
        pytest.skip("the book is not built: run make book")
    return path.read_text(encoding="utf-8")


def table(page, column):
    """The rows of the first table with a column of this name: first cell -> the other cells."""
    for found in re.findall(r"<table.*?</table>", page, re.S):
        rows = [
            [
                html.unescape(re.sub(r"<[^>]+>", "", cell)).strip()
                for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)
            ]
            for row in re.findall(r"<tr.*?</tr>", found, re.S)
        ]
        if rows and column in rows[0]:
            names = rows[0][1:]
            return {row[0]: dict(zip(names, row[1:], strict=True)) for row in rows[1:]}
    raise AssertionError(f"no table has a column {column!r}")


def test_attention_describes_scenes_and_the_mean_does_not(page):
    right = {
        name: float(row["captions right, %"]) for name, row in table(page, "parameters").items()
    }
    assert right["soft"] > 50
    assert right["soft, with penalty"] > 40
    assert right["mean annotation"] < 10


def test_attention_lies_in_the_true_regions(page):
    rows = table(page, "chance, %")
    for word in ("size", "colour", "shape"):
        chance = float(rows[word]["chance, %"])
        assert float(rows[word]["soft: weight inside, %"]) > 4 * chance, word
        assert float(rows[word]["soft: largest inside, %"]) > 6 * chance, word
        with_penalty = float(rows[word]["soft, with penalty: weight inside, %"])
        assert chance < with_penalty < float(rows[word]["soft: weight inside, %"])


def test_the_penalty_makes_looks_broader(page):
    column = "effective number of places a word"
    rows = table(page, column)
    assert float(rows["soft, with penalty"][column]) > float(rows["soft"][column])
    assert float(rows["soft, with penalty"]["penalty"]) < float(rows["soft"]["penalty"])


def test_the_gate_is_more_open_for_content(page):
    (betas,) = table(page, "<eos>").values()
    content = min(float(betas[kind]) for kind in ("size", "colour", "shape", "relation"))
    assert content > max(float(betas["a"]), float(betas["<eos>"]))


def test_a_baseline_lowers_the_variance_and_helps(page):
    rows = table(page, "variance of the gradient")
    assert float(rows["one for all, the mean reward"]["relative to none"]) < 0.8
    column = "largest weight inside: colour, %"
    trained = {name: float(row["captions right, %"]) for name, row in table(page, column).items()}
    assert trained["soft, all places"] > trained["REINFORCE, baseline"]
    assert trained["REINFORCE, baseline"] > trained["REINFORCE, no baseline"]
    assert trained["REINFORCE, no baseline"] > trained["soft model, most probable place"]


def test_the_recorded_runs_are_shown(page):
    rows = table(page, "minutes")
    names = {
        "soft": "soft",
        "penalty": "soft, with penalty",
        "mean": "mean annotation",
        "hard": "hard, from random weights",
        "hard-half": "hard, half of the pictures soft",
        "hard-after-soft": "hard, from the soft model's weights",
    }
    for name, label in names.items():
        path = ROOT / "book" / "results" / f"captioner-{name}.scenes.json"
        exact = json.loads(path.read_text(encoding="utf-8"))["metrics"]["exact"]
        assert rows[label]["captions right, %"] == f"{100 * exact:.1f}"
