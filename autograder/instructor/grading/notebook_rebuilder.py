"""Rebuilds a submitted notebook from its source, with the student's answers filled in.

Only the text of the student's cells is used: no metadata, no tags, no outputs. Cells that the
student added stay after the source cell that they followed.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.instructor.grading.pasted_pictures import Picture
from autograder.instructor.grading.source_notebook import SourceCell, SourceNotebook
from autograder.instructor.grading.submission_parser import StudentCell, defines_name
from autograder.instructor.sanitize import render_student_markdown

JOINED_AT_MOST = 50_000  # characters of an answer that is joined from several cells
_PICTURES_AT_MOST = 50  # in added cells, of a page
JOINS_AT_MOST = 10  # attempts for one answer, each of which parses all of it


@dataclass
class RebuiltNotebook:
    """A notebook that can be run and graded.

    Attributes:
        page: the notebook, without outputs.
        graded: the source's graded cells, by index in the page.
        remarks: sentences for the student about what was changed.
        by_hand: SHA-256 of what the student wrote for each cell that a person grades, by grade_id;
            "" if nothing.
    """

    page: NotebookNode
    graded: dict[int, SourceCell] = field(default_factory=dict)
    by_hand: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def rebuild(source: SourceNotebook, cells: Sequence[StudentCell]) -> RebuiltNotebook:
    """Return the notebook to be graded.

    Args:
        source: the source notebook.
        cells: the cells that the student handed in.
    """
    remarks: list[str] = []
    placed = _place(source, cells, remarks)
    page = nbformat.v4.new_notebook(metadata=copy.deepcopy(source.metadata))
    rebuilt = RebuiltNotebook(page, remarks=remarks)
    for cell in placed.before:
        _add(page, cell)
    written: list[str] = []  # by the student since the last answer
    for given in source.cells:
        above, after = placed.above.get(given.id, []), placed.after.get(given.id, [])
        for cell in above:
            _add(page, cell)
        answer = placed.answers.get(given.id)
        if given.role == "solution":
            if answer is not None:
                page.cells.append(_fill_in(given, answer))
            elif given.by_hand:  # its place in the page, for points and a comment
                page.cells.append(_fill_in(given, StudentCell("markdown", given.released)))
        else:
            if given.role == "graded":
                rebuilt.graded[len(page.cells)] = given
            page.cells.append(copy.deepcopy(given.cell))
        for cell in after:
            _add(page, cell)
        answers = [answer] if answer and _is_written_into(answer, given) else []
        for cell in (*above, *answers, *after):
            written += [cell.source] if cell.source.strip() else []
            written += [picture.data or "a picture" for picture in cell.pictures]
        if given.by_hand:
            rebuilt.by_hand[given.id] = _digest(written)
        if given.by_hand or given.role in ("solution", "graded"):
            written.clear()
    return rebuilt


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest() if texts else ""


@dataclass
class _Placed:
    """Places of the student's cells, by the ids of the source's cells."""

    answers: dict[str, StudentCell] = field(default_factory=dict)
    before: list[StudentCell] = field(default_factory=list)
    above: dict[str, list[StudentCell]] = field(default_factory=dict)
    after: dict[str, list[StudentCell]] = field(default_factory=dict)


def _place(source: SourceNotebook, cells: Sequence[StudentCell], remarks: list[str]) -> _Placed:
    labels = _match_source_cells(source, cells)
    by_id = {cell.id: cell for cell in source.cells}
    dropped = _list_superseded(source, cells, labels, remarks)
    placed = _Placed()
    tries: Counter[str] = Counter()
    anchor: str | None = None
    for number, (cell, label) in enumerate(zip(cells, labels, strict=True)):
        above = anchor
        if label is not None:
            anchor = label
        if number in dropped:
            continue
        given = by_id[label] if label is not None else None
        if given is None:
            _place_added_cell(placed, anchor, source, labels, cell)
        elif given.role == "solution" and given.cell.cell_type != "code":
            if given.id in placed.answers:
                placed.after.setdefault(given.id, []).append(cell)
            else:
                placed.answers[given.id] = cell
        elif given.role == "solution":
            before = placed.answers.get(given.id)
            tries[given.id] += before is not None
            if before is not None and tries[given.id] <= JOINS_AT_MOST:
                joined = _join(before, cell)
            else:
                joined = None
            if joined is not None:
                placed.answers[given.id] = joined
            elif before is not None:  # split between two definitions, or copied and changed
                anchor = above or given.id  # it runs where it stands, maybe below the check
                placed.after.setdefault(anchor, []).append(_as_code(cell))
            else:
                placed.answers[given.id] = cell
                if cell.kind != "code":
                    remarks.append(f"The cell of {_name(given)} was a text cell; it was run.")
        elif cell.kind == "code" and _differs(cell, given):
            # Code written into a given cell still counts, but the given cell stays as it was.
            placed.above.setdefault(given.id, []).append(cell)
            if given.cell.metadata.nbgrader.get("locked", True):  # others may be changed
                remarks.append(
                    f"The given cell {given.id!r} was changed; the original was run instead."
                )
        elif given.id in source.question_texts and _is_written_into(cell, given):
            rest = cell.source.replace(given.released.strip(), "", 1).strip()
            answer = StudentCell(cell.kind, rest, pictures=cell.pictures)
            placed.after.setdefault(given.id, []).append(answer)
    for given in source.cells:
        if given.role == "solution" and given.id not in placed.answers:
            name = _name(given)
            if not any(defines_name(c.source, name) for c in cells):
                remarks.append(f"The cell of {name} is missing; restore it from the assignment.")
    return placed


def _join(first: StudentCell, second: StudentCell) -> StudentCell | None:
    """Return two halves of a split definition as one cell, or None if they are no such halves."""
    text = f"{first.source.rstrip()}\n{second.source}"
    if len(text) > JOINED_AT_MOST:
        return None
    if _parses(text) and not (_parses(first.source) and _parses(second.source)):
        return StudentCell("code", text, first.grade_id, first.id)
    return None


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _name(given: SourceCell) -> str:
    return given.exercise.name if given.exercise else given.id


def _as_code(cell: StudentCell) -> StudentCell:
    return StudentCell("code", cell.source)


def _is_written_into(cell: StudentCell, given: SourceCell) -> bool:
    """Return whether a student has written an answer into its question."""
    return bool(cell.pictures) or cell.source.split() != given.released.split()


def _differs(cell: StudentCell, given: SourceCell) -> bool:
    text = cell.source.strip()
    return bool(text) and text not in (given.released.strip(), given.cell.source.strip())


def _match_source_cells(source: SourceNotebook, cells: Sequence[StudentCell]) -> list[str | None]:
    """Return for each of the student's cells the id of the source cell that it matches, or None.

    A cell is matched by its grade_id, its cell id, its text and, for an answer, by what it defines.
    The surest match comes first, so that a cell with a changed id cannot claim a source cell whose
    own cell is still there.
    """
    known = {cell.id for cell in source.cells}
    labels: list[str | None] = [c.grade_id if c.grade_id in known else None for c in cells]
    labels = [
        label or (c.id if c.id in known else None) for label, c in zip(labels, cells, strict=True)
    ]
    _unlabel_imposters(source, cells, labels)
    texts = {g.released.strip(): g.id for g in source.cells if g.released.strip()}
    texts |= {g.cell.source.strip(): g.id for g in source.cells if g.cell.source.strip()}
    claimed = set(labels)
    for number, cell in enumerate(cells):
        label = texts.get(cell.source.strip())
        if labels[number] is None and label is not None and label not in claimed:
            labels[number] = label
            claimed.add(label)
    for given in source.cells:
        if given.role != "solution" or given.id in claimed:
            continue
        for number, cell in enumerate(cells):
            if labels[number] is None and defines_name(cell.source, _name(given)):
                labels[number] = given.id
                break
    return labels


def _unlabel_imposters(
    source: SourceNotebook, cells: Sequence[StudentCell], labels: list[str | None]
) -> None:
    """Remove the label of a cell that defines another exercise whose own cell is missing."""
    solutions = {g.id: _name(g) for g in source.cells if g.role == "solution"}
    claimed = Counter(labels)
    for number, cell in enumerate(cells):
        label = labels[number]
        if label in solutions and not defines_name(cell.source, solutions[label]):
            others = [name for i, name in solutions.items() if not claimed[i]]
            if any(defines_name(cell.source, name) for name in others):
                labels[number] = None
                claimed[label] -= 1


def _list_superseded(
    source: SourceNotebook,
    cells: Sequence[StudentCell],
    labels: Sequence[str | None],
    remarks: list[str],
) -> set[int]:
    """Return the indexes of untouched stubs whose answer is in another cell."""
    superseded: set[int] = set()
    for given in source.cells:
        if given.role != "solution" or given.cell.cell_type != "code":
            continue
        name, stub = _name(given), given.released.strip()
        mine = [n for n, label in enumerate(labels) if label == given.id]
        untouched = [n for n in mine if cells[n].source.strip() == stub]
        elsewhere = any(defines_name(c.source, name) and c.source.strip() != stub for c in cells)
        if untouched and elsewhere:
            superseded |= set(untouched)
            if len(untouched) == len(mine):
                remarks.append(
                    f"{name} was taken from a different cell than the one provided for it."
                )
        elif len(untouched) > 1:
            superseded |= set(untouched[1:])
        if len(mine) - len(untouched) > 1:
            remarks.append(
                f"There are several cells for {name}; each was run where it stands, and the "
                "check sees what the cells above it define."
            )
    return superseded


def _place_added_cell(
    placed: _Placed,
    anchor: str | None,
    source: SourceNotebook,
    labels: Sequence[str | None],
    cell: StudentCell,
) -> None:
    if anchor is not None:
        placed.after.setdefault(anchor, []).append(cell)
        return
    first = next((g for g in source.cells if g.role in ("solution", "graded")), None)
    if first is None:
        placed.before.append(cell)
        return
    leading = source.cells[: source.cells.index(first)]
    if any(g.id in labels for g in leading if g.role == "code"):
        placed.before.append(cell)  # it preceded the given imports, which are still there
    else:
        placed.above.setdefault(first.id, []).append(cell)


def _add(page: NotebookNode, cell: StudentCell) -> None:
    code = cell.kind == "code"
    room = _PICTURES_AT_MOST - sum(len(c.get("attachments", ())) for c in page.cells)
    made: dict[str, Any] = {
        "id": f"added-{len(page.cells)}",
        "cell_type": "code" if code else "markdown",
        "metadata": {},
        "source": cell.source
        if code
        else render_student_markdown(cell.source, cell.kind == "markdown"),
    }
    # Built by hand: new_code_cell() would validate each cell, which is the slowest step.
    new = nbformat.from_dict(made | ({"outputs": [], "execution_count": None} if code else {}))
    _attach_pictures(new, cell.pictures[: max(0, room)])
    page.cells.append(new)


def _fill_in(given: SourceCell, answer: StudentCell) -> NotebookNode:
    cell = copy.deepcopy(given.cell)
    cell.source = answer.source
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    elif answer.source.strip() != given.released.strip():
        cell.source = render_student_markdown(answer.source)
    _attach_pictures(cell, answer.pictures)
    return cell


def _attach_pictures(cell: NotebookNode, pictures: Sequence[Picture]) -> None:
    """Show a student's pictures below the text of a cell."""
    if cell.cell_type != "markdown" or not pictures:
        return
    attached = {}
    for number, picture in enumerate(pictures, 1):
        name = f"picture {number}"
        if picture.data:
            attached[f"picture-{number}"] = {picture.media_type: picture.data}
            shown = f"![{name}](attachment:picture-{number})"
        else:
            shown = f"*({name} is not shown: it is no PNG or JPEG, or too large)*"
        cell.source += f"\n\n{shown}"
    cell.attachments = nbformat.from_dict(attached)
