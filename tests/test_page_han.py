"""The chapter on documents as it was built: its cells measured what its text says."""

import html
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "_build" / "html" / "book" / "07_han.html"
RESULTS = ROOT / "book" / "results"
MODELS = (
    *("naive-bayes", "logistic-regression", "average", "cnn", "bilstm-last", "bilstm-mean"),
    *("bilstm-attention", "han"),
)


@pytest.fixture(scope="module")
def page():
    if not PAGE.exists():
        pytest.skip("the book is not built: run make book")
    text = re.sub(r"<[^>]+>", " ", PAGE.read_text(encoding="utf-8"))
    return " ".join(html.unescape(text).split())


def numbers(page, row, count):
    """The numbers that stand behind a row's name."""
    found = re.search(re.escape(row) + rf"((?: [-+]?[\d.]+(?: \(\d+\))?){{{count}}})", page)
    assert found, row
    return [float(part) for part in re.sub(r"\(\d+\)", "", found[1]).split()]


def test_by_hand_the_writer_counts_and_the_friend_does_not(page):
    attended = re.search(r"5\. classes bad ([\d.]+) good ([\d.]+)", page)
    averaged = re.search(r"with plain averages bad ([\d.]+) good ([\d.]+)", page)
    assert float(attended[1]) > 0.9
    assert float(averaged[2]) > float(averaged[1])


def test_one_hop_is_word_attention(page):
    differences = re.findall(r"(?:vectors|weights) largest difference (\d)e([+-]\d+)", page)
    assert len(differences) == 2
    assert all(float(f"{a}e{b}") < 1e-6 for a, b in differences)


def test_hierarchy_with_attention_is_ahead_of_bags_and_flat_networks(page):
    right = {
        name: numbers(page, name, 1)[0]
        for name in (
            *("words, naive Bayes", "words and pairs, naive Bayes", "words, logistic regression"),
            *("words and pairs, logistic regression", "average of word vectors"),
            *("LSTM, last states", "LSTM, flat attention", "HAN, averages on both levels"),
            *("HAN, attention to words only", "HAN, attention to sentences only"),
        )
    }
    right["CNN"] = float(re.search(r"CNN ([\d.]+) [\d,]+ [\d.]+ LSTM, last", page)[1])
    right["HAN"] = float(
        re.search(r"sentences only [\d.]+ [\d,]+ [\d.]+ HAN, .*? HAN ([\d.]+) ", page)[1]
    )
    both = right["HAN"]
    for kind in ("naive Bayes", "logistic regression"):
        assert right[f"words, {kind}"] < right[f"words and pairs, {kind}"] < both - 10
    assert right["LSTM, last states"] < right["CNN"] < right["LSTM, flat attention"] < both
    assert right["HAN, averages on both levels"] < right["HAN, attention to sentences only"]
    assert right["HAN, attention to sentences only"] < right["HAN, attention to words only"]


def test_attention_finds_what_decides(page):
    for row, times in (
        *(("weight on deciding sentences, %", 2.5), ("strongest sentence decides, %", 3)),
        *(("weight on deciding words, %", 5), ("precision of the strongest words, %", 4)),
    ):
        han, flat, chance = numbers(page, row, 3)
        assert han > times * chance and flat > times * chance, row


def test_weights_of_good_and_bad_follow_the_rating(page):
    for where in ("sentence", "document"):
        good = numbers(page, f"good, in the {where}", 5)
        bad = numbers(page, f"bad, in the {where}", 5)
        assert good[3] + good[4] > good[0] + good[1]
        assert bad[0] + bad[1] > bad[3] + bad[4]
    plain = numbers(page, "good, in the sentence", 5)
    negated = numbers(page, "good after not, in the sentence", 5)
    negation = numbers(page, "the not before good, in the sentence", 5)
    assert all(a > b for a, b in zip(plain, negated, strict=True))
    assert negation[0] > negated[0]


def test_a_sentence_is_weighed_in_its_document_and_its_words_are_not(page):
    alone, friend, hated = (
        numbers(page[page.index("it was good, and then") :], row, 3)
        for row in ("we took the bus from rome", "my friend found it terrible", "i hated it")
    )
    assert alone[0] == friend[0] == hated[0]
    assert alone[1] > hated[1] and alone[2] > hated[2]


def test_the_strongest_sentence_is_nearly_all_that_is_used(page):
    whole, only, chance, without = (
        numbers(page, row, 1)[0]
        for row in (
            *("the whole review", "only the strongest sentence", "only a sentence by chance"),
            "all but the strongest sentence",
        )
    )
    assert only > 0.9 * whole > 1.5 * chance
    assert without < 0.7 * whole


def test_another_question_looks_at_other_words(page):
    table = page[page.index("weight on the words of the verdict, %") :]
    rating, topic = (numbers(table, name, 1)[0] for name in ("rating", "topic"))
    assert rating > 10 * topic


def test_strange_documents_have_answers(page):
    table = page[page.index("sums of its words' weights") :]
    assert re.search(r"an empty document none none [1-5] with \d+ %", table)
    assert re.search(r"an empty one between 0\.\d\d 0\.00 [01]\.\d\d 1 0 1 [1-5] with", table)
    assert not re.search(r"\bnan\b", table[: table.index("Real runs")])


def test_the_page_shows_the_recorded_runs(page):
    for data in ("imdb", "bbc"):
        for path in (RESULTS / f"{name}.{data}.json" for name in MODELS):
            if path.exists():
                metrics = json.loads(path.read_text(encoding="utf-8"))["metrics"]
                assert f"{100 * metrics['accuracy']:.2f}" in page, path.name


def test_recorded_words_behave_as_the_text_says():
    """The prose over IMDB's recorded analysis: whoever records it anew has to read it again."""
    run = json.loads((RESULTS / "han.imdb.json").read_text(encoding="utf-8"))["runs"][0]

    def shares(name):
        rows = sorted(run["word_weights"][name], key=lambda row: row["rating"])
        return [row["mean_share"] for row in rows], [row["number"] for row in rows]

    def mean(name):
        values, counts = shares(name)
        return sum(map(float.__mul__, values, map(float, counts))) / sum(counts)

    good, bad = shares("good")[0], shares("bad")[0]
    low, high = sum(good[:4]) / 4, sum(good[-4:]) / 4
    assert high > 1.15 * low  # "the more weight the better the review"
    assert (
        max(bad) < 1.25 * min(bad) and 3.2 < mean("bad") < 4.8
    )  # "about four times ... everywhere"
    assert 0.35 < mean("not good") / mean("good") < 0.65  # "about half the share of a plain one"
    selection = run["selection"]
    assert selection["effective_sentences"] > 0.8 * selection["sentences"]  # "hardly selects"
