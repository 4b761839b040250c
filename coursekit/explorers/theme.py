"""What the explorers look like: the site's colours, or Jupyter's, or those of style.py."""

from __future__ import annotations

from pathlib import Path

from coursekit import style

_JUPYTER = {
    "paper": "--jp-layout-color1",
    "panel": "--jp-layout-color2",
    "line": "--jp-border-color2",
    "ink": "--jp-content-font-color1",
    "muted": "--jp-content-font-color2",
}
_NAMES = ("paper", "panel", "line", "ink", "muted", "accent", "accent-ink", "gold")


def stylesheet(block: str, rules: Path) -> str:
    """Return an explorer's CSS: its colours as variables of its block, then its rules.

    Args:
        block: the class of the explorer's outermost element.
        rules: the file of its rules, which use `var(--ink)` and the like.
    """
    lines = []
    for name in _NAMES:
        value = style.LIGHT[name]
        if name in _JUPYTER:
            value = f"var({_JUPYTER[name]}, {value})"
        lines.append(f"  --{name}: var(--course-{name}, {value});")
    return f".{block} {{\n" + "\n".join(lines) + "\n}\n" + rules.read_text(encoding="utf-8")
