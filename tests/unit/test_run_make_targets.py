"""Tests of run_make_targets: sequence, named failures, and no leftover processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools import run_make_targets

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are tied by Linux alone")

IMPATIENT = f"""
import sys
sys.path.insert(0, {str(run_make_targets.ROOT)!r})
from tools import run_make_targets
run_make_targets.GRACE = 1.0
sys.exit(run_make_targets.main(sys.argv[1:]))
"""
SLEEPER = "sleep 300 &\necho $! > sleeper\n"


@pytest.fixture
def start(tmp_path):
    """Start run_make_targets.py with a fake `make` that runs the test's script for each target."""

    def start(**targets: str) -> subprocess.Popen:
        make = tmp_path / "make"
        cases = "".join(f"{name})\n{does}\n;;\n" for name, does in targets.items())
        make.write_text(f'#!/bin/sh\ncd "{tmp_path}"\ncase $2 in\n{cases}esac\n')
        make.chmod(0o755)
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        return subprocess.Popen(
            [sys.executable, "-c", IMPATIENT, *targets],
            env=os.environ | {"PATH": path},
            stdout=subprocess.PIPE,
            text=True,
        )

    return start


def is_alive(pid: int) -> bool:
    """Return whether a process still runs and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(true, seconds: float = 60) -> None:
    """Wait until a condition holds, long enough for a busy machine."""
    begun = time.monotonic()
    while not true():
        assert time.monotonic() - begun < seconds, "nothing happened"
        time.sleep(0.05)


def test_all_targets_run_and_failures_are_named(start):
    process = start(
        first="echo 'FAILED tests/test_a.py::test_b - no'; echo '1 failed, 2 passed in 3s'; exit 2",
        second="echo '== 3 passed, 1 skipped in 4.00s =='",
        third="exit 1",
    )
    said, _ = process.communicate()
    assert process.returncode == 1
    table = said[said.index("\nfirst failed:") :]
    assert "  FAILED tests/test_a.py::test_b - no\n" in table
    assert "third failed:\n  see its output above" in table
    rows = [line.split() for line in table.splitlines()[-3:]]
    assert [(row[0], row[3]) for row in rows] == [
        ("FAILED", "first"), ("passed", "second"), ("FAILED", "third"),
    ]  # fmt: skip
    assert "1 failed, 2 passed" in table and "3 passed, 1 skipped in 4.00s\n" in table


def test_what_passes_exits_with_0(start):
    process = start(only="echo '1 passed in 0.10s'")
    assert process.communicate()[0].endswith("1 passed in 0.10s\n")
    assert process.returncode == 0


def test_what_is_left_running_is_stopped_and_named(start, tmp_path):
    process = start(untidy=SLEEPER, tidy="true")
    said, _ = process.communicate()
    assert process.returncode == 1
    assert "left running: sleep 300" in said
    assert not is_alive(int((tmp_path / "sleeper").read_text()))
    assert said.splitlines()[-1].startswith("passed")


def test_what_ends_by_itself_is_no_failure(start):
    process = start(slow="sleep 0.5 &", tidy="true")
    said, _ = process.communicate()
    assert process.returncode == 0
    assert "left running" not in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_takes_everything_along(start, tmp_path, number):
    process = start(long="setsid sleep 301 &\necho $! > sleeper\nsleep 302")
    wait_until(lambda: (tmp_path / "sleeper").is_file() and (tmp_path / "sleeper").read_text())
    sleeper = int((tmp_path / "sleeper").read_text())
    process.send_signal(number)
    process.communicate()
    assert process.returncode == 128 + number
    assert not is_alive(sleeper)


def test_a_run_whose_parent_is_killed_takes_everything_along(start, tmp_path):
    (tmp_path / "parent.py").write_text(
        "import subprocess, sys\nsubprocess.run([sys.executable, sys.argv[1], 'long'])\n"
    )
    make = start(long=SLEEPER + "sleep 302")
    make.terminate()  # only its `make` is needed
    make.communicate()
    (tmp_path / "sleeper").unlink(missing_ok=True)
    parent = subprocess.Popen(
        [sys.executable, str(tmp_path / "parent.py"), run_make_targets.__file__],
        env=os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.DEVNULL,
    )
    wait_until(lambda: (tmp_path / "sleeper").is_file() and (tmp_path / "sleeper").read_text())
    sleeper = int((tmp_path / "sleeper").read_text())
    parent.kill()
    parent.wait()
    wait_until(lambda: not is_alive(sleeper))
