"""Broken submissions: files that are not notebooks, truncated, or in odd encodings or formats."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import nbformat

from tests.submissions.broken.broken_submission import Bank
from tests.submissions.student_notebooks import SCORES, Content, Handed, reference

BANK = Bank()
DAMAGED = (
    r"JSON|damaged|truncated|cut|cannot be read|could not be read|not a notebook|no notebook|"
    r"unreadable|empty|whole|valid|no cells|merge conflict|is a (PDF|zip|web page|picture)"
)
RECOVER = "the answers are in there, but it takes a repair to get them out"


def _file(
    slug: str,
    title: str,
    make: Callable[[str], str | Content],
    *,
    right: bool = False,
    repairable: bool = False,
    **more: Any,
) -> None:
    """Add a submission whose `scores.ipynb` is derived from the text of the right one."""

    def build(hand: Handed) -> None:
        hand.save_as("scores.ipynb", make(hand.text("scores")))

    if repairable:
        more |= {"maybe": SCORES, "why": RECOVER, "says": DAMAGED}
    elif not right:
        more |= {"lost": SCORES, "says": DAMAGED}
    BANK.add(slug, title, build, **more)


# Cut off


def _cut(share: float) -> Callable[[str], str]:
    return lambda text: text[: int(len(text) * share)]


_file("cut-at-10-percent", "the file ends after a tenth", _cut(0.1), review=True)
_file("cut-in-the-middle", "the file ends in the middle", _cut(0.5), repairable=True)
_file("cut-at-90-percent", "the file ends after nine tenths", _cut(0.9), repairable=True)
_file(
    "cut-at-the-last-bracket",
    "the last bracket is missing",
    lambda t: t.rstrip()[:-1],
    repairable=True,
)
_file(
    "cut-in-a-character",
    "the file ends within a character",
    lambda t: t.split("●")[0].encode() + b"\xe2\x97",
    review=True,
)
_file(
    "filled-up-with-zeros",
    "the second half is zero bytes",
    lambda t: t[: len(t) // 2].encode() + bytes(len(t) // 2),
    repairable=True,
)
_file(
    "zeros-at-the-end",
    "zero bytes stand behind the end",
    lambda t: t.encode() + bytes(4096),
    repairable=True,
)
_file("only-zeros", "all bytes are zero", lambda t: bytes(len(t)))
_file(
    "text-behind-the-end",
    "a second notebook's end stands behind the first",
    lambda t: t + t[-200:],
    repairable=True,
)
_file("twice-in-one-file", "the notebook is in the file twice", lambda t: t + t, repairable=True)
_file(
    "one-comma-too-many",
    "a comma too many, by a text editor",
    lambda t: t.replace('\n "metadata"', ',\n "metadata"', 1).replace("],,", ",],", 1),
    repairable=True,
)
_file(
    "comments-in-json",
    "a comment stands in the JSON",
    lambda t: "// my notebook\n" + t,
    repairable=True,
)
_file(
    "conflict-of-git",
    "git's conflict markers are in the file",
    lambda t: t.replace(
        '   "cell_type": "code"',
        '<<<<<<< HEAD\n   "cell_type": "code"\n=======\n   "cell_type": "code"\n>>>>>>> main',
        1,
    ),
    repairable=True,
)

# Something else

_file("empty-file", "the file is empty", lambda t: b"")
_file("blank-file", "the file holds a newline", lambda t: b"\n\n")
_file("json-null", "the file holds null", lambda t: b"null")
_file("json-list", "the file holds []", lambda t: b"[]")
_file("json-object", "the file holds {}", lambda t: b"{}")
_file("json-number", "the file holds 42", lambda t: b"42")
_file(
    "json-string", "the notebook is a string in the JSON", lambda t: json.dumps(t), repairable=True
)
_file("json-in-a-list", "the notebook is in a list", lambda t: f"[{t}]", repairable=True)
_file(
    "json-under-a-key",
    "the notebook is under a key, as an API gives it",
    lambda t: f'{{"content": {t}}}',
    repairable=True,
)
_file("json-deep", "brackets without end", lambda t: "[" * 200_000)
_file(
    "json-deep-in-a-notebook",
    "brackets without end in the metadata",
    lambda t: t.replace(
        '"kernelspec": {', '"x": ' + "[" * 100_000 + "]" * 100_000 + ', "kernelspec": {', 1
    ),
    maybe=SCORES,
    why=RECOVER,
    says=DAMAGED,
    right=True,
)
_file(
    "json-huge-number",
    "a number of 10,000 digits",
    lambda t: t.replace('"nbformat_minor": 5', '"nbformat_minor": 5' + "0" * 10_000),
    maybe=SCORES,
    why=RECOVER,
    says=DAMAGED,
    right=True,
)
_file(
    "html-login-page",
    "the login page of the course's site was saved",
    lambda t: (
        "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Log in</body></html>"
    ),
    review=None,
)
_file(
    "html-of-the-notebook",
    "the notebook was exported as HTML and renamed",
    lambda t: f"<html><body><pre>{t}</pre></body></html>",
    repairable=True,
)
_file(
    "script-renamed",
    "the notebook was exported as a script and renamed",
    lambda t: (
        "# In[1]:\n\nimport torch\nfrom torch import nn, Tensor\n\n"
        + "\n\n\n# In[ ]:\n\n".join(map(reference, SCORES))
    ),
    repairable=True,
)
_file(
    "markdown-renamed",
    "notes in Markdown were renamed",
    lambda t: "# My notes\n\nAttention is a weighted sum.\n",
)
_file(
    "pdf-renamed",
    "a PDF was renamed",
    lambda t: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n",
)
_file(
    "picture-renamed",
    "a picture was renamed",
    lambda t: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
)


def _zipped(text: str) -> bytes:
    page = io.BytesIO()
    with zipfile.ZipFile(page, "w", zipfile.ZIP_DEFLATED) as folder:
        folder.writestr(zipfile.ZipInfo("scores.ipynb", (2025, 1, 1, 0, 0, 0)), text)
    return page.getvalue()


_file("zip-renamed", "a zip of the notebook was renamed", _zipped, repairable=True)

# Encodings

_file("bom", "the file begins with a byte order mark", lambda t: t.encode("utf-8-sig"), right=True)
_file("utf-16", "the file is in UTF-16", lambda t: t.encode("utf-16"), repairable=True)
_file(
    "utf-16-without-mark",
    "the file is in UTF-16 without a mark",
    lambda t: t.encode("utf-16-le"),
    repairable=True,
)
_file("utf-32", "the file is in UTF-32", lambda t: t.encode("utf-32"), repairable=True)


def _commented(text: str, comment: str) -> str:
    mark = "# (B, N, d)"
    assert mark in text
    return text.replace(mark, comment)


_file(
    "latin-1",
    "a comment is in Latin-1",
    lambda t: (
        _commented(t, "# für später")
        .encode("utf-8")
        .replace("für später".encode(), "für später".encode("latin-1"))
    ),
    repairable=True,
)
_file(
    "cp949",
    "a comment is in Korean Windows' code page",
    lambda t: (
        _commented(t, "# 질의").encode("utf-8").replace("질의".encode(), "질의".encode("cp949"))
    ),
    repairable=True,
)
_file(
    "line-ends-of-windows",
    "the file's lines end as on Windows",
    lambda t: t.replace("\n", "\r\n"),
    right=True,
)
_file(
    "all-in-one-line",
    "the JSON stands in one line",
    lambda t: json.dumps(json.loads(t)),
    right=True,
)
_file(
    "nan",
    "NaN and Infinity stand in the JSON",
    lambda t: t.replace('"execution_count": null', '"execution_count": NaN').replace(
        '"kernelspec": {', '"x": [Infinity, -Infinity], "kernelspec": {', 1
    ),
    right=True,
)
_file(
    "key-twice",
    "a key is there twice",
    lambda t: t.replace('"nbformat": 4', '"nbformat": 4,\n "nbformat": 4'),
    right=True,
)
_file(
    "half-a-character",
    "a comment holds half of a surrogate pair",
    lambda t: _commented(t, "# \\ud83d"),
    right=True,
)

# Formats


def _format(major: Any, minor: Any, ids: bool = True) -> Callable[[str], str]:
    def make(text: str) -> str:
        page = json.loads(text)
        page["nbformat"], page["nbformat_minor"] = major, minor
        for key in ("nbformat", "nbformat_minor"):
            if page[key] == "missing":
                del page[key]
        for cell in page["cells"]:
            if not ids:
                del cell["id"]
        return json.dumps(page, indent=1)

    return make


for _minor in range(5):
    _file(
        f"format-4-{_minor}",
        f"nbformat 4.{_minor}, no cell ids",
        _format(4, _minor, ids=False),
        right=True,
    )
_file("format-4-4-with-ids", "nbformat 4.4, but cells have ids", _format(4, 4), right=True)
_file(
    "format-4-5-without-ids",
    "nbformat 4.5, but cells have no ids",
    _format(4, 5, ids=False),
    right=True,
)
_file("format-4-99", "nbformat 4.99", _format(4, 99), right=True)
_file("format-minor-missing", "no nbformat_minor", _format(4, "missing"), right=True)
_file("format-minor-in-words", 'nbformat_minor is "5"', _format(4, "5"), right=True)
_file("format-minor-null", "nbformat_minor is null", _format(4, None), right=True)
_file("format-in-words", 'nbformat is "4"', _format("4", 5), right=True)
_file("format-5", "nbformat 5", _format(5, 0), repairable=True)
_file("format-missing", "no nbformat", _format("missing", "missing"), repairable=True)
_file("format-negative", "nbformat -1", _format(-1, 0), repairable=True)


def _old(major: int, name: str = "scores") -> Callable[[str], str]:
    """Write it like IPython 1 and 2: a list of worksheets, `input` for `source`."""

    def make(text: str) -> str:
        page = nbformat.convert(nbformat.reads(text, 4), 3)
        page.metadata.name = name
        page.nbformat = major
        return json.dumps(page, indent=1)

    return make


_file("format-3", "nbformat 3, with worksheets", _old(3), right=True)
_file("format-2", "nbformat 2", _old(2), repairable=True)


def _two_worksheets(text: str) -> str:
    page = json.loads(_old(3)(text))
    cells = page["worksheets"][0]["cells"]
    page["worksheets"] = [{"cells": cells[:8]}, {"cells": cells[8:]}]
    return json.dumps(page)


_file("format-3-two-worksheets", "nbformat 3, two worksheets", _two_worksheets, right=True)
_file(
    "format-3-no-worksheets",
    "nbformat 3, and no worksheet",
    lambda t: '{"metadata": {}, "nbformat": 3, "nbformat_minor": 0, "worksheets": []}',
)
_file("format-3-cells", "nbformat 3 says the file, but it is 4", _format(3, 0), repairable=True)
_file("format-4-worksheets", "nbformat 4 says the file, but it is 3", _old(4), repairable=True)
