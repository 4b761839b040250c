"""Write each explorer's first state into its page, for readers without scripts.

    python -m tools.opening_states [FOLDER]      # of a built site; by default _build/html

Chromium opens each page once. What an explorer shows then is frozen and put where the explorer will
be drawn; `draw_explorers.js` replaces it. Pages that have their opening states are left alone.
"""

from __future__ import annotations

import json
import re
import sys
from html import escape
from pathlib import Path
from typing import Any

from tools.site_browser import FLAGS, find_chromium, serve

ROOT = Path(__file__).resolve().parents[1]
VIEW = re.compile(r'<script type="application/vnd\.jupyter\.widget-view\+json">.*?</script>', re.S)
MARK = "data-opening"
NOT_NEEDED = re.compile(r"mathjax|\.(png|woff2?)$", re.IGNORECASE)  # takes long
FREEZE = Path(__file__).with_name("freeze_explorers.js").read_text(encoding="utf-8")


def add_openings(html: Path) -> int:
    """Write the opening states into all pages of a site that have explorers and lack them.

    Returns:
        the number of explorers.

    Raises:
        RuntimeError: there is no Chromium, or no playwright to drive it.
    """
    waiting = []
    for path in sorted(html.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        if VIEW.search(text) and MARK not in text:
            waiting.append((path, text))
    if not waiting:
        return 0
    executable = find_chromium()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        executable = None
    if executable is None:
        raise RuntimeError("opening states need Chromium and the package playwright")
    drawn = 0
    with sync_playwright() as playwright, serve(html) as address:
        chromium = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for path, text in waiting:
            openings = freeze_explorers(chromium, address + path.relative_to(html).as_posix())
            path.write_text(insert(text, openings), encoding="utf-8")
            drawn += len(openings)
        chromium.close()
    return drawn


def freeze_explorers(chromium: Any, url: str) -> list[dict[str, str]]:
    """Return the frozen HTML and the label of each explorer of a page, in the page's order."""
    context = chromium.new_context(
        viewport={"width": 1280, "height": 844}, reduced_motion="reduce", color_scheme="light"
    )
    context.route(NOT_NEEDED, lambda route: route.abort())
    page = context.new_page()
    page.goto(url, wait_until="load")
    page.evaluate("window.drawExplorers?.()")
    views = page.locator("script[type='application/vnd.jupyter.widget-view+json']")
    for view in views.all():  # some explorers wait until they are seen
        view.evaluate("script => script.previousElementSibling?.scrollIntoView()")
        page.wait_for_timeout(100)
    page.wait_for_function(
        "n => document.querySelectorAll('[class$=-explorer]').length >= n", arg=views.count()
    )
    page.wait_for_timeout(300)  # what is computed in slices
    openings: list[dict[str, str]] = page.evaluate(FREEZE)
    context.close()
    return openings


def insert(text: str, openings: list[dict[str, str]]) -> str:
    """Return a page's HTML with the opening states, each before the script of its view."""
    waiting = iter(openings)

    def with_opening(view: re.Match[str]) -> str:
        one = next(waiting)
        label = escape(one["label"], quote=True)
        return (
            f'<div class="widget-subarea" {MARK} role="img" aria-label="{label}">'
            f"<div inert>{one['html']}</div></div>\n{view[0]}"
        )

    return VIEW.sub(with_opening, text)


if __name__ == "__main__":
    try:
        print(
            json.dumps(
                {"explorers": add_openings(Path(*sys.argv[1:2] or [str(ROOT / "_build" / "html")]))}
            )
        )
    except RuntimeError as error:
        sys.exit(f"Nothing was written: {error}.")
