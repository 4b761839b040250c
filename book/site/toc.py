"""Reader of `_toc.yml`, the table of contents of the book."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Entry:
    """A page of the table of contents.

    Attributes:
        path: path without an extension, such as book/07_han.
        part: caption of its part, or "".
        below: paths of the pages below it.
    """

    path: str
    part: str = ""
    below: tuple[str, ...] = ()


def read_toc(file: Path) -> list[Entry]:
    """Return the pages of a table of contents, in order."""
    return list(_parse(file.read_text(encoding="utf-8")))


@lru_cache(maxsize=1)  # each page of the site asks
def _parse(text: str) -> tuple[Entry, ...]:
    toc = yaml.safe_load(text)
    entries = [Entry(toc["root"])]

    def walk(nodes: Sequence[dict[str, Any]], part: str) -> None:
        for node in nodes:
            below = node.get("sections", ())
            entries.append(Entry(node["file"], part, tuple(page["file"] for page in below)))
            walk(below, part)

    for part in toc.get("parts", (toc,)):
        walk(part.get("chapters", ()), part.get("caption", ""))
    return tuple(entries)
