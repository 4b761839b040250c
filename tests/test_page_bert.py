"""The chapter on BERT as it was built: its cells measured what its text says."""

import html
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "_build" / "html" / "book" / "09_bert.html"
RESULTS = ROOT / "book" / "results"


@pytest.fixture(scope="module")
def page():
    if not PAGE.exists():
        pytest.skip("the book is not built: run make book")
    text = re.sub(r"<[^>]+>", " ", PAGE.read_text(encoding="utf-8"))
    return " ".join(html.unescape(text).split())


def result(name, data="stories"):
    path = RESULTS / f"{name}.{data}.json"
    if not path.exists():
        pytest.skip(f"{path.name} is not recorded")
    return json.loads(path.read_text(encoding="utf-8"))


def numbers(page, row, count):
    """The numbers that stand behind a row's name."""
    found = re.search(re.escape(row) + rf"((?: [-+]?[\d.,]+){{{count}}})", page)
    assert found, row
    return [float(part.replace(",", "")) for part in found[1].split()]


def test_pieces_are_looked_up_longest_first(page):
    assert re.search(r"flies -> fl ##ies looked up: flies flie fli fl ##ies", page)
    assert re.search(r"unfolded -> un ##fold ##ed", page)
    assert re.search(r"flew -> \[UNK\]", page)


def test_one_token_has_other_vectors_at_other_places(page):
    rows = re.findall(r"\d a text [AB] x = ((?:-?[\d.]+ ?){3})", page)
    assert len(rows) == 3 and len({row.strip() for row in rows}) == 3


def test_the_shares_of_hidden_words(page):
    asked = re.search(r"asked for ([\d.]+) % of [\d,]+ tokens", page)
    assert float(asked[1]) == pytest.approx(15, abs=0.4)
    shares = re.search(
        r"; of these \[MASK\] ([\d.]+) % the word itself ([\d.]+) % another word ([\d.]+) %", page
    )
    assert [float(s) for s in shares.groups()] == pytest.approx([80, 10, 10], abs=0.7)
    assert "changed, not asked for 0.00 %" in page


def test_a_model_that_knows_nothing_has_the_loss_of_even_guesses(page):
    loss, guess = re.search(r"loss ([\d.]+); ln \d+ \+ ln 2 = ([\d.]+)", page).groups()
    assert float(loss) == pytest.approx(float(guess), abs=0.3)


def test_smaller_vocabularies_make_longer_stories(page):
    lengths = [float(n) for n in re.findall(r"\d+ pieces, ([\d.]+) in a story", page)]
    assert len(lengths) == 3 and lengths == sorted(lengths, reverse=True)
    assert lengths[0] > 1.3 * lengths[2]


def test_pre_training_in_the_page_learns(page):
    rows = re.findall(r"updates loss ([\d.]+) hidden words told ([\d.]+) % next texts", page)
    losses = [float(loss) for loss, _ in rows]
    told = [float(words) for _, words in rows]
    assert len(rows) >= 4
    assert losses == sorted(losses, reverse=True)
    assert told[-1] > told[0] + 5


def test_both_sides_tell_more_than_one(page):
    told = {}
    for name, row in (
        ("left-to-right", "left to right"),
        ("right-to-left", "right to left"),
        ("two-directions", "two directions"),
        ("two-directions-narrow", "two directions, of BERT's size"),
        ("bert-no-next", "BERT"),
    ):
        metrics = result(name)["metrics"]
        told[name] = float(re.search(re.escape(row) + r" ([\d.]+)(?: \d+){5} [\d,]{6,}", page)[1])
        assert told[name] == pytest.approx(100 * metrics["accuracy"], abs=0.06)
    assert max(told["left-to-right"], told["right-to-left"]) < told["bert-no-next"]
    # "in these runs they end above BERT, also at its size"
    assert told["bert-no-next"] < told["two-directions-narrow"] < told["two-directions"]
    sizes = {name: result(name)["parameters"] for name in told}
    assert sizes["two-directions-narrow"] < 1.1 * sizes["bert-no-next"] < sizes["two-directions"]


def test_only_masks_make_a_model_careless_about_visible_words(page):
    usual, only = result("bert-no-next")["metrics"], result("bert-only-mask")["metrics"]
    assert f"80/10/10 {100 * usual['accuracy']:.1f} {100 * usual['visible_accuracy']:.1f}" in page
    assert usual["visible_accuracy"] > only["visible_accuracy"]
    assert abs(usual["accuracy"] - only["accuracy"]) < 0.05


def test_pre_training_helps_when_labels_are_few(page):
    result("bert")
    rows = re.findall(
        r"(tags|answers|pairs) ([\d,]+) (?:sentences|questions|pairs) (\d+) ([\d.]+) ([\d.]+)", page
    )
    assert len(rows) == 9
    gains = {}
    for name, labels, _, with_it, without in rows:
        gains[name, int(labels.replace(",", ""))] = float(with_it) - float(without)
    assert gains["tags", 10] > 2 and gains["tags", 10] > gains["tags", 500]
    assert max(gains["answers", n] for n in (50, 500, 5000)) > 5
    assert max(gains["pairs", n] for n in (50, 500, 5000)) > 5
    assert min(gains["answers", n] for n in (500, 5000)) > 0
    assert min(gains["pairs", n] for n in (500, 5000)) > 0


def test_the_tagger_tells_words_that_can_be_two_things(page):
    result("bert")
    assert "they/PRON take/VERB a/DET walk/NOUN" in page
    assert "they/PRON walk/VERB home/ADV" in page
    assert re.search(r"her/DET hat/NOUN", page)


@pytest.mark.parametrize(
    ("data", "labels"), [("sst-2", 50), ("sst-2", 500), ("sst-2", "all"), ("mrpc", "all")]
)
def test_the_page_shows_what_pre_training_was_worth(page, data, labels):
    recorded = result(f"bert-finetuned-{labels}", data)
    values = [
        rf"{100 * recorded['metrics'][metric]:.1f}(?: \([\d.]+ to [\d.]+\))?"
        for metric in ("accuracy", "accuracy_from_scratch")
    ]
    count = f"{recorded['runs'][0]['labels']:,}"
    assert re.search(rf"{data.upper()} {count} {' '.join(values)} ", page)
    assert recorded["command"] in page


def test_what_the_text_says_of_few_labels_holds_for_the_runs():
    def runs(data, labels):
        return [run["metrics"] for run in result(f"bert-finetuned-{labels}", data)["runs"]]

    def mean(metrics, name):
        return 100 * sum(one[name] for one in metrics) / len(metrics)

    few = runs("sst-2", 50)
    for name in ("accuracy", "accuracy_from_scratch"):
        assert abs(mean(few, name) - mean(few, "commonest_class")) < 5
    some, every = runs("sst-2", 500), runs("sst-2", "all")
    assert mean(some, "accuracy") < mean(some, "accuracy_from_scratch")
    assert abs(mean(every, "accuracy") - mean(every, "accuracy_from_scratch")) < 1
    assert all(m["accuracy"] > m["accuracy_from_scratch"] for m in runs("mrpc", "all"))


def test_the_page_shows_the_pre_training_on_real_text(page):
    recorded = result("bert", "wikitext-2")
    assert f"{recorded['parameters']:,}" in page
    assert recorded["command"] in page
    told = 100 * recorded["metrics"]["next_accuracy"]
    assert f"97 to 98 {told:.1f}" in page
    gaps = recorded["runs"][0]["filled_in"][:6]
    for gap in gaps:
        assert f"[MASK: {gap['tokens'][gap['place']]}]" in page
        assert f"{gap['guesses'][0]} {gap['probabilities'][0]:.2f}, " in page


def test_the_cell_that_downloads_was_not_run(page):
    assert "not in the checkpoint:" in page
    assert "not in the checkpoint: [" not in page
