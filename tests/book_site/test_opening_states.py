"""Tests that opening states are inserted once, in order, before their explorers."""

from __future__ import annotations

import pytest

from tools import opening_states
from tools.opening_states import add_openings, insert
from tools.site_browser import find_chromium

STATE = '<script type="application/vnd.jupyter.widget-state+json">{}</script>'


def view(name):
    return (
        f'<script type="application/vnd.jupyter.widget-view+json">{{"model_id": "{name}"}}</script>'
    )


PAGE = f"<p>one</p>{view('a')}<p>two</p>{view('b')}{STATE}"


def test_each_opening_stands_before_its_own_view():
    text = insert(PAGE, [{"html": "<b>A</b>", "label": 'say "A"'}, {"html": "B", "label": "b"}])
    assert text.index("<b>A</b>") < text.index('"model_id": "a"') < text.index("<p>two</p>")
    assert text.index("<p>two</p>") < text.index(">B<") < text.index('"model_id": "b"')
    assert 'aria-label="say &quot;A&quot;"' in text and text.count("data-opening") == 2


def test_pages_without_explorers_and_pages_that_have_theirs_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(opening_states, "find_chromium", lambda: None)
    (tmp_path / "plain.html").write_text("<p>no explorer</p>", encoding="utf-8")
    (tmp_path / "done.html").write_text(insert(PAGE, [{"html": "", "label": ""}] * 2), "utf-8")
    assert add_openings(tmp_path) == 0


def test_without_a_browser_a_sentence_says_what_is_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(opening_states, "find_chromium", lambda: None)
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    with pytest.raises(RuntimeError, match="need Chromium and the package playwright"):
        add_openings(tmp_path)
    assert (tmp_path / "page.html").read_text("utf-8") == PAGE


@pytest.mark.skipif(find_chromium() is None, reason="needs Chromium")
def test_what_is_frozen_is_what_is_seen(tmp_path):
    drawn = """
<script>
for (const script of document.querySelectorAll("script[type$='widget-view+json']")) {
  const el = document.createElement("div");
  el.innerHTML = `<div class="toy-explorer" role="group" aria-label="Toy">
    <input id="x" type="text"><input type="checkbox"><canvas width="2" height="1"></canvas>
    <p aria-live="polite">it is said</p></div>`;
  el.querySelector("input").value = "typed";
  el.querySelector("[type=checkbox]").checked = true;
  script.before(el);
}
</script>"""
    (tmp_path / "page.html").write_text(f"<!doctype html>{PAGE}{drawn}", encoding="utf-8")
    assert add_openings(tmp_path) == 2
    text = (tmp_path / "page.html").read_text("utf-8")
    opening = text[text.index('<div class="widget-subarea"') : text.index(view("a"))]
    assert (
        'value="typed"' in opening
        and "checked" in opening
        and 'aria-label="Toy. it is said"' in opening
    )
    assert "width: 2px" in opening and "height: 1px" in opening, "rules for canvases hold no more"
    assert "<canvas" not in opening and "background" in opening and 'id="x"' not in opening
