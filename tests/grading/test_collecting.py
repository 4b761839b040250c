"""Tests of `autograder collect` and `autograder roster`, with archives as platforms make them."""

from __future__ import annotations

import io
import shutil
import tarfile
import unicodedata
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.instructor.grading import lms_records
from autograder.instructor.grading.course_folder import Course
from autograder.instructor.grading.extra_gradebook_tables import UPLOAD_NAMES, read_rows
from tests.conftest import ROOT
from tests.helpers.platform_archives import ARCHIVES, SCORES, TRANSLATOR, pack

ASSIGNMENT = "bahdanau"
PEOPLE = """id,first_name,last_name,email
ada,Ada,Okafor,ada@example.org
bora,Bora,Yılmaz,bora@example.org
chul,철,박,chul@example.org
kim1,Minji,Kim,m.kim@example.org
kim2,Minji,Kim,minji@example.org
123,Zed,Zero,zed@example.org
"""


@pytest.fixture(scope="module")
def empty_course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    shutil.copytree(ROOT / "solutions/bahdanau", folder / "solutions/bahdanau")
    (folder / "students.csv").write_text(PEOPLE, encoding="utf-8")
    assert main(["roster", str(folder / "students.csv"), "--course", str(folder)]) == 0
    return folder


@pytest.fixture
def course(empty_course, tmp_path, monkeypatch):
    shutil.copytree(empty_course, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def collect(capsys: pytest.CaptureFixture[str], *paths: str, status: int = 0) -> str:
    capsys.readouterr()
    assert main(["collect", ASSIGNMENT, *paths]) == status
    return capsys.readouterr().out


def collected(folder: Path) -> dict[str, list[str]]:
    """Return the files of each student in `submitted/`."""
    found: dict[str, list[str]] = {}
    for path in sorted((folder / "submitted").glob("*/bahdanau/**/*")):
        if path.is_file():
            student, _, *inside = path.relative_to(folder / "submitted").parts
            found.setdefault(student, []).append("/".join(inside))
    return found


def time_of(folder: Path, student: str) -> str:
    return (folder / f"submitted/{student}/bahdanau/timestamp.txt").read_text().strip()


@pytest.mark.parametrize("platform", ARCHIVES)
@pytest.mark.parametrize("packed", ["zip", "tar.gz", "folder"])
def test_every_platform_delivers_everybody(course, capsys, platform, packed):
    if platform == "Canvas":  # its export has the numbers in the names
        (course / "canvas.csv").write_text(
            "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
            '"Yılmaz, Bora",72,,bora,A\n"박, 철",73,,chul,A\n"Okafor, Ada",71,,ada,A\n',
            encoding="utf-8",
        )
        assert main(["roster", "canvas.csv"]) == 0
    files = ARCHIVES[platform]
    if packed == "zip":
        (course / "all.zip").write_bytes(pack(files))
    elif packed == "tar.gz":
        with tarfile.open(course / "all.tar.gz", "w:gz") as archive:
            for name, content in files.items():
                about = tarfile.TarInfo(name)
                about.size = len(content)
                archive.addfile(about, io.BytesIO(content))
    else:
        for name, content in files.items():
            path = course / "all.folder" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    said = collect(capsys, f"all.{packed}")
    assert f": {platform.split(' w')[0].split(' of ')[0]}" in said
    assert "not in the gradebook" not in said and "Not collected" not in said
    found = collected(course)
    group = platform == "Gradescope"
    assert set(found) == {"ada", "bora", "chul"}
    for student, pages in found.items():
        stems = {Path(page).stem.split(" - ")[-1] for page in pages if page.endswith(".ipynb")}
        most = student == "ada" or (group and student == "bora")
        assert len(stems) == 1 + most, (student, pages)
    if platform in ("Gradescope", "Blackboard", "nbgrader's exchange"):
        assert {time_of(course, who)[:19] for who in found} == {"2026-11-20 18:30:00"}
    assert "3 handed in nothing: " in said
    assert ("late, time unknown" in said) == (platform == "Canvas")


@pytest.mark.parametrize("late", ["", "LATE_"])
def test_anonymous_files_of_canvas_are_collected_as_strangers(course, capsys, late):
    (course / "all.zip").write_bytes(
        pack({f"{late}anon_4fGh2_9_scores.ipynb": SCORES, "van_der_bo_7_8_my_scores.ipynb": SCORES})
    )
    said = collect(capsys, "all.zip")
    assert "all.zip: Canvas" in said and ("late, time unknown" in said) == bool(late)
    assert collected(course) == {"anon_4fGh2": ["scores.ipynb"], "7": ["my_scores.ipynb"]}
    assert "anon_4fGh2 is not in the gradebook" in said


def test_odd_files_are_used_or_listed_and_one_broken_zip_is_one_students(course, capsys):
    names = {
        "Ada Okafor": ("homework.zip", pack({"scores.ipynb": SCORES})[:-40]),
        "Bora Yılmaz": ("scores.ipynb.txt", SCORES),
        "철 박": ("deep/er/Scores.IPYNB", SCORES),
        "Zed Zero": ("scores.pdf", b"%PDF-1.5"),
    }
    nested = pack({"all.zip": pack({"__MACOSX/._scores.ipynb": b"x", "scores.ipynb": SCORES})})
    files = {
        f"{name}_{60 + place}_assignsubmission_file_/{path}": page
        for place, (name, (path, page)) in enumerate(names.items())
    }
    files["Minji Kim_70_assignsubmission_file_/two.zip"] = nested
    files["Minji Kim_70_assignsubmission_file_/helpers.py"] = b"x = 1\n"
    files["Minji Kim_70_assignsubmission_onlinetext_/onlinetext.html"] = b"<p>Hello</p>"
    files["readme.txt"] = b"?"
    (course / "all.zip").write_bytes(pack(files))
    said = collect(capsys, "all.zip")
    found = collected(course)
    assert found["ada"] == ["homework.zip"]
    assert "homework.zip is damaged or was cut off while it was uploaded." in said
    assert "scores (scores.ipynb.txt)" in said and "scores (Scores.IPYNB)" in said
    assert "Kept beside the notebooks: scores.pdf." in said
    assert "all.zip, readme.txt belongs to nobody" in said
    # Two students have this name, so that nobody is taken for the other.
    assert found["Minji Kim"] == ["helpers.py", "onlinetext.html", "two/all/scores.ipynb"]
    assert "Minji Kim is not in the gradebook; the name fits kim1 and kim2" in said


TEAMS = {
    "Team A_503_assignsubmission_file_/scores.ipynb": SCORES,
    "Default group_assignsubmission_file_/scores.ipynb": SCORES,
    "Team B_504_assignsubmission_file_/scores.ipynb": SCORES,
}


@pytest.mark.parametrize("between", ["_file_/", "_file/", "_file_"])
def test_a_groups_folder_goes_to_its_members(course, capsys, between):
    (course / "moodle.zip").write_bytes(
        pack({name.replace("_file_/", between): page for name, page in TEAMS.items()})
    )
    (course / "worksheet.csv").write_text(
        "Identifier,Full name,Email address,Group,Grade,Last modified (submission)\n"
        # A participant may have the number of a group.
        'Participant 503,Ada Okafor,ada@example.org,,,"Friday, 20 November 2026, 6:30 PM"\n'
        "Participant 8,Bora Yılmaz,bora@example.org,team a,,-\n"
        "Participant 9,Minji Kim,minji@example.org,Team A,,-\n",
        encoding="utf-8",
    )
    said = collect(capsys, "moodle.zip", "worksheet.csv")
    assert set(collected(course)) == {"ada", "bora", "kim2", "Team B"}
    assert time_of(course, "ada") == "2026-11-20 18:30:00 UTC"
    assert said.count("Handed in by the group Team A.") == 2
    assert "Handed in by the group Default group." in said
    assert "Team B is not in the gradebook" in said
    with Gradebook(f"sqlite:///{course}/gradebook.db", "attention") as gradebook:
        known = lms_records.read_ids(gradebook.db.connection(), ASSIGNMENT)
        groups = lms_records.read_groups(gradebook.db.connection(), ASSIGNMENT)
    assert known == {"ada": ("503",), "bora": ("8",), "kim2": ("9",), "Team B": ("504",)}
    # Moodle's default group is that of everybody who is in none; here only Ada.
    assert groups == {"ada": "", "bora": "Team A", "kim2": "Team A", "Team B": ""}


def test_without_a_list_of_groups_a_groups_folder_says_what_is_missing(course, capsys):
    (course / "moodle.zip").write_bytes(pack(TEAMS))
    said = collect(capsys, "moodle.zip")
    assert set(collected(course)) == {"Team A", "Team B", "Default group"}
    assert "with a column Group, to say who is in it" in " ".join(said.split())


def test_canvas_gives_a_groups_submission_once(course, capsys):
    (course / "canvas.zip").write_bytes(
        pack({"okaforada_11_900_scores.ipynb": SCORES, "kimminji_14_901_scores.ipynb": SCORES})
    )
    (course / "groups.csv").write_text(
        "name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id\n"
        '"Okafor, Ada",11,,ada,A,Red,5,\n"Yılmaz, Bora",12,,bora,A,Red,5,\n'
        '"Kim, Minji",14,,kim2,A,,,\n',
        encoding="utf-8",
    )
    said = collect(capsys, "canvas.zip", "groups.csv")
    assert set(collected(course)) == {"ada", "bora", "kim2"}
    assert said.count("Handed in by the group Red.") == 2
    with Gradebook(f"sqlite:///{course}/gradebook.db", "attention") as gradebook:
        connection = gradebook.db.connection()
        groups = lms_records.read_groups(connection, ASSIGNMENT)
        returns = {row.student: row.name for row in read_rows(connection, UPLOAD_NAMES)}
    assert groups == {"ada": "Red", "bora": "Red", "kim2": ""}
    # The feedback goes back once, through the member under whose name the files came.
    assert returns == {
        "ada": "okaforada_11_900_scores.ipynb", "kim2": "kimminji_14_901_scores.ipynb",
    }  # fmt: skip


def test_a_group_in_canvas_is_known_by_logins_and_from_the_time_before(course, capsys):
    (course / "canvas.zip").write_bytes(pack({"okaforada_11_900_scores.ipynb": SCORES}))
    (course / "groups.csv").write_text("login_id,group_name\nada,Red\nbora,Red\n")
    said = collect(capsys, "canvas.zip", "groups.csv")
    assert set(collected(course)) == {"ada", "bora"}
    assert said.count("Handed in by the group Red.") == 2
    second = {"okaforada_11_902_scores-1.ipynb": TRANSLATOR}
    (course / "second.zip").write_bytes(pack(second))
    said = collect(capsys, "second.zip")
    assert said.count("Handed in by the group Red.") == 2 and "2 replaced" in said
    # Who stands in the archive himself does not get what another member handed in.
    (course / "third.zip").write_bytes(pack({"bora_12_903_scores.ipynb": SCORES} | second))
    assert "1 replaced, 1 unchanged" in collect(capsys, "third.zip")
    there = (course / "submitted" / who / ASSIGNMENT for who in ("ada", "bora"))
    assert [(f / "scores.ipynb").read_bytes() for f in there] == [TRANSLATOR, SCORES]


def test_a_students_number_is_not_taken_for_a_participants(course, capsys):
    name = "Red_504_assignsubmission_file_/scores.ipynb"
    (course / "moodle.zip").write_bytes(pack({name: SCORES}))
    (course / "groups.csv").write_text("id,group\n123,Red\nada,Red\n", encoding="utf-8")
    collect(capsys, "moodle.zip", "groups.csv")
    assert set(collected(course)) == {"123", "ada"}
    with Gradebook(f"sqlite:///{course}/gradebook.db", "attention") as gradebook:
        connection = gradebook.db.connection()
        assert lms_records.read_ids(connection, ASSIGNMENT) == {}
        assert lms_records.read_upload_names(connection, ASSIGNMENT) == {}


def test_a_participants_number_is_not_taken_for_a_users(course, capsys):
    name = "Participant_9_assignsubmission_file_/scores.ipynb"
    (course / "moodle.zip").write_bytes(pack({name: SCORES}))
    (course / "worksheet.csv").write_text(
        "Identifier,Full name,Email address\nParticipant 9,Bora Yılmaz,bora@example.org\n",
        encoding="utf-8",
    )
    (course / "users.csv").write_text("user id,email\n9,ada@example.org\n", encoding="utf-8")
    collect(capsys, "moodle.zip", "worksheet.csv", "users.csv")
    assert set(collected(course)) == {"bora"}


def test_names_that_are_no_text_are_recorded(course, capsys):
    there = course / "canvas"
    there.mkdir()
    (there / "okaforada_11_900_b\udce9ta.ipynb").write_bytes(SCORES)
    collect(capsys, "canvas")
    with Gradebook(f"sqlite:///{course}/gradebook.db", "attention") as gradebook:
        names = lms_records.read_upload_names(gradebook.db.connection(), ASSIGNMENT)
    assert list(names["ada"][1]) == ["okaforada_11_900_b\\udce9ta.ipynb"]


def _exchange(when, page):
    return {f"ada+{ASSIGNMENT}+2026-11-{when} 12:00:00 UTC/scores.ipynb": page}


@pytest.mark.parametrize("attempts", ["last", "best"])
def test_a_submission_that_is_collected_again_is_kept_once(course, capsys, attempts):
    with (course / "nbgrader_config.py").open("a") as settings:
        settings.write(f"\nc.Grading.attempts = {attempts!r}\n")
    first, second = _exchange(18, SCORES), _exchange(19, TRANSLATOR)
    (course / "both.zip").write_bytes(pack(first | second))
    collect(capsys, "both.zip")
    assert time_of(course, "ada") == "2026-11-19 12:00:00 UTC"
    (course / "first.zip").write_bytes(pack(first))
    said = collect(capsys, "first.zip")
    expected = {"last": "1 older", "best": "1 unchanged"}
    assert expected[attempts] in said
    assert ("Another one of this student counts" in said) == (attempts == "best")
    earlier = course / "earlier_submissions" / "ada" / ASSIGNMENT
    assert len(list(earlier.iterdir())) == 1
    # Grading has put the first one in place, as the best; then the instructor counts the last.
    there = course / "submitted" / "ada" / ASSIGNMENT
    (kept,) = earlier.iterdir()
    there.rename(course / "second")
    kept.rename(there)
    (course / "second").rename(earlier / "second")
    said = collect(capsys, "both.zip")
    if attempts == "best":
        assert "1 unchanged" in said and time_of(course, "ada") == "2026-11-18 12:00:00 UTC"
    else:
        assert "1 replaced" in said and time_of(course, "ada") == "2026-11-19 12:00:00 UTC"
    assert len(list(earlier.iterdir())) == 1


def test_groups_in_plain_folders(course, capsys):
    (course / "all.zip").write_bytes(pack({"red/scores.ipynb": SCORES, "ada/scores.ipynb": SCORES}))
    (course / "groups.csv").write_text("id,group\nbora,Red\nchul,Red\n", encoding="utf-8")
    collect(capsys, "all.zip", "groups.csv")
    assert set(collected(course)) == {"ada", "bora", "chul"}


def test_a_worksheet_tells_who_is_who_and_when(course, capsys):
    (course / "moodle.zip").write_bytes(
        pack(
            {
                "Minji Kim_70_assignsubmission_file_/scores.ipynb": SCORES,
                "Participant_71_assignsubmission_file_/scores.ipynb": SCORES,
            }
        )
    )
    (course / "worksheet.csv").write_text(
        "\ufeffIdentifier,Full name,Email address,Status,Grade,Last modified (submission)\n"
        "Participant 70,Minji Kim,minji@example.org,Submitted,,"
        '"Friday, 20 November 2026, 6:30 PM"\n'
        "Participant 71,,zed@example.org,Submitted,,Freitag\n",
        encoding="utf-8",
    )
    with open(course / "nbgrader_config.py", "a") as page:
        page.write("\nc.Exchange.timezone = 'Asia/Seoul'\n")
    said = collect(capsys, "moodle.zip", "worksheet.csv")
    assert set(collected(course)) == {"kim2", "123"}
    assert time_of(course, "kim2") == "2026-11-20 09:30:00 UTC"
    assert "2026-11-20 18:30 Asia/Seoul" in said
    assert "'Freitag' in the list is not understood" in said
    # From now on the numbers are known, and the list is not needed.
    again = collect(capsys, "moodle.zip")
    assert "2 students: 2 unchanged" in again and "not in the gradebook" not in again
    with Gradebook(f"sqlite:///{course}/gradebook.db", "attention") as gradebook:
        known = lms_records.read_ids(gradebook.db.connection(), ASSIGNMENT)
    assert known == {"kim2": ("70",), "123": ("71",)}


def test_a_time_stamp_without_a_zone_is_in_the_courses_zone(course):
    folder = course / "submitted" / "ada" / ASSIGNMENT
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text("2026-11-20 18:30")
    assert Course(course).submission_times(ASSIGNMENT)["ada"] == datetime(2026, 11, 20, 18, 30)
    with open(course / "nbgrader_config.py", "a") as page:
        page.write("\nc.Exchange.timezone = 'Asia/Seoul'\n")
    assert Course(course).submission_times(ASSIGNMENT)["ada"] == datetime(2026, 11, 20, 9, 30)


def inbound(folder: Path, when: str, *names: str) -> str:
    page = {"scores": SCORES, "translator": TRANSLATOR}
    target = folder / when.replace(":", "").replace(" ", "")
    for name in names:
        path = target / f"ada+bahdanau+2026-11-{when} UTC" / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(page[name])
    return target.name


def test_the_last_in_time_counts_and_nothing_is_lost(course, capsys):
    both = inbound(course, "20 18:00:00", "scores", "translator")
    collect(capsys, both)
    one = inbound(course, "21 18:00:00", "scores")
    said = collect(capsys, one)
    assert "1 replaced" in said and "The one before had a translator; this one has none." in said
    kept = course / "earlier_submissions/ada/bahdanau/2026-11-20_18-00-00"
    assert sorted(path.name for path in kept.iterdir()) == [
        "scores.ipynb", "timestamp.txt", "translator.ipynb",
    ]  # fmt: skip
    older = inbound(course, "19 18:00:00", "translator")
    assert "1 older" in collect(capsys, older)
    assert collected(course)["ada"] == ["scores.ipynb", "timestamp.txt"]
    assert time_of(course, "ada") == "2026-11-21 18:00:00 UTC"
    assert len(list((course / "earlier_submissions/ada/bahdanau").iterdir())) == 2
    assert "1 unchanged" in collect(capsys, one)
    # An archive that is collected again does not make copies of what was kept.
    assert "1 older" in collect(capsys, both) and "1 older" in collect(capsys, older)
    assert len(list((course / "earlier_submissions/ada/bahdanau").iterdir())) == 2


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("00123", "00123 is not in the gradebook; likely 123"),
        ("bor", "bor is not in the gradebook"),
        ("boraa", "boraa is not in the gradebook; likely bora"),
    ],
)
def test_a_stranger_is_named_with_the_likely_owner(course, capsys, folder, says):
    (course / "all.zip").write_bytes(pack({f"x/{folder}/scores.ipynb": SCORES}))
    assert says in collect(capsys, "all.zip")
    assert folder in collected(course)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_case_and_unicode_form_do_not_make_another_student(course, capsys, form):
    (course / "more.csv").write_text("id,last_name\nJosé,Núñez\nEve,Lee\n", encoding="utf-8")
    assert main(["roster", "more.csv"]) == 0
    name = unicodedata.normalize(form, "JOSÉ")
    (course / "all.zip").write_bytes(
        pack({f"{name}/scores.ipynb": SCORES, "eve/scores.ipynb": SCORES})
    )
    assert "not in the gradebook" not in collect(capsys, "all.zip")
    assert set(collected(course)) == {"José", "Eve"}


def test_an_archive_that_cannot_be_read_stops_nothing(course, capsys):
    (course / "good.zip").write_bytes(pack({"ada/scores.ipynb": SCORES}))
    (course / "bad.zip").write_bytes(b"PK\x03\x04 and no more")
    (course / "odd.rar").write_bytes(b"Rar!")
    said = collect(capsys, "bad.zip", "odd.rar", "good.zip")
    assert "bad.zip is damaged or was cut off while it was uploaded" in said
    assert "odd.rar is an archive of a kind that only other programs unpack" in said
    assert set(collected(course)) == {"ada"}
    assert main(["collect", ASSIGNMENT, "none.zip"]) == 2
    assert "There is no file none.zip." in capsys.readouterr().err


def test_names_in_an_archive_cannot_lead_out_of_the_folder(course, capsys):
    (course / "all.zip").write_bytes(
        pack({"ada/../../../evil.py": b"1", "/ada/scores.ipynb": SCORES, "ada\\b.py": b"2"})
    )
    collect(capsys, "all.zip")
    assert not (course.parent / "evil.py").exists() and not (course / "evil.py").exists()
    assert collected(course)["ada"] == ["b.py", "evil.py", "scores.ipynb"]


def test_a_roster_changes_and_keeps_students(course, capsys):
    (course / "new.csv").write_text(
        "First name,Last name,Email address\n"
        "Ada,Okafor-Ng,ADA@example.org\nNia,Ray,nia@example.org\n"
    )
    capsys.readouterr()
    assert main(["roster", "new.csv"]) == 0
    said = capsys.readouterr().out
    assert "1 added, 1 changed, 0 as before" in said and "added: nia" in said
    assert "5 in the gradebook are not in this list, and were kept" in said
    (course / "twice.csv").write_text("id,last_name\nx,One\nx,Two\n")
    assert main(["roster", "twice.csv"]) == 2
    assert "two students with the id 'x', One and Two" in capsys.readouterr().err
