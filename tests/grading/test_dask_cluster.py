"""Tests of grading on a Dask cluster: a scheduler and two workers, one of which is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from autograder.instructor.grading.dask_cluster import TaskClock, announce_task_start
from tests.conftest import copy_course, needs_bubblewrap
from tests.grading.test_assignment_run import RIGHT, WRONG, hand_in, kept, scores, start

pytestmark = [pytest.mark.slow, needs_bubblewrap]
pytest.importorskip("distributed", reason="dask is not installed (pip install distributed)")


class Cluster:
    """A scheduler and workers, each in its own process."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._environment = os.environ | {"OMP_NUM_THREADS": "1"}
        log = folder / "scheduler.log"
        self.scheduler = self._run(
            log,
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
        )
        self.address = self._wait(log, r"Scheduler at:\s+(tcp://\S+)")
        self.workers = [self.worker(name) for name in ("one", "two")]

    def worker(self, name: str) -> subprocess.Popen[bytes]:
        log = self._folder / f"{name}.log"
        started = self._run(
            log,
            "distributed.cli.dask_worker",
            self.address,
            "--name",
            name,
            "--nthreads",
            "1",
            "--no-dashboard",
            "--no-nanny",
            "--memory-limit",
            "0",
            "--local-directory",
            str(self._folder / name),
        )
        self._wait(log, r"(Registered to)")
        return started

    def _run(self, log: Path, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        with open(log, "wb") as page:
            return subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                env=self._environment,
                stdout=page,
                stderr=page,
            )

    def _wait(self, log: Path, pattern: str) -> str:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if found := re.search(pattern, log.read_text("utf-8")):
                return found[1]
            time.sleep(0.2)
        raise AssertionError(log.read_text("utf-8"))

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.close()


@pytest.fixture
def course(tmp_path):
    copy_course(tmp_path)
    return tmp_path


def test_a_class_is_graded_though_a_worker_is_killed(course, cluster):
    students = [f"s{number:02d}" for number in range(16)]
    for number, student in enumerate(students):
        hand_in(course, student, RIGHT if number % 2 else WRONG)
    run = start(course, "--scheduler", cluster.address)
    # As soon as something is graded, kill one of the workers.
    until = time.monotonic() + 200
    while time.monotonic() < until and run.poll() is None:
        if (course / "gradebook.db").exists() and len(kept(course)) >= 4:
            break
        time.sleep(0.2)
    assert run.poll() is None, run.communicate()
    cluster.workers[0].send_signal(signal.SIGKILL)
    out, error = run.communicate(timeout=300)
    assert run.returncode == 0, error
    assert "bahdanau: 16 graded, 0 unchanged" in out
    assert len(kept(course)) == 2 * len(students)
    assert scores(course) == {s: 4.0 if n % 2 else 0.0 for n, s in enumerate(students)}
    # Submissions graded by the cluster are not graded again locally.
    again = start(course)
    out, error = again.communicate(timeout=300)
    assert "bahdanau: 0 graded, 16 unchanged" in out, error


END = threading.Event()


def wait_for_the_end(name):
    announce_task_start("here")
    END.wait(60)
    return name


def test_what_waits_behind_a_slow_task_is_not_late():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as local,
        Client(local, set_as_default=False) as client,
    ):
        clock = TaskClock(client, "here")
        slow, queued = (
            client.submit(wait_for_the_end, name, pure=False) for name in ("slow", "queued")
        )
        until = time.monotonic() + 60
        while not (late := clock.find_late(0.5, client.nthreads())) and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(0.6)
        now = clock.find_late(0.5, client.nthreads())
        assert now == late == {slow.key: local.workers[0].address}
        assert clock.find_late(0.5, ["tcp://another:1"]) == {}, "it begins again elsewhere"
        assert {slow.key, queued.key} == set(next(iter(client.processing().values())))
        END.set()
        assert client.gather([slow, queued]) == ["slow", "queued"]


def test_nobody_at_the_address(course):
    hand_in(course, "ada", {})
    run = start(course, "--scheduler", "tcp://127.0.0.1:9")
    _, error = run.communicate(timeout=120)
    assert run.returncode == 2
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in error
    assert "Traceback" not in error
