"""Assembles the widgets' JavaScript and CSS, with shared code and the site's colours.

The colours are those of the site, or Jupyter's, or those of style.py.
"""

from __future__ import annotations

from pathlib import Path

from coursekit.plots import style

_HERE = Path(__file__).parent
_JUPYTER = {
    "paper": "--jp-layout-color1",
    "panel": "--jp-layout-color2",
    "line": "--jp-border-color2",
    "ink": "--jp-content-font-color1",
    "muted": "--jp-content-font-color2",
}
_NAMES = ("paper", "panel", "line", "ink", "muted", "accent", "accent-ink", "gold")


def script(*names: str) -> str:
    """Return an explorer's JavaScript, one module: what all share, then each <name>.js."""
    return "\n".join(_read(f"{name}.js") for name in ("common", *names))


def stylesheet(name: str, block: str = "") -> str:
    """Return an explorer's CSS, for the class of its outermost element, <block>-explorer.

    Its colours come first, as variables `var(--ink)` and the like, then the rules that all
    explorers share, then those of <name>.css. For a name with a folder, live/<name>, the rules of
    the folder's shared.css are among them.

    Args:
        name: of the file, without its ending.
        block: the beginning of the class; the name without its folder unless given.
    """
    folder, _, last = name.rpartition("/")
    block = f".{block or last}-explorer"
    lines = []
    for colour in _NAMES:
        value = style.LIGHT[colour]
        if colour in _JUPYTER:
            value = f"var({_JUPYTER[colour]}, {value})"
        lines.append(f"  --{colour}: var(--course-{colour}, {value});")
    common = ["common.css", *([f"{folder}/shared.css"] if folder else [])]
    shared = "".join(map(_read, common)).replace(".explorer", block)
    return f"{block} {{\n" + "\n".join(lines) + "\n}\n" + shared + _read(f"{name}.css")


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
