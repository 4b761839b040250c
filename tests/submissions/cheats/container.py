"""A harmless environment for cheats: a container with a driver that watches commands.

The driver is this file, run as a script with only the standard library. It serves right answers on
127.0.0.1, runs the commands one after the other, waits, and prints what was left behind: processes,
and files whose names contain a word.
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
    """A command line with its time limit in seconds."""

    arguments: tuple[str, ...]
    seconds: float
    lingers: float = 0.0  # seconds to wait after it


@dataclass(frozen=True)
class Seen:
    """The observations of the driver.

    Attributes:
        statuses: exit status of each command; None if it took too long.
        log: output of the commands.
        left: command lines of the remaining processes.
        files: paths of files whose names contain the word.
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
    """Run commands in a container.

    Args:
        commands: the commands, in order.
        folder: their working folder.
        environment: their environment variables.
        answers: text to serve on 127.0.0.1.
        word: word in the names of files to look for.
        box: command that makes the container, `bubblewrap(...)` or `namespaces()`.
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
    leash, held = os.pipe()  # when this process ends for any reason, so does the driver
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
        if b"Traceback" in error:  # the driver's own: not caused by a cheat
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
    """Return the bubblewrap command: all files are read-only except those in some folders.

    It has its own processes, network and /tmp, and little space for files in memory.
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
    """Return a command prefix for a new process namespace in which a sandbox can be built.

    If this machine does not allow it, the list is empty: the code that runs students' code must be
    sandboxed anyway.
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
    except OSError:  # the port is in use: the cheat gets no answers
        return
    threading.Thread(target=server.serve_forever, daemon=True).start()


def _end_with_the_leash() -> None:
    sys.stdin.buffer.read()
    for process in _running:
        os.killpg(process.pid, signal.SIGKILL)
    os._exit(1)


_running: list[subprocess.Popen[bytes]] = []


def _drive(job: Mapping[str, Any]) -> dict[str, Any]:
    import resource  # missing on Windows, where the bank is only read

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
    time.sleep(0.3)  # processes killed with their parent may need a moment
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
    reader.join(0.5)  # a leftover process may hold the pipe open
    return status, b"".join(said)[-200_000:].decode("utf-8", "replace")


def _read(descriptor: int, said: list[bytes]) -> None:
    while part := os.read(descriptor, 1 << 16):
        said.append(part)
        if len(said) > 2000:
            del said[:1000]


def _processes() -> dict[int, str]:
    """Return the command lines of all processes except this one and earlier ones."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except OSError:
            continue
        if line:  # otherwise a kernel thread or a zombie
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
