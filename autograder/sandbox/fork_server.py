"""Runs the fork server inside the sandbox, which forks a preloaded process for each submission.

The server never runs student code and never computes with torch, so that each fork is a fresh
process that gets the imports for free. For each submission it forks a supervisor. The supervisor
forks the process that runs the student's code in its own isolation, kills it if it takes too long,
and reports how it ended.

Messages to the server are single bytes that come with file descriptors:
    M  modules to import and the seccomp filter, as a frame readable from the descriptor
    C  the module of the exercises, and the cases, as a frame readable from the descriptor
    J  a submission: a channel for its frames, and a leash. The supervisor writes to the leash how
       the process ended; when the grader closes its end of the leash, the process is killed.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from dataclasses import dataclass
from typing import Any

WORK = "/tmp/work"


@dataclass
class _Prepared:
    """Everything that the server prepares for the process of every submission.

    Attributes:
        shell: shell that runs the cells.
        tests: exercises and cases on which answers are tried.
        walled: whether processes are isolated; False without a sandbox.
        own_namespaces: whether each submission gets its own namespaces.
        allowed: the seccomp filter.
    """

    shell: Any
    tests: Any
    walled: bool
    own_namespaces: bool
    allowed: bytes = b""


def main(control: int, isolate_submissions: bool) -> None:
    """Serve until the grader closes the connection.

    Args:
        control: descriptor of a connected Unix socket.
        isolate_submissions: whether to isolate each submission; False without a sandbox.
    """
    from autograder.sandbox import cell_runner, framing, serialization, worker

    line = socket.socket(fileno=control)
    made = cell_runner.create_shell()
    worker.reset_process_state()
    # Modules that answers often import, and modules that torch imports late.
    _import("torch.optim", "torch._dynamo", "torch.nn.functional", "numpy", "tqdm.auto")
    own_namespaces = isolate_submissions and _can_separate()
    line.sendall(b"+" if own_namespaces else b"-")
    prepared = _Prepared(made, worker.ExerciseCases(), isolate_submissions, own_namespaces)
    while True:
        message, descriptors, _, _ = socket.recv_fds(line, 1, 2)
        if not message:
            return
        if message == b"J":
            _fork_supervisor(descriptors, line, prepared)
            continue
        with socket.socket(fileno=descriptors[0]) as given:
            frame = framing.Channel(given).receive()
            assert frame is not None
            header, tensors = frame
            if message == b"M":
                _import(*header["modules"])
                prepared.allowed = bytes(tensors["filter"].tolist()) if isolate_submissions else b""
            else:
                prepared.tests.cases = serialization.deserialize_cases(header["cases"], tensors)
                if header["exercises"]:
                    module = importlib.import_module(header["exercises"])
                    prepared.tests.exercises = module.EXERCISES
        line.sendall(b".")


def _import(*names: str) -> None:
    for name in names:
        with contextlib.suppress(Exception):  # a cell that needs it will raise the error
            importlib.import_module(name)


def _can_separate() -> bool:
    """Return whether a submission can have its own namespaces; a child process tries it."""
    from autograder.sandbox import isolation

    child = os.fork()
    if child == 0:
        fine = False
        with contextlib.suppress(OSError):
            if isolation.unshare_namespaces():
                grandchild = os.fork()
                if grandchild == 0:
                    try:
                        isolation.mount_private_filesystems(isolation.Limits())
                    except OSError:
                        os._exit(1)
                    os._exit(0)
                fine = os.waitpid(grandchild, 0)[1] == 0
        os._exit(0 if fine else 1)
    return os.waitpid(child, 0)[1] == 0


def _fork_supervisor(descriptors: list[int], line: socket.socket, prepared: _Prepared) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the server never waits for supervisors
    if os.fork():
        for descriptor in descriptors:
            os.close(descriptor)
        return
    try:
        line.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _supervise(descriptors[0], descriptors[1], prepared)
    finally:
        os._exit(0)


def _supervise(frames: int, leash: int, prepared: _Prepared) -> None:
    """Fork the process that runs the student's code, and make sure that it ends."""
    from autograder.sandbox import framing, isolation

    channel = framing.Channel(socket.socket(fileno=frames))
    job = channel.receive()
    assert job is not None
    limits = isolation.Limits(**job[0]["limits"])
    if prepared.own_namespaces and not isolation.unshare_namespaces():
        os.write(leash, json.dumps({"signal": 0, "exit": 70, "late": False}).encode())
        return
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(leash)
        os.setsid()  # kill(0, ...) then reaches its own process group, not the supervisor's
        _run_submission(channel, job, limits, prepared)
    os.close(frames)
    late, status, used = _wait(child, leash, started + job[0]["seconds"])
    end = {
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        "exit": os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0,
        "late": late,
        "cpu": used.ru_utime + used.ru_stime,
        "memory": used.ru_maxrss * 1024,
    }
    with contextlib.suppress(OSError):  # the grader may have closed the leash
        os.write(leash, json.dumps(end).encode())


def _wait(child: int, leash: int, until: float) -> tuple[bool, int, Any]:
    """Wait until the child ends, or kill it if it takes too long.

    Returns:
        whether it had to be killed, and its status and resource usage from `os.wait4`.
    """
    ended = os.pidfd_open(child) if hasattr(os, "pidfd_open") else None
    while True:
        left = until - time.monotonic()
        watched = [leash] if ended is None else [leash, ended]
        ready, _, _ = select.select(watched, [], [], max(0.0, left if ended else min(left, 0.01)))
        # Poll on macOS, which has no pidfd.
        over, status, used = os.wait4(child, os.WNOHANG) if ended is None else (0, 0, None)
        if over:
            return False, status, used
        late = ended not in ready and (leash in ready or left <= 0)
        if late:
            os.kill(child, signal.SIGKILL)
        if late or ended in ready:
            return late, *os.wait4(child, 0)[1:]


def _run_submission(
    channel: Any, job: tuple[dict[str, Any], dict[str, Any]], limits: Any, prepared: _Prepared
) -> None:
    """Isolate this process, run the student's code and exit; never return."""
    from autograder.sandbox import isolation, worker

    status = 71
    try:
        if prepared.walled:
            isolation.set_limits(limits)
            if prepared.own_namespaces:
                isolation.mount_private_filesystems(limits)
            isolation.drop_capabilities()
        folder = WORK if prepared.walled else job[0]["folder"]
        worker.place_files(job[0]["files"], job[1], folder)
        if prepared.walled:
            isolation.install_seccomp_filter(prepared.allowed)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        channel.send({"ready": True})
        status = 72  # from here on, a failure comes from the student's code
        worker.run_notebook(job[0], prepared.tests, prepared.shell, channel)
        status = 0
    except BaseException:
        if status == 71:
            traceback.print_exc()
    finally:
        os._exit(status)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "walled")
