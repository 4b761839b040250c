"""Chromium and a server of the built site, for printing, screenshots and browser tests."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def find_chromium() -> str | None:
    """Return the path of the system's Chromium, or None if there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *message: object) -> None:
        """Print nothing for each file served."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on localhost; yield the address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def open_page(page: Any, url: str, draw: bool = True) -> None:
    """Open a page of the site and wait until its equations and (draw) explorers are rendered."""
    page.goto(url, wait_until="load")
    if page.locator(".math").count():
        page.wait_for_function("window.MathJax?.startup?.promise !== undefined")
        page.evaluate("MathJax.startup.promise.then(() => null)")
    if not draw:
        return
    page.evaluate("window.drawExplorers?.()")
    views = page.locator("script[type='application/vnd.jupyter.widget-view+json']").count()
    page.wait_for_function(
        "n => document.querySelectorAll('.jupyter-widgets, [class$=-explorer]').length >= n",
        arg=views,
    )
