"""Tests of reading a student's folder, whatever the names, depth, number and size of files."""

from __future__ import annotations

import io
import json
import os
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.exercises import EXERCISES
from autograder.instructor.grading import notebook_rebuilder, submission_files, submission_parser
from autograder.instructor.grading.course_folder import (
    Course,
    compute_digest,
    replace_folder_contents,
)
from autograder.instructor.grading.notebook_rebuilder import rebuild
from autograder.instructor.grading.source_notebook import read_sources
from autograder.instructor.grading.submission_files import DEPTH_AT_MOST, FILES_AT_MOST, list_files
from autograder.instructor.grading.submission_parser import (
    CELL_AT_MOST,
    CELLS_AT_MOST,
    Submission,
    UnreadableNotebookError,
    read_cells,
    read_submission,
)
from autograder.instructor.nbgrader.preprocessors import EmptyNotebookExporter
from autograder.sandbox.framing import HEADER_AT_MOST, encode_frame
from tests.conftest import copy_course

ROOT = Path(__file__).resolve().parents[2]
SOURCES = read_sources(ROOT / "solutions" / "bahdanau", "raise NotImplementedError()", EXERCISES)
NAMES = {name: source.identifiers for name, source in SOURCES.items()}
SCORES = SOURCES["scores"]
KOREAN = os.fsdecode("과제_김철수.ipynb".encode("cp949"))  # as an unpacked zip of Windows has it
ANSWER = "def masked_softmax(scores, mask):\n    return scores"


def notebook(*cells: str, grade_id: str | None = None) -> bytes:
    metadata = {"nbgrader": {"grade_id": grade_id}} if grade_id else {}
    made = [{"cell_type": "code", "source": text, "metadata": metadata} for text in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "ada" / "bahdanau"
    path.mkdir(parents=True)
    return path


# Files for nbgrader, and data files for a notebook


def test_nbgraders_own_files_are_read_whatever_else_is_there(folder, monkeypatch):
    monkeypatch.setattr(submission_parser, "BESIDE_AT_MOST", 3000)
    for name in ("timestamp.txt", "submission_secret.txt"):
        (folder / name).write_bytes(b"2030")
    for number in range(FILES_AT_MOST):
        (folder / f"a{number:03}.png").write_bytes(b"")
    (folder / "a000.png").write_bytes(bytes(3000))
    beside = read_submission(folder, NAMES).other_files
    assert beside["timestamp.txt"] == beside["submission_secret.txt"] == b"2030"
    assert len(beside["a000.png"]) == 3000


def test_a_large_notebook_takes_no_room_from_its_data(folder, monkeypatch):
    monkeypatch.setattr(submission_parser, "BESIDE_AT_MOST", 3000)
    (folder / "scores.ipynb").write_bytes(notebook(ANSWER, "#" * 2000))
    (folder / "vectors.txt").write_bytes(bytes(2900))
    submission = read_submission(folder, NAMES)
    assert len(submission.other_files["vectors.txt"]) == 2900
    assert submission.notebooks["scores"].review == ""


# Names that are not valid text


def test_a_notebook_whose_name_is_not_utf8_is_graded(folder):
    (folder / KOREAN).write_bytes(notebook(ANSWER))
    handed = read_submission(folder, NAMES).notebooks["scores"]
    assert [cell.source for cell in handed.cells or ()] == [ANSWER]
    assert "was graded as scores.ipynb" in handed.remarks[0]
    assert handed.remarks[0].encode()  # it can be written down
    assert compute_digest(handed, {}) == compute_digest(handed, {})


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "beside", "kept"])
def test_anything_else_of_such_a_name_is_named(folder, kind):
    place = folder / (KOREAN if kind != "beside" else os.fsdecode(b"\xff.txt"))
    if kind == "link":
        place.symlink_to("/etc/passwd")
    elif kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "kept":
        (folder / ".ipynb_checkpoints").mkdir()
        (folder / ".ipynb_checkpoints" / KOREAN).write_bytes(b"{}")
    else:
        place.write_bytes(b"x")
    submission = read_submission(folder, NAMES)
    for handed in submission.notebooks.values():
        assert all(remark.encode() for remark in handed.remarks)
        assert compute_digest(handed, submission.other_files)


def test_a_link_to_itself_hides_no_other_file(folder):
    (folder / "a.ipynb").symlink_to("a.ipynb")
    (folder / "scores.ipynb").write_bytes(notebook(ANSWER))
    assert read_submission(folder, NAMES).notebooks["scores"].cells


# How deep, how many


def test_folders_inside_folders_come_to_an_end(folder):
    (folder / "scores.ipynb").write_bytes(notebook(ANSWER))
    subprocess.run(
        ["python3", "-c", "import os\nfor _ in range(1500): os.mkdir('a'); os.chdir('a')"],
        cwd=folder,
        check=True,
    )
    try:
        handed = read_submission(folder, NAMES).notebooks["scores"]
    finally:
        subprocess.run(["rm", "-rf", "a"], cwd=folder, check=True)
    assert handed.cells and "There are too many files" in handed.review


def test_a_notebook_some_folders_deep_is_found(folder):
    deep = folder.joinpath(*"abcd")
    deep.mkdir(parents=True)
    (deep / "scores.ipynb").write_bytes(notebook(ANSWER))
    handed = read_submission(folder, NAMES).notebooks["scores"]
    assert handed.cells and "a/b/c/d/scores.ipynb was graded" in handed.remarks[0]


def test_links_to_folders_are_not_followed(folder, tmp_path):
    (tmp_path / "bora").mkdir()
    (tmp_path / "bora" / "scores.ipynb").write_bytes(notebook(ANSWER))
    (folder / "mine").symlink_to(tmp_path / "bora")
    (folder / "round").symlink_to(folder)
    paths, more = list_files(folder)
    assert not [path for path in paths if path.is_file()] and not more


def test_no_more_files_are_read_than_there_may_be(folder):
    for number in range(FILES_AT_MOST + 100):
        (folder / f"{number}.txt").touch()
    paths, more = list_files(folder)
    assert (len(paths), more) == (FILES_AT_MOST, True)
    (folder / "x").joinpath(*["y"] * DEPTH_AT_MOST).mkdir(parents=True)


def test_all_notebooks_together_have_a_bound(folder, monkeypatch):
    content = notebook(ANSWER)
    monkeypatch.setattr(submission_parser, "NOTEBOOKS_AT_MOST", 3 * len(content))
    read = []
    real = submission_parser.read_cells
    monkeypatch.setattr(
        submission_parser, "read_cells", lambda text: read.append(text) or real(text)
    )
    for number in range(20):
        (folder / f"copy-{number:02}.ipynb").write_bytes(content)
    assert read_submission(folder, NAMES).notebooks["scores"].cells
    assert len(read) == 3


# How long


def cells_handed(folder: Path, content: bytes):
    (folder / "scores.ipynb").write_bytes(content)
    return read_submission(folder, NAMES).notebooks["scores"]


def test_only_so_many_cells_are_graded(folder):
    handed = cells_handed(folder, notebook(*["x=1"] * 20_000))
    assert len(handed.cells or ()) == CELLS_AT_MOST
    assert "20,000 cells" in handed.review


def test_a_cell_that_is_too_long_is_left_out(folder):
    handed = cells_handed(folder, notebook(ANSWER, "x=1\n" * CELL_AT_MOST, "y=2"))
    assert [cell.source for cell in handed.cells or ()] == [ANSWER, "y=2"]
    assert "1 of its cells are too long" in handed.review


@pytest.mark.parametrize("letter", ["x", "\x01", "가", "\\", "\n", "\U0001f600"])
def test_a_notebook_with_as_much_as_may_be_fits_into_a_frame(folder, letter):
    """What is measured is what is sent: a letter may have six bytes there."""
    handed = cells_handed(folder, notebook(*[letter * (CELL_AT_MOST // 8)] * 40))
    sent = [{"index": n, "source": cell.source} for n, cell in enumerate(handed.cells or ())]
    assert sent and len(encode_frame({"cells": sent})) < HEADER_AT_MOST * 0.6
    assert "were left out" in handed.review or letter in "x\\\n"
    alone = cells_handed(folder, notebook(ANSWER, letter * CELL_AT_MOST))
    assert [cell.source for cell in alone.cells or ()] == [ANSWER]


@pytest.mark.parametrize(
    "first", ["y = [\n" + "1,\n" * 10_000, "def masked_softmax(a):\n  return ("]
)
@pytest.mark.parametrize("rest", ["z=(", "1+", "x=1"])
def test_an_answer_in_a_thousand_pieces_is_parsed_a_few_times(folder, monkeypatch, first, rest):
    """The work is counted, not timed: all of the text some ten times, not once for each piece."""
    parsed = []
    real = notebook_rebuilder._parses
    monkeypatch.setattr(
        notebook_rebuilder, "_parses", lambda text: parsed.append(len(text)) or real(text)
    )
    handed = cells_handed(folder, notebook(first, *[rest] * 900, grade_id="masked_softmax"))
    page = rebuild(SCORES, handed.cells or ()).page
    assert len(page.cells) > 900
    assert sum(parsed) < 40 * (len(first) + 10 * len(rest))


def test_a_thousand_copies_of_a_stub_are_one(folder):
    stub = next(cell.released for cell in SCORES.cells if cell.role == "solution")
    handed = cells_handed(folder, notebook(*[stub] * 900, grade_id="masked_softmax"))
    cells = rebuild(SCORES, handed.cells or ()).page.cells
    assert len(cells) <= len(SCORES.cells)


# Other submitted files


@pytest.mark.parametrize("name", ["submission.zip", "work/all.7z"])
def test_an_archive_is_mentioned_and_looked_at(folder, name):
    (folder / name).parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("scores.ipynb", notebook(ANSWER))
    handed = read_submission(folder, NAMES).notebooks["scores"]
    assert handed.cells is None
    assert f"There is an archive, {name}; unpack it" in handed.remarks[0]
    assert handed.review == handed.remarks[0]


@pytest.mark.parametrize("begins", [b"PK\x03\x04", b"\x1f\x8b\x08", b"7z\xbc\xaf'", b"Rar!\x1a"])
def test_an_archive_is_known_without_its_ending(folder, begins):
    (folder / "submission").write_bytes(begins + b"\0" * 100)
    handed = read_submission(folder, NAMES).notebooks["scores"]
    assert "There is an archive, submission; unpack it" in handed.review


def test_a_notebook_without_answers_beside_an_archive_is_looked_at(folder):
    stub = next(cell.released for cell in SCORES.cells if cell.role == "solution")
    (folder / "mine.zip").write_bytes(b"PK")
    handed = cells_handed(folder, notebook(stub, grade_id="masked_softmax"))
    assert handed.cells and "has no answers, and there is an archive, mine.zip" in handed.review
    assert not cells_handed(folder, notebook(ANSWER)).review


@pytest.mark.parametrize("name", ["scores.html", "scores.py", "report.pdf"])
def test_something_else_in_place_of_a_notebook_is_looked_at(folder, name):
    (folder / "timestamp.txt").write_text("2030-05-01 10:00:00 UTC")
    assert not read_submission(folder, NAMES).notebooks["scores"].review, "nothing was handed in"
    (folder / name).write_text("x")
    handed = read_submission(folder, NAMES).notebooks["scores"]
    assert handed.cells is None and f"There is {name}." in handed.review


def test_a_file_in_place_of_the_folder_is_looked_at(folder):
    folder.rmdir()
    folder.write_bytes(notebook(ANSWER))
    handed = read_submission(folder, NAMES).notebooks["scores"]
    assert handed.review == "bahdanau is a file; it must be a folder."


def test_a_folder_that_cannot_be_opened_is_not_an_empty_one(folder, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(submission_files.os, "scandir", refuse)
    with pytest.raises(PermissionError):
        read_submission(folder, NAMES)


def pack(name: str) -> bytes:
    page = io.BytesIO()
    with zipfile.ZipFile(page, "w") as archive:
        archive.writestr(name, "x")
    return page.getvalue()


MERGED = """{"cells": [
<<<<<<< HEAD
 {"cell_type": "code", "source": "a"}
=======
 {"cell_type": "code", "source": "b"}
>>>>>>> theirs
]}"""


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (MERGED.encode(), "has an unresolved merge conflict"),
        (MERGED[:60].encode(), "is damaged or was cut off"),
        (pack("word/document.xml"), "is an office document; hand in the .ipynb"),
        (pack("work/scores.py"), "is a zip archive; unpack it"),
    ],
)
def test_what_is_not_a_notebook_is_called_by_its_name(content, says):
    with pytest.raises(UnreadableNotebookError, match=says):
        read_cells(content)


def test_a_notebook_is_read_however_many_pictures_are_before_it(folder):
    for number in range(FILES_AT_MOST + 100):
        (folder / f"a{number}.png").touch()
    handed = cells_handed(folder, notebook(ANSWER))
    assert handed.cells and "There are too many files" in handed.review


def test_a_file_that_the_notebook_will_miss_is_named(folder, monkeypatch):
    monkeypatch.setattr(submission_parser, "BESIDE_AT_MOST", 1_000)
    (folder / "data.bin").write_bytes(bytes(2_000))
    handed = cells_handed(folder, notebook(ANSWER))
    assert handed.cells and "data.bin was not available when the notebook ran" in handed.review


@pytest.mark.parametrize("name", [b"\xff" * 70 + b".txt", ("가" * 60).encode("cp949") + b".docx"])
def test_a_name_that_is_too_long_as_text_is_not_kept(folder, tmp_path, name):
    (folder / os.fsdecode(name)).write_bytes(b"x")
    (folder / "notes.txt").write_bytes(b"y")
    copy_course(tmp_path)
    kept = Course(tmp_path).list_files_to_keep(folder, read_submission(folder, NAMES).other_files)
    replace_folder_contents(tmp_path / "autograded", kept, 0o644)
    assert [path.name for path in (tmp_path / "autograded").iterdir()] == ["notes.txt"]


def test_a_file_takes_the_place_of_a_folder_of_its_name(tmp_path):
    (tmp_path / "data" / "more").mkdir(parents=True)
    replace_folder_contents(tmp_path, {"data": b"x"}, 0o644)
    assert (tmp_path / "data").read_bytes() == b"x"


def test_nbgraders_own_command_opens_nothing_that_was_handed_in(folder):
    os.mkfifo(folder / "scores.ipynb")
    page, _ = EmptyNotebookExporter().from_filename(str(folder / "scores.ipynb"))
    assert json.loads(page)["cells"] == []


@pytest.mark.parametrize(
    "text",
    [b"T" + b"9" * 60 + b" h++6", b"\xff\xfe", b"yesterday", b"1" * 5_000, b"0000-00-00", b"T:::"],
)
def test_a_time_of_submission_that_is_none_is_not_known(text):
    handed = Submission({}, {"timestamp.txt": text})
    assert Course.timestamp(SimpleNamespace(timezone=""), handed) is None  # type: ignore[arg-type]
