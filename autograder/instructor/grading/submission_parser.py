"""Parses submitted notebooks, treating every file as untrusted input.

A file is read as bytes, its JSON is parsed by our own code, and only the type, the text and the two
ids of each cell are kept. The parser therefore accepts any format version, any metadata and missing
fields.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.instructor.grading.pasted_pictures import Picture, read_pictures
from autograder.instructor.grading.submission_files import (
    BESIDE_AT_MOST,
    DEPTH_AT_MOST,
    FILE_AT_MOST,
    FILES_AT_MOST,
    NOTEBOOKS_AT_MOST,
    decode_name,
    is_archive,
    list_files,
    read_file,
)

CELLS_AT_MOST = 1_000  # per notebook; the longest in the course has 60
CELL_AT_MOST = 1_500_000  # bytes of a cell as JSON; some have long comments or data
TEXT_AT_MOST = 4_000_000  # bytes of a notebook; half of what a frame to the sandbox may hold


class UnreadableNotebookError(Exception):
    """Raised if a file is not a notebook; the message tells the student why."""


@dataclass(frozen=True)
class StudentCell:
    """A cell of a submission.

    Attributes:
        kind: "code", "markdown" or "raw".
        source: text of the cell.
        grade_id: nbgrader's name of the cell, if it is still there.
        id: cell id of the notebook format, if there is one.
        pictures: pictures that were pasted into a text cell.
    """

    kind: str
    source: str
    grade_id: str | None = None
    id: str | None = None
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class NotebookSubmission:
    """A student's submission of one notebook.

    Attributes:
        cells: cells of the notebook, or None if no notebook can be read.
        digest: SHA-256 of the file, or "" if there is none.
        remarks: sentences for the student.
        review: a sentence for the instructor, or "".
    """

    cells: tuple[StudentCell, ...] | None
    digest: str = ""
    remarks: tuple[str, ...] = ()
    review: str = ""


@dataclass(frozen=True)
class Submission:
    """A student's submission of an assignment.

    Attributes:
        notebooks: submitted notebooks, by name of the source notebook.
        other_files: contents of the other files as bytes, by name.
    """

    notebooks: Mapping[str, NotebookSubmission]
    other_files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class NotebookIdentifiers:
    """What identifies a source notebook.

    Attributes:
        ids: ids of the cells that are answered or graded.
        exercises: names of its exercises.
        stubs: texts of the answers' cells before anything is written.
        by_hand: ids of the cells that a person grades.
    """

    ids: frozenset[str]
    exercises: frozenset[str]
    stubs: frozenset[str]
    by_hand: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _File:
    name: str
    digest: str
    cells: tuple[StudentCell, ...] | None
    why: str = ""
    remarks: tuple[str, ...] = ()
    size: int = 0


def read_submission(folder: Path, names: Mapping[str, NotebookIdentifiers]) -> Submission:
    """Read a student's folder for an assignment.

    Args:
        folder: submitted/<student>/<assignment>.
        names: identifiers of the source notebooks, by notebook.
    """
    if folder.is_symlink() or folder.parent.is_symlink():
        return _refuse(
            names, "The folder is a link to another place; hand in the files themselves."
        )
    if not folder.is_dir():
        return _refuse(names, f"{decode_name(folder.name)} is a file; it must be a folder.")
    files: list[_File] = []
    beside = read_nbgrader_files(folder)
    missing: list[str] = []
    room, notebooks_room = {True: BESIDE_AT_MOST, False: BESIDE_AT_MOST}, NOTEBOOKS_AT_MOST
    paths, more = list_files(folder)
    for path in paths:
        name = decode_name(path.relative_to(folder).as_posix())
        found = []
        if path.suffix.lower() == ".ipynb":
            found.append(_notebook(path, name, notebooks_room))
        if path.parent == folder and name not in beside:
            kind = path.suffix.lower() == ".ipynb"  # data files have their own limit
            content = read_file(path, room[kind])
            if isinstance(content, bytes):
                room[kind] -= len(content)
                beside[name] = content
                if path.suffix.lower() != ".ipynb" and _may_be_a_notebook(content):
                    found.append(_notebook(path, name, notebooks_room))
            elif path.suffix.lower() != ".ipynb":
                missing.append(name)
        notebooks_room -= sum(file.size for file in found)
        files += found
    kept = {decode_name(p.name) for p in folder.glob(".ipynb_checkpoints/*.ipynb")}
    relative = [(path, decode_name(path.relative_to(folder).as_posix())) for path in paths]
    archives = [name for path, name in relative if is_archive(path, beside.get(name, b""))]
    strange = [name for path, name in relative if not _is_usual(path)]
    notebooks = {
        n: _choose(n, names, files, any(name.startswith(n) for name in kept), archives, strange)
        for n in names
    }
    remarks = [_MORE] if more else []
    if missing:
        remarks.append(
            f"{missing[0]} was not available when the notebook ran: it cannot be read, or the "
            f"other files together exceed {BESIDE_AT_MOST >> 20} MB."
        )
    for remark in remarks:
        notebooks = {n: _with_remark(handed, remark) for n, handed in notebooks.items()}
    return Submission(notebooks, beside)


def read_nbgrader_files(folder: Path) -> dict[str, bytes]:
    """Return nbgrader's own files in a submission, which it needs for returning feedback."""
    if folder.is_symlink() or folder.parent.is_symlink():
        return {}
    found = {name: read_file(folder / name, _NBGRADERS_AT_MOST) for name in _NBGRADERS}
    return {name: content for name, content in found.items() if isinstance(content, bytes)}


_NBGRADERS = ("timestamp.txt", "submission_secret.txt")
_NBGRADERS_AT_MOST = 1 << 16


def read_permitted_submission(folder: Path, names: Mapping[str, NotebookIdentifiers]) -> Submission:
    """Read a student's folder, see `read_submission`.

    Raises:
        UnreadableNotebookError: if a file cannot be read; it says what to do.
    """
    try:
        return read_submission(folder, names)
    except PermissionError as error:  # it affects only this student
        raise UnreadableNotebookError(
            f"{error.filename} cannot be read: {error.strerror}. Make it readable, then run "
            "the same command again."
        ) from error


def _refuse(names: Mapping[str, NotebookIdentifiers], why: str) -> Submission:
    return Submission({n: NotebookSubmission(None, "", (why,), why) for n in names})


def _is_usual(path: Path) -> bool:
    """Return whether a file is a notebook or one of nbgrader's own files."""
    return path.suffix.lower() == ".ipynb" or path.name in _NBGRADERS


_MORE = (
    f"There are too many files: at most {FILES_AT_MOST} are read, in folders nested at most "
    f"{DEPTH_AT_MOST} deep."
)


def _with_remark(handed: NotebookSubmission, remark: str) -> NotebookSubmission:
    """Return the submission with a remark that the instructor should also see."""
    handed = add_review(handed, remark)
    return replace(handed, remarks=(*handed.remarks, remark))


def add_review(handed: NotebookSubmission, why: str) -> NotebookSubmission:
    """Return the submission with one more reason for manual review."""
    return replace(handed, review=f"{handed.review} {why}".strip())


def _may_be_a_notebook(content: bytes) -> bool:
    """Return whether a file with another suffix (scores.ipynb.json, .txt) may be a notebook."""
    return content.lstrip()[:1] == b"{" and b'"cell_type"' in content


def _notebook(path: Path, name: str, room: int) -> _File:
    content = read_file(path, min(FILE_AT_MOST, room))
    if isinstance(content, str):
        return _File(name, hashlib.sha256(content.encode()).hexdigest(), None, content)
    digest = hashlib.sha256(content).hexdigest()
    try:
        cells, remarks = _bound(read_cells(content))
        return _File(name, digest, tuple(cells), remarks=tuple(remarks), size=len(content))
    except UnreadableNotebookError as error:
        why = f"{decode_name(path.name)} {error}"
        return _File(name, digest, None, why, size=len(content))


def _bound(cells: list[StudentCell]) -> tuple[list[StudentCell], list[str]]:
    """Return the cells to grade, and remarks on those that exceed the size limits."""
    kept, room = [], TEXT_AT_MOST
    for cell in cells[:CELLS_AT_MOST]:
        # A Korean letter takes three bytes, and a control character in JSON takes six.
        size = len(json.dumps(cell.source, ensure_ascii=False).encode())
        if size <= min(CELL_AT_MOST, room):
            room -= size
            kept.append(cell)
    remarks = []
    if len(cells) > CELLS_AT_MOST:
        remarks.append(
            f"The notebook has {len(cells):,} cells; only the first {CELLS_AT_MOST:,} were graded."
        )
    if long := min(len(cells), CELLS_AT_MOST) - len(kept):
        remarks.append(
            f"{long} of its cells are too long and were left out: a cell may have {CELL_AT_MOST:,} "
            f"bytes, a notebook {TEXT_AT_MOST:,}."
        )
    return kept, remarks


def read_cells(content: bytes) -> list[StudentCell]:
    """Return the cells of a notebook file of any version.

    Raises:
        UnreadableNotebookError: if the file is no notebook; the message follows the file's name.
    """
    if not content.strip():
        raise UnreadableNotebookError("is empty; save the notebook and hand it in again.")
    page = _json(content)
    if not isinstance(page, dict):
        raise UnreadableNotebookError(
            "is not a notebook; hand in the .ipynb file that Jupyter saves."
        )
    raw = page.get("cells")
    if not isinstance(raw, list):  # format 3 and earlier
        sheets = page.get("worksheets")
        raw = []
        for sheet in sheets if isinstance(sheets, list) else []:
            if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list):
                raw += sheet["cells"]
    cells = [cell for entry in raw if (cell := _cell(entry)) is not None]
    if not cells:
        raise UnreadableNotebookError("has no cells; hand in the .ipynb file that Jupyter saves.")
    return cells


# Names of files in the zip archives that Word, Excel, PowerPoint and LibreOffice save.
_PARTS_OF_DOCUMENTS = (b"word/document", b"xl/workbook", b"ppt/presentation", b"opendocument")


def _json(content: bytes) -> Any:
    try:
        text = _decode(content)
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        start = content.lstrip()[:200].lower()
        if start.startswith((b"<!doctype", b"<html")):
            raise UnreadableNotebookError(
                "is a web page, not a notebook; download the file itself and hand it in again."
            ) from error
        if start.startswith(b"pk\x03\x04"):
            if any(part in content for part in _PARTS_OF_DOCUMENTS):
                raise UnreadableNotebookError(
                    "is an office document; hand in the .ipynb file that Jupyter saves."
                ) from error
            raise UnreadableNotebookError(
                "is a zip archive; unpack it and hand in the notebook."
            ) from error
        if start.startswith(b"%pdf"):
            raise UnreadableNotebookError(
                "is a PDF; hand in the .ipynb file that Jupyter saves."
            ) from error
        if not start.startswith((b"{", codecs.BOM_UTF8, b"\xff\xfe", b"\xfe\xff")):
            raise UnreadableNotebookError(
                "is not a notebook; hand in the .ipynb file that Jupyter saves."
            ) from error
        if re.search(rb"^<{7} ", content, re.M) and re.search(rb"^>{7} ", content, re.M):
            raise UnreadableNotebookError(
                "has an unresolved merge conflict; keep one of the versions between <<<<<<< and "
                ">>>>>>>, and hand it in again."
            ) from error
        raise UnreadableNotebookError(
            "is damaged or was cut off in the middle; save the notebook and hand it in again."
        ) from error


def _decode(content: bytes) -> str:
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if content.startswith(mark):
            return content.decode(encoding)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _cell(entry: Any) -> StudentCell | None:
    if not isinstance(entry, dict):
        return None
    kind = entry.get("cell_type")
    source = entry.get("source", entry.get("input"))  # "input" in format 3
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str):
        source = ""
    metadata = entry.get("metadata")
    options = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = options.get("grade_id") if isinstance(options, dict) else None
    cell_id = entry.get("id")
    text = source.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "")
    return StudentCell(
        kind if kind in ("code", "raw") else "markdown",
        text.encode("utf-8", "replace").decode("utf-8"),  # half a surrogate pair cannot be encoded
        grade_id if isinstance(grade_id, str) else None,
        cell_id if isinstance(cell_id, str) else None,
        read_pictures(entry) if kind == "markdown" else (),
    )


def defines_name(source: str, name: str) -> bool:
    """Return whether a cell's text defines or assigns a name at the left margin."""
    pattern = rf"^(?:(?:async[ \t]+)?def|class)[ \t]+{name}\b|^{name}[ \t]*(?::[^\n=]*)?="
    return bool(re.search(pattern, source, re.M))


def _count_matching_cells(cells: Sequence[StudentCell], names: NotebookIdentifiers) -> int:
    """Return the number of cells and exercises that link a file to a source notebook."""
    known = sum(1 for c in cells if c.grade_id in names.ids or c.id in names.ids)
    return known + sum(1 for n in names.exercises if any(defines_name(c.source, n) for c in cells))


def _has_answers(cells: Sequence[StudentCell], names: NotebookIdentifiers) -> bool:
    """Return whether any answer differs from its stub."""
    return any(
        (c.grade_id in names.by_hand or any(defines_name(c.source, n) for n in names.exercises))
        and c.source.strip() not in names.stubs
        for c in cells
    )


def _choose(
    notebook: str,
    names: Mapping[str, NotebookIdentifiers],
    files: Sequence[_File],
    autosaved: bool,
    archives: Sequence[str],
    strange: Sequence[str],
) -> NotebookSubmission:
    """Choose the file that was handed in for a notebook, and note what is unusual about it.

    Args:
        notebook: name of the source notebook.
        names: identifiers of the source notebooks, by notebook.
        files: files that are or may be notebooks.
        autosaved: whether there is a checkpoint of the notebook, autosaved by Jupyter.
        archives: names of archives.
        strange: names of files with an unknown purpose.
    """
    chosen, handed = _pick(notebook, names, files, autosaved, archives)
    if handed.cells is None and strange and not handed.review:
        handed = replace(handed, review=f"{handed.remarks[0]} There is {strange[0]}.")
    for remark in chosen.remarks if chosen else ():
        handed = _with_remark(handed, remark)
    return handed


def _pick(
    notebook: str,
    names: Mapping[str, NotebookIdentifiers],
    files: Sequence[_File],
    autosaved: bool,
    archives: Sequence[str],
) -> tuple[_File | None, NotebookSubmission]:
    mine = names[notebook]
    exact = next((f for f in files if f.name == f"{notebook}.ipynb"), None)
    match_counts = {f.name: _count_matching_cells(f.cells, mine) if f.cells else 0 for f in files}

    def belongs_to_another(file: _File) -> bool:
        return any(
            file.cells and _count_matching_cells(file.cells, names[other]) > match_counts[file.name]
            for other in names
            if other != notebook
        )

    others = [
        f
        for f in files
        if f is not exact and match_counts[f.name] > 0 and not belongs_to_another(f)
    ]
    others.sort(
        key=lambda f: (not _has_answers(f.cells or (), mine), -match_counts[f.name], f.name)
    )
    if exact and exact.cells is None and not others:
        return None, NotebookSubmission(None, exact.digest, (exact.why,), exact.why)
    usable = exact is not None and exact.cells is not None
    if usable and exact is not None and match_counts[exact.name] == 0 and belongs_to_another(exact):
        usable = False  # another notebook under this one's name
    if usable and exact is not None:
        rival = next((f for f in others if _has_answers(f.cells or (), mine)), None)
        if rival is None:
            handed = NotebookSubmission(exact.cells, exact.digest)
            if archives and not _has_answers(exact.cells or (), mine):
                handed = _with_remark(
                    handed,
                    f"{exact.name} has no answers, and there is an archive, {archives[0]}; unpack "
                    "it and hand in the notebook.",
                )
            return exact, handed
        if _has_answers(exact.cells or (), mine):
            remark = (
                f"{exact.name} was graded; {rival.name} also contains answers but was not graded."
            )
            return exact, NotebookSubmission(exact.cells, exact.digest, (remark,), remark)
        remark = f"{exact.name} has no answers; {rival.name} was graded in its place."
        return rival, NotebookSubmission(rival.cells, rival.digest, (remark,), remark)
    if others:
        chosen = others[0]
        remark = f"{chosen.name} was graded as {notebook}.ipynb; keep the name of the file."
        review = "" if len(others) == 1 else f"There are {len(others)} files for {notebook}.ipynb."
        return chosen, NotebookSubmission(chosen.cells, chosen.digest, (remark,), review)
    if exact is not None:
        why = exact.why or f"{exact.name} holds none of the exercises of this notebook."
        return exact, NotebookSubmission(exact.cells, exact.digest, (why,), why)
    damaged = [f for f in files if f.cells is None]
    remark = f"There is no {notebook}.ipynb among the files that were handed in."
    if autosaved:
        remark += " There is only an autosaved copy; save the notebook itself and hand it in."
    elif archives:
        remark += f" There is an archive, {archives[0]}; unpack it and hand in the notebook."
    elif damaged:
        remark += f" {damaged[0].why}"
    else:
        return None, NotebookSubmission(None, "", (remark,))
    return None, NotebookSubmission(None, "", (remark,), remark)
