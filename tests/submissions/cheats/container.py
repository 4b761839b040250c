"""Runs commands where a cheat can do no harm: a container, and a driver in it that watches.

The driver is this file itself, run as a script with nothing but the standard library. It serves
right answers on 127.0.0.1, runs the commands one after the other, waits, and prints what was left
behind: processes, and files whose names hold a word.
"""

from __future__ import annotations

import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
PORT = 8791
WATCHED = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/home", "/root", "/mnt", "/srv", "/opt")


@dataclass(frozen=True)
class Command:
    """A command line, and how many seconds it may take."""

    arguments: tuple[str, ...]
    seconds: float
    lingers: float = 0.0  # to wait after it


@dataclass(frozen=True)
class Seen:
    """What the driver saw.

    Attributes:
        statuses: exit status of each command; None if it took too long.
        log: what the commands said.
        left: command lines of the processes that were still there.
        files: paths of files whose names hold the word.
        alive: False if the driver itself was killed.
    """

    statuses: tuple[int | None, ...] = ()
    log: str = ""
    left: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    alive: bool = True
    seconds: tuple[float, ...] = field(default=(), compare=False)


def run(
    commands: Sequence[Command],
    folder: Path,
    environment: Mapping[str, str],
    answers: str,
    word: str,
    box: Sequence[str] = (),
    memory: int | None = None,
) -> Seen:
    """Run commands in a box.

    Args:
        commands: in order.
        folder: where they run.
        environment: in which they run.
        answers: what is served on 127.0.0.1.
        word: of the files to look for.
        box: what makes the container, `bubblewrap(...)` or `namespaces()`.
        memory: bytes that a process may take; None for no limit.

    Raises:
        RuntimeError: the driver itself has failed.
    """
    job = {
        "commands": [asdict(command) for command in commands],
        "folder": str(folder),
        "environment": dict(environment),
        "answers": answers,
        "word": word,
        "memory": memory,
    }
    limit = sum(command.seconds + command.lingers for command in commands) + 30
    leash, held = os.pipe()  # when this process ends, however it ends, the driver ends too
    driver = subprocess.Popen(
        [*box, sys.executable, __file__, json.dumps(job)],
        stdin=leash,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    os.close(leash)
    try:
        out, error = driver.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        driver.kill()
        out, error = driver.communicate()
    finally:
        os.close(held)
    try:
        found = json.loads(out)
    except ValueError:
        if b"Traceback" in error:  # of the driver's own: no cheat has done that
            raise RuntimeError(error.decode("utf-8", "replace")) from None
        return Seen(alive=False, log=error.decode("utf-8", "replace")[-3000:])
    return Seen(
        tuple(found["statuses"]),
        found["log"],
        tuple(found["left"]),
        tuple(found["files"]),
        seconds=tuple(found["seconds"]),
    )


def bubblewrap(*writable: Path) -> list[str]:
    """Return what runs a command with all files read-only but those of some folders.

    Processes, network and /tmp are its own; a place for files in memory is small.
    """
    small = str(256 << 20)
    bound = [str(path) for path in (Path(sys.prefix), ROOT)]
    return [
        *("bwrap", "--die-with-parent", "--unshare-pid", "--unshare-net", "--unshare-ipc"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *("--size", small, "--tmpfs", "/tmp", "--size", small, "--tmpfs", "/dev/shm"),
        *("--size", small, "--tmpfs", "/var/tmp", "--size", small, "--tmpfs", "/run"),
        *(word for path in bound for word in ("--ro-bind", path, path)),
        *(word for path in writable for word in ("--bind", str(path), str(path))),
        "--",
    ]


@cache
def namespaces() -> list[str]:
    """Return what runs a command among processes of its own, in which a sandbox can be built.

    Where this machine does not allow it, the list is empty: what runs students' code has to be a
    sandbox of its own anyway.
    """
    box = ["unshare", "--pid", "--fork", "--mount-proc", "--ipc", "--kill-child"]
    if os.geteuid() != 0:
        box.insert(1, "--map-current-user")
    inner = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    if shutil.which("unshare") is None:
        return []
    works = subprocess.run([*box, *inner], capture_output=True, check=False).returncode == 0
    return box if works else []


# The driver, in the container


class _Answers(http.server.BaseHTTPRequestHandler):
    text = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.text)

    do_POST = do_GET

    def log_message(self, *given: Any) -> None:
        pass


def _serve(text: str) -> None:
    _Answers.text = text.encode("utf-8")
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), _Answers)
    except OSError:  # somebody has the port: the cheat gets no answers
        return
    threading.Thread(target=server.serve_forever, daemon=True).start()


def _end_with_the_leash() -> None:
    sys.stdin.buffer.read()
    for process in _running:
        os.killpg(process.pid, signal.SIGKILL)
    os._exit(1)


_running: list[subprocess.Popen[bytes]] = []


def _drive(job: Mapping[str, Any]) -> dict[str, Any]:
    import resource  # there is none on Windows, where the bank is only read

    threading.Thread(target=_end_with_the_leash, daemon=True).start()
    if job["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (job["memory"], job["memory"]))
    _serve(job["answers"])
    before = set(_processes())
    statuses: list[int | None] = []
    seconds, log = [], ""
    for command in job["commands"]:
        start = time.monotonic()
        status, said = _call(command["arguments"], command["seconds"], job)
        seconds.append(time.monotonic() - start)
        statuses.append(status)
        log += said
        time.sleep(command["lingers"])
    time.sleep(0.3)  # what was killed with its parent may need a moment
    left = [line for pid, line in _processes().items() if pid not in before]
    places = (*WATCHED, job["folder"], job["environment"].get("HOME", "/root"))
    files = sorted({path for place in places for path in _named(place, job["word"])})
    return {"statuses": statuses, "log": log, "left": left, "files": files, "seconds": seconds}


def _call(arguments: list[str], seconds: float, job: Mapping[str, Any]) -> tuple[int | None, str]:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        arguments,
        cwd=job["folder"],
        env=job["environment"],
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    os.close(writing)
    _running.append(process)
    said: list[bytes] = []
    reader = threading.Thread(target=_read, args=(reading, said), daemon=True)
    reader.start()
    status: int | None
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        status = None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    _running.clear()
    reader.join(0.5)  # a process that stays behind may hold the pipe
    return status, b"".join(said)[-200_000:].decode("utf-8", "replace")


def _read(descriptor: int, said: list[bytes]) -> None:
    while part := os.read(descriptor, 1 << 16):
        said.append(part)
        if len(said) > 2000:
            del said[:1000]


def _processes() -> dict[int, str]:
    """Return the command lines of all processes, but for this one and those before it."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except OSError:
            continue
        if line:  # else a kernel thread, or one that has ended
            found[int(path.parent.name)] = line
    return found


def _named(place: str, word: str) -> list[str]:
    found = []
    for folder, folders, names in os.walk(place):
        found += [os.path.join(folder, name) for name in (*folders, *names) if word in name]
        if folder.count("/") - place.count("/") > 8:
            folders.clear()
    return found


if __name__ == "__main__":
    print(json.dumps(_drive(json.loads(sys.argv[1]))))
