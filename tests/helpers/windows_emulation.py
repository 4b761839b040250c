"""Pytest plugin that removes from Python what Windows lacks, to find code that needs it.

    python -m pytest -p tests.helpers.windows_emulation --collect-only

Third-party packages are imported first, because they detect the platform in their own ways.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import importlib
import os
import select
import shutil
import signal
import socket
import sys
from typing import Any

# All third-party modules that our code imports.
FOREIGN = (
    "torch", "torch.optim", "torch.nn.functional", "nbgrader.apps", "nbgrader.api", "nbconvert",
    "nbclient", "jupytext", "jupyter_client", "distributed", "transformers", "matplotlib.pyplot",
    "sklearn.linear_model", "sacrebleu", "tokenizers", "anywidget", "ipywidgets", "pooch",
    "hypothesis", "pytest", "IPython", "psycopg", "sphinx.application", "pybtex.database",
    "sphinxcontrib.bibtex", "multiprocessing.managers", "concurrent.futures", "yaml", "tarfile",
    "pathlib", "tempfile", "playwright.sync_api", "xdist", "myst_nb", "jupyter_cache", "pty",
)  # fmt: skip
MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
# os.getuid and SIGKILL stay: on this system, pytest and subprocess themselves need them.
CALLS = (
    "fork", "forkpty", "getegid", "geteuid", "getgid", "getpgid", "killpg", "mkfifo",
    "mknod", "nice", "openpty", "pidfd_open", "posix_spawn", "sched_getaffinity", "setpgid",
    "setsid", "setuid", "statvfs", "uname", "wait4", "waitid",
)  # fmt: skip
SIGNALS = ("SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGPIPE", "SIGQUIT", "SIGSTOP",
           "SIGUSR1", "SIGUSR2", "SIGXCPU", "SIGXFSZ")  # fmt: skip


def pretend() -> None:
    """Remove the features from this process, irreversibly."""
    for name in FOREIGN:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    asyncio.new_event_loop().close()
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # importing it is an ImportError
    _take(os, CALLS)
    _take(signal, SIGNALS)
    _take(socket, ("send_fds", "recv_fds"))  # socketpair is emulated there
    _take(select, ("epoll", "poll"))
    real_library, real_which = ctypes.CDLL, shutil.which

    def library(name: Any, *arguments: Any, **options: Any) -> Any:
        if name is None:
            raise TypeError("on Windows a library has a name")
        return real_library(name, *arguments, **options)

    ctypes.CDLL = library  # type: ignore[assignment,misc]
    shutil.which = lambda name, *more, **options: (  # type: ignore[assignment]
        None if name in ("bwrap", "unshare") else real_which(name, *more, **options)
    )


def _take(module: Any, names: tuple[str, ...]) -> None:
    for name in names:
        if hasattr(module, name):
            delattr(module, name)


def pytest_configure() -> None:
    """Remove the features before any test file is read."""
    pretend()
