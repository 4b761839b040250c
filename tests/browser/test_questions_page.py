"""Tests of the interactive questions and the progress page, used like a reader."""

from __future__ import annotations

import pytest

from autograder.exercises import EXERCISES

pytestmark = pytest.mark.browser

CHAPTER, BOARD = "book/01_why_attention.html", "book/progress.html"
NUMBER, CHOICE = "words-first-loss", "words-negative-gradient"
FIRST, SECOND = list(EXERCISES)[:2]
REFUSED = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused'); }})"
FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"


def question(page, name):
    """Return a question's container and its verdict."""
    box = page.locator(f"#question-{name}")
    return box, box.locator(".cq-verdict")


def stored(page):
    """Return the course's entries in the browser's storage."""
    kept = page.evaluate("Object.fromEntries(Object.entries(localStorage))")
    return {key: day for key, day in kept.items() if key.startswith("attention-course/")}


def row(page):
    """Return the cells of the chapter's row: read, questions, exercises."""
    cells = page.locator("tbody[data-chapter='book/01_why_attention'] tr:first-child td")
    return cells.all_inner_texts()


def put(page, entries):
    """Store entries like an earlier visit, and reload the page."""
    page.evaluate("entries => { for (const e of entries) localStorage.setItem(...e); }", entries)
    page.reload()


def told(page, part):
    """Return the text of a part of the progress page."""
    return page.locator(f".course-progress {part}").inner_text()


def tick(page, name):
    """Tick or untick an exercise."""
    page.get_by_role("checkbox", name=f"{name} passed", exact=True).click()


def passed(page):
    """Return the exercises that the page shows as passed."""
    return set(page.locator("input:checked").evaluate_all("all => all.map(box => box.value)"))


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_a_choice_answers_by_keyboard(visit, scheme, width):
    opened = visit(CHAPTER, scheme, width)
    page = opened.page
    box, verdict = question(page, CHOICE)
    assert verdict.inner_text() == ""
    box.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")  # moving through the options is not an answer
    assert "Press Enter" in verdict.inner_text()
    page.keyboard.press("Enter")
    assert verdict.inner_text().startswith("✗ Not right: b")
    assert "gives it a probability of 0.05" in verdict.inner_text()
    assert stored(page) == {}
    page.keyboard.press("ArrowUp")
    assert "Not right" not in verdict.inner_text()
    page.keyboard.press("Space")
    assert verdict.inner_text().startswith("✓ Right: a")
    assert "hardly counts" in verdict.inner_text()
    assert verdict.locator("mjx-container").count() == 2
    assert list(stored(page)) == [f"attention-course/right:{CHOICE}"]
    assert box.locator(".cq-done").is_visible()
    assert opened.problems() == {}


def test_a_choice_answers_at_once_when_clicked_and_each_option_has_its_reason(visit):
    page = visit(CHAPTER).page
    box, verdict = question(page, CHOICE)
    said = set()
    for option in box.locator(".cq-option").all():
        option.click()
        said.add(verdict.inner_text())
    assert len(said) == box.locator(".cq-option").count() == 3
    assert sum(text.startswith("✓ Right") for text in said) == 1


def test_a_number_is_judged_with_its_hints(visit):
    page = visit(CHAPTER).page
    box, verdict = question(page, NUMBER)
    field = box.get_by_label("Your answer")
    for typed, answer in (
        ("0.69", "✗ Not right: 0.69\nThat is one of the terms"),
        ("49", "✗ Not right: 49. Compute it once more"),
        ("", "Type a number"),
        ("four", "Type a number"),
        ("1/0", "Type a number"),
        ("−4.16", "✗ Not right"),
        ("4,160", "✗ Not right"),  # a comma before three digits: thousands
        ("4.13", "✗ Not right"),
    ):
        field.fill(typed)
        field.press("Enter")
        assert verdict.inner_text().replace("\n\n", "\n").startswith(answer), typed
        assert stored(page) == {}
    for typed in ("4.16", " 4.159 ", "4,16", "+4.15", "8.32/2", "416e-2"):
        field.fill(typed)
        field.press("Enter")
        assert verdict.inner_text().startswith("✓ Right"), typed
    assert list(stored(page)) == [f"attention-course/right:{NUMBER}"]


def test_a_wrong_answer_after_a_right_one_takes_nothing_away(visit):
    page = visit(CHAPTER).page
    box, verdict = question(page, NUMBER)
    for typed in ("4.16", "600"):
        box.get_by_label("Your answer").fill(typed)
        box.get_by_role("button", name="Check").click()
    assert "Not right" in verdict.inner_text()
    page.reload()
    assert page.locator(f"#question-{NUMBER} .cq-done").is_visible()
    assert not page.locator(f"#question-{CHOICE} .cq-done").is_visible()


def test_all_questions_of_a_page_have_names_for_a_screen_reader(visit):
    page = visit(CHAPTER).page
    boxes = page.locator(".course-question")
    assert boxes.count() >= 2
    for box in boxes.all():
        legend = box.locator("legend").inner_text()
        assert page.get_by_role("group", name=legend.split("\n")[0][:40]).count() >= 1
        fields = box.locator("input")
        assert all(f.evaluate("f => f.labels.length") == 1 for f in fields.all())
        assert box.locator("[role=status][aria-live=polite]").count() == 1


def test_without_javascript_the_answers_unfold(site, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.address + CHAPTER)
    box, _ = question(page, NUMBER)
    assert not box.locator(".cq-entry").is_visible()
    assert not box.locator(".cq-why").first.is_visible()
    box.locator("summary").click()
    assert "each of the six terms" in box.locator(".cq-reason[data-judged=right]").inner_text()
    assert not page.locator(".course-read").is_visible()
    page.goto(site.address + BOARD)
    assert "switched off" in page.locator(".course-progress").inner_text()
    assert not page.get_by_role("button", name="Clear").is_visible()
    assert page.get_by_role("checkbox").first.is_disabled()
    context.close()


def test_on_paper_the_answers_are_unfolded(visit):
    page = visit(CHAPTER).page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    box, _ = question(page, NUMBER)
    assert box.locator(".cq-why").first.is_visible()
    assert not box.locator(".cq-entry").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".cq-answers[open]").count() == 0


def test_a_chapter_is_marked_as_read_and_the_page_of_progress_shows_it(visit, site):
    opened = visit(CHAPTER)
    page = opened.page
    button = page.locator(".course-read button")
    assert button.inner_text() == "Mark as read"
    button.press("Enter")
    assert button.inner_text() == "Mark as unread"
    page.reload()
    assert "You have read this chapter" in page.locator(".course-read").inner_text()
    box, _ = question(page, NUMBER)
    box.get_by_label("Your answer").fill("4.16")
    box.get_by_role("button", name="Check").click()
    page.locator(".course-read a").click()
    page.wait_for_url("**/progress.html")
    assert row(page)[:2] == ["✓ read", "1 of 4"]
    assert "1 of" in told(page, ".cp-sum") and "% done" in told(page, ".cp-sum")
    page.go_back()
    page.locator(".course-read button").click()
    page.goto(site.address + BOARD)
    assert row(page)[:2] == ["not yet", "1 of 4"]
    assert opened.problems() == {}


def test_the_link_of_a_green_card_ticks_its_exercise(visit, site):
    opened = visit(f"{BOARD}#passed={SECOND}")
    page = opened.page
    assert passed(page) == {SECOND}
    assert page.get_by_label(f"{SECOND} passed").evaluate("box => box === document.activeElement")
    assert page.url == site.address + BOARD  # a page that is loaded again ticks nothing again
    page.goto(f"{site.address}{BOARD}#passed={FIRST}")  # the page is open already
    page.goto(f"{site.address}{BOARD}#passed=Nothing")
    assert passed(page) == {FIRST, SECOND}
    assert opened.problems() == {}


def test_exercises_are_ticked_and_cleared(visit):
    opened = visit(BOARD, width=390)
    page = opened.page
    assert page.get_by_role("checkbox").count() == len(EXERCISES)
    put(page, [["another-site", "stays"]])
    tick(page, FIRST)
    tick(page, SECOND)
    page.reload()
    assert passed(page) == {FIRST, SECOND}
    assert f"2 of {len(EXERCISES)} exercises" in told(page, ".cp-sum")
    tick(page, SECOND)
    assert passed(page) == {FIRST}
    assert list(stored(page)) == [f"attention-course/passed:{FIRST}"]

    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Clear").click()
    assert passed(page) == {FIRST}
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Clear").click()
    assert stored(page) == {} and passed(page) == set()
    assert page.evaluate("localStorage.getItem('another-site')") == "stays"
    assert opened.problems() == {}


@pytest.mark.parametrize("refusing", [REFUSED, FULL], ids=["refused", "full"])
def test_without_storage_one_sentence_and_all_else_works(visit, site, refusing):
    opened = visit(BOARD)
    page = opened.page
    page.context.add_init_script(refusing)
    page.reload()
    assert told(page, ".cp-storage").count("Your browser lets this page keep nothing") == 1
    tick(page, FIRST)
    assert passed(page) == {FIRST}
    page.goto(site.address + CHAPTER)
    assert "keep nothing" in page.locator(".course-read").inner_text()
    page.locator(".course-read button").click()
    assert "You have read this chapter" in page.locator(".course-read").inner_text()
    box, verdict = question(page, NUMBER)
    box.get_by_label("Your answer").fill("4.16")
    box.get_by_role("button", name="Check").click()
    assert verdict.inner_text().startswith("✓ Right")
    assert opened.foreign == []  # the console has warnings of the theme


def test_two_open_pages_do_not_write_over_each_other(visit, site):
    opened = visit(BOARD)
    board = opened.page
    chapter = board.context.new_page()
    chapter.goto(site.address + CHAPTER)
    again = board.context.new_page()
    again.goto(site.address + CHAPTER)
    tick(board, FIRST)
    chapter.locator(".course-read button").click()
    box, _ = question(again, NUMBER)
    box.get_by_label("Your answer").fill("4.16")
    box.get_by_role("button", name="Check").click()
    tick(board, SECOND)
    assert set(stored(board)) == {
        f"attention-course/{key}"
        for key in (
            "read:book/01_why_attention",
            "right:words-first-loss",
            f"passed:{FIRST}",
            f"passed:{SECOND}",
        )
    }
    board.wait_for_function(  # without reloading
        "document.querySelector('[data-chapter*=\"01_why\"] .cp-read').textContent === '✓ read'"
    )
    assert row(board)[1] == "1 of 4"
    assert "Mark as unread" in again.locator(".course-read").inner_text()


def test_only_pages_with_something_to_answer_load_the_scripts(visit):
    for path, scripts in (
        (CHAPTER, {"progress.js", "questions.js"}),
        (BOARD, {"progress.js"}),
        ("book/how_to_use.html", set()),
    ):
        opened = visit(path)
        names = {url.split("?")[0].rsplit("/", 1)[1] for url in opened.requested}
        assert names & {"progress.js", "questions.js"} == scripts, path
