"""Sanitizes text from submissions for terminals, HTML, Markdown, CSV and notebooks.

Everything that comes from a student (names of files and folders, text cells, printed text, error
messages) goes through one of these functions before a person sees it. Each kind of destination has
its own function.
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
COLOURED_AT_MOST, _COLOURED_CELL = 100_000, 10_000  # highlighted characters per page and per cell
PICTURE_AT_MOST = 1 << 20  # base64 characters of a picture that code has made
PHOTOGRAPH_AT_MOST = 1 << 23  # of one that a student has pasted into a text
PIXELS_AT_MOST = 1 << 25  # a small file may decompress to gigabytes
_PAGE_AT_MOST, _PAGE_PIXELS_AT_MOST = 8 << 20, 1 << 26  # all outputs: characters, pixels

# Characters that a terminal or a browser acts on but does not show: control characters, changes of
# direction, line separators, zero-width characters, and the bytes of a name that is not UTF-8.
_INVISIBLE = (
    "\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_IN_LINES = re.compile(f"(?![\n\t])[{_INVISIBLE}]")
_IN_OUTPUT = re.compile(rf"\x1b\[[\d;]{{0,40}}m|(?![\n\t\r])[{_INVISIBLE}]")

_ACTIVE_MARKDOWN = re.compile(
    # All ASCII punctuation that makes links, images, HTML, mathematics, tables or headings. A
    # heading gets an id, and nbgrader's pages find their own fields by id.
    r"[#$&<>@\[\\\]^{|}~]|```|://|www\.|^[ \t]*[-=][-= \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_LONG_FOR_PYGMENTS = re.compile(r"\s{200}|[^\s]{400}")
_FORMULA = re.compile(r"(^[ \t\"]*|;[ \t\"]*)(?=[=+@＝＋－＠-])", re.MULTILINE)
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?%?|-")
_HARMLESS_ID = re.compile(r"[+@-]?[\w.@+-]+")
_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"


def sanitize_lines(text: Any, at_most: int = TEXT_AT_MOST) -> str:
    """Return several lines of plain text, with invisible characters written as Python escapes."""
    return _escape_invisible(_IN_LINES, text, at_most)


def sanitize_line(text: Any, at_most: int = LINE_AT_MOST) -> str:
    """Return one line of plain text, for a terminal, a log or a database."""
    return " ".join(sanitize_lines(text, at_most).split())


def sanitize_output(text: Any, at_most: int = TEXT_AT_MOST) -> str:
    """Return what a cell printed or raised, with colours as the only escape sequences."""
    return _escape_invisible(_IN_OUTPUT, text, at_most)


def _escape_invisible(pattern: re.Pattern[str], text: Any, at_most: int) -> str:
    if not isinstance(text, str):
        return ""
    return to_plain_text(pattern.sub(_write, text[:at_most]), at_most)


def _write(match: re.Match[str]) -> str:
    if len(match[0]) > 1:
        return match[0]
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # how os.fsdecode() represents a byte that is not UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def is_slow_to_highlight(source: str) -> bool:
    """Return whether code is too slow to highlight.

    Pygments' regular expressions for Python restart at every position: 4,000 blanks or dotted names
    in a row take seconds, and ten times as many take minutes.
    """
    return len(source) > _COLOURED_CELL or _LONG_FOR_PYGMENTS.search(source) is not None


def escape_html(text: Any) -> str:
    """Return HTML that shows a text, either between tags or as a quoted attribute value."""
    return html.escape(sanitize_lines(text))


def escape_markdown(text: Any) -> str:
    """Return one line for a Markdown cell in which every character is literal.

    MathJax looks for mathematics when the page is rendered, so every character that begins a
    formula gets its own element.
    """
    return re.sub(r"[^\w ]|_", _write_sign, sanitize_line(text))


def _write_sign(match: re.Match[str]) -> str:
    sign = f"&#{ord(match[0])};"
    return f"<span>{sign}</span>" if match[0] in "$\\" else sign


def render_student_markdown(source: str, markdown: bool = True) -> str:
    """Return the source of a Markdown cell that shows a student's text cell.

    Args:
        source: the cell's text.
        markdown: whether the text is Markdown. If not, or if anything in it might do more than
            format text, the text is shown exactly as written.
    """
    text = sanitize_lines(source, CELL_AT_MOST)
    if markdown and not _ACTIVE_MARKDOWN.search(text):
        return text
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def escape_csv_cell(text: str) -> str:
    """Return a one-line cell that a spreadsheet shows but does not run as a formula.

    A single quote goes before anything that might begin a formula, as requirement 1.2.10 of OWASP's
    Application Security Verification Standard asks. This includes text after a semicolon, which
    separates cells in some countries, and after quotation marks, which may then begin a cell.
    """
    return _quote(sanitize_line(text, TEXT_AT_MOST))


def for_csv_lines(text: str) -> str:
    """Return a cell of several lines that a spreadsheet does not run as a formula."""
    return _quote(sanitize_lines(text.replace("\r\n", "\n").replace("\r", "\n")).strip())


def for_csv_id(text: str) -> str:
    """Return an identifier unchanged, so that it still matches, unless it can do harm."""
    return text if _HARMLESS_ID.fullmatch(text) else escape_csv_cell(text)


def _quote(text: str) -> str:
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub(r"\1'", text)


class OutputBudget:
    """Limits the outputs of a page, because a browser has to show them all at once."""

    def __init__(self) -> None:
        self._characters, self._pixels = _PAGE_AT_MOST, _PAGE_PIXELS_AT_MOST

    def admit(self, outputs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return a cell's outputs from `clean_outputs`, or a sentence in their place."""
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
    """Return the number of pixels of a PNG file given as base64."""
    width, height = struct.unpack(">II", base64.b64decode(picture[:32])[16:24])
    return int(width * height)


def sanitize_png(text: Any) -> str:
    """Return a picture re-encoded as base64, or "" if it is not a PNG or is too large to show."""
    picture = _decode_picture(text, PICTURE_AT_MOST)
    if not picture.startswith(_PNG) or len(picture) < 24:
        return ""
    width, height = struct.unpack(">II", picture[16:24])
    return base64.b64encode(picture).decode("ascii") if width * height <= PIXELS_AT_MOST else ""


def sanitize_jpeg(text: Any) -> str:
    """Return a photograph re-encoded as base64, or "" if it is not a JPEG or is too large."""
    picture = _decode_picture(text, PHOTOGRAPH_AT_MOST)
    if not picture.startswith(b"\xff\xd8\xff"):
        return ""
    place = 2
    while place + 9 <= len(picture) and picture[place] == 0xFF:
        marker, length = struct.unpack(">BH", picture[place + 1 : place + 4])
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # the start of a frame
            height, width = struct.unpack(">HH", picture[place + 5 : place + 9])
            fits = width * height <= PIXELS_AT_MOST
            return base64.b64encode(picture).decode("ascii") if fits else ""
        place += 2 + length
    return ""


def _decode_picture(text: Any, at_most: int) -> bytes:
    if not isinstance(text, str) or len(text) > at_most:
        return b""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return b""
