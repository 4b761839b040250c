"""Broken submissions: missing, changed or mistyped metadata, with right cells and text."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from nbformat import NotebookNode

from tests.submissions.broken.broken_submission import Bank
from tests.submissions.student_notebooks import SCORES, Handed

BANK = Bank()


# Gone


@BANK()
def all_metadata_gone(hand: Handed) -> None:
    """An editor dropped all metadata of all cells."""
    for cell in hand.all_cells():
        cell.metadata = {}


@BANK()
def nbgrader_metadata_gone(hand: Handed) -> None:
    """An editor dropped nbgrader's metadata and kept the rest."""
    for cell in hand.all_cells():
        cell.metadata.pop("nbgrader")


@BANK()
def metadata_gone_and_new_ids(hand: Handed) -> None:
    """Metadata are gone and all cells have new ids: only the text tells which is which."""
    for number, cell in enumerate(hand.all_cells()):
        cell.metadata, cell.id = {}, f"{number:08x}"


@BANK()
def metadata_and_ids_gone(hand: Handed) -> None:
    """Metadata and ids are gone, as after a way through a script."""
    for cell in hand.all_cells():
        cell.metadata = {}
        del cell["id"]
    hand.pages["scores"].nbformat_minor = hand.pages["translator"].nbformat_minor = 4


@BANK()
def answers_in_a_notebook_of_ones_own(hand: Handed) -> None:
    """The four answers were copied into a new notebook, each into a cell."""
    page = hand.pages["scores"]
    page.cells = [hand.own(hand.cell(name).source) for name in SCORES]
    page.cells.insert(0, hand.own("import torch\nfrom torch import nn, Tensor"))


@BANK()
def answers_in_one_cell_of_ones_own(hand: Handed) -> None:
    """The four answers were copied into one cell of a new notebook."""
    page = hand.pages["scores"]
    page.cells = [hand.own("\n\n\n".join(hand.cell(name).source for name in SCORES))]


@BANK()
def new_ids(hand: Handed) -> None:
    """All cells have new ids; the metadata are right."""
    for number, cell in enumerate(hand.all_cells()):
        cell.id = f"{number:08x}"


# Changed


@BANK()
def exchanged_between_two_solutions(hand: Handed) -> None:
    """Two solution cells have each other's metadata and ids."""
    one, other = hand.cell("additive_score"), hand.cell("context_vector")
    one.metadata, other.metadata = other.metadata, one.metadata
    one.id, other.id = other.id, one.id


@BANK()
def answers_in_each_others_cells(hand: Handed) -> None:
    """Two answers stand in each other's solution cell."""
    one, other = hand.cell("additive_score"), hand.cell("context_vector")
    one.source, other.source = other.source, one.source


@BANK()
def other_grade_ids(hand: Handed) -> None:
    """nbgrader's toolbar gave all cells new grade_ids."""
    for number, cell in enumerate(hand.all_cells()):
        cell.metadata.nbgrader.grade_id = f"cell-{number:016x}"


@BANK()
def one_grade_id_for_all(hand: Handed) -> None:
    """All cells have the same grade_id."""
    for cell in hand.pages["scores"].cells:
        cell.metadata.nbgrader.grade_id = "additive_score"


def _options(**changes: Any) -> Callable[[Handed], None]:
    """Change nbgrader's options of a solution and its graded cell."""

    def build(hand: Handed) -> None:
        for name in ("additive_score", "test-additive_score"):
            hand.cell(name).metadata.nbgrader.update(changes)

    return build


BANK.add("points-100", "the points of an exercise are 100 in the metadata", _options(points=100))
BANK.add("points-negative", "the points of an exercise are -3", _options(points=-3))
BANK.add("points-in-words", 'the points of an exercise are "three"', _options(points="three"))
BANK.add("points-null", "the points of an exercise are null", _options(points=None))
BANK.add("schema-99", "nbgrader's schema_version is 99", _options(schema_version=99))
BANK.add("schema-in-words", 'nbgrader\'s schema_version is "3"', _options(schema_version="3"))
BANK.add("schema-1", "nbgrader's schema_version is 1", _options(schema_version=1))
BANK.add("grade-id-number", "a grade_id is a number, twice the same", _options(grade_id=7))
BANK.add("grade-id-null", "a grade_id is null", _options(grade_id=None))
BANK.add("grade-id-list", "a grade_id is a list", _options(grade_id=["additive_score"]))
BANK.add("grade-id-empty", "a grade_id is empty", _options(grade_id=""))
BANK.add("grade-id-path", "a grade_id looks like a path", _options(grade_id="../../solutions"))
BANK.add(
    "flags-in-words",
    "the flags are words and numbers",
    _options(locked="yes", grade=1, solution="false", task=0),
)
BANK.add("made-a-task", "solution and graded cell were made a task", _options(task=True))


@BANK()
def points_gone(hand: Handed) -> None:
    """The graded cells have no points in the metadata."""
    for name in SCORES:
        del hand.cell(f"test-{name}").metadata.nbgrader["points"]


@BANK()
def solution_locked(hand: Handed) -> None:
    """A solution cell was made a locked one."""
    hand.cell("additive_score").metadata.nbgrader.update(locked=True, solution=False)
    hand.cell("additive_score").metadata.editable = False


@BANK()
def graded_made_solution(hand: Handed) -> None:
    """A graded cell was made a solution that a person grades."""
    hand.cell("test-additive_score").metadata.nbgrader.update(solution=True, locked=False)


@BANK()
def solution_made_graded(hand: Handed) -> None:
    """A solution cell was made a graded one with points of its own."""
    hand.cell("additive_score").metadata.nbgrader.update(grade=True, points=5)


@BANK()
def text_made_solution(hand: Handed) -> None:
    """A text was made a solution that a person grades."""
    options = hand.cell("text-additive_score").metadata.nbgrader
    options.update(solution=True, grade=True, locked=False, points=10)


@BANK()
def checksums_gone(hand: Handed) -> None:
    """All checksums are gone or wrong."""
    for number, cell in enumerate(hand.all_cells()):
        if number % 2:
            cell.metadata.nbgrader.pop("checksum", None)
        else:
            cell.metadata.nbgrader.checksum = "0" * 32


@BANK()
def tagged(hand: Handed) -> None:
    """The student's editor put tags on all cells that other tools act on."""
    for cell in hand.all_cells():
        cell.metadata.tags = ["skip-execution", "raises-exception", "remove-cell", "hide_input"]


@BANK()
def slides_and_collapsed(hand: Handed) -> None:
    """Cells have the metadata of slides, of folding, of Colab and of VS Code."""
    for number, cell in enumerate(hand.all_cells()):
        cell.metadata.update(
            slideshow={"slide_type": "skip"},
            collapsed=True,
            jupyter={"source_hidden": True, "outputs_hidden": True},
            colab={"base_uri": "https://localhost:8080/", "height": 34 + number},
            id=f"aB3_{number}",
            vscode={"languageId": "python"},
            execution={"iopub.status.busy": "2025-01-01T00:00:00.000000Z"},
        )


# Of another type


@BANK()
def solution_as_markdown(hand: Handed) -> None:
    """A solution cell was turned into text: Esc, M."""
    _retype(hand.cell("additive_score"), "markdown")


@BANK()
def solution_as_raw(hand: Handed) -> None:
    """A solution cell was turned into raw text: Esc, R."""
    _retype(hand.cell("additive_score"), "raw")


@BANK()
def graded_cell_as_markdown(hand: Handed) -> None:
    """A graded cell was turned into text."""
    _retype(hand.cell("test-additive_score"), "markdown")


@BANK()
def text_as_code(hand: Handed) -> None:
    """All texts were turned into code."""
    for cell in hand.pages["scores"].cells:
        if cell.cell_type == "markdown":
            _retype(cell, "code")


@BANK()
def note_as_code(hand: Handed) -> None:
    """The student's own note stands in a code cell."""
    hand.add("Why is this transposed? Don't know; ask!", before="additive_score")


def _retype(cell: NotebookNode, kind: str) -> None:
    cell.cell_type = kind
    if kind == "code":
        cell.update(outputs=[], execution_count=None)
    else:
        del cell["outputs"], cell["execution_count"]


# Of the wrong type, as JSON


def _metadata(**changes: Any) -> Callable[[Handed], None]:
    """Change the metadata of all cells; a change named `metadata` replaces them."""

    def build(hand: Handed) -> None:
        for cell in hand.pages["scores"].cells:
            if "metadata" in changes:
                cell["metadata"] = copy.deepcopy(changes["metadata"])
            else:
                cell["metadata"].update(copy.deepcopy(changes))

    return build


for _slug, _title, _value in (
    ("null", "null", None),
    ("list", "a list", ["locked"]),
    ("string", "a string", "locked"),
    ("true", "true", True),
    ("empty", "an empty object", {}),
):
    BANK.add(f"nbgrader-{_slug}", f"nbgrader's metadata are {_title}", _metadata(nbgrader=_value))
BANK.add("cell-metadata-null", "cell metadata are null", _metadata(metadata=None))
BANK.add("cell-metadata-list", "cell metadata are a list", _metadata(metadata=[]))
BANK.add("cell-metadata-string", "cell metadata are a string", _metadata(metadata="x"))
BANK.add("tags-string", "a cell's tags are a string", _metadata(tags="skip-execution"))


@BANK()
def cell_metadata_missing(hand: Handed) -> None:
    """Cells have no metadata at all, not even empty ones."""
    for cell in hand.pages["scores"].cells:
        del cell["metadata"]


@BANK()
def notebook_metadata_empty(hand: Handed) -> None:
    """The notebook's own metadata are empty."""
    hand.pages["scores"].metadata = {}


@BANK()
def notebook_metadata_missing(hand: Handed) -> None:
    """The notebook has no metadata."""
    del hand.pages["scores"]["metadata"]


@BANK()
def notebook_metadata_null(hand: Handed) -> None:
    """The notebook's metadata are null."""
    hand.pages["scores"]["metadata"] = None


@BANK()
def notebook_metadata_list(hand: Handed) -> None:
    """The notebook's metadata are a list, and so is the kernel."""
    hand.pages["scores"]["metadata"] = [{"kernelspec": ["python3"]}]


@BANK()
def widget_state_broken(hand: Handed) -> None:
    """The notebook's metadata hold a broken state of widgets, as Colab leaves it."""
    hand.pages["scores"].metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {}}
    hand.pages["translator"].metadata["widgets"] = None


# Other kernels


def _kernel(spec: Any, language: Any = None) -> Callable[[Handed], None]:
    def build(hand: Handed) -> None:
        for page in hand.pages.values():
            page.metadata["kernelspec"] = spec
            if language is not None:
                page.metadata["language_info"] = language

    return build


def _spec(name: str, language: str, shown: str) -> dict[str, str]:
    return {"name": name, "language": language, "display_name": shown}


for _slug, _spec_given, _language in (
    ("r", _spec("ir", "R", "R"), {"name": "R", "version": "4.3.1", "file_extension": ".r"}),
    ("julia", _spec("julia-1.9", "julia", "Julia 1.9.3"), {"name": "julia", "version": "1.9.3"}),
    ("conda", _spec("conda-env-dl-py", "python", "Python [conda env:dl]"), None),
    ("python2", _spec("python2", "python", "Python 2"), {"name": "python", "version": "2.7.18"}),
    ("xpython", _spec("xpython", "python", "Python 3.11 (XPython)"), None),
    ("own-environment", _spec("venv", "python", "my env ✨ (Python 3.13)"), None),
    ("pyodide", _spec("python", "python", "Python (Pyodide)"), {"name": "python"}),
    ("path", _spec("../../bin/sh", "sh", "sh"), None),
):
    BANK.add(
        f"kernel-{_slug}",
        f"the notebooks were saved for the kernel {_spec_given['name']}",
        _kernel(_spec_given, _language),
    )
BANK.add("kernel-none", "the kernel has no name", _kernel({}, {}))
BANK.add("kernel-null", "the kernel is null", _kernel(None, None))
BANK.add("kernel-number", "the kernel's name is a number", _kernel({"name": 3}, []))
