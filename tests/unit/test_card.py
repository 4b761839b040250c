"""Tests of cards: the same content in HTML and text, and only certain diagnoses."""

from __future__ import annotations

import math
import re

import torch

from autograder.checking import checker
from autograder.checking.card import FAILED, format_card_html, link_to_progress_page
from autograder.checking.checker import verify
from autograder.checking.difference_map import draw_difference_map
from autograder.diagnose.compare import Difference
from autograder.diagnose.marked_numbers import NOT_COUNTED, RIGHT, MarkedLine, measure_errors
from autograder.diagnose.verdict import choose_failure
from tests.helpers.checked_answers import SOFTMAX, solve_softmax


def test_html_is_escaped():
    def masked_softmax(scores, mask):
        print("<b>printed</b>")
        raise ValueError("<script>alert(1)</script> & more")

    page = format_card_html(verify(masked_softmax, SOFTMAX))
    assert "<script>" not in page and "<b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in page
    assert page.count("<div") == page.count("</div>")


def test_html_says_what_the_text_says():
    from html import unescape

    verdict = verify(lambda scores, mask: scores.softmax(-1) * mask, SOFTMAX)
    assert verdict.misconception == "mask_after_softmax"
    page = unescape(re.sub("</?span[^>]*>", "", format_card_html(verdict)))  # without the colours
    assert verdict.headline in page and verdict.hint in page
    for line in verdict.details:
        assert line in page


def test_a_known_mistake_is_not_named_for_another_failure():
    """A wrong dtype is a wrong dtype, although detached answers have the same values."""
    verdict = verify(lambda s, m: solve_softmax(s.float(), m), SOFTMAX)
    assert verdict.misconception == ""
    assert "float32" in verdict.headline


def test_wrong_numbers_are_marked_and_the_text_stays_as_it_is():
    verdict = verify(lambda scores, mask: scores.softmax(-1) * mask, SOFTMAX)
    marked = [line for line in verdict.details if isinstance(line, MarkedLine)]
    assert [line.is_expected for line in marked] == [True, False]  # one row of two is wrong
    for line in marked:
        numbers = [line[mark.start : mark.end] for mark in line.marks]
        assert numbers == line.split()[:2]  # the third is padding and 0, as it should be
    expected, yours = (
        re.findall(r"<span style=.font-weight:bold;background:([^>]*).>([^<]*)</span>", part)
        for part in format_card_html(verdict).split("yours weights")
    )
    assert {colour for colour, _ in expected}.isdisjoint(colour for colour, _ in yours)
    assert [number for _, number in yours] == marked[1].split()[:2]


def fault(actual, expected, mask=None, kind="value"):
    return Difference(kind, "y", torch.tensor(expected), torch.tensor(actual), mask)


def test_an_error_is_relative_to_the_largest():
    errors = measure_errors(fault([1.0, 2.0, 3.0, 5.0], [1.0, 2.5, 4.0, 3.0]))
    assert errors.tolist() == [RIGHT, 0.25, 0.5, 1.0]


def test_what_is_not_finite_is_most_wrong_and_padding_does_not_count():
    mask = torch.tensor([True, True, True, False])
    errors = measure_errors(fault([1.0, float("nan"), 3.0, 9.0], [1.0, 2.0, 4.0, 0.0], mask))
    assert errors.tolist() == [RIGHT, 1.0, 1.0, NOT_COUNTED]
    only_nan = measure_errors(fault([1.0, float("inf")], [1.0, 2.0]))
    assert only_nan.tolist() == [RIGHT, 1.0]


def test_results_of_another_shape_are_not_compared():
    assert measure_errors(fault([1.0], [1.0, 2.0])) is None
    assert measure_errors(Difference("value", "y", None, torch.ones(2))) is None


def draw(check_answer):
    """Return the map on the card of an answer to masked_softmax."""
    _, trials, _ = checker._run_all_cases(check_answer, SOFTMAX)
    return draw_difference_map(SOFTMAX, trials, choose_failure(SOFTMAX, trials))


def test_a_map_has_a_square_for_each_number_of_a_large_case():
    page = draw(lambda scores, mask: scores.softmax(-1) * mask)
    told = re.search(r'aria-label="(\d+) of (\d+) numbers of weights \(([^)]*)\) differ"', page)
    sizes = [int(size.split("=")[-1]) for size in told[3].split(", ")]
    squares = re.findall("M[^z]*z", page)
    assert len(squares) == len(set(squares)) == int(told[2]) == math.prod(sizes)
    orange = re.findall(f'<path fill="{FAILED}"[^>]* d="([^"]*)"', page)
    assert "".join(orange).count("M") == int(told[1]) > 0


def test_there_is_no_map_where_it_would_say_nothing():
    assert draw(lambda scores, mask: scores.softmax(-1) + 1) == ""  # everything is wrong
    assert draw(lambda scores, mask: scores.sum(-1)) == ""  # another shape
    assert draw(lambda scores, mask: scores.nothing) == ""


def test_a_green_card_links_to_the_progress_page_of_the_site(monkeypatch):
    monkeypatch.delenv("COURSE_SITE", raising=False)
    assert link_to_progress_page("masked_softmax") == ""
    for site in ("https://owner.github.io/course/", "https://owner.github.io/course"):
        monkeypatch.setenv("COURSE_SITE", site)
        link = link_to_progress_page("masked_softmax")
        assert '"https://owner.github.io/course/book/progress.html#passed=masked_softmax"' in link
    monkeypatch.setenv("COURSE_SITE", "javascript:alert(1)")
    assert link_to_progress_page("masked_softmax") == ""
