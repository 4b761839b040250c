"""Broken submissions: cells whose text, outputs, ids or types violate nbformat."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.submissions.broken.broken_submission import Bank
from tests.submissions.student_notebooks import SCORES, Handed, reference

BANK = Bank()
EMPTY = r"empty|missing|not written|nothing|no (cell|answer|function)|unwritten|unreadable"
UNREADABLE = r"cells|read|damaged|broken|valid|empty|missing"


def _source(name: str, change: Callable[[str], Any]) -> Callable[[Handed], None]:
    def build(hand: Handed) -> None:
        hand.cell(name)["source"] = change(hand.cell(name)["source"])

    return build


# Text


@BANK()
def sources_as_one_string(hand: Handed) -> None:
    """Every cell's text is one string, not a list of lines."""
    hand.save_as("scores.ipynb", json.dumps(hand.pages["scores"]))


BANK.add(
    "source-as-characters",
    "a solution's text is a list of characters",
    _source("additive_score", list),
)
BANK.add(
    "source-null",
    "a solution's text is null",
    _source("additive_score", lambda text: None),
    lost=["additive_score"],
    says=EMPTY,
)
BANK.add(
    "source-number",
    "a solution's text is a number",
    _source("additive_score", lambda text: 42),
    lost=["additive_score"],
    says=EMPTY + "|text",
)
BANK.add(
    "source-object",
    "a solution's text is an object",
    _source("additive_score", lambda text: {"text": text}),
    maybe=["additive_score"],
    why="the answer is there, but not where a notebook has it",
    review_if_lost=False,
    says=EMPTY + "|text",
)
BANK.add(
    "source-list-of-other-things",
    "a solution's text is a list in which not all are strings",
    _source("additive_score", lambda text: [None, 3, *text.splitlines(keepends=True)]),
    maybe=["additive_score"],
    why="the answer is there, but so is something else",
    says=EMPTY + "|text",
)
BANK.add("source-null-in-a-text", "a locked text is null", _source("title", lambda text: None))
BANK.add(
    "source-emptied",
    "a solution cell is empty",
    _source("additive_score", lambda text: ""),
    lost=["additive_score"],
    says=EMPTY,
)


@BANK(lost=["additive_score"], says=EMPTY)
def source_missing(hand: Handed) -> None:
    """A solution cell has no text at all."""
    del hand.cell("additive_score")["source"]


@BANK(lost=["additive_score"], says=EMPTY)
def only_comments(hand: Handed) -> None:
    """The solution cell was commented out."""
    source = hand.cell("additive_score").source
    hand.write(additive_score="\n".join("# " + line for line in source.splitlines()))


@BANK()
def a_million_characters(hand: Handed) -> None:
    """An answer has a comment of a million characters."""
    hand.write(additive_score=reference("additive_score") + "\n# " + "x" * 1_000_000)


# Outputs


def _outputs(outputs: Any, count: Any = 7) -> Callable[[Handed], None]:
    def build(hand: Handed) -> None:
        for cell in hand.pages["scores"].cells:
            if cell.cell_type == "code":
                cell["outputs"], cell["execution_count"] = outputs, count

    return build


BANK.add("outputs-null", "all outputs are null", _outputs(None))
BANK.add("outputs-object", "the outputs are an object", _outputs({"text": "x"}))
BANK.add("outputs-string", "the outputs are a string", _outputs("2.0"))
BANK.add("outputs-unknown", "the outputs are of no known kind", _outputs([{"output_type": "x"}, 5]))
BANK.add(
    "outputs-odd-data",
    "outputs have data that are no text",
    _outputs([{"output_type": "display_data", "data": {"image/png": [1, None]}, "metadata": 3}]),
)
BANK.add("execution-count-in-words", "execution counts are words", _outputs([], "three"))
BANK.add("execution-count-huge", "execution counts are huge", _outputs([], 10**30))
BANK.add(
    "outputs-of-an-old-run",
    "the outputs show a failed check and a traceback",
    _outputs(
        [
            {"output_type": "error", "ename": "CheckFailed", "evalue": "no", "traceback": ["✗ no"]},
            {"output_type": "stream", "name": "stderr", "text": "wrong, 0 points\n"},
        ]
    ),
)


@BANK()
def outputs_missing(hand: Handed) -> None:
    """Code cells have no outputs and no execution counts, not even empty ones."""
    for cell in hand.pages["scores"].cells:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)


@BANK()
def outputs_of_60_mb(hand: Handed) -> None:
    """The notebook holds 60 MB of outputs, as after printing in a loop."""
    text = ("step 12345 loss 0.123456789\n" * 36_000)[: 1 << 20]
    picture = "iVBORw0KGgo" * 95_000
    hand.cell("look").outputs = [
        *({"output_type": "stream", "name": "stdout", "text": text} for _ in range(30)),
        *(
            {"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}}
            for _ in range(30)
        ),
    ]


@BANK()
def a_hundred_thousand_outputs(hand: Handed) -> None:
    """A cell has a hundred thousand outputs."""
    one = {"output_type": "stream", "name": "stdout", "text": "."}
    hand.cell("look").outputs = [one] * 100_000


@BANK()
def attachments(hand: Handed) -> None:
    """The student pasted a picture into a text, and a broken one into another."""
    page = hand.pages["scores"]
    note = hand.add("![look](attachment:a.png)", before="additive_score", kind="markdown")
    note["attachments"] = {"a.png": {"image/png": "iVBORw0KGgo="}}
    page.cells[0]["attachments"] = {"b.png": {}}


@BANK()
def attachments_of_a_wrong_type(hand: Handed) -> None:
    """Attachments are lists, and stand in code cells too."""
    for cell in hand.pages["scores"].cells:
        cell["attachments"] = ["picture"]


# Ids and types


def _ids(make: Callable[[int], Any]) -> Callable[[Handed], None]:
    """Change the ids of the cells, but keep all metadata."""

    def build(hand: Handed) -> None:
        for number, cell in enumerate(hand.pages["scores"].cells):
            cell["id"] = make(number)

    return build


BANK.add("ids-all-the-same", "all cells have the same id", _ids(lambda n: "cell"))
BANK.add("ids-twice", "cells share ids in pairs", _ids(lambda n: f"cell-{n // 2}"))
BANK.add("ids-numbers", "cell ids are numbers", _ids(lambda n: n))
BANK.add("ids-null", "cell ids are null", _ids(lambda n: None))
BANK.add("ids-too-long", "cell ids have 200 characters", _ids(lambda n: f"{n:0200}"))
BANK.add("ids-with-odd-signs", "cell ids have spaces and signs", _ids(lambda n: f"셀 <{n}>"))
BANK.add("ids-list", "cell ids are lists", _ids(lambda n: [n]))


@BANK()
def cell_type_missing(hand: Handed) -> None:
    """Cells do not say of which type they are."""
    for cell in hand.pages["scores"].cells:
        del cell["cell_type"]


@BANK()
def cell_type_unknown(hand: Handed) -> None:
    """Solution cells are of the type "python", texts are headings."""
    for cell in hand.pages["scores"].cells:
        cell["cell_type"] = "python" if cell.cell_type == "code" else "heading"


@BANK()
def cell_type_list(hand: Handed) -> None:
    """A solution cell's type is a list."""
    hand.cell("additive_score")["cell_type"] = ["code"]


@BANK()
def cells_that_are_none(hand: Handed) -> None:
    """Among the cells stand null, a number, a string and a list."""
    hand.pages["scores"].cells[3:3] = [None, 3, "additive_score", [], {}]


def _cells(value: Any) -> Callable[[Handed], None]:
    def build(hand: Handed) -> None:
        hand.pages["scores"]["cells"] = value

    return build


for _slug, _value in (("null", None), ("object", {"0": {}}), ("string", "cells"), ("number", 4)):
    BANK.add(
        f"cells-{_slug}",
        f"what should be the list of cells is {_slug}",
        _cells(_value),
        lost=SCORES,
        says=UNREADABLE,
    )


@BANK(lost=SCORES, says=UNREADABLE)
def cells_missing(hand: Handed) -> None:
    """The notebook has no list of cells."""
    del hand.pages["scores"]["cells"]


@BANK()
def unknown_keys(hand: Handed) -> None:
    """Notebook and cells have keys that no notebook has."""
    hand.pages["scores"]["author"] = {"name": "me"}
    for cell in hand.pages["scores"].cells:
        cell["collapsed"] = False
        cell["prompt_number"] = 3
