"""Tests of cards: the same content in HTML and text, and only certain diagnoses."""

from __future__ import annotations

from autograder.checking.card import format_card_html
from autograder.checking.checker import verify
from tests.unit.test_check import SOFTMAX, right


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
    page = unescape(format_card_html(verdict))
    assert verdict.headline in page and verdict.hint in page
    for line in verdict.details:
        assert line in page


def test_a_known_mistake_is_not_named_for_another_failure():
    """A wrong dtype is a wrong dtype, although detached answers have the same values."""
    verdict = verify(lambda s, m: right(s.float(), m), SOFTMAX)
    assert verdict.misconception == ""
    assert "float32" in verdict.headline
