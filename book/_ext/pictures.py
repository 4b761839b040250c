"""Pictures that keep their place while they load, and can be read on a phone.

Each picture gets its size from its file, so that nothing moves when it arrives, and a box of its
own. On a phone it is not made so small that its words cannot be read: the box scrolls, and
``tables.js`` makes it one that the keyboard reaches.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from PIL import Image
from sphinx.application import Sphinx
from written import when_written

COLUMN = 720  # px, the width of the text, in which a wide picture is shown at most
_PICTURE = re.compile(r'<img (?P<rest>[^>]*?\bsrc="(?P<src>[^":]*_images/[^"]+\.png)"[^>]*?)\s*/?>')


def true_width(width: int, dpi: float | None) -> int:
    """Return the width that a picture was drawn for, in px of a page, at most the text's.

    Args:
        width: of the file, in pixels.
        dpi: pixels to an inch, of which a page has 96; None for a picture of a screen.
    """
    return min(round(width * 96 / dpi) if dpi else width, COLUMN)


def with_sizes(html: str, folder: Path) -> str:
    """Give the pictures of a page their sizes and boxes; a page that has them stays as it is.

    Args:
        html: the page.
        folder: where it lies; what its pictures' addresses begin from.
    """

    def sized(found: re.Match[str]) -> str:
        if "width=" in found["rest"]:
            return found[0]
        with Image.open(folder / found["src"]) as picture:
            width, height = picture.size
            dpi = picture.info.get("dpi", (None,))[0]
        style = f'style="--true-width: {true_width(width, dpi)}px"'
        size = f'width="{width}" height="{height}"'
        return f'<div class="picture" {style}><img {found["rest"].strip()} {size} /></div>'

    return _PICTURE.sub(sized, html)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the sizes when all pages are written and their pictures are there."""
    when_written(app, with_sizes)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
