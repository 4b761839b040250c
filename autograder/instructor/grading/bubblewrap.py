"""Starts the bubblewrap sandbox and runs submissions in it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import autograder
import coursekit
from autograder.instructor.sanitize import sanitize_line, sanitize_output, sanitize_png
from autograder.sandbox import serialization
from autograder.sandbox.frame_schema import check_frame
from autograder.sandbox.framing import Channel, ProtocolError, ReceiveTimeout, to_plain_text
from autograder.sandbox.isolation import OUT_OF_MEMORY, Limits
from autograder.sandbox.seccomp_filter import make_filter
from autograder.spec.exercise import Case

_BOOTSTRAP = (
    "import sys; sys.path[:0] = sys.argv[3].split(':'); "
    "from autograder.sandbox.fork_server import main; "
    "main(int(sys.argv[1]), sys.argv[2] == 'walled')"
)
# Paths inside the sandbox, chosen so that Python's messages name no path of the instructor's
# machine. (/proc/self/mountinfo does, but nothing is gained by knowing the name of a folder.)
_PYTHON, _PACKAGES, _COURSE = "/python", "/packages", "/course"
# Files in which an installation stores the path of the course folder.
_NAMES_A_PLACE = ("__editable__*", "__pycache__/__editable__*", "*.dist-info/direct_url.json")
_OUTPUTS_AT_MOST = 60  # per cell
_SENT_AT_MOST = 128 << 20  # bytes that one submission may send back


class SandboxError(Exception):
    """Raised if grading cannot go on; the message says what to do."""


class SubmissionRejectedError(Exception):
    """Raised if the sandbox works, but not with this submission."""


@dataclass(frozen=True)
class TimeLimits:
    """Limits on wall time, in seconds.

    Attributes:
        cell: limit for one cell.
        exercise: limit for all calls of one answer.
        total: limit for one run of a notebook.
        start: limit for the sandbox to start.
    """

    cell: float = 30.0
    exercise: float = 30.0
    total: float = 180.0
    start: float = 120.0


@dataclass
class ProcessEnd:
    """How a submission's process ended.

    Attributes:
        at: index of the cell that was running, or None if the process finished.
        why: "", "time", "memory", "killed", "exit" or "broken".
    """

    at: int | None = None
    why: str = ""


@dataclass
class NotebookRun:
    """Results of one run of a notebook.

    Attributes:
        outputs: outputs of the cells in nbformat's form, by index.
        answers: frame with what was tried, and its tensors, by index of the graded cell.
        end: how the process ended.
    """

    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    answers: dict[int, tuple[dict[str, Any], dict[str, Tensor]]] = field(default_factory=dict)
    end: ProcessEnd = field(default_factory=ProcessEnd)


class Sandbox:
    """Runs each submission in a process of its own; several threads may use it.

    Args:
        unsafe: run submissions without a sandbox, with all rights of the person who grades.
        exercises: the module whose EXERCISES are tried.
        modules: modules to import once, before any submission.
        cases: cases to try the answers on, by name.

    Raises:
        SandboxError: bubblewrap is missing, or cannot build a sandbox here.
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
        self.equip(exercises, modules, cases or {}, limits or Limits(), times or TimeLimits())
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the sandbox)
        self._each_alone = False
        self._filter = b""
        self._begin()

    def equip(
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
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._process is not None:
            self._process.kill()  # everything in the sandbox dies with its first process
            self._process.wait()
            self._process = None

    def begin_in_fork(self) -> None:
        """Continue in a process forked from this one, which shares the running fork server."""
        if self._each_alone:  # a sandbox for a single use cannot be shared
            self._line = self._process = None
            self._begin()

    def _begin(self) -> None:
        """Start the fork server without waiting for it."""
        ours, theirs = socket.socketpair()
        command = self._command(theirs.fileno())
        self._process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            env=_environment() if self.unsafe else None,
        )
        theirs.close()
        self._line = ours
        self._ready = False

    def prepare(self) -> None:
        """Wait until the sandbox is up, and send it the modules and cases."""
        with self._lock:
            self._prepare()

    def _prepare(self) -> None:
        if self._ready:
            return
        self._each_alone = self._answer() == b"-" and not self.unsafe
        program = torch.tensor(list(self._filter), dtype=torch.uint8)
        self._tell(b"M", {"modules": self._modules}, {"filter": program})
        header, tensors = serialization.serialize_cases(self._cases)
        self._tell(b"C", {"exercises": self._exercises, "cases": header}, tensors)
        self._ready = True

    def _tell(self, what: bytes, header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        assert self._line is not None
        ours, theirs = socket.socketpair()
        with ours, theirs:
            socket.send_fds(self._line, [what], [theirs.fileno()])
            theirs.close()
            Channel(ours).send(header, tensors)
        self._answer()

    def _answer(self) -> bytes:
        assert self._line is not None
        self._line.settimeout(self.times.start)
        try:
            sign = self._line.recv(1)
        except TimeoutError:
            sign = b""
        if not sign:
            raise SandboxError(self._why_not())
        return sign

    def _why_not(self) -> str:
        self.close()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        last = lines[-1] if lines else "it gave no reason"
        if self.unsafe:
            return f"The process that runs submissions did not start: {last}"
        return (
            f"The sandbox did not start: {last}. Linux must allow user namespaces "
            "(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_"
            "userns=0); --unsafe grades without a sandbox, on a machine that you can lose."
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
            SandboxError: the sandbox itself failed, not the student's code.
            SubmissionRejectedError: the sandbox runs other submissions, but not this one.
        """
        for last in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                result = self._attempt(cells, files or {}, skip, folder, last)
            if result is not None:
                return result
            if not last:  # it may have been killed for lack of memory
                self._begin_anew()
        why = self._why_not()
        if (cells or files) and self._runs_an_empty_notebook():
            raise SubmissionRejectedError(
                "the sandbox runs other notebooks, but not this one; look at its cells and at the "
                "files beside it"
            )
        raise SandboxError(why)

    def _begin_anew(self) -> None:
        with self._lock:
            self.close()
            self._begin()

    def _runs_an_empty_notebook(self) -> bool:
        """Tell whether a new sandbox runs an empty submission."""
        self._begin_anew()
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
                    assert self._line is not None
                    socket.send_fds(self._line, [b"J"], [theirs.fileno(), their_leash.fileno()])
                except OSError:
                    return None
                if self._each_alone:  # no walls of its own, so the next gets a new sandbox
                    self._line.close()
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
            # A student chose the names, so they are not used as keys.
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
            return self._follow(channel, leash, counts, last)

    def _follow(
        self, channel: Channel, leash: socket.socket, cells: Mapping[int, int | None], last: bool
    ) -> NotebookRun | None:
        """Read frames until the process ends, hangs or breaks the rules; return None to try again.

        `cells` is what `check_frame` takes.
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
                at = int(header["at"])  # 1.0 is valid too
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
        """Return how the process ended, as its keeper reports it."""
        if hang_up:
            leash.shutdown(socket.SHUT_WR)
        leash.settimeout(10)
        with contextlib.suppress(OSError, ValueError):
            return dict(json.loads(leash.recv(4096)))
        return {}

    def _command(self, control: int) -> list[str]:
        library = Path(autograder.__file__).parents[1]
        if not hasattr(os, "fork"):
            raise SandboxError(
                "Grading needs Linux (or macOS, with --unsafe): on Windows, use WSL."
            )
        if self.unsafe:
            paths = [library, Path(coursekit.__file__).parents[1], *_site_packages()]
            given = [str(control), "unsafe", ":".join(map(str, dict.fromkeys(paths)))]
            return [sys.executable, "-c", _BOOTSTRAP, *given]
        if not sys.platform.startswith("linux"):
            raise SandboxError(
                "Grading needs Linux, whose bubblewrap runs students' code in a sandbox: grade in "
                "WSL, a container or a virtual machine, or add --unsafe on a machine you can lose."
            )
        bubblewrap = shutil.which("bwrap")
        if bubblewrap is None:
            raise SandboxError(
                "Grading needs bubblewrap, which runs students' code in a sandbox: install it "
                "(apt install bubblewrap, dnf install bubblewrap), or add --unsafe to run their "
                "code with all your rights."
            )
        try:
            self._filter = make_filter()
        except OSError as error:
            raise SandboxError(
                "Grading needs libseccomp, which limits what students' code may ask of Linux: "
                "install it (apt install libseccomp2, dnf install libseccomp), or add --unsafe to "
                f"run their code with all your rights ({error})."
            ) from error
        given = [str(control), "walled", f"{_COURSE}:{_PACKAGES}"]
        return [bubblewrap, *_build_bwrap_arguments(), _python(), "-I", "-c", _BOOTSTRAP, *given]


def _why(status: Mapping[str, Any]) -> str:
    if status.get("late"):
        return "time"
    if status.get("exit") == OUT_OF_MEMORY:
        return "memory"
    return "killed" if status.get("signal") else "exit"


def clean_outputs(given: Any) -> list[dict[str, Any]]:
    """Return the outputs of a cell, rebuilt from plain types, with nothing unexpected in them."""
    outputs: list[dict[str, Any]] = []
    for entry in given[:_OUTPUTS_AT_MOST] if isinstance(given, list) else []:
        kind = entry.get("output_type") if isinstance(entry, dict) else None
        if kind == "stream":
            name = "stderr" if entry.get("name") == "stderr" else "stdout"
            outputs.append(
                {"output_type": "stream", "name": name, "text": sanitize_output(entry.get("text"))}
            )
        elif kind == "error":
            lines = entry.get("traceback")
            outputs.append(
                {
                    "output_type": "error",
                    "ename": sanitize_line(entry.get("ename"), 200),
                    "evalue": sanitize_output(entry.get("evalue"), 2_000),
                    "traceback": [sanitize_output(t, 2_000) for t in lines[:60]]
                    if isinstance(lines, list)
                    else [],
                }
            )
        elif kind in ("display_data", "execute_result"):
            data = entry.get("data")
            data = data if isinstance(data, dict) else {}
            shown = {"text/plain": sanitize_output(data.get("text/plain"))}
            if picture := sanitize_png(data.get("image/png")):
                shown["image/png"] = picture
            outputs.append({"output_type": "display_data", "data": shown, "metadata": {}})
    return outputs


def _site_packages() -> list[Path]:
    paths = sysconfig.get_paths()
    return list(dict.fromkeys(Path(paths[name]) for name in ("purelib", "platlib")))


def _python() -> str:
    """Return the path of the interpreter in the sandbox."""
    base = Path(sys.base_prefix)
    real = Path(os.path.realpath(sys.executable))
    if base == Path("/usr"):
        return str(real)
    inside = real.relative_to(base) if real.is_relative_to(base) else Path("bin") / real.name
    return f"{_PYTHON}/{inside}"


def _environment() -> dict[str, str]:
    """Return the environment of submissions: nothing of the instructor's, and one thread each."""
    kept = {"HOME": "/tmp", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"}
    threads = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
    return kept | {
        **{f"{name}_NUM_THREADS": "1" for name in threads},
        "NBGRADER_EXECUTION": "autograde",
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": "/tmp/matplotlib",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "TQDM_DISABLE": "0",
    }


def _build_bwrap_arguments() -> Iterator[str]:
    """Yield bubblewrap's arguments, which define what a submission can see and do."""
    yield from ("--unshare-all", "--die-with-parent", "--new-session", "--clearenv")
    yield from ("--uid", "65534", "--gid", "65534", "--hostname", "sandbox", "--cap-drop", "ALL")
    for folder in ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin"):
        path = Path(folder)
        if path.is_symlink():
            yield from ("--symlink", os.readlink(folder), folder)
        elif path.exists():
            yield from ("--ro-bind", folder, folder)
    for page in ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"):
        if Path(page).exists():
            yield from ("--ro-bind", page, page)
    if Path("/etc/fonts").exists():
        yield from ("--ro-bind", "/etc/fonts", "/etc/fonts")
    if Path("/nix/store").exists():
        yield from ("--ro-bind", "/nix/store", "/nix/store")
    base = Path(sys.base_prefix)
    if base != Path("/usr"):
        yield from ("--ro-bind", str(base), _PYTHON)
    packages = _site_packages()
    yield from ("--ro-bind", str(packages[0]), _PACKAGES)
    # The course's own packages: what students have, and nothing that contains answers.
    own = Path(autograder.__file__).parent
    yield from ("--tmpfs", _COURSE)
    yield from ("--ro-bind", str(own), f"{_COURSE}/autograder")
    yield from ("--tmpfs", f"{_COURSE}/autograder/instructor")
    yield from ("--ro-bind", str(Path(coursekit.__file__).parent), f"{_COURSE}/coursekit")
    for where in (_PACKAGES, *_list_shadows(packages)):
        for secret in ("solutions", "autograder", "coursekit"):
            yield from _cover(where, packages[0], secret)
        for pattern in _NAMES_A_PLACE:
            for path in packages[0].glob(pattern):
                yield from ("--ro-bind", "/dev/null", f"{where}/{path.relative_to(packages[0])}")
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/tmp")
    for name, value in _environment().items():
        yield from ("--setenv", name, value)
    yield from ("--remount-ro", f"{_COURSE}/autograder/instructor", "--remount-ro", _COURSE)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")


def _cover(where: str, packages: Path, name: str) -> Iterator[str]:
    """Yield the arguments that hide an installed copy of one of the course's packages."""
    if (packages / name).exists():
        yield from ("--tmpfs", f"{where}/{name}", "--remount-ro", f"{where}/{name}")


def _list_shadows(packages: Sequence[Path]) -> Iterator[str]:
    """Yield the other paths under which the sandbox shows the folder of packages."""
    base = Path(sys.base_prefix)
    for path in packages[:1]:
        if base != Path("/usr") and path.is_relative_to(base):
            yield f"{_PYTHON}/{path.relative_to(base)}"
        for shown in ("/usr", "/lib", "/lib64"):
            if path.is_relative_to(shown):
                yield str(path)
                break
