"""Tests of reading rosters: the forms that platforms export, and what is refused."""

from __future__ import annotations

import pytest

from autograder.instructor.collecting.roster_files import read_roster_file
from autograder.instructor.grading.course_folder import CourseError

ROWS = "id,first_name,last_name,email\nbora,Bora,Müller,b@example.org\n"


@pytest.mark.parametrize(
    "content",
    [
        ROWS.encode(),
        b"\xef\xbb\xbf" + ROWS.replace(",", ";").encode(),
        ROWS.replace(",", "\t").encode("utf-16"),
        ROWS.replace("\n", "\r\n").encode("cp1252"),
        b"sep=;\r\n" + ROWS.replace(",", ";").encode("cp1252"),
        "Student,ID,SIS Login ID,Section\nPoints Possible,,,\n"
        '"Müller, Bora",9,bora,A\n"Student, Test",1,x,A\n'.replace(
            "ID,SIS Login ID,Section", "ID,SIS Login ID,Section,Email"
        )
        .replace(",A\n", ",A,b@example.org\n")
        .encode(),
        "First name,Surname,Username,Email address,Roles\nBora,Müller,bora,b@example.org,Student\n"
        "Tea,Cher,tea,t@example.org,Teacher\n".encode(),
        "Name,SID,Email,Role\nBora Müller,bora,b@example.org,Student\n".encode(),
    ],
)
def test_a_roster_is_read_in_any_usual_form(tmp_path, content):
    (tmp_path / "list.csv").write_bytes(content)
    (entry,) = read_roster_file(tmp_path / "list.csv")
    assert (entry.id, entry.first_name, entry.last_name) == ("bora", "Bora", "Müller")
    assert entry.email == "b@example.org" and entry.lms_id in ("", "9")


def test_a_korean_roster_of_excel_is_read(tmp_path):
    (tmp_path / "list.csv").write_bytes("id,last_name,first_name\n1,박,철\n".encode("cp949"))
    (entry,) = read_roster_file(tmp_path / "list.csv")
    assert entry.name == "철 박"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"PK\x03\x04", "is an Excel workbook or another archive: save it as CSV"),
        (b"%PDF", "is a PDF"),
        (b"", "no column for students.*it has nothing"),
        (b"colour,size\nred,3\n", "it has 'colour', 'size'"),
        (b"id,email\n", "no students below it"),
    ],
)
def test_a_wrong_roster_is_refused_in_a_sentence(tmp_path, content, says):
    (tmp_path / "list.csv").write_bytes(content)
    with pytest.raises(CourseError, match=says):
        read_roster_file(tmp_path / "list.csv")
