"""Tests of the five translators on their page: what they write, the slider, what one changes."""

from __future__ import annotations

import pytest

from coursekit.models.translation import translate
from coursekit.widgets import as_packed
from experiments import five_translators
from experiments.everyday_sentences import read_stories
from tests.browser.conftest import explorer_states

pytestmark = pytest.mark.browser

PAGE = "book/one_sentence.html"
NAMES = ("cho", "sutskever", "bahdanau", "luong", "transformer")


@pytest.fixture(scope="module")
def says():
    """Return what a translator writes according to torch, with the browser's weights."""
    models, words = five_translators.read_recorded()
    packed = {name: as_packed(model, five_translators.LEVELS) for name, model in models.items()}

    def write(name: str, text: str) -> str:
        languages = words.joint if name == "transformer" else words.apart
        (ids,) = translate(packed[name], [languages.source.encode(text.split())])
        return " ".join(languages.target.tokens(ids))

    return write


@pytest.fixture
def opened(visit):
    return visit(PAGE)


def explorer_of(opened):
    return opened.page.locator(".history-explorer")


def written(explorer) -> list[str]:
    """Return what each translator writes, from the words of its line."""
    lines = explorer.locator(".hi-line").all()
    return [" ".join(line.locator("span").all_inner_texts()) for line in lines]


def settle(explorer, text: str, says) -> None:
    """Wait until all five have translated a text, and expect what torch says."""
    expected = [says(name, text) for name in NAMES]
    for _ in range(100):
        if written(explorer) == expected:
            return
        explorer.page.wait_for_timeout(100)
    assert written(explorer) == expected


@pytest.mark.parametrize("width", [390, 1280])
def test_a_typed_sentence_is_translated_by_all_five(visit, says, width):
    opened = visit(PAGE, width=width)
    explorer = explorer_of(opened)
    for text in ("my mother loves me", "i was sad because you did not love me"):
        explorer.get_by_role("combobox", name="English").fill(text)
        settle(explorer, text, says)
    explorer.get_by_role("combobox", name="English").fill("my mom doesn't adore me")
    assert "“mom”" in explorer.locator(".live-note").inner_text()
    explorer.get_by_role("button", name="Write “my mother does not love me”").click()
    settle(explorer, "my mother does not love me", says)
    assert explorer.locator(".live-note").inner_text() == ""
    assert explorer.evaluate("e => e.scrollWidth - e.clientWidth") <= 1
    assert opened.problems() == {}


def test_the_slider_leads_through_a_story_and_says_what_is_beyond(opened, says):
    explorer = explorer_of(opened)
    pairs = read_stories()["tired"]
    explorer.get_by_role("combobox", name="Story").select_option(label="it was too tired")
    settle(explorer, " ".join(pairs[0].source), says)
    slider = explorer.get_by_role("slider", name="Length")
    for i in (1, len(pairs) - 1):
        slider.fill(str(i))
        settle(explorer, " ".join(pairs[i].source), says)
    assert "more than any in training (20)" in explorer.locator(".hi-length").inner_text()
    right = [mark.inner_text() for mark in explorer.locator(".hi-mark").all()]
    assert right.count("exact") == 1
    assert opened.problems() == {}


def test_what_one_changes_is_named_and_undone(opened, says):
    explorer = explorer_of(opened)
    text = "the animal did not cross the street because it was too tired"
    explorer.get_by_role("combobox", name="English").fill(text)
    settle(explorer, text, says)
    explorer.get_by_role("radio", name="Luong 2015").click()
    target = explorer.locator(".hi-target")
    target.get_by_role("radio", name="il", exact=True).click()
    assert "“it”" in explorer.locator(".hi-told").inner_text()
    explorer.locator(".hi-guesses").get_by_role("button", name="elle").click()
    explorer.page.wait_for_function("document.querySelectorAll('.hi-other').length > 0")
    assert all("elle" in line for line in written(explorer))
    assert "All models must write “elle”" in explorer.locator(".hi-told").inner_text()
    explorer.locator(".hi-source").get_by_role("button", name="street").click()
    assert explorer.locator(".hi-off").count() == 1
    explorer.get_by_label("Set this word's weights by hand").check()
    assert explorer.locator(".hi-source input").count() == len(text.split()) + 1
    explorer.get_by_role("button", name="Undo all changes").click()
    settle(explorer, text, says)
    assert opened.problems() == {}


def test_a_head_of_the_transformer_can_be_off_and_one_vector_has_no_weights(opened):
    explorer = explorer_of(opened)
    explorer.get_by_role("radio", name="Transformer 2017").click()
    explorer.get_by_label("1", exact=True).check()
    assert "Head 1 is off" in explorer.locator(".hi-told").inner_text()
    explorer.get_by_role("radio", name="Cho 2014").click()
    assert explorer.locator(".hi-source button").count() == 0
    assert "one vector" in explorer.locator(".hi-vector").inner_text()
    assert "no source word is looked at" in explorer.locator(".hi-told").inner_text()
    assert opened.problems() == {}


def test_the_keyboard_leads_through_translators_and_words(opened):
    explorer, keys = explorer_of(opened), opened.page.keyboard
    explorer.get_by_role("radio", name="Transformer 2017").focus()
    keys.press("ArrowUp")
    chosen = explorer.locator(".hi-models [aria-checked=true]")
    assert "Luong 2015" in chosen.inner_text()
    assert chosen.evaluate("e => e === document.activeElement")
    explorer.locator(".hi-target [aria-checked=true]").focus()
    keys.press("End")
    assert explorer.locator(".hi-target [aria-checked=true]").inner_text() == "the end"
    assert opened.problems() == {}


def test_the_models_stay_small(site):
    (state,) = explorer_states(PAGE)
    assert len(state["models"]) == 5
    sizes = [
        site.weight(f"_static/explorers/{path.name}")
        for path in (site.folder / "_static" / "explorers").glob("history-state.*.js")
    ]
    assert min(sizes) < 1.1e6
