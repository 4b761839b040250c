"""Starts the bubblewrap sandbox and runs submissions in it."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from autograder.instructor.grading.bwrap_command import (
    SandboxError,
    build_command,
    build_environment,
)
from autograder.instructor.grading.notebook_run import (
    NotebookRun,
    ProcessEnd,
    TimeLimits,
    clean_outputs,
)
from autograder.sandbox import serialization
from autograder.sandbox.frame_schema import check_frame
from autograder.sandbox.framing import Channel, ProtocolError, ReceiveTimeout, to_plain_text
from autograder.sandbox.isolation import OUT_OF_MEMORY, Limits
from autograder.spec.exercise import Case

_SENT_AT_MOST = 128 << 20  # bytes that one submission may send back


class SubmissionRejectedError(Exception):
    """Raised if the sandbox works, but not for this submission."""


class Sandbox:
    """Runs each submission in its own process; several threads may use it.

    Args:
        unsafe: run submissions without a sandbox, with all permissions of the grading user.
        exercises: the module whose EXERCISES are tried.
        modules: modules to import once, before any submission.
        cases: cases to try the answers on, by name.

    Raises:
        SandboxError: if bubblewrap is missing, or cannot build a sandbox here.
    """

    def __init__(
        self,
        unsafe: bool = False,
        exercises: str = "",
        modules: Sequence[str] = (),
        cases: Mapping[str, Sequence[Case]] | None = None,
        limits: Limits | None = None,
        times: TimeLimits | None = None,
    ):
        self.unsafe = unsafe
        self.configure(exercises, modules, cases or {}, limits or Limits(), times or TimeLimits())
        self._lock = threading.Lock()
        self._control_socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the sandbox)
        self._single_use = False
        self._filter = b""
        self._begin()

    def configure(
        self,
        exercises: str,
        modules: Sequence[str],
        cases: Mapping[str, Sequence[Case]],
        limits: Limits,
        times: TimeLimits,
    ) -> None:
        """Set what the sandbox runs; it may already be starting, but must not be in use."""
        self._exercises, self._modules, self._cases = exercises, list(modules), dict(cases)
        self.limits, self.times = limits, times

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *given: object) -> None:
        self.close()

    def close(self) -> None:
        """End the sandbox and everything in it."""
        if self._control_socket is not None:
            self._control_socket.close()
            self._control_socket = None
        if self._process is not None:
            self._process.kill()  # everything in the sandbox dies with its first process
            self._process.wait()
            self._process = None

    def begin_in_fork(self) -> None:
        """Continue in a process forked from this one, which shares the running fork server."""
        if self._single_use:  # a single-use sandbox cannot be shared
            self._control_socket = self._process = None
            self._begin()

    def _begin(self) -> None:
        """Start the fork server without waiting for it."""
        ours, theirs = socket.socketpair()
        command, self._filter = build_command(theirs.fileno(), self.unsafe)
        self._process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            env=build_environment() if self.unsafe else None,
        )
        theirs.close()
        self._control_socket = ours
        self._ready = False

    def prepare(self) -> None:
        """Wait until the sandbox is up, and send it the modules and cases."""
        with self._lock:
            self._prepare()

    def _prepare(self) -> None:
        if self._ready:
            return
        self._single_use = self._receive_reply() == b"-" and not self.unsafe
        program = torch.tensor(list(self._filter), dtype=torch.uint8)
        self._send_setup(b"M", {"modules": self._modules}, {"filter": program})
        header, tensors = serialization.serialize_cases(self._cases)
        self._send_setup(b"C", {"exercises": self._exercises, "cases": header}, tensors)
        self._ready = True

    def _send_setup(
        self, what: bytes, header: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        assert self._control_socket is not None
        ours, theirs = socket.socketpair()
        with ours, theirs:
            socket.send_fds(self._control_socket, [what], [theirs.fileno()])
            theirs.close()
            Channel(ours).send(header, tensors)
        self._receive_reply()

    def _receive_reply(self) -> bytes:
        assert self._control_socket is not None
        self._control_socket.settimeout(self.times.start)
        try:
            sign = self._control_socket.recv(1)
        except TimeoutError:
            sign = b""
        if not sign:
            raise SandboxError(self._explain_start_failure())
        return sign

    def _explain_start_failure(self) -> str:
        self.close()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        last = lines[-1] if lines else "it gave no reason"
        if self.unsafe:
            return f"The process that runs submissions did not start: {last}"
        without = "--unsafe grades without a sandbox, on a machine that you can lose."
        if not last.startswith("bwrap: "):  # the sandbox is there, but not Python in it
            return (
                f"Python did not start in the sandbox: {last}. Recreate the environment "
                f"with another Python, ideally your distribution's; {without}"
            )
        return (
            f"The sandbox did not start: {last}. Linux must allow user namespaces "
            "(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_"
            f"userns=0); {without}"
        )

    def run(
        self,
        cells: Sequence[Mapping[str, Any]],
        files: Mapping[str, bytes] | None = None,
        skip: Sequence[int] = (),
    ) -> NotebookRun:
        """Run one notebook.

        Args:
            cells: cells as `autograder.sandbox.worker.run_notebook` takes them.
            files: contents of the other submitted files, by name.
            skip: indexes of cells to leave out.

        Raises:
            SandboxError: if the sandbox itself failed, not the student's code.
            SubmissionRejectedError: if the sandbox runs other submissions, but not this one.
        """
        for last in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                result = self._attempt(cells, files or {}, skip, folder, last)
            if result is not None:
                return result
            if not last:  # the sandbox may have been killed for lack of memory
                self._restart()
        why = self._explain_start_failure()
        if (cells or files) and self._runs_an_empty_notebook():
            raise SubmissionRejectedError(
                "the sandbox runs other notebooks, but not this one; look at its cells and at the "
                "files beside it"
            )
        raise SandboxError(why)

    def _restart(self) -> None:
        with self._lock:
            self.close()
            self._begin()

    def _runs_an_empty_notebook(self) -> bool:
        """Return whether a new sandbox can run an empty submission."""
        self._restart()
        try:
            self.run(())
        except SandboxError:
            return False
        return True

    def _attempt(
        self,
        cells: Sequence[Mapping[str, Any]],
        files: Mapping[str, bytes],
        skip: Sequence[int],
        folder: str,
        last: bool,
    ) -> NotebookRun | None:
        ours, theirs = socket.socketpair()
        leash, their_leash = socket.socketpair()
        with ours, leash:
            with theirs, their_leash, self._lock:
                try:
                    self._prepare()
                    assert self._control_socket is not None
                    socket.send_fds(
                        self._control_socket, [b"J"], [theirs.fileno(), their_leash.fileno()]
                    )
                except OSError:
                    return None
                if self._single_use:  # submissions cannot be isolated, so use one sandbox each
                    self._control_socket.close()
                    if self._process is not None:  # it ends with this submission
                        threading.Thread(target=self._process.wait).start()
                    self._begin()
            job = {
                "cells": list(cells),
                "skip": list(skip),
                "limits": asdict(self.limits),
                "seconds": self.times.total,
                "folder": folder,
                "files": [to_plain_text(name, 255) for name in files],
            }
            # The student chose the names, so they are not used as keys.
            contents = {
                str(number): torch.frombuffer(bytearray(text), dtype=torch.uint8)
                for number, text in enumerate(files.values())
                if text
            }
            channel = Channel(ours, _SENT_AT_MOST)
            try:
                channel.send(job, contents)
            except OSError:
                return None
            counts = {
                cell["index"]: len(self._cases[cell["cases"]]) if "exercise" in cell else None
                for cell in cells
            }
            return self._read_frames(channel, leash, counts, last)

    def _read_frames(
        self, channel: Channel, leash: socket.socket, cells: Mapping[int, int | None], last: bool
    ) -> NotebookRun | None:
        """Read frames until the process ends, hangs or breaks the protocol; return None to retry.

        `cells` is as `check_frame` takes it.
        """
        run, ready, at = NotebookRun(), False, None
        over = time.monotonic() + self.times.total
        until = over
        why = ""
        while True:
            try:
                frame = channel.receive(min(until, over))
                if frame is not None:
                    check_frame(*frame, cells)
            except ReceiveTimeout:
                why = "time"
                break
            except ProtocolError:
                why = "broken"
                break
            if frame is None:
                break
            header, tensors = frame
            if "end" in header:
                return run
            if "ready" in header:
                ready = True
            elif "at" in header:
                at = int(header["at"])  # 1.0 is also valid
                limit = self.times.cell if cells[at] is None else self.times.exercise
                until = time.monotonic() + limit
            elif "cell" in header:
                run.outputs[int(header["cell"])] = clean_outputs(header["outputs"])
            else:
                run.answers[int(header["exercise"])] = header, tensors
        status = self._end(leash, hang_up=bool(why))
        if not why and (not ready or (not status and not last)):
            return None  # the sandbox failed, not the student's code
        run.end = ProcessEnd(at, why or _why(status))
        return run

    def _end(self, leash: socket.socket, hang_up: bool) -> dict[str, Any]:
        """Return how the process ended, as its supervisor reports."""
        if hang_up:
            leash.shutdown(socket.SHUT_WR)
        leash.settimeout(10)
        with contextlib.suppress(OSError, ValueError):
            return dict(json.loads(leash.recv(4096)))
        return {}


def _why(status: Mapping[str, Any]) -> str:
    if status.get("late"):
        return "time"
    if status.get("exit") == OUT_OF_MEMORY:
        return "memory"
    return "killed" if status.get("signal") else "exit"
