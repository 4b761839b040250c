"""Tests of the exports for Canvas, Moodle and Gradescope: content and format.

The files are read back by the relevant rules of the platforms' importers.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Comment

from autograder.instructor.exports import Canvas, Gradescope, Moodle, moodle
from autograder.instructor.exports.base import RosterMatcher
from autograder.instructor.grading.gradebook_results import ExerciseResult, NotebookResult
from autograder.instructor.grading.gradebook_scores import CellScore, Person, Score
from tests.grading.exported_class import EVIL, WRONG, export, results_of, rows_of
from tests.grading.exported_class import graded as graded
from tests.grading.filled_gradebook import ALL_POINTS, ASSIGNMENT, MINE, POINTS, Class, Found

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

# Canvas


def canvas_students(rows: list[list[str]]) -> dict[str, list[str]]:
    """Return the students' rows by SIS Login ID, with columns found like in Canvas's importer."""
    head = rows[0]
    assert "Student" in head[0]
    assert "ID" in head[1]
    assert (head[2], head[3]) == ("SIS User ID", "SIS Login ID")
    assert "Section" in head[4]
    assert "Points Possible" in rows[1][0]
    assert {len(row) for row in rows} == {len(head)}
    return {row[3]: row for row in rows[2:]}


def test_canvas_has_every_student_with_nbgraders_own_total(graded, tmp_path):
    rows = rows_of(export(Canvas, graded, tmp_path / "c.csv", assignment=[]))
    students = canvas_students(rows)
    assert rows[0][5:] == ["bahdanau", "empty", "second"]
    assert [float(cell) for cell in rows[1][5:]] == [ALL_POINTS] * 3
    assert set(students) == {"ada", "ben", "chulsoo", "dora", "evan", "fay", "gil"}
    for student, row in students.items():
        if student != "fay":
            assert float(row[5]) == pytest.approx(graded.total(student)), student
    assert float(students["ada"][5]) == ALL_POINTS + 1.5
    assert float(students["dora"][5]) == ALL_POINTS - POINTS["additive_score"] + 1 - 2.5
    assert students["evan"][5] == "0"
    assert float(students["fay"][7]) == graded.total("fay", "second")


def test_canvas_tells_no_submission_from_no_points(graded, tmp_path):
    students = canvas_students(rows_of(export(Canvas, graded, tmp_path / "c.csv")))
    assert students["fay"][5] == ""
    path = export(Canvas, graded, tmp_path / "z.csv", missing_as_zero=True)
    assert canvas_students(rows_of(path))["fay"][5] == "0"


def test_canvas_names(graded, tmp_path):
    path = export(Canvas, graded, tmp_path / "c.csv")
    students = canvas_students(rows_of(path))
    assert students["ada"][:2] == ["Lovelace, Ada", ""]
    assert students["ben"][0] == 'O\'Neill, Jr, Ben; "B"'
    assert students["chulsoo"][:2] == ["김, 철수", "77"]
    assert students["gil"][0] == "gil"
    assert students["dora"][0] == f"'{EVIL}"
    assert not path.read_bytes().startswith(b"\xef\xbb\xbf")


ROSTER = """\
Student,ID,SIS User ID,SIS Login ID,Section,bahdanau (4711),Essay (12),Current Score
,,,,,Manual Posting,,
    Points Possible,,,,,100,10,(read only)
"Lovelace, Ada",901,s-1,ada@x.org,"A, B",,,
"O'Neill, Ben",902,s-2,BEN,A,1,9,80
"Kim, Chulsoo",77,s-3,kim,A,3,9,80
"Absent, Fay",904,s-4,fay,A,EX,9,80
"Nobody, Ned",905,s-5,ned,A,5.5,9,80
"Student, Test",906,,f00,A,,,
"""


@pytest.fixture
def roster(tmp_path) -> str:
    path = tmp_path / "roster.csv"
    path.write_text(ROSTER, encoding="utf-8-sig", newline="")
    return str(path)


def test_canvas_keeps_the_rosters_ids(graded, tmp_path, roster, caplog):
    rows = rows_of(export(Canvas, graded, tmp_path / "c.csv", roster=roster))
    students = canvas_students(rows)
    assert rows[0] == [*ROSTER.split("\n")[0].split(",")[:5], "bahdanau (4711)"]
    assert rows[1][5] == "100", "another number would change the assignment in Canvas"
    assert "is worth 100 points in Canvas and 20 here" in caplog.text
    assert students["ada@x.org"][:5] == ["Lovelace, Ada", "901", "s-1", "ada@x.org", "A, B"]
    assert float(students["ada@x.org"][5]) == graded.total("ada")
    assert float(students["BEN"][5]) == graded.total("ben")
    assert float(students["kim"][5]) == graded.total("chulsoo"), "matched by lms_user_id"
    assert students["fay"][5] == "EX", "nothing handed in: what Canvas has stays"
    assert students["ned"][5] == "5.5"


def test_canvas_students_who_are_not_in_the_roster_are_not_lost(graded, tmp_path, roster, caplog):
    rows = rows_of(export(Canvas, graded, tmp_path / "c.csv", roster=roster))
    students = canvas_students(rows)
    assert float(students["dora"][5]) == graded.total("dora")
    assert students["dora"][1] == ""
    assert "3 students not in the roster" in caplog.text
    assert "evan, gil, dora" in caplog.text


def test_canvas_zero_for_missing_spares_the_excused(graded, tmp_path, roster):
    path = export(Canvas, graded, tmp_path / "c.csv", roster=roster, missing_as_zero=True)
    students = canvas_students(rows_of(path))
    assert students["fay"][5] == "EX"
    assert students["ned"][5] == "0"


@pytest.mark.parametrize("named", ["Essay", "12", "Essay (12)"])
def test_canvas_column_can_be_named(graded, tmp_path, roster, named):
    settings = {"roster": roster, "columns": {ASSIGNMENT: named}}
    rows = rows_of(export(Canvas, graded, tmp_path / "c.csv", **settings))
    assert rows[0][5:] == ["Essay (12)"]
    assert canvas_students(rows)["ned"][5] == "9"


def test_canvas_roster_with_semicolons_and_two_columns_for_names(graded, tmp_path):
    path = tmp_path / "roster.csv"
    text = (
        "LastName;FirstName;ID;SIS User ID;SIS Login ID;Section;bahdanau (1)\n"
        "    Points Possible;;;;;;20\nLovelace;Ada;901;s-1;ada;A;\n"
    )
    path.write_text(text, encoding="utf-8")
    settings = {"roster": str(path), "student": ["ada", "dora"]}
    rows = rows_of(export(Canvas, graded, tmp_path / "c.csv", **settings))
    assert rows[0][:3] == ["LastName", "FirstName", "ID"]
    assert rows[2][:3] == ["Lovelace", "Ada", "901"]
    assert float(rows[2][6]) == graded.total("ada")
    assert rows[3][1] == f"'{EVIL}"


def test_canvas_assignment_that_canvas_has_twice_is_asked_for(graded, tmp_path, roster):
    text = Path(roster).read_text("utf-8-sig").replace("Essay (12)", "bahdanau (12)")
    Path(roster).write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match=r"2 assignments named 'bahdanau'; say which by its num"):
        export(Canvas, graded, tmp_path / "c.csv", roster=roster)


@pytest.mark.parametrize("text", ["", "a,b,c\n1,2,3\n"])
def test_canvas_roster_that_is_none(graded, tmp_path, text):
    path = tmp_path / "roster.csv"
    path.write_text(text)
    with pytest.raises(SystemExit, match="is not a gradebook of Canvas; export one there"):
        export(Canvas, graded, tmp_path / "c.csv", roster=str(path))
    with pytest.raises(SystemExit, match="cannot be read: No such file"):
        export(Canvas, graded, tmp_path / "c.csv", roster=str(tmp_path / "nowhere.csv"))


# Moodle


def test_moodle_has_grades_and_feedback_in_columns_of_their_own(graded, tmp_path):
    rows = rows_of(export(Moodle, graded, tmp_path / "m.csv", assignment=[]))
    assert rows[0] == [
        *("Username", "First name", "Last name"),
        *("bahdanau", "bahdanau (feedback)", "empty", "empty (feedback)"),
        *("second", "second (feedback)"),
    ]
    students = {row[0]: row for row in rows[1:]}
    for student, row in students.items():
        if student != "fay":
            assert float(row[3]) == pytest.approx(graded.total(student)), student
        assert row[5:7] == ["-", ""]
    assert students["fay"][3:5] == ["-", ""], "Moodle's sign for no grade, and no number for ''"
    assert students["chulsoo"][1:3] == ["철수", "김"]
    assert students["dora"][1] == f"'{EVIL}"


def test_moodle_feedback_is_the_diagnosis(graded, tmp_path):
    rows = rows_of(export(Moodle, graded, tmp_path / "m.csv"))
    text = {row[0]: row[4] for row in rows[1:]}["dora"]
    assert 'additive_score: 1 of 3. Half; "right", half wrong.' in text.splitlines()
    assert "A cell was there twice." in text
    assert "Only for the instructor" not in text
    assert len([line for line in text.splitlines() if line.split(":")[0] in MINE]) == len(MINE)
    assert len(rows_of(export(Moodle, graded, tmp_path / "n.csv", feedback=False))[0]) == 4


def test_moodle_feedback_says_what_the_grade_says(tmp_path):
    made = Class(tmp_path)
    made.hand_in("ada", WRONG, penalty=2.5, at="2030-05-02T14:30:00+00:00")
    made.by_hand("ada", "additive_score", manual_score=2.0, extra_credit=0.5)
    made.by_hand("ada", "context_vector", needs_manual_grade=True)
    where = (MINE["additive_score"].notebook, ASSIGNMENT)
    made.gradebook.add_solution_cell("additive_score", *where)
    made.gradebook.db.add(
        Comment(
            cell=made.gradebook.find_solution_cell("additive_score", *where),
            notebook=made.gradebook.find_submission_notebook(*where, "ada"),
            manual_comment="You said so\nin class.",
        )
    )
    made.gradebook.db.commit()
    (_, row) = rows_of(export(Moodle, made, tmp_path / "m.csv"))
    lines = row[4].splitlines()
    assert (
        'additive_score: 2.5 of 3. Half; "right", half wrong. Graded by hand: 2 of 3. '
        "Extra credit: 0.5. Comment: You said so in class."
    ) in lines
    assert "context_vector: 1 of 1. All is right. This still has to be graded by hand." in lines
    assert lines[-1].endswith("late: 2.5 points are taken off.")


def test_moodle_feedback_is_text_though_moodle_takes_it_for_html():
    exercise = ExerciseResult("f", "f", 0.0, 1.0, "wrong", "<img src=//x.example/a> & x < y")
    result = NotebookResult("ada", "a", "n", "", (exercise,), ("<b>",), "")
    cell = CellScore("n", "f", 0.0, 1.0, 0.0, None, None, False)
    (said,) = moodle.describe([result], {"ada": Score("ada", 0, 0, 0, False, (cell,))}).values()
    assert said == "f: 0 of 1. &lt;img src=//x.example/a&gt; &amp; x &lt; y\n&lt;b&gt;"


def test_moodle_row_that_names_nobody_is_left_out(graded, tmp_path, caplog):
    """Moodle would give its grades to the student of the row before."""
    rows = rows_of(export(Moodle, graded, tmp_path / "m.csv", identity="email"))
    assert rows[0][0] == "Email address"
    assert {row[0] for row in rows[1:]} == {"fay@x.org", "a@x.org", "dora@x.org"}
    assert "4 students left out" in caplog.text
    rows = rows_of(export(Moodle, graded, tmp_path / "i.csv", identity="idnumber"))
    assert {"77", "ada"} <= {row[0] for row in rows[1:]}


def test_moodle_says_which_scores_it_would_refuse(graded, tmp_path, caplog):
    export(Moodle, graded, tmp_path / "m.csv")
    assert "scores above the 20 points of the assignment" in caplog.text


def test_moodle_worksheet_is_filled_in(graded, tmp_path, caplog):
    sheet = tmp_path / "sheet.csv"
    head = "Identifier,Full name,Email address,Status,Grade,Maximum Grade,"
    head += "Last modified (grade),Feedback comments,Online text"
    lines = [
        head,
        "Participant 1,Ada Lovelace,A@X.ORG,Submitted,,20.00,-,,my essay",
        "Participant 2,김 철수,,Submitted,3.00,20.00,-,old,",
        "Participant 3,Fay Absent,fay@x.org,No submission,7.00,20.00,-,kept,",
        "Participant 4,Ned Nobody,ned@x.org,No submission,,20.00,-,,ada",
    ]
    sheet.write_text("\n".join(lines), encoding="utf-8-sig")
    chulsoo = graded.gradebook.find_student("chulsoo")
    path = export(Moodle, graded, tmp_path / "m.csv", worksheet=str(sheet))
    rows = rows_of(path)
    assert rows[0] == head.split(",")
    assert [row[0] for row in rows[1:]] == [f"Participant {i}" for i in range(1, 5)]
    assert float(rows[1][4]) == graded.total("ada") > 20
    assert "leaves out 1 grade(s) above the worksheet's Maximum Grade of 20. Set" in caplog.text
    assert "unlimitedgrades" not in caplog.text
    assert rows[1][7].startswith("masked_softmax: ")
    assert rows[3][4:] == ["7.00", "20.00", "-", "kept", ""]
    assert rows[4][4] == "", "what a student writes draws nobody's grade"
    assert chulsoo.first_name == "철수"
    assert rows[2][4] == "3.00", "the name is in another order there, so nothing is guessed"
    assert "chulsoo" in caplog.text
    with pytest.raises(SystemExit, match="A worksheet holds only one assignment"):
        export(Moodle, graded, tmp_path / "m.csv", worksheet=str(sheet), assignment=[])
    with pytest.raises(SystemExit, match="has no column 'Note'"):
        settings = {"worksheet": str(sheet), "worksheet_grade": "Note"}
        export(Moodle, graded, tmp_path / "m.csv", **settings)


@pytest.mark.parametrize("encoding", ["utf-16", "cp949", "utf-8"])
@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_moodle_worksheet_that_a_spreadsheet_saved(graded, tmp_path, encoding, separator):
    sheet = tmp_path / "sheet.csv"
    lines = ["Identifier,Full name,Email address,Grade", "Participant 1,김에이다,a@x.org,"]
    sheet.write_text("\n".join(lines).replace(",", separator), encoding=encoding)
    rows = rows_of(export(Moodle, graded, tmp_path / "m.csv", worksheet=str(sheet)))
    assert rows[1][:3] == ["Participant 1", "김에이다", "a@x.org"]
    assert float(rows[1][3]) == graded.total("ada")


def test_who_takes_anothers_id_as_a_name_gets_nothing_of_theirs():
    bora = Person("bora", email="bora@x.org")
    rows = [["1", "Bora Kim", "bora@x.org"], ["2", "bora", "eve@x.org"]]
    assert RosterMatcher(rows).find(bora) is None
    assert RosterMatcher(rows[:1]).find(bora) == 0


def test_a_place_that_cannot_be_written_gets_a_sentence(graded, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit, match=r"The folder .*file could not be created"):
        export(Moodle, graded, tmp_path / "file" / "m.csv")


# All of them

ALL = [Canvas, Moodle, Gradescope]


@pytest.mark.parametrize("plugin", ALL)
def test_pending_grades_are_counted_in_the_log(graded, tmp_path, caplog, plugin):
    export(plugin, graded, tmp_path / "to")
    assert "bahdanau: 1 of 6 submissions are not final" in caplog.text


@pytest.mark.parametrize("plugin", ALL)
def test_unknown_assignment_or_student_is_one_sentence(graded, tmp_path, plugin):
    with pytest.raises(SystemExit, match=r"no assignment 'nope' in the gradebook; it has: bahdan"):
        export(plugin, graded, tmp_path / "to", assignment=["nope"])
    with pytest.raises(SystemExit, match="There is no student 'nope' in the gradebook"):
        export(plugin, graded, tmp_path / "to", student=["ada", "nope"])
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("plugin", ALL)
def test_class_without_students_and_course_without_assignments(tmp_path, caplog, plugin):
    empty = Class(tmp_path)
    export(plugin, empty, tmp_path / "to")
    assert "no students yet" in caplog.text
    assert (tmp_path / "to").exists()
    empty.gradebook.remove_assignment(ASSIGNMENT)
    export(plugin, empty, tmp_path / "to", assignment=[])
    assert "no assignments yet" in caplog.text
    if plugin is Canvas:
        assert len(rows_of(tmp_path / "to")) == 2


@pytest.mark.parametrize("plugin", ALL)
def test_students_can_be_chosen(graded, tmp_path, plugin):
    to = export(plugin, graded, tmp_path / "to", student=["ben", "evan"])
    if plugin is Gradescope:
        assert sorted(path.name for path in to.iterdir()) == ["ben", "evan"]
    else:
        column = 3 if plugin is Canvas else 0
        assert sorted(row[column] for row in rows_of(to))[-2:] == ["ben", "evan"]


@pytest.mark.parametrize("plugin", [Canvas, Moodle])
@pytest.mark.parametrize("bad", ["=1+1", "+1;2", "@SUM(1)", "\t=1", "\r=1", " =1", "＝1", "-1+1|x"])
def test_no_cell_of_a_student_is_a_formula(tmp_path, plugin, bad):
    made = Class(tmp_path)
    found = {"masked_softmax": Found(headline=bad)}
    made.hand_in("ada", found, about={"first_name": bad, "last_name": bad}, remarks=(bad,))
    made.hand_in(f"{bad}x(1)")
    for row in rows_of(export(plugin, made, tmp_path / "to.csv")):
        for cell in row:
            assert not re.match(r"\s*[=+@＝]|-.", cell), cell


@pytest.mark.parametrize("plugin", ALL)
def test_harmless_ids_stay_as_they_are(tmp_path, plugin):
    made = Class(tmp_path)
    ids = ["-ann", "+4711", "o.b@x.org", "007"]
    for name in ids:
        made.hand_in(name)
    to = export(plugin, made, tmp_path / "to")
    if plugin is Gradescope:
        assert sorted(path.name for path in to.iterdir()) == sorted(ids)
    else:
        assert set(ids) <= {cell for row in rows_of(to) for cell in row}


@pytest.mark.parametrize("given", [["ben", "evan"], ["[ben, evan]"], ["['ben','evan']"]])
def test_lists_as_a_shell_hands_them_over(graded, tmp_path, given):
    """nbgrader's guide writes --student [ben,evan], which reaches a plugin as one name."""
    to = export(Moodle, graded, tmp_path / "to", student=given, assignment=["[bahdanau]"])
    assert [row[0] for row in rows_of(to)] == ["Username", "evan", "ben"]


def test_a_folder_is_no_csv_file_and_a_file_no_folder(graded, tmp_path):
    with pytest.raises(SystemExit, match="is a folder; name a file after --to"):
        export(Canvas, graded, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit, match="is a file; name a folder after --to"):
        export(Gradescope, graded, tmp_path / "file")


def test_class_that_stock_nbgrader_graded_has_no_diagnosis(tmp_path):
    made = Class(tmp_path)
    made.enrol("ada")
    submission = made.gradebook.add_submission(ASSIGNMENT, "ada")
    for page in submission.notebooks:
        for grade in page.grades:
            grade.auto_score, grade.needs_manual_grade = 1.0, False
    made.gradebook.db.commit()
    rows = rows_of(export(Moodle, made, tmp_path / "m.csv"))
    assert rows[1][3] == str(len(MINE))
    assert sorted(rows[1][4].splitlines()) == sorted(
        f"{name}: 1 of {e.points:g}." for name, e in MINE.items()
    )
    page = results_of(export(Gradescope, made, tmp_path / "g"), "ada")
    assert {test["name"] for test in page["tests"]} == set(MINE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Canvas", "Moodle", "Gradescope"])
def test_nbgraders_own_command(graded, tmp_path, name):
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'attention'\n"
        f"c.{name}.missing_as_zero = True\n"
    )
    command = [
        *(sys.executable, "-m", "nbgrader", "export"),
        f"--exporter=autograder.instructor.exports.{name}",
        *("--db", graded.db_url, "--to", "out", "--student", "['ada', 'fay']", "--assignment"),
    ]

    def run(assignment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, assignment], cwd=tmp_path, capture_output=True, text=True, timeout=100
        )

    done = run(f"['{ASSIGNMENT}']")
    assert done.returncode == 0, done.stderr
    if name == "Gradescope":
        assert results_of(tmp_path / "out", "ada")["score"] == graded.total("ada")
        assert results_of(tmp_path / "out", "fay")["score"] == 0
    else:
        cells = {cell for row in rows_of(tmp_path / "out") for cell in row}
        assert {"ada", "fay", "0", f"{graded.total('ada'):g}"} <= cells
    done = run("['nope']")
    assert done.returncode != 0
    assert "There is no assignment 'nope' in the gradebook" in done.stderr
    assert "Traceback" not in done.stderr
