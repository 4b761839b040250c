"""Accessibility tests of every built page: axe-core, and checks that axe-core lacks.

axe-core is part of the package axe-playwright-python; nothing is downloaded.
"""

from __future__ import annotations

import contextlib
import importlib.resources
import re
from typing import Any

import pytest

from tests.browser.conftest import go_to
from tests.browser.test_pages import CHAPTERS, CONTENT, PAGES, source

pytestmark = pytest.mark.browser

GRAVE = ("critical", "serious")
# Rules that depend on colours; the others give the same result on a dark page.
OF_COLOUR = ["color-contrast", "link-in-text-block"]
SOME = ["book/intro.html", "book/02_seq2seq.html", "book/08_transformer.html"]
# The glyphs of equations are hidden from screen readers, which read the MathML instead. They have
# the colour of the surrounding text, and are most of a page's elements.
LEFT_OUT = [["mjx-math"]]

LOST_EQUATIONS = """[...document.querySelectorAll("main :is(.math, mjx-container)")]
    .filter(e => e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0)"""


@pytest.fixture(scope="session")
def axe() -> str:
    """Return the source code of axe-core."""
    package = "axe_playwright_python"
    pytest.importorskip(package, reason="axe-playwright-python is not installed")
    file = importlib.resources.files(package) / "axe.min.js"
    return file.read_text(encoding="utf-8")


def audit(page: Any, axe: str, only: list[str] | None = None) -> list[dict]:
    """Unfold everything; return the rules that the page violates, with the violating elements."""
    page.evaluate("document.querySelectorAll('main details').forEach(d => { d.open = true; })")
    page.evaluate("document.fonts.ready.then(() => null)")
    # What is unfolded fades in: its colours are those of the page only when it has.
    page.evaluate("Promise.all(document.getAnimations().map((a) => a.finished)).then(() => null)")
    # Wait until accessible.js has finished; if it has not, axe reports it.
    with contextlib.suppress(Exception):
        page.wait_for_function(f"{LOST_EQUATIONS}.length === 0", timeout=5000)
    page.evaluate(axe)
    options: dict[str, Any] = {"resultTypes": ["violations"], "iframes": False}
    if only:
        options["runOnly"] = only
    return page.evaluate(
        "async ([hidden, options]) => (await axe.run({exclude: hidden}, options)).violations",
        [LEFT_OUT, options],
    )


@pytest.mark.parametrize(
    ("scheme", "width", "paths"),
    [("light", 1280, PAGES), ("dark", 1280, PAGES), ("light", 390, SOME), ("dark", 390, SOME[1:])],
    ids=["light", "dark", "phone", "dark-phone"],
)
def test_axe_finds_nothing_grave(visit, site, axe, scheme, width, paths, capsys):
    opened = visit(paths[0], scheme, width)  # one context for all pages, as a new one is slow
    grave: list[str] = []
    lesser: dict[str, list[str]] = {}
    for path in paths:
        go_to(opened, site.address + path)
        for rule in audit(opened.page, axe, OF_COLOUR if scheme == "dark" else None):
            for node in rule["nodes"]:
                why = " ".join(node["failureSummary"].split())
                line = f"{path}: {rule['id']}: {node['html'][:160]} ({why[:240]})"
                if rule["impact"] in GRAVE:
                    grave.append(line)
                else:
                    lesser.setdefault(f"{rule['impact']} {rule['id']}", []).append(line)
    if lesser:
        with capsys.disabled():
            print(f"\naxe-core, {scheme}, {width} pixels, moderate and minor:")
            for name, lines in sorted(lesser.items()):
                print(f"  {name}: {len(lines)}, such as {lines[0]}")
    assert grave == []


@pytest.mark.parametrize("path", SOME)
def test_the_keyboard_skips_to_the_text_and_sees_where_it_is(visit, path):
    page = visit(path).page
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.getAttribute('href')")
    assert first == "#main-content"
    page.wait_for_function("document.activeElement.getBoundingClientRect().top >= 0")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main-content"
    reached, unseen = [], []
    for _ in range(25):
        page.keyboard.press("Tab")
        where = page.evaluate(
            """() => {
                 const e = document.activeElement;
                 const style = getComputedStyle(e);
                 const drawn = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
                 const inText = Boolean(e.closest("#main-content"));
                 const drawing = e === document.body || e.closest("svg") !== null;
                 const marked = drawn || drawing || style.boxShadow !== "none";
                 return [e.outerHTML.slice(0, 120), inText, marked];
               }"""
        )
        reached.append(where[1])
        unseen += [] if where[2] else [where[0]]
    assert reached[0], "the link does not lead to the text"
    assert unseen == [], "the focus cannot be seen"


@pytest.mark.parametrize("path", CHAPTERS)
def test_wide_equations_are_reached_with_the_keyboard(visit, path):
    page = visit(path, width=390).page
    page.wait_for_timeout(400)  # they are checked when the page is idle
    lost = page.evaluate(f"{LOST_EQUATIONS}.map(e => e.textContent.slice(0, 60))")
    assert lost == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("path", [p for p in PAGES if 'class="math' in source(p)])
def test_an_equation_that_is_too_wide_breaks(visit, path, width):
    page = visit(path, width=width).page
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(400)
    cut = page.evaluate(
        """() => [...document.querySelectorAll("main mjx-container[display=true]")]
             .filter(e => e.clientWidth && e.scrollWidth > e.clientWidth + 1)
             .map(e => e.textContent.slice(0, 60))"""
    )
    assert cut == []
    # What MathJax took for the width of the place: if less, it breaks what would fit.
    measured = page.evaluate(
        """() => [...(window.MathJax?.startup?.document?.math ?? [])]
             .filter(m => m.display && m.typesetRoot?.clientWidth)
             .map(m => [m.metrics.containerWidth, m.typesetRoot.clientWidth])"""
    )
    assert [(a, b) for a, b in measured if abs(a - b) > 5] == []
    assert page.locator("mjx-merror").count() == 0


def test_no_line_of_an_equation_begins_with_a_colon(visit):
    """In W: (d, e), the shape stays beside its name."""
    page = visit("book/02_seq2seq.html", width=390).page
    places = page.evaluate(
        """() => [...document.querySelectorAll("mjx-linebox mjx-mo:has(> mjx-c.mjx-c3A)")].map(
             colon => colon.getBoundingClientRect().left
               - colon.closest("mjx-linebox").getBoundingClientRect().left)"""
    )
    assert places and min(places) > 5


def test_equations_break_anew_when_a_phone_is_turned(visit):
    page = visit("book/08_transformer.html", width=844).page
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(
        """() => [...document.querySelectorAll("main mjx-container[display=true]")]
             .every(e => e.scrollWidth <= e.clientWidth + 1)"""
    )


@pytest.mark.parametrize("path", SOME[1:])
def test_code_wraps_on_a_phone(visit, path):
    page = visit(path, width=390).page
    wide = page.evaluate(
        """() => [...document.querySelectorAll("main div.highlight pre")]
                   .filter(e => e.scrollWidth > e.clientWidth + 1)
                   .map(e => e.textContent.slice(0, 60))"""
    )
    assert wide == []


def test_the_language_of_the_page_and_of_its_korean_words_is_said(visit):
    page = visit("book/03_bahdanau.html").page
    assert page.evaluate("document.documentElement.lang") == "en"
    unmarked = page.evaluate(
        r"""() => {
             const found = [];
             const walker = document.createTreeWalker(
               document.querySelector("article"), NodeFilter.SHOW_TEXT);
             while (walker.nextNode()) {
               const parent = walker.currentNode.parentElement;
               if (parent.closest("pre, code, script, style, select, [aria-live]")) continue;
               if (!/\p{Script=Hangul}/u.test(walker.currentNode.data)) continue;
               if (!parent.closest("[lang=ko]")) found.push(walker.currentNode.data.trim());
             }
             return found;
           }"""
    )
    assert unmarked == []
    assert page.locator("article p [lang=ko]").count() > 0
    assert page.locator(".translator-explorer [lang=ko]").count() > 0


def test_play_moves_nothing_for_who_asked_for_less_motion(visit):
    page = visit("book/03_bahdanau.html").page

    def seconds() -> float:
        bar = "document.querySelector('.translator-explorer .tr-source li')"
        told = page.evaluate(f"getComputedStyle({bar}, '::before').transitionDuration")
        return float(told.removesuffix("s"))

    assert seconds() > 0.1
    page.emulate_media(reduced_motion="reduce")
    assert seconds() < 0.001
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    page.locator(".translator-explorer").first.get_by_role("button", name="Play").click()
    stop = page.locator(".translator-explorer").first.get_by_role("button", name="Stop")
    assert stop.count() == 1, "what moves by itself can be stopped"


@pytest.mark.parametrize("path", CONTENT)
def test_every_picture_is_described(path):
    tags = re.findall(r"<img\b[^>]*>", source(path))
    for tag in tags:
        told = re.search(r'\balt="([^"]*)"', tag)
        assert told, tag[:200]
        assert len(told[1]) >= 30, told[1]
        assert not re.search(r"\.(png|svg|jpe?g)\b|^_|^(image|figure|picture)\b", told[1], re.I)


# Words of a running text are as high as their line (WCAG 2.5.8 excepts them).
LOW_TARGETS = """[...document.querySelectorAll("[class$='-explorer'] :is(button, select, input)")]
    .filter(e => e.offsetParent && !e.classList.contains("in-text"))
    .map(e => ["checkbox", "radio"].includes(e.type) ? e.closest("label") : e)
    .filter(e => e.getBoundingClientRect().height < 43.5)
    .map(e => e.closest("[class$='-explorer']").className + ": " + e.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("path", [*CHAPTERS, "book/intro.html", "book/one_sentence.html"])
def test_a_finger_finds_the_controls_of_explorers_on_a_phone(visit, path):
    opened = visit(path, width=390, touch=True)
    assert opened.page.evaluate(LOW_TARGETS) == []
