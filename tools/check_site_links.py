"""Check the links of the built site; the exit status is 1 if any is broken.

python -m tools.check_site_links [FOLDER]                 pages, files and anchors; no network
python -m tools.check_site_links [FOLDER] --external      also external sites, politely
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from posixpath import normpath
from urllib.parse import unquote, urlsplit

from book.site.explorers import STATE
from tools.polite_http import BROKEN, MOVED, OK, REFUSED, Answer, Visitor, table

SITE = Path(__file__).resolve().parents[1] / "_build" / "html"
_ADDRESSES = {
    "a": "href", "area": "href", "audio": "src", "iframe": "src", "img": "src", "image": "href",
    "link": "href", "script": "src", "source": "src", "use": "href", "video": "src",
}  # fmt: skip
# Hints for browsers and search engines, not links that a reader clicks.
_NOT_LINKS = {"preconnect", "dns-prefetch", "canonical"}


@dataclass
class Page:
    """The links of a page with their lines, and its anchors."""

    links: list[tuple[str, int]] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.in_states = False  # of the page's explorers, see book/site/explorers.py

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the link and the anchors of a tag."""
        given = {name: value or "" for name, value in attrs}
        self.in_states = tag == "script" and given.get("type") == STATE
        self.page.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "link" and _NOT_LINKS & set(given.get("rel", "").split()):
            return
        link = given.get(_ADDRESSES.get(tag, "")) or given.get("xlink:href")
        if tag in _ADDRESSES and link:
            self.page.links.append((link.strip(), self.getpos()[0]))

    def handle_data(self, data: str) -> None:
        """Record the explorers of a page: a link such as #live=translator&s=... leads to one."""
        if self.in_states:
            self.page.anchors |= {f"live={name}" for name in re.findall(r'"code":"(\w+)"', data)}


def read(path: Path) -> Page:
    """Return the links and anchors of an HTML file."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


@dataclass(frozen=True)
class Broken:
    """A broken link with its page, line, target and reason."""

    page: str
    line: int
    link: str
    why: str


@dataclass
class Site:
    """All pages of a folder, read once."""

    folder: Path

    def __post_init__(self) -> None:
        paths = sorted(p for p in self.folder.rglob("*.html") if "_static" not in p.parts)
        self.pages = {p.relative_to(self.folder).as_posix(): read(p) for p in paths}

    def inside(self) -> list[Broken]:
        """Return the broken links between the site's own pages, files and anchors."""
        return [
            Broken(name, line, link, why)
            for name, page in self.pages.items()
            for link, line in page.links
            if not _leaves(link) and (why := self._why(name, link))
        ]

    def outside(self) -> dict[str, list[str]]:
        """Return the external addresses, without anchors, and the pages that link to them."""
        addresses: dict[str, list[str]] = {}
        for name, page in self.pages.items():
            for link, _ in page.links:
                if urlsplit(link).scheme in ("http", "https"):
                    pages = addresses.setdefault(link.partition("#")[0], [])
                    if name not in pages:
                        pages.append(name)
        return addresses

    def _why(self, name: str, link: str) -> str:
        """Return why a link is broken, or "" if it works."""
        split = urlsplit(link)
        path, anchor = unquote(split.path), unquote(split.fragment)
        if path.startswith("/"):  # the site may be served from a subfolder
            return "is relative to the root of the host"
        target = name
        if path:
            target = normpath(str(PurePosixPath(name).parent / path))
            if target.startswith(".."):
                return "points outside the site"
            if (self.folder / target).is_dir():
                target = normpath(f"{target}/index.html")
            if not (self.folder / target).is_file():
                return f"there is no {target}"
        if not anchor or target not in self.pages or anchor.startswith(":~:"):
            return ""
        known = self.pages[target].anchors
        if anchor.startswith("live="):  # the state of an explorer
            anchor = anchor.partition("&")[0]
        return "" if anchor in known else f"{target} has no #{anchor}"


def _leaves(link: str) -> bool:
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


def ask(addresses: dict[str, list[str]], visitor: Visitor) -> Iterator[Answer]:
    """Yield the answer of each address."""
    for address in addresses:
        yield visitor.look(address)


def main(arguments: list[str] | None = None) -> int:
    """Print a table of the broken links; return 1 if there are any, and 2 if there is no site."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.check_site_links", description=main.__doc__
    )
    parser.add_argument("folder", nargs="?", type=Path, default=SITE)
    parser.add_argument("--external", action="store_true", help="also ask other people's sites")
    given = parser.parse_args(arguments)
    site = Site(given.folder)
    if not site.pages:
        print(f"There is no page in {given.folder}: run make book first.", file=sys.stderr)
        return 2
    inside = site.inside()
    count = sum(not _leaves(link) for page in site.pages.values() for link, _ in page.links)
    print(f"{len(site.pages)} pages, {count} links inside, {len(inside)} broken.\n")
    if inside:
        broken = ((f"{b.page}:{b.line}", b.link, b.why) for b in inside)
        print(table(("page", "link", "why"), broken) + "\n")
    if not given.external:
        return 1 if inside else 0
    addresses = site.outside()
    answers = sorted(
        ask(addresses, Visitor()), key=lambda a: (BROKEN, MOVED, REFUSED, OK).index(a.verdict)
    )
    counts = {v: sum(a.verdict == v for a in answers) for v in (OK, MOVED, REFUSED, BROKEN)}
    print(f"{len(answers)} external addresses: " + ", ".join(f"{n} {v}" for v, n in counts.items()))
    rows = (
        (a.verdict, a.address, a.says, ", ".join(addresses[a.address]))
        for a in answers
        if a.verdict != OK
    )
    print("\n" + table(("verdict", "address", "what it says", "pages"), rows))
    return 1 if inside or counts[BROKEN] else 0


if __name__ == "__main__":
    sys.exit(main())
