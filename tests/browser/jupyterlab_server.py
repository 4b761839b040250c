"""A desk: JupyterLab as one person of a class starts it, with a home folder of its own."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

TOKEN = "for-this-test-only"
START = 240  # seconds; the machine may be busy
# What JupyterLab would ask for or look up elsewhere, and what would differ from picture to picture.
SETTINGS = {
    "apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "docmanager-extension/plugin": {"autosave": False},
}


@dataclass(frozen=True)
class Desk:
    """Somebody's JupyterLab that runs."""

    folder: Path
    address: str
    log: Path

    def lab(self, path: str = "") -> str:
        """The address of a workspace with nothing in it but this file."""
        return f"{self.address}lab{'/tree/' + path if path else ''}?reset&token={TOKEN}"


@contextlib.contextmanager
def desk(folder: Path, home: Path) -> Iterator[Desk]:
    """Start JupyterLab in a folder, as a reader of the guide does; end it with all it started."""
    for name, values in SETTINGS.items():
        settings = home / ".jupyter/lab/user-settings/@jupyterlab" / f"{name}.jupyterlab-settings"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(json.dumps(values), "utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = home / "jupyterlab.log"
    # No setting of the user's account, and none of the test's own run of Jupyter.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "JPY_"))}
    with log.open("wb") as output:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser"),
                *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"),
                *("--ServerApp.port_retries=0", "--ServerApp.allow_root=True"),
                f"--IdentityProvider.token={TOKEN}",
            ],
            cwd=folder,
            env=environment
            | {
                "HOME": str(home),
                "OMP_NUM_THREADS": "1",
                # As in a shell with the course's environment; the kernels find their Python by it.
                "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            found = Desk(folder, f"http://127.0.0.1:{port}/", log)
            _wait_for(found, server)
            yield found
        finally:
            _end(server)


def _wait_for(desk: Desk, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START
    while True:
        try:
            with urllib.request.urlopen(f"{desk.address}api/status?token={TOKEN}", timeout=30):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
            said = desk.log.read_text("utf-8", "replace")[-4000:]
            assert server.poll() is None, f"JupyterLab did not start:\n{said}"
            assert time.monotonic() < until, f"JupyterLab does not answer ({error}):\n{said}"
        time.sleep(0.2)


def _end(server: subprocess.Popen[bytes]) -> None:
    """End the server and everything below it: kernels have sessions of their own."""
    below = []
    with contextlib.suppress(psutil.NoSuchProcess):
        below = psutil.Process(server.pid).children(recursive=True)
    server.terminate()
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    _, left = psutil.wait_procs(below, timeout=5)
    for process in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=5)
