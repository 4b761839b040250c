"""Tests of the archive with a class's feedback, read as Moodle and Canvas read it."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import tarfile
import zipfile

import nbformat
import pytest

from autograder.cli import main
from tests.conftest import ROOT, copy_course, needs_bubblewrap
from tests.grading.test_assignment_run import ASSIGNMENT, RIGHT, WRONG, grade, hand_in
from tests.grading.test_collecting import pack

pytestmark = [pytest.mark.slow, needs_bubblewrap]


def notebook(name, written):
    page = nbformat.read(ROOT / f"exercises/{ASSIGNMENT}/{name}.ipynb", 4)
    for cell in page.cells:
        cell.source = written.get(cell.id, cell.source)
    return nbformat.writes(page).encode()


@pytest.fixture
def course(tmp_path, monkeypatch):
    copy_course(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roster.csv").write_text(
        "id,first_name,last_name\nada_o,Ada,Okafor\nbora,Bora,Yılmaz\nchul,철,박\ndana,Dana,Ng\n",
        "utf-8",
    )
    assert main(["roster", "roster.csv"]) == 0
    return tmp_path


def pack_tar(files):
    page = io.BytesIO()
    with tarfile.open(fileobj=page, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return page.getvalue()


def read(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_moodle_finds_each_participant_by_the_number_in_the_name(course, capsys):
    prefix = "_assignsubmission_file_/scores.ipynb"
    archive = {
        f"Ada Okafor_5123{prefix}": notebook("scores", RIGHT),
        f"Bora Yılmaz_5124{prefix}": notebook("scores", WRONG),
    }
    (course / "moodle.zip").write_bytes(pack(archive))
    assert main(["collect", ASSIGNMENT, "moodle.zip"]) == 0
    hand_in(course, "dana", RIGHT)  # by mail
    grade(course)
    assert main(["feedback", ASSIGNMENT, "--zip", "back.zip"]) == 0
    said = capsys.readouterr().out
    assert "dana is not in it: this submission was not collected from an archive of Moodle." in said
    assert "back.zip: 2 students; in Moodle, Upload multiple feedback files in a zip." in said
    found = {}
    for name, content in read("back.zip").items():
        _, number, kind, plugin, rest = name.split("_", 4)
        assert (kind, plugin) == ("assignsubmission", "file")
        found[int(number), rest] = content
    assert set(found) == {(n, f"{p}.html") for n in (5123, 5124) for p in ("scores", "translator")}
    assert b"1.0 / 1.0" in found[5123, "scores.html"]


def test_canvas_shows_feedback_under_the_name_of_what_was_handed_in(course, capsys):
    archive = {
        "okaforada_101_9001_scores.ipynb": notebook("scores", WRONG),
        "okaforada_101_9002_diary.pdf": b"%PDF-1.4",
        "yilmazbora_LATE_102_9003_work-2.zip": pack({"a/scores.ipynb": notebook("scores", RIGHT)}),
        "parkchul_103_9004_scores.pdf": b"%PDF-1.4",
        "parkchul_103_9005_work.tar.gz": pack_tar({"scores.ipynb": notebook("scores", WRONG)}),
        "ngdana_104_9006_notes.pdf": b"%PDF-1.4",
    }
    (course / "groups.csv").write_text("login_id,group_name\nada_o,Red\nemil,Red\n")
    (course / "canvas.zip").write_bytes(pack(archive))
    (course / "gradebook.csv").write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
        '"Okafor, Ada",101,,ada_o,A\n"Yılmaz, Bora",102,,bora,A\n"박, 철",103,,chul,A\n'
        '"Ng, Dana",104,,dana,A\n"Roy, Emil",105,,emil,A\n',
        encoding="utf-8",
    )
    assert main(["roster", "gradebook.csv"]) == 0
    assert main(["collect", ASSIGNMENT, "canvas.zip", "groups.csv"]) == 0
    grade(course)
    with sqlite3.connect("gradebook.db") as database:
        database.execute("update comment set manual_comment = 'See <b>page 3</b>.'")
    assert main(["feedback", ASSIGNMENT, "--zip", "back.zip"]) == 0
    said = capsys.readouterr().out
    assert "back.zip: 4 students; in Canvas, Re-Upload Submissions." in said  # Emil by Ada
    assert "dana is not in it: Canvas shows feedback under the name of a file" in said
    found = {}
    for name, content in read("back.zip").items():
        user, attachment = [part for part in name.split("_") if part.isdecimal()][:2]
        found[int(user), int(attachment)] = content
    assert set(found) == {(101, 9001), (102, 9003), (103, 9005)}
    page = nbformat.reads(found[101, 9001].decode(), 4)
    nbformat.validate(page)
    texts = [cell.source for cell in page.cells if cell.cell_type == "markdown"]
    assert texts[0].startswith("# Feedback") and "| scores | 0 | 10 | 0 |" in texts[0]
    assert "**0 of 1 points**" in texts
    comments = [text for text in texts if text.startswith("**Comment:** See")]
    assert comments and "<b>" not in "".join(comments)
    assert "HIDDEN TESTS" not in json.dumps(page)
    with zipfile.ZipFile(io.BytesIO(found[102, 9003])) as inner:
        assert set(inner.namelist()) == {"scores.html", "translator.html"}
    with tarfile.open(fileobj=io.BytesIO(found[103, 9005]), mode="r:gz") as inner:
        assert set(inner.getnames()) == {"scores.html", "translator.html"}
    assert main(["feedback", ASSIGNMENT, "--student", "emil", "--zip", "back.zip"]) == 0
    assert "emil is not in it: Canvas shows it to the group with that of ada_o" in " ".join(
        capsys.readouterr().out.split()
    )


def test_other_classes_get_a_folder_for_each_student(course, capsys):
    hand_in(course, "ada_o", RIGHT)
    grade(course)
    shutil.rmtree(course / "feedback")
    assert main(["feedback", ASSIGNMENT, "--zip", "back.zip"]) == 0
    assert "back.zip: 1 student; a folder for each student." in capsys.readouterr().out
    assert set(read("back.zip")) == {"ada_o/scores.html", "ada_o/translator.html"}
