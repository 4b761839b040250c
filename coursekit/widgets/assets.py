"""JavaScript and CSS of the explorers, with shared code and the site's colours.

The colours are those of the site, else Jupyter's, else those of style.py.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """Return an explorer's JavaScript as one module: common.js, then each <name>.js."""
    return "\n".join(_read(f"{name}.js") for name in ("common", *names))


def stylesheet(name: str, block: str = "", parts: Sequence[str] = ()) -> str:
    """Return an explorer's CSS, for the class of its outermost element, <block>-explorer.

    It consists of the colours as variables such as `--ink`, the rules shared by all explorers, and
    those of <name>.css. For a name with a folder, live/<name>, the shared rules include the
    folder's shared.css.

    Args:
        name: name of the file, without its extension.
        block: beginning of the class; by default the name without its folder.
        parts: files of rules for parts that several explorers have; `.explorer` stands for the
            explorer's class there.
    """
    folder, _, last = name.rpartition("/")
    block = f".{block or last}-explorer"
    lines = []
    for colour in _NAMES:
        value = style.LIGHT[colour]
        if colour in _JUPYTER:
            value = f"var({_JUPYTER[colour]}, {value})"
        lines.append(f"  --{colour}: var(--course-{colour}, {value});")
    common = [
        "common.css",
        *([f"{folder}/shared.css"] if folder else []),
        *(f"{part}.css" for part in parts),
    ]
    shared = "".join(map(_read, common)).replace(".explorer", block)
    return f"{block} {{\n" + "\n".join(lines) + "\n}\n" + shared + _read(f"{name}.css")


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
