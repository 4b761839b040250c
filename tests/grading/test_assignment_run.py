"""Tests of `autograder grade`: what is graded when, and that nothing is lost."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from autograder.exercises import EXERCISES
from autograder.instructor.grading import gradebook_results
from tests.conftest import ROOT, copy_course, needs_bubblewrap

pytestmark = [pytest.mark.slow, needs_bubblewrap]
ASSIGNMENT = "bahdanau"
RIGHT = {
    "context_vector": (
        "def context_vector(weights, values):\n    return (weights.unsqueeze(-1) * values).sum(1)\n"
    ),
    "additive_score": (
        "def additive_score(query, keys, W, U, v):\n"
        "    return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v\n"
    ),
}
WRONG = {"context_vector": "def context_vector(weights, values):\n    return values.sum(1)\n"}


def hand_in(folder: Path, student: str, written: dict[str, str], beside: str = "") -> Path:
    """Submit a student's notebooks to a course; return their folder."""
    target = folder / "submitted" / student / ASSIGNMENT
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "exercises" / ASSIGNMENT).glob("*.ipynb")):
        page = nbformat.read(path, 4)
        for cell in page.cells:
            cell.source = written.get(cell.id, cell.source)
        nbformat.write(page, target / path.name)
    if beside:
        (target / "timestamp.txt").write_text(beside)
    return target


def grade(folder: Path, *more: str, environment: dict[str, str] | None = None) -> str:
    """Run the command like an instructor; return its output."""
    done = start(folder, *more, environment=environment)
    out, err = done.communicate(timeout=300)
    assert done.returncode == 0, err
    return out


def start(
    folder: Path, *more: str, environment: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "autograder", "grade", ASSIGNMENT, *more],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"} | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def kept(folder: Path) -> dict[tuple[str, str], gradebook_results.NotebookResult]:
    url = f"sqlite:///{folder / 'gradebook.db'}"
    return {(r.student, r.notebook): r for r in gradebook_results.read(url, ASSIGNMENT)}


def points(folder: Path, student: str) -> dict[str, float]:
    return {
        e.exercise: e.points
        for (who, _), r in kept(folder).items()
        if who == student
        for e in r.exercises
    }


def scores(folder: Path) -> dict[str, float]:
    """Return the scores in nbgrader's own tables, by student."""
    with sqlite3.connect(folder / "gradebook.db") as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        rows = database.execute(
            "select s.student_id, sum(g.auto_score) from submitted_assignment s "
            "join submitted_notebook n on n.assignment_id = s.id "
            "join grade g on g.notebook_id = n.id group by s.student_id"
        )
        return dict(rows.fetchall())


@pytest.fixture
def course(tmp_path):
    copy_course(tmp_path)
    return tmp_path


def test_a_class_from_nothing_to_points_and_again(course):
    hand_in(course, "ada", RIGHT)
    hand_in(course, "bora", WRONG)
    hand_in(course, "chul", {})
    said = grade(course)
    assert "bahdanau: 3 graded, 0 unchanged" in said
    assert points(course, "ada")["context_vector"] == 1.0
    assert points(course, "ada")["additive_score"] == 3.0
    assert scores(course) == {"ada": 4.0, "bora": 0.0, "chul": 0.0}
    first = kept(course)
    assert {r.exercises[2].outcome for (s, n), r in first.items() if n == "scores"} == {
        "right",
        "wrong",
        "unwritten",
    }

    # Nothing has changed, so nothing is graded.
    shutil.rmtree(course / "feedback" / "ada")  # as if the run had been interrupted earlier
    assert "bahdanau: 0 graded, 3 unchanged" in grade(course)
    assert (course / "feedback" / "ada" / ASSIGNMENT / "scores.html").exists()
    assert kept(course) == first

    # One notebook of one student has changed, and only that one is graded.
    hand_in(course, "bora", RIGHT)
    assert "bahdanau: 1 graded, 2 unchanged" in grade(course)
    now = kept(course)
    assert [key for key in now if now[key] != first[key]] == [("bora", "scores")]
    assert scores(course)["bora"] == 4.0

    # On demand, everything or one student is graded again.
    assert "bahdanau: 1 graded, 0 unchanged" in grade(course, "--force", "--student", "ada")
    assert "bahdanau: 3 graded, 0 unchanged" in grade(course, "--force")
    assert scores(course) == {"ada": 4.0, "bora": 4.0, "chul": 0.0}

    # A lost page is recreated.
    (course / "autograded/chul/bahdanau/translator.ipynb").unlink()
    assert "bahdanau: 1 graded, 2 unchanged" in grade(course)
    assert (course / "autograded/chul/bahdanau/translator.ipynb").exists()


CORRECTED = """
import dataclasses
import autograder.exercises as exercises
from autograder.exercises.bahdanau import scores as bahdanau

def corrected(draw):
    return bahdanau._context_cases(draw)[:-1]

exercise = exercises.EXERCISES["context_vector"]
exercises.EXERCISES["context_vector"] = dataclasses.replace(exercise, cases=corrected)
"""


def test_correcting_one_exercises_tests_grades_that_exercise_alone(course, tmp_path_factory):
    hand_in(course, "ada", RIGHT)
    grade(course)
    before = kept(course)["ada", "scores"]
    page = course / "autograded/ada/bahdanau/scores.ipynb"
    cards = {c.id: c.get("outputs") for c in nbformat.read(page, 4).cells if c.id[:5] == "test-"}
    # A corrected declaration, in a file that Python runs at startup.
    folder = tmp_path_factory.mktemp("corrected")
    (folder / "sitecustomize.py").write_text(CORRECTED)
    said = grade(course, environment={"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"})
    assert "bahdanau: 1 graded, 0 unchanged" in said
    after = kept(course)["ada", "scores"]
    changed = [
        new.exercise
        for old, new in zip(before.exercises, after.exercises, strict=True)
        if old != new
    ]
    assert changed == ["context_vector"]
    now = {c.id: c.get("outputs") for c in nbformat.read(page, 4).cells if c.id[:5] == "test-"}
    assert [name for name in cards if cards[name] != now[name]] == ["test-context_vector"]
    assert scores(course) == {"ada": 4.0}


def test_why_a_person_should_look_at_an_exercise_outlives_another_exercises_grading():
    def result(review, **reviews):
        exercises = tuple(
            gradebook_results.ExerciseResult(
                name, name, 1.0, 1.0, "right", "", review=reviews.get(name, "")
            )
            for name in ("one", "two")
        )
        return gradebook_results.NotebookResult("ada", "a", "n", "1", exercises, review=review)

    old = result("one: look.", one="one: look.")
    for only, review in (({"two"}, "two: look. one: look."), ({"one", "two"}, "two: look.")):
        now = gradebook_results.merge(old, result("two: look.", two="two: look."), only)
        assert now.review == review
        assert gradebook_results.NotebookResult.from_json(now.as_json()) == now


def test_one_exercise_on_demand(course):
    hand_in(course, "ada", RIGHT)
    grade(course)
    before = kept(course)
    assert "bahdanau: 1 graded" in grade(course, "--exercise", "additive_score")
    after = kept(course)
    assert before["ada", "translator"] == after["ada", "translator"]
    assert [e.points for e in after["ada", "scores"].exercises] == [
        e.points for e in before["ada", "scores"].exercises
    ]


def test_what_a_person_gave_is_kept(course):
    hand_in(course, "ada", WRONG)
    grade(course)
    with sqlite3.connect(course / "gradebook.db") as database:
        database.execute("update grade set manual_score = 0.5, extra_credit = 0.25")
    hand_in(course, "ada", RIGHT)
    grade(course)
    with sqlite3.connect(course / "gradebook.db") as database:
        rows = database.execute(
            "select manual_score, extra_credit, needs_manual_grade from grade g join base_cell c "
            "on c.id = g.cell_id where c.name = 'test-context_vector'"
        ).fetchall()
    assert rows == [(0.5, 0.25, 1)]


def test_the_lists_of_students_are_compared(course):
    (course / "roster.csv").write_text("id\nada\n0123\neve\n")
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "roster", "roster.csv"], cwd=course, check=True
    )
    assert done.returncode == 0
    for student in ("ada", "Eve", "123", "zed"):
        hand_in(course, student, {})
    said = grade(course, "--no-feedback")
    assert "3 not in the gradebook, and now added: 123 (likely 0123), Eve (likely eve), zed" in said
    assert "2 handed in nothing: 0123, eve" in said
    assert "now added" not in grade(course, "--no-feedback")


def test_a_student_who_was_removed_and_comes_back_is_graded_again(course):
    hand_in(course, "ada", RIGHT)
    grade(course)
    with sqlite3.connect(course / "gradebook.db") as database:
        for table in ("submitted_assignment", "student"):
            database.execute(f"delete from {table}")
    assert "bahdanau: 1 graded, 0 unchanged" in grade(course)
    assert scores(course) == {"ada": 4.0}


def test_points_follow_the_exercises_that_declare_them(course):
    hand_in(course, "ada", RIGHT)
    grade(course)
    with sqlite3.connect(course / "gradebook.db") as database:
        database.execute("update grade_cells set max_score = 7")
    said = grade(course)
    assert "bahdanau: 0 graded, 1 unchanged" in said and " 4 of 20 " in said
    with sqlite3.connect(course / "gradebook.db") as database:
        assert database.execute("select sum(max_score) from grade_cells").fetchone() == (20,)


def test_a_reader_that_has_seen_enough_ends_nothing(course):
    hand_in(course, "ada", WRONG)
    grade(course)
    for command in ("show ada", "grade bahdanau"):
        done = subprocess.run(
            f"{sys.executable} -m autograder {command} | head -1",
            shell=True, cwd=course, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stdout.count("\n") == 1 and "Traceback" not in done.stderr, done.stderr


def test_a_late_submission_and_its_penalty(course):
    (course / "late.py").write_text(
        "from nbgrader.plugins import BasePlugin\n"
        "class PerDay(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
        "        return 0.5 * (total_seconds_late // 86400 + 1)\n"
    )
    with open(course / "nbgrader_config.py", "a") as page:
        page.write("\nimport sys; sys.path.insert(0, str(root))\n")
        page.write("c.AssignLatePenalties.plugin_class = 'late.PerDay'\n")
    hand_in(course, "ada", RIGHT, "2026-03-03 12:00:00 UTC")
    hand_in(course, "bora", RIGHT, "2026-02-27 12:00:00 UTC")
    hand_in(course, "chul", {}, "2026-03-03 12:00:00 UTC")
    script = (
        "from nbgrader.api import Gradebook\n"
        "with Gradebook('sqlite:///gradebook.db', 'attention') as g:\n"
        "    g.update_or_create_assignment('bahdanau', duedate='2026-03-01 12:00:00 UTC')\n"
    )
    with_alembic = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": with_alembic}
    subprocess.run([sys.executable, "-c", script], cwd=course, check=True, env=environment)
    grade(course)
    with sqlite3.connect(course / "gradebook.db") as database:
        rows = database.execute(
            "select s.student_id, b.name, n.late_submission_penalty from submitted_notebook n "
            "join submitted_assignment s on s.id = n.assignment_id "
            "join notebook b on b.id = n.notebook_id"
        ).fetchall()
    found = {(student, name): penalty for student, name, penalty in rows}
    assert found["ada", "scores"] == 1.5
    assert not found["ada", "translator"]  # never more than was earned
    assert not found["bora", "scores"]
    assert not found["chul", "scores"]
    # A corrected submission time counts, even if no notebook has changed.
    hand_in(course, "ada", RIGHT, "2026-03-01 12:00:00 UTC")
    grade(course)
    with sqlite3.connect(course / "gradebook.db") as database:
        rows = database.execute(
            "select distinct n.late_submission_penalty from submitted_notebook n "
            "join submitted_assignment s on s.id = n.assignment_id where s.student_id = 'ada'"
        ).fetchall()
    assert rows == [(None,)]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("grade", "bahdanua"), "There is no assignment 'bahdanua'.*there are: bahdanau"),
        (("grade", "bahdanau"), "Nobody has handed in bahdanau: put each student's notebooks"),
        (("grade", "bahdanau", "--student", "eve"), "eve has not handed in bahdanau"),
        (("grade", "bahdanau", "--exercise", "tanh"), "There is no exercise 'tanh'.*masked_soft"),
        (("grade", "bahdanau", "--course", "/"), "There is no nbgrader_config.py in /"),
        (("report", "nothing"), "There is no assignment 'nothing'"),
    ],
)
def test_a_mistake_gets_one_sentence(course, capsys, monkeypatch, arguments, sentence):
    import re

    from autograder.cli import main

    if "--student" in arguments or "--exercise" in arguments:
        hand_in(course, "ada", {})
    monkeypatch.chdir(course)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert re.search(sentence, error, re.S)
    assert "Traceback" not in error


def test_two_runs_do_not_write_at_the_same_time(course):
    """While one writes, another says so; how long a submission takes does not matter."""
    hand_in(course, "ada", RIGHT)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "autograder", "grade", ASSIGNMENT]
    first = start(course)
    lock = course / ".autograder.lock"
    until = time.monotonic() + 60
    while not held(lock) and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(first.pid, signal.SIGSTOP)  # it is stopped while holding the lock
    try:
        assert held(lock)
        second = subprocess.run(
            command, cwd=course, env=environment, capture_output=True, text=True, timeout=120
        )
    finally:
        os.killpg(first.pid, signal.SIGCONT)
    first.communicate(timeout=120)
    assert (first.returncode, second.returncode) == (0, 2)
    assert "Another run is grading" in second.stderr


def held(lock: Path) -> bool:
    """Return whether a process holds the lock, without taking it."""
    if not lock.exists():
        return False
    inode = f":{lock.stat().st_ino} "
    return any(" FLOCK " in line and inode in line for line in open("/proc/locks"))


def test_a_killed_run_goes_on_where_it_was(course):
    """kill -9 at any moment: nothing is lost, nothing is graded twice, the gradebook is whole."""
    students = [f"s{number:02d}" for number in range(12)]
    for number, student in enumerate(students):
        hand_in(course, student, RIGHT if number % 2 else WRONG)
    random.seed(2026)
    seen: dict[tuple[str, str], gradebook_results.NotebookResult] = {}
    for _ in range(6):
        run = start(course)
        time.sleep(random.uniform(1.0, 9.0))
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        if (course / "gradebook.db").exists():
            now = kept(course)
            # Grades from before the run are unchanged: nothing is graded twice.
            assert {key: now[key] for key in seen} == seen
            seen = now
            scores(course)
    said = grade(course)
    done = kept(course)
    assert {key: done[key] for key in seen} == seen
    assert len(done) == 2 * len(students)
    assert f"{len(students) - len({s for s, _ in seen})} graded" in said
    assert scores(course) == {s: 4.0 if n % 2 else 0.0 for n, s in enumerate(students)}
    for student in students:
        folder = course / "autograded" / student / ASSIGNMENT
        assert sorted(p.name for p in folder.iterdir()) == ["scores.ipynb", "translator.ipynb"]
        for path in folder.iterdir():
            json.loads(path.read_text())


def test_the_grader_leaves_no_process_behind_when_it_is_killed(course):
    hand_in(course, "ada", {"context_vector": "while True: pass"})
    run = start(course)
    time.sleep(8)
    before = _sandboxes()
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    until = time.monotonic() + 20
    while _sandboxes() & before and time.monotonic() < until:
        time.sleep(0.2)
    mine = {p for p in before if _session(p) == run.pid}
    assert not mine & _sandboxes()


def _sandboxes() -> set[int]:
    found = subprocess.run(
        ["pgrep", "-f", "autograder.sandbox.fork_server"], capture_output=True, text=True
    )
    return {int(line) for line in found.stdout.split()}


def _session(process: int) -> int:
    try:
        return os.getsid(process)
    except ProcessLookupError:
        return 0


def test_every_exercise_of_the_assignment_is_graded(course):
    hand_in(course, "ada", {})
    grade(course)
    assert set(points(course, "ada")) == {
        e.name for e in EXERCISES.values() if e.assignment == ASSIGNMENT
    }
