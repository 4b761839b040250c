"""Takes the README's picture: the chapter on Bahdanau attention, light and dark, side by side.

    python book/_ext/picture.py

Needs the built site, Chromium, and playwright (in the test requirements).
"""

from __future__ import annotations

import functools
import http.server
import io
import shutil
import threading
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
WIDTH, HEIGHT = 760, 880


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *message: object) -> None:
        """Print nothing for each file served."""


def main() -> None:
    """Serve the site, take both pictures, write book/figures/readme.png."""
    handler = functools.partial(_Quiet, directory=str(ROOT / "_build" / "html"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/book/03_bahdanau.html"
    pictures = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for scheme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme
            )
            page.goto(address, wait_until="networkidle")
            explorer = page.locator(".alignment-explorer")
            explorer.wait_for()
            explorer.get_by_text("Next").click()
            top = explorer.bounding_box()
            assert top is not None, "the explorer is not on the page"
            page.evaluate(f"window.scrollTo(0, {top['y']} + window.scrollY - 220)")
            page.wait_for_timeout(500)
            pictures.append(Image.open(io.BytesIO(page.screenshot())))
        browser.close()
    server.shutdown()
    joined = Image.new("RGB", (2 * WIDTH + 12, HEIGHT), "#888888")
    for i, picture in enumerate(pictures):
        joined.paste(picture, (i * (WIDTH + 12), 0))
    joined.quantize(128).save(ROOT / "book" / "figures" / "readme.png", optimize=True)


if __name__ == "__main__":
    main()
