"""Write each explorer's first state into its page, for readers without scripts.

    python -m tools.opening_states [FOLDER]      # of a built site; by default _build/html

Chromium opens each page once. What an explorer shows then is frozen and put where the explorer will
be drawn; `draw_explorers.js` replaces it. Pages that have their opening states are left alone.
"""

from __future__ import annotations

import asyncio
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
AT_ONCE = 2  # pages that are drawn at the same time
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
        from playwright.async_api import async_playwright
    except ImportError:
        executable = None
    if executable is None:
        raise RuntimeError("opening states need Chromium and the package playwright")

    async def draw_all() -> int:
        turns = asyncio.Semaphore(AT_ONCE)

        async def draw(path: Path, text: str) -> int:
            async with turns:
                url = address + path.relative_to(html).as_posix()
                openings = await freeze_explorers(chromium, url)
            path.write_text(insert(text, openings), encoding="utf-8")
            return len(openings)

        async with async_playwright() as playwright:
            chromium = await playwright.chromium.launch(executable_path=executable, args=FLAGS)
            drawn = await asyncio.gather(*(draw(path, text) for path, text in waiting))
            await chromium.close()
        return sum(drawn)

    with serve(html) as address:
        return asyncio.run(draw_all())


async def freeze_explorers(chromium: Any, url: str) -> list[dict[str, str]]:
    """Return the frozen HTML and the label of each explorer of a page, in the page's order."""
    context = await chromium.new_context(
        viewport={"width": 1280, "height": 844}, reduced_motion="reduce", color_scheme="light"
    )
    await context.route(NOT_NEEDED, lambda route: route.abort())
    page = await context.new_page()
    await page.goto(url, wait_until="load")
    await page.evaluate("window.drawExplorers?.()")
    views = page.locator("script[type='application/vnd.jupyter.widget-view+json']")
    for view in await views.all():  # some explorers wait until they are seen
        await view.evaluate("script => script.previousElementSibling?.scrollIntoView()")
        await page.wait_for_timeout(100)
    await page.wait_for_function(
        "n => document.querySelectorAll('[class$=-explorer]').length >= n", arg=await views.count()
    )
    await page.wait_for_timeout(300)  # what is computed in slices
    openings: list[dict[str, str]] = await page.evaluate(FREEZE)
    await context.close()
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
