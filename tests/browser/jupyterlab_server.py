"""A JupyterLab server for one member of a class, with its own home folder."""

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
START = 240  # seconds, enough for a busy machine
# Disables prompts, requests to other hosts, and anything that varies between screenshots.
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
    """One person's running JupyterLab."""

    folder: Path
    address: str
    log: Path

    def lab(self, path: str = "") -> str:
        """Return the address of a workspace with only this file."""
        return f"{self.address}lab{'/tree/' + path if path else ''}?reset&token={TOKEN}"


@contextlib.contextmanager
def desk(folder: Path, home: Path) -> Iterator[Desk]:
    """Start JupyterLab in a folder, as in the guide; stop it with all its processes."""
    for name, values in SETTINGS.items():
        settings = home / ".jupyter/lab/user-settings/@jupyterlab" / f"{name}.jupyterlab-settings"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(json.dumps(values), "utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = home / "jupyterlab.log"
    # No settings of the user's account or of the test's own Jupyter.
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
                # As in a shell with the course's environment; kernels find their Python by it.
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
            assert time.monotonic() < until, f"JupyterLab does not respond ({error}):\n{said}"
        time.sleep(0.2)


def _end(server: subprocess.Popen[bytes]) -> None:
    """Stop the server and all its descendants, since kernels have their own sessions."""
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
