"""Changes the pages when all are written, as they lie on the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx


def when_written(app: Sphinx, change: Callable[[str, Path], str]) -> None:
    """Let every page be changed at the end of a build that went well.

    Args:
        app: builds; only pages of HTML are changed.
        change: gets a page and the folder it lies in, and returns the page as it should be. It is
            called again on the pages that the next build leaves alone.
    """

    def change_all(app: Sphinx, error: Exception | None) -> None:
        if error is not None or app.builder.format != "html":
            return
        for path in Path(app.outdir).rglob("*.html"):
            if "_static" in path.parts:
                continue
            page = path.read_text(encoding="utf-8")
            better = change(page, path.parent)
            if better != page:
                path.write_text(better, encoding="utf-8")

    app.connect("build-finished", change_all)
