"""Sphinx extension that keeps a page's scripts few: MathJax, icons and search only where used."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pydata_sphinx_theme
from sphinx.application import Sphinx


def keep_scripts_our_own(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Drop unneeded scripts from a page: sphinx-thebe, and MathJax if it has no equations.

    Jupyter Book always adds sphinx-thebe, which refers to an external host. Sphinx adds MathJax to
    a page if any page below it in the table of contents has equations, and so to the landing page.
    """
    equations = app.env.get_domain("math").data["has_equations"].get(page, False)

    def wanted(asset: Any) -> bool:
        name = str(getattr(asset, "filename", asset) or "")
        body = str(getattr(asset, "attributes", {}).get("body", ""))
        if "mathjax" in name.lower() or "MathJax" in body:
            return equations
        return "thebe" not in name and "THEBE_JS_URL" not in body

    context["script_files"] = list(filter(wanted, context["script_files"]))
    context["css_files"] = list(filter(wanted, context["css_files"]))


_ICON = re.compile(
    r'(?:"([a-z0-9-]+)"|([a-z0-9]+)):'  # its name
    r'\[\d+,\d+,\[([^\]]*)\],"[0-9a-f]+",(?:"[^"]*"|\["[^"]*","[^"]*"\])\],?'  # aliases, shape
)


def keep_icons_in_use(app: Sphinx, error: Exception | None) -> None:
    """Reduce the theme's Font Awesome to the icons that the pages use: 17 kB of 540 kB."""
    if error is not None or app.builder.format != "html":
        return
    original = Path(pydata_sphinx_theme.__file__).parent.joinpath(
        "theme/pydata_sphinx_theme/static/scripts/fontawesome.js"
    )
    out = Path(app.outdir)
    users = [*out.rglob("*.html"), *(out / "_static").glob("*.js")]
    users += [p for p in (out / "_static" / "scripts").glob("*.js") if p.name != original.name]
    used: set[str] = set()
    for path in users:
        used.update(re.findall(r"\bfa-([a-z0-9-]+)", path.read_text(encoding="utf-8")))

    def keep(icon: re.Match[str]) -> str:
        names = {icon[1] or icon[2], *re.findall(r'"([^"]+)"', icon[3])}
        return icon[0] if names & used else ""

    # A list without its last entries ends in a comma, which JavaScript allows.
    small = _ICON.sub(keep, original.read_text(encoding="utf-8"))
    (out / "_static" / "scripts" / original.name).write_text(small, encoding="utf-8")


# The theme puts these on every page for a search as one types, which is off; search.html has them.
_SEARCH_TOOLS = re.compile(
    r'[ \t]*<script src="[^"]*(?:_static/searchtools|_static/language_data|searchindex)\.js[^"]*">'
    r"</script>\n"
)


def drop_search_index(app: Sphinx, error: Exception | None) -> None:
    """Remove the search index, 70 kB, from all pages except the one that searches."""
    if error is not None or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        if path.name != "search.html" and _SEARCH_TOOLS.search(page):
            path.write_text(_SEARCH_TOOLS.sub("", page), encoding="utf-8")


def write_formulas_in_results(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Load the script that makes plain text of the formulas in a search's results."""
    if page == "search":
        # "defer" runs before the search, which waits for the page to be read.
        app.add_js_file("search_snippets.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the build steps."""
    app.connect("html-page-context", keep_scripts_our_own, priority=900)
    app.connect("html-page-context", write_formulas_in_results)
    app.connect("build-finished", keep_icons_in_use)
    app.connect("build-finished", drop_search_index)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
