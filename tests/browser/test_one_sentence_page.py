"""Tests of the five translators on their page: what they write, the slider, what one changes."""

from __future__ import annotations

import pytest
import torch

from coursekit.models.translation import translate
from coursekit.widgets import as_packed, save_translator
from experiments import five_translators
from experiments.everyday_data import read_stories
from tests.browser.conftest import explorer_states

pytestmark = pytest.mark.browser

PAGE = "book/one_sentence.html"
LABELS = [*five_translators.COMPARISON.rows.values()][:5]
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


def wait_until_told(explorer, words: str) -> None:
    """Wait for the sentence about the step; it comes when all five models have been recomputed."""
    explorer.locator(".hi-told").get_by_text(words).wait_for()


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
        explorer.get_by_role("combobox", name="English").fill("the computer is tired")
        assert "“computer”" in explorer.locator(".live-note").inner_text()
        slider.fill(str(i))
        settle(explorer, " ".join(pairs[i].source), says)
        assert explorer.locator(".live-note").inner_text() == ""  # of the text that is gone
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
    wait_until_told(explorer, "“it”")
    explorer.locator(".hi-guesses").get_by_role("button", name="elle").click()
    explorer.page.wait_for_function("document.querySelectorAll('.hi-other').length > 0")
    assert all("elle" in line for line in written(explorer))
    wait_until_told(explorer, "All models must write “elle”")
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
    wait_until_told(explorer, "Head 1 is off")
    explorer.get_by_role("radio", name="Cho 2014").click()
    assert explorer.locator(".hi-source button").count() == 0
    assert "one vector" in explorer.locator(".hi-vector").inner_text()
    wait_until_told(explorer, "no source word is looked at")
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
    assert min(sizes) < 1.12e6


def test_what_the_vector_keeps_is_said(opened, says):
    explorer = explorer_of(opened)
    explorer.get_by_role("radio", name="Cho 2014").click()
    kept = explorer.locator(".hi-kept")
    assert "A probe, a linear classifier, looks in the vector for the" in kept.inner_text()
    explorer.get_by_role("radio", name="Luong 2015").click()
    assert not kept.is_visible()
    assert opened.problems() == {}


@pytest.fixture(scope="module")
def own_file(tmp_path_factory):
    """Return the file of a translator that is right, and one whose attention lacks its tanh."""
    models, words = five_translators.read_recorded()
    source, target = words.apart.source, words.apart.target
    example = source.encode(["the", "cat", "sleeps"]), target.encode(["le", "chat", "dort"])
    model, folder = models["bahdanau"], tmp_path_factory.mktemp("own")
    right = save_translator(folder / "right.json", model, source, target, example)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "tanh", lambda x: x)
        wrong = save_translator(folder / "wrong.json", model, source, target, example)
    return right, wrong


def test_a_translator_of_ones_own_stands_beside_the_others(opened, says, own_file):
    explorer = explorer_of(opened)
    right, wrong = own_file
    chooser = explorer.get_by_label("Add a translator of your own")
    chooser.set_input_files(right)
    own = explorer.get_by_role("radio", name="Yours, like Bahdanau 2015")
    own.wait_for()
    assert own.get_attribute("aria-checked") == "true"
    assert "your code computes what the exercise's equations give" in explorer.inner_text()
    explorer.get_by_role("combobox", name="English").fill("my mother loves me")
    for _ in range(100):
        if written(explorer)[5:] == [says("bahdanau", "my mother loves me")]:
            break
        explorer.page.wait_for_timeout(100)
    assert written(explorer)[5:] == [says("bahdanau", "my mother loves me")]
    chooser.set_input_files(wrong)
    explorer.get_by_text("first differ in").wait_for()
    assert explorer.get_by_role("radio", name="Yours").count() == 1
    chooser.set_input_files({"name": "a.json", "mimeType": "application/json", "buffer": b"[]"})
    explorer.get_by_text("This is not a translator that").wait_for()
    assert opened.problems() == {}


@pytest.mark.parametrize("width", [390, 1280])
def test_the_stops_are_slides(visit, width):
    opened = visit(PAGE, width=width)
    page, keys = opened.page, opened.page.keyboard
    page.get_by_role("button", name="Show the stops as slides").click()
    slides = page.get_by_role("dialog", name="Show the stops as slides")
    slides.wait_for()
    headings = []
    for i in range(5):
        assert slides.get_by_text(f"{i + 1} of 5", exact=True).is_visible()
        headings += slides.get_by_role("heading").all_inner_texts()
        assert slides.locator(".history-explorer").is_visible()
        chosen = slides.locator(".hi-models [aria-checked=true] .hi-name")
        chosen.get_by_text(LABELS[i], exact=True).wait_for()
        assert slides.evaluate("e => e.scrollWidth - e.clientWidth") <= 1
        page.wait_for_function(
            "document.querySelector('.course-slide-text h3').getBoundingClientRect().top >= 0"
        )
        keys.press("ArrowRight" if i % 2 else "PageDown")
    assert len(set(headings)) == 5
    assert slides.get_by_role("button", name="Next").is_disabled()
    keys.press("PageUp")
    assert slides.get_by_text("4 of 5", exact=True).is_visible()
    keys.press("Escape")
    assert not slides.is_visible()
    assert page.locator(".cell_output .history-explorer").count() == 1
    assert page.locator("main h3").count() == 5
    keys.press("Alt+p")
    slides.wait_for()
    assert slides.get_by_text("4 of 5", exact=True).is_visible()
    assert opened.problems() == {}
