"""Take the README's screenshot: the chapter on Bahdanau attention, light and dark, side by side.

    python -m tools.readme_screenshot

Needs the built site, Chromium, and playwright (in the test requirements).
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from tools.site_browser import FLAGS, find_chromium, open_page, serve

ROOT = Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 760, 880


def take(browser: Any, address: str, scheme: str) -> Image.Image:
    """Return a screenshot of the chapter's explorer after one step."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
    open_page(page, f"{address}book/03_bahdanau.html")
    explorer = page.locator(".translator-explorer")
    explorer.get_by_text("Next").click()
    top = explorer.bounding_box()
    assert top is not None, "the explorer is not on the page"
    page.evaluate(f"window.scrollTo(0, {top['y']} + window.scrollY - 220)")
    page.wait_for_timeout(500)
    return Image.open(io.BytesIO(page.screenshot()))


def main() -> None:
    """Serve the site, take both screenshots, write book/figures/readme.png."""
    with serve(ROOT / "_build" / "html") as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        pictures = [take(browser, address, scheme) for scheme in ("light", "dark")]
        browser.close()
    joined = Image.new("RGB", (2 * WIDTH + 12, HEIGHT), "#888888")
    for i, picture in enumerate(pictures):
        joined.paste(picture, (i * (WIDTH + 12), 0))
    joined.quantize(128).save(ROOT / "book" / "figures" / "readme.png", optimize=True)


if __name__ == "__main__":
    main()
