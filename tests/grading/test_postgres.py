"""Tests of a gradebook in PostgreSQL, set by nbgrader's db_url, on the test's own server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.instructor.grading import gradebook_results
from tests.conftest import copy_course, needs_bubblewrap
from tests.grading.test_assignment_run import ASSIGNMENT, RIGHT, WRONG, grade, hand_in
from tests.grading.test_worker_pool import assert_whole, forget_a_part


def _programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    on_path = shutil.which("pg_ctl")
    return found[-1] if found else Path(on_path).parent if on_path else None


PROGRAMS = _programs()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAMS is None, reason="no PostgreSQL server (apt install postgresql)"),
    needs_bubblewrap,
]
pytest.importorskip("psycopg", reason="no driver for PostgreSQL (pip install 'psycopg[binary]')")


def as_server(*command: str) -> None:
    """Run a command as a user other than root, which the server refuses."""
    if os.getuid() == 0:
        command = ("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", *command)
    subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, cwd="/", env={"PATH": os.defpath}
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Yield the address of an empty database."""
    assert PROGRAMS is not None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # Not in the test's folder, which only root may enter.
    folder = Path(subprocess.check_output(["mktemp", "-d", "/tmp/pg-XXXXXX"], text=True).strip())
    os.chmod(folder, 0o777)
    data = folder / "data"
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder}"
    try:
        as_server(
            f"{PROGRAMS}/initdb",
            "-D",
            str(data),
            "-U",
            "course",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
        )
        log = str(folder / "log")
        as_server(f"{PROGRAMS}/pg_ctl", "-D", str(data), "-w", "-l", log, "-o", options, "start")
        try:
            yield f"postgresql+psycopg://course@127.0.0.1:{port}/postgres"
        finally:
            as_server(f"{PROGRAMS}/pg_ctl", "-D", str(data), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_a_class_in_postgresql(server, tmp_path):
    copy_course(tmp_path)
    with open(tmp_path / "nbgrader_config.py", "a", encoding="utf-8") as page:
        page.write(f"\nc.CourseDirectory.db_url = {server!r}\n")
    hand_in(tmp_path, "ada", RIGHT)
    hand_in(tmp_path, "bora", WRONG)
    assert "bahdanau: 2 graded, 0 unchanged" in grade(tmp_path)
    assert not (tmp_path / "gradebook.db").exists()
    with Gradebook(server, "attention") as gradebook:
        found = {s.student.id: s.score for s in gradebook.assignment_submissions(ASSIGNMENT)}
    assert found == {"ada": 4.0, "bora": 0.0}
    assert len(gradebook_results.read(server, ASSIGNMENT)) == 4
    assert "bahdanau: 0 graded, 2 unchanged" in grade(tmp_path)
    hand_in(tmp_path, "bora", RIGHT)
    assert "bahdanau: 1 graded, 1 unchanged" in grade(tmp_path)
    forget_a_part(server)
    assert "bahdanau: 2 graded, 0 unchanged" in grade(tmp_path, "--force")
    assert_whole(server)
    # nbgrader's own command works on the same gradebook.
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "export", "--to", "grades.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "grades.csv").read_text("utf-8").splitlines()
    assert sorted(row.split(",")[3] for row in rows[1:]) == ["ada", "bora"]
    assert [float(row.split(",")[9]) for row in rows[1:]] == [4.0, 4.0]
