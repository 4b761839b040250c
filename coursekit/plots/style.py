"""Colours and fonts of plots, widgets and the site's CSS.

The series colours are those of Okabe and Ito, which colour-blind readers can distinguish; plots
also vary marker and line style. Figures are made once, on a light background; dark pages and dark
notebooks turn their lightness round.

``python -m coursekit.plots.style book/_static/colours.css`` writes the CSS variables.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import matplotlib
from cycler import cycler
from matplotlib import font_manager
from matplotlib.colors import LinearSegmentedColormap

from coursekit.notebook.settings import is_grading, is_in_notebook, is_page_build

LIGHT = {
    "paper": "#ffffff",
    "panel": "#f5f7f9",
    "line": "#d3d9e0",
    "ink": "#1b2129",
    "muted": "#55606c",
    "accent": "#0b5f9e",
    "accent-ink": "#ffffff",
    "gold": "#b84a00",
    "good": "#00704f",
    "bad": "#b3261e",
}
"""The site's colours on a light page, by purpose; ``gold`` marks gold links."""

DARK = {
    "paper": "#14181d",
    "panel": "#1e242b",
    "line": "#3b4550",
    "ink": "#e8eaed",
    "muted": "#a9b3be",
    "accent": "#6cb5ea",
    "accent-ink": "#0c1116",
    "gold": "#f3a847",
    "good": "#4cc79d",
    "bad": "#ff8f85",
}
"""The same colours on a dark page."""

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours of the curves of a plot, in order (Okabe and Ito)."""

MARKERS = ("o", "s", "^", "D", "v", "P")
LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))

ATTENTION = LinearSegmentedColormap.from_list(
    "attention", ["#fbfcfd", "#c6dcee", "#6aadd9", "#1c73b3", "#072f55"]
)
"""Colour map of attention weights: lightness decreases steadily from 0 to 1."""

WIDTH = 4.8
"""Width of figures in inches: in a phone's column of 358 pixels, 9 points are still 9 pixels."""

HANGUL_FONTS = (
    "Noto Sans CJK KR",
    "Noto Sans KR",
    "Noto Sans CJK JP",  # the first face of the file that Linux distributions install
    "NanumGothic",
    "Nanum Gothic",
    "Malgun Gothic",
    "AppleGothic",
    "Apple SD Gothic Neo",
)
"""Fonts with Hangul, best first: Linux, Colab, Windows, macOS."""

_said: set[str] = set()


@cache
def hangul_font() -> str | None:
    """Return the first font with Hangul that is installed, or None."""
    installed = set(font_manager.get_font_names())
    return next((name for name in HANGUL_FONTS if name in installed), None)


# JupyterLab's dark theme: lightness is turned round and hues stay, as on the site.
_IN_DARK_NOTEBOOKS = """\
<style>
body[data-jp-theme-light="false"] .jp-RenderedImage img {
  filter: invert(1) hue-rotate(180deg);
  mix-blend-mode: screen;
}
</style>"""


def use(photographs: bool = False) -> None:
    """Set matplotlib's defaults to the course's style, and register the colour map "attention".

    In a notebook it also makes figures dark when JupyterLab is.

    Args:
        photographs: whether the notebook has figures of photographs or scenes, whose colours must
            stay; then figures stay light.
    """
    if not (photographs or is_page_build() or is_grading()):
        _display_in_notebook(_IN_DARK_NOTEBOOKS)
    if "attention" not in matplotlib.colormaps:
        matplotlib.colormaps.register(ATTENTION)
    hangul = hangul_font()
    matplotlib.rcParams.update(
        {
            "font.family": ["DejaVu Sans", hangul] if hangul else ["DejaVu Sans"],
            "font.size": 10,
            "figure.dpi": 192,
            "figure.figsize": (WIDTH, 3.3),
            "figure.facecolor": LIGHT["paper"],
            "savefig.facecolor": LIGHT["paper"],
            "axes.facecolor": LIGHT["paper"],
            "axes.edgecolor": LIGHT["muted"],
            "axes.labelcolor": LIGHT["ink"],
            "axes.titlesize": 11,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.unicode_minus": False,
            "axes.prop_cycle": cycler(color=SERIES),
            "grid.color": LIGHT["line"],
            "grid.linewidth": 0.6,
            "image.cmap": "attention",
            "legend.frameon": False,
            "lines.linewidth": 1.8,
            "lines.markersize": 5,
            "text.color": LIGHT["ink"],
            "xtick.color": LIGHT["muted"],
            "ytick.color": LIGHT["muted"],
            "xtick.labelcolor": LIGHT["ink"],
            "ytick.labelcolor": LIGHT["ink"],
        }
    )


def _display_in_notebook(page: str) -> None:
    """Display HTML if this code runs in a Jupyter kernel."""
    if is_in_notebook():
        from IPython.display import display

        display({"text/html": page, "text/plain": ""}, raw=True)


# Revised Romanisation (2000): initial consonants, vowels, and finals as they sound at a word's end.
_INITIALS = "g kk n d tt r m b pp s ss - j jj ch k t p h".replace("-", "").split(" ")
_VOWELS = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split(" ")  # noqa: SIM905
_FINALS = "- k k k n n n t l k m l l l p l m p p t t ng t t k t p t".replace("-", "").split(" ")
_FIRST, _LAST = 0xAC00, 0xD7A3  # the precomposed Hangul syllables


def has_hangul(text: str) -> bool:
    """Return whether the text contains a Hangul syllable."""
    return any(_FIRST <= ord(character) <= _LAST for character in text)


def romanise(text: str) -> str:
    """Return Hangul in Latin letters: the Revised Romanisation of each syllable, with hyphens.

    Sound changes across syllables are ignored, so 책은 is "chaek-eun". Other characters are kept.
    """
    parts: list[str] = []
    after_syllable = False
    for character in text:
        index = ord(character) - _FIRST
        if not 0 <= index <= _LAST - _FIRST:
            parts.append(character)
            after_syllable = False
            continue
        initial, rest = divmod(index, 21 * 28)
        vowel, final = divmod(rest, 28)
        hyphen = "-" if after_syllable else ""
        parts.append(hyphen + _INITIALS[initial] + _VOWELS[vowel] + _FINALS[final])
        after_syllable = True
    return "".join(parts)


def labels(words: Sequence[str]) -> list[str]:
    """Return the words as plot labels, romanised if no installed font has Hangul.

    The first time this happens, a line is printed to standard output.
    """
    if hangul_font() is not None or not any(map(has_hangul, words)):
        return list(words)
    if "romanised" not in _said:
        _said.add("romanised")
        print(
            "No font with Hangul is installed, so plots show Korean in Latin letters; "
            "install Noto Sans CJK KR to see Hangul."
        )
    return [romanise(word) for word in words]


def css() -> str:
    """Return the site's CSS variables, ``--course-<name>``, for light and dark pages."""

    def block(selector: str, colours: dict[str, str]) -> str:
        lines = "".join(f"  --course-{name}: {value};\n" for name, value in colours.items())
        return f"{selector} {{\n{lines}}}\n"

    series = {f"series-{i}": colour for i, colour in enumerate(SERIES, 1)}
    return (
        "/* Written by: python -m coursekit.plots.style book/_static/colours.css */\n"
        + block(":root", {**LIGHT, **series})
        + block('html[data-theme="dark"]', DARK)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the CSS variables to the file named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m coursekit.plots.style")
    parser.add_argument("file", type=Path, help="such as book/_static/colours.css")
    parser.parse_args(arguments).file.write_text(css(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
