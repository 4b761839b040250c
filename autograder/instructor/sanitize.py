"""Sanitizes text from submissions for terminals, HTML, Markdown, CSV and notebooks.

Names of files and folders, text cells, what code prints and raises: whatever a student wrote goes
through one of these functions before a person sees it, a function for each kind of place.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.sandbox.framing import to_plain_text

LINE_AT_MOST, TEXT_AT_MOST, CELL_AT_MOST = 2_000, 25_000, 200_000  # characters
COLOURED_AT_MOST, _COLOURED_CELL = 100_000, 10_000  # characters of code, of a page and of a cell
PICTURE_AT_MOST = 1 << 20
PIXELS_AT_MOST = 1 << 25  # a small file may unfold to gigabytes
_PAGE_AT_MOST, _PAGE_PIXELS_AT_MOST = 8 << 20, 1 << 26  # characters and pixels of all outputs

# What a terminal or a browser obeys and does not show: control characters, changes of direction,
# separators of lines, marks without width, and the bytes of a name that is not UTF-8.
_UNSEEN = (
    "\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_IN_LINES = re.compile(f"(?![\n\t])[{_UNSEEN}]")
_IN_OUTPUT = re.compile(rf"\x1b\[[\d;]{{0,40}}m|(?![\n\t\r])[{_UNSEEN}]")

_ACTIVE_MARKDOWN = re.compile(
    # All of ASCII's punctuation that makes links, images, HTML, mathematics, tables or headings: a
    # heading has an id, by which the pages of nbgrader find their own fields.
    r"[#$&<>@\[\\\]^{|}~]|```|://|www\.|^[ \t]*[-=][-= \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_LONG_FOR_PYGMENTS = re.compile(r"\s{200}|[^\s]{400}")
_FORMULA = re.compile(r"(^[ \t\"]*|;[ \t\"]*)(?=[=+@＝＋－＠-])", re.MULTILINE)
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?%?|-")
_HARMLESS_ID = re.compile(r"[+@-]?[\w.@+-]+")
_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"


def sanitize_lines(text: Any, at_most: int = TEXT_AT_MOST) -> str:
    """Return plain text of several lines: what cannot be seen is written as Python writes it."""
    return _write_unseen(_IN_LINES, text, at_most)


def sanitize_line(text: Any, at_most: int = LINE_AT_MOST) -> str:
    """Return one line of plain text, for a terminal, a log or a database."""
    return " ".join(sanitize_lines(text, at_most).split())


def sanitize_output(text: Any, at_most: int = TEXT_AT_MOST) -> str:
    """Return what a cell printed or raised: of all escape sequences, colours stay."""
    return _write_unseen(_IN_OUTPUT, text, at_most)


def _write_unseen(pattern: re.Pattern[str], text: Any, at_most: int) -> str:
    if not isinstance(text, str):
        return ""
    return to_plain_text(pattern.sub(_write, text[:at_most]), at_most)


def _write(match: re.Match[str]) -> str:
    if len(match[0]) > 1:
        return match[0]
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # os.fsdecode() writes a byte that is not UTF-8 like this
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def is_slow_to_highlight(source: str) -> bool:
    """Tell whether code is to be shown without colours.

    Pygments' expressions for Python try every beginning anew: 4,000 blanks or dotted names in a row
    take seconds, ten times as many minutes.
    """
    return len(source) > _COLOURED_CELL or _LONG_FOR_PYGMENTS.search(source) is not None


def escape_html(text: Any) -> str:
    """Return HTML that shows a text, between tags or as an attribute's value in quotes."""
    return html.escape(sanitize_lines(text))


def escape_markdown(text: Any) -> str:
    """Return one line for a Markdown cell, in which every sign stands for itself.

    MathJax looks for mathematics when the page is made, so what begins a formula stands alone in
    an element.
    """
    return re.sub(r"[^\w ]|_", _write_sign, sanitize_line(text))


def _write_sign(match: re.Match[str]) -> str:
    sign = f"&#{ord(match[0])};"
    return f"<span>{sign}</span>" if match[0] in "$\\" else sign


def render_student_markdown(source: str, markdown: bool = True) -> str:
    """Return the source of a Markdown cell that shows a text cell of a student's.

    Args:
        source: the cell's text.
        markdown: whether it is meant as Markdown. It is shown as it was written if it is not, and
            if anything in it might do more than set letters.
    """
    text = sanitize_lines(source, CELL_AT_MOST)
    if markdown and not _ACTIVE_MARKDOWN.search(text):
        return text
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def escape_csv_cell(text: str) -> str:
    """Return a cell of one line that a spreadsheet shows and does not run as a formula.

    A single quote goes before what might begin a formula, as requirement 1.2.10 of OWASP's
    Application Security Verification Standard asks for; after a semicolon, too, which parts the
    cells in some countries, and after quotation marks, which may then begin a cell.
    """
    return _quote(sanitize_line(text, TEXT_AT_MOST))


def for_csv_lines(text: str) -> str:
    """Return a cell of several lines that a spreadsheet does not run."""
    return _quote(sanitize_lines(text.replace("\r\n", "\n").replace("\r", "\n")).strip())


def for_csv_id(text: str) -> str:
    """Return an identifier as it is, so that it is recognised, unless it can do harm."""
    return text if _HARMLESS_ID.fullmatch(text) else escape_csv_cell(text)


def _quote(text: str) -> str:
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub(r"\1'", text)


class OutputBudget:
    """How much the outputs of a page may still hold: a browser has to show them all at once."""

    def __init__(self) -> None:
        self._characters, self._pixels = _PAGE_AT_MOST, _PAGE_PIXELS_AT_MOST

    def fit(self, outputs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return a cell's outputs, as `plain_outputs` gives them, or a sentence in their place."""
        pictures = [o["data"]["image/png"] for o in outputs if "image/png" in o.get("data", ())]
        characters = len(json.dumps(outputs))
        pixels = sum(map(_count_pixels, pictures))
        if characters > self._characters or pixels > self._pixels:
            said = "This output is not shown: the page has too much of it."
            return [{"output_type": "stream", "name": "stderr", "text": said}]
        self._characters -= characters
        self._pixels -= pixels
        return list(outputs)


def _count_pixels(picture: str) -> int:
    """Return width times height of a PNG file as base64."""
    width, height = struct.unpack(">II", base64.b64decode(picture[:32])[16:24])
    return int(width * height)


def sanitize_png(text: Any) -> str:
    """Return a picture as base64, written anew; "" if it is no PNG, or too large to be shown."""
    if not isinstance(text, str) or len(text) > PICTURE_AT_MOST:
        return ""
    try:
        picture = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return ""
    if not picture.startswith(_PNG) or len(picture) < 24:
        return ""
    width, height = struct.unpack(">II", picture[16:24])
    return base64.b64encode(picture).decode("ascii") if width * height <= PIXELS_AT_MOST else ""
