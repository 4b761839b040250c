"""Browser test fixtures: a Chromium that can reach only the test's server of the built site."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.helpers.built_site import ROOT as ROOT  # tests take it from here
from tests.helpers.built_site import SITE
from tools.site_browser import FLAGS, find_chromium, open_page, serve

LIGHT = """
  const canvas = document.createElement("canvas").getContext("2d");
  const light = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => {
      const c = v / 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
"""
# JavaScript: light(colour) is the relative luminance of a CSS colour, as defined by WCAG.

WITHOUT_GLOSSES = """(element) => {
  element.querySelectorAll("rt").forEach((gloss) => { gloss.style.display = "none"; });
  return element.innerText.replaceAll(/\\s+/g, " ").trim();
}"""
# JavaScript: what an element shows, without the meanings below words of another language.


def site_folder() -> Path:
    """Return the folder of the built site: COURSEKIT_SITE, or _build/html."""
    return SITE


def percent(p: float) -> str:
    """Return a share of 1 as explorers write it, with spaces that do not break."""
    whole = "> 99" if 0.995 < p < 1 else "< 1" if 0 < p < 0.005 else str(int(100 * p + 0.5))
    return f"{whole} %".replace(" ", "\u00a0")


def explorer_states(page: str) -> list[dict]:
    """Return the state that Python stored for each explorer of a built page, in page order."""
    path = site_folder() / page
    if not path.is_file():
        pytest.skip(f"{page} is not built")
    html = path.read_text(encoding="utf-8")

    def written(what: str) -> list[dict]:
        kind = re.escape(f"application/vnd.jupyter.widget-{what}+json")
        return [
            json.loads(t) for t in re.findall(f'<script type="{kind}">(.*?)</script>', html, re.S)
        ]

    models = {name: model for part in written("state") for name, model in part["state"].items()}

    def state_of(name: str) -> dict:
        if "file" not in models[name]:
            return models[name]["state"]
        script = (path.parent / models[name]["file"]).read_text(encoding="utf-8")
        return json.loads(script.partition(" = ")[2].rstrip().removesuffix(";"))["state"]

    return [state_of(view["model_id"]) for view in written("view")]


@dataclass(frozen=True)
class Site:
    """The site's folder and the address that serves it."""

    folder: Path
    address: str

    def weight(self, url: str) -> int:
        """Return the bytes of a file as sent by a compressing server, without headers."""
        path = self.folder / unquote(urlsplit(url).path).lstrip("/")
        content = path.read_bytes()
        packed = {".html", ".css", ".js", ".svg", ".json", ".inv"}
        return len(gzip.compress(content, 6)) if path.suffix in packed else len(content)


@dataclass
class Visit:
    """An open page with its errors and requests."""

    page: Any
    foreign: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def problems(self) -> dict[str, list[str]]:
        """The non-empty ones of foreign requests, failed requests and console errors."""
        kinds = {"foreign": self.foreign, "failed": self.failed, "console": self.errors}
        return {kind: found for kind, found in kinds.items() if found}

    def close(self) -> None:
        """Close the page now, for tests with many pages: each open page costs time."""
        self.page.context.close()


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """Serve the built site from this machine."""
    folder = site_folder()
    if not (folder / "index.html").is_file():
        pytest.skip(f"there is no built site in {folder}; run: make book")

    with serve(folder) as address:
        yield Site(folder, address)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Start one headless Chromium for all tests."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = find_chromium()
    if executable is None:
        pytest.skip("there is no Chromium on this machine; install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(site: Site, chromium: Any) -> Iterator[Any]:
    """Open pages of the site: visit("book/intro.html", scheme="dark", width=390) -> Visit.

    With draw=False, only those explorers are drawn that are near the top, as for a reader. With
    touch=True, the page can be tapped.
    """
    contexts: list[Any] = []

    def open_page(
        path: str, scheme: str = "light", width: int = 1280, draw: bool = True, touch: bool = False
    ) -> Visit:
        context = chromium.new_context(
            color_scheme=scheme, viewport={"width": width, "height": 844}, has_touch=touch
        )
        contexts.append(context)
        visit = Visit(context.new_page())

        def only_own(route: Any) -> None:
            url = route.request.url
            if url.startswith(site.address):
                visit.requested.append(url)
                route.continue_()
            elif url.startswith(("data:", "blob:")):
                route.continue_()
            else:
                visit.foreign.append(url)
                route.abort()

        page = visit.page
        context.route("**/*", only_own)
        page.on("requestfailed", lambda request: _note_failure(visit, request))
        page.on(
            "response",
            lambda r: visit.failed.append(f"{r.status} {r.url}") if r.status >= 400 else None,
        )
        page.on("pageerror", lambda error: visit.errors.append(str(error)))
        page.on("console", lambda m: visit.errors.append(m.text) if m.type == "error" else None)
        go_to(visit, site.address + path, draw)
        return visit

    yield open_page
    for context in contexts:
        context.close()


def _note_failure(visit: Visit, request: Any) -> None:
    # A request that is aborted because the reader left the page is not a failure.
    if request.failure != "net::ERR_ABORTED":
        visit.failed.append(request.url)


def go_to(visit: Visit, url: str, draw: bool = True) -> None:
    """Open a page and wait until its equations and (draw) explorers are rendered."""
    open_page(visit.page, url, draw)
    visit.page.wait_for_load_state("networkidle")
