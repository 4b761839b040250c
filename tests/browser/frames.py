"""Prints how long the live explorers of the built site take for what a reader does, in Chromium.

python -m tests.browser.frames [FOLDER]      # of the built site; _build/html unless given
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

from book.tools.browser import FLAGS, find_chromium, open_page, serve

ROOT = Path(__file__).resolve().parents[2]
TIMES = 40
TRANSLATOR = {
    "look at the next step": "e => e.querySelectorAll('.tr-bar button')[1].click()",
    "bar a word, or let it in": "e => e.querySelectorAll('.tr-word')[1].click()",
    "force a word": "e => e.querySelectorAll('.tr-guesses button')[1].click()",
    "write another word": """e => {
        const field = e.querySelector('input[role=combobox]');
        const first = 'the old queen sees a small cat because the young farmer';
        field.value = first + (field.value.endsWith('sings') ? ' reads' : ' sings');
        field.dispatchEvent(new Event('input', { bubbles: true }));
    }""",
}
CLOZE = {
    "hide another word": """e => {
        const words = [...e.querySelectorAll('.cl-word')];
        const at = words.findIndex(word => word.classList.contains('cl-gap'));
        words[(at + 1) % words.length].click();
    }""",
    "switch a head off, or on": "e => e.querySelectorAll('.cl-head')[3].click()",
}
REVIEW = {
    "bar a word, or let it in": "e => e.querySelectorAll('.rv-word')[1].click()",
    "write another word": """e => {
        const field = e.querySelector('input[role=combobox]');
        const first = 'the critics found it dull but i loved';
        field.value = first + (field.value.endsWith('it') ? '' : ' it');
        field.dispatchEvent(new Event('input', { bubbles: true }));
    }""",
}
TRANSFORMER = {
    "look from another word": "e => e.querySelector('.tf-word[aria-checked=false]').click()",
    "translate 12 words": """e => {
        const field = e.querySelector('input[role=combobox]');
        const first = 'the old queen sees a small cat because the young farmer';
        field.value = first + (field.value.endsWith('sings') ? ' reads' : ' sings');
        field.dispatchEvent(new Event('input', { bubbles: true }));
    }""",
    "switch a head off, or on": "e => e.querySelectorAll('.tf-bar button')[0].click()",
}
# page -> the explorer's class, and what a reader does with it
EXPLORERS = {
    "book/03_bahdanau.html": ("translator-explorer", TRANSLATOR),
    "book/06_sentences.html": ("review-explorer", REVIEW),
    "book/08_transformer.html": ("transformer-explorer", TRANSFORMER),
    "book/09_bert.html": ("cloze-explorer", CLOZE),
}
# Until the page could be painted: what happens in the event, and the layout that follows from it.
TIMED = """([selector, action, times]) => {
    const act = eval(action);
    const element = document.querySelector(selector);
    return Array.from({ length: times }, () => {
        const start = performance.now();
        act(element);
        element.getBoundingClientRect();
        return performance.now() - start;
    });
}"""


def measure(page: Any, selector: str, action: str) -> list[float]:
    """Return the milliseconds of each time that the action was done."""
    return page.evaluate(TIMED, [selector, action, TIMES])


def main(site: Path = ROOT / "_build" / "html") -> None:
    """Open each page and print the median and the slowest of so many times."""
    with serve(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        for path, (name, actions) in EXPLORERS.items():
            page = browser.new_page()
            open_page(page, address + path)
            for what, action in actions.items():
                times = measure(page, f".{name}", action)
                print(f"{path}  {what:26} {median(times):6.1f} ms, at most {max(times):6.1f} ms")
        browser.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
