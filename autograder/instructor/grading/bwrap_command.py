"""Command line of the sandbox, which defines what a submission can see and do."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

import autograder
import coursekit
from autograder.sandbox.seccomp_filter import make_filter

_BOOTSTRAP = (
    "import sys; sys.path[:0] = sys.argv[3].split(':'); "
    "from autograder.sandbox.fork_server import main; "
    "main(int(sys.argv[1]), sys.argv[2] == 'walled')"
)
# Paths inside the sandbox, chosen so that Python's messages reveal no path of the instructor's
# machine. (/proc/self/mountinfo reveals some, but knowing a folder's name gains nothing.)
_PYTHON, _PACKAGES, _COURSE = "/python", "/packages", "/course"
# Files in which an installation records the path of the course folder.
_PATTERNS_WITH_PATHS = ("__editable__*", "__pycache__/__editable__*", "*.dist-info/direct_url.json")


class SandboxError(Exception):
    """Raised if grading cannot continue; the message says what to do."""


def build_command(control: int, unsafe: bool = False) -> tuple[list[str], bytes]:
    """Return the command that starts the fork server, and its seccomp filter.

    Args:
        control: descriptor of a connected Unix socket.
        unsafe: start it without a sandbox.

    Raises:
        SandboxError: if this machine cannot run a sandbox.
    """
    if not hasattr(os, "fork"):
        raise SandboxError("Grading needs Linux (or macOS, with --unsafe): on Windows, use WSL.")
    if unsafe:
        own = [Path(str(package.__file__)).parents[1] for package in (autograder, coursekit)]
        folders = ":".join(map(str, dict.fromkeys([*own, *_list_site_packages()])))
        return [sys.executable, "-c", _BOOTSTRAP, str(control), "unsafe", folders], b""
    if not sys.platform.startswith("linux"):
        raise SandboxError(
            "Grading needs Linux, whose bubblewrap runs students' code in a sandbox: grade in WSL, "
            "a container or a virtual machine, or add --unsafe on a machine you can lose."
        )
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        raise SandboxError(
            "Grading needs bubblewrap, which runs students' code in a sandbox: install it (apt "
            "install bubblewrap, dnf install bubblewrap), or add --unsafe to run their code with "
            "all your permissions."
        )
    try:
        program = make_filter()
    except OSError as error:
        raise SandboxError(
            "Grading needs libseccomp, which restricts the system calls of students' code: "
            "install it (apt install libseccomp2, dnf install libseccomp), or add --unsafe to "
            f"run their code with all your permissions ({error})."
        ) from error
    given = [str(control), "walled", f"{_COURSE}:{_PACKAGES}"]
    arguments = _list_bwrap_arguments()
    return [bubblewrap, *arguments, _find_python(), "-I", "-c", _BOOTSTRAP, *given], program


def _list_site_packages() -> list[Path]:
    paths = sysconfig.get_paths()
    return list(dict.fromkeys(Path(paths[name]) for name in ("purelib", "platlib")))


def _find_python() -> str:
    """Return the path of the interpreter in the sandbox."""
    base = Path(sys.base_prefix)
    real = Path(os.path.realpath(sys.executable))
    if base == Path("/usr"):
        return str(real)
    inside = real.relative_to(base) if real.is_relative_to(base) else Path("bin") / real.name
    return f"{_PYTHON}/{inside}"


def _find_library_folder(base: Path, shown: str) -> dict[str, str]:
    """Return the variable by which Python finds libpython, where it is a library of its own.

    Such a Python (of pyenv, of setup-python) finds it by an absolute path, under which the sandbox
    does not show it, or by the instructor's variable, which submissions do not get.
    """
    library = Path(str(sysconfig.get_config_var("LIBDIR")))
    shared = sysconfig.get_config_var("Py_ENABLE_SHARED")
    if base == Path("/usr") or not shared or not library.is_relative_to(base):
        return {}
    return {"LD_LIBRARY_PATH": f"{shown}/{library.relative_to(base)}"}


def build_environment(python: str = sys.base_prefix) -> dict[str, str]:
    """Return the environment of submissions: no variables of the instructor's, and one thread.

    Args:
        python: folder under which they see the installation of Python.
    """
    kept = {"HOME": "/tmp", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"}
    threads = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
    kept |= _find_library_folder(Path(sys.base_prefix), python)
    return kept | {
        **{f"{name}_NUM_THREADS": "1" for name in threads},
        "NBGRADER_EXECUTION": "autograde",
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": "/tmp/matplotlib",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "TQDM_DISABLE": "0",
    }


def _list_bwrap_arguments() -> Iterator[str]:
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
    packages = _list_site_packages()
    yield from ("--ro-bind", str(packages[0]), _PACKAGES)
    # The course's own packages: only what students have, nothing that contains answers.
    own = Path(autograder.__file__).parent
    yield from ("--tmpfs", _COURSE)
    yield from ("--ro-bind", str(own), f"{_COURSE}/autograder")
    yield from ("--tmpfs", f"{_COURSE}/autograder/instructor")
    yield from ("--ro-bind", str(Path(coursekit.__file__).parent), f"{_COURSE}/coursekit")
    for where in (_PACKAGES, *_list_package_aliases(packages)):
        for secret in ("solutions", "autograder", "coursekit"):
            yield from _hide_package(where, packages[0], secret)
        for pattern in _PATTERNS_WITH_PATHS:
            for path in packages[0].glob(pattern):
                yield from ("--ro-bind", "/dev/null", f"{where}/{path.relative_to(packages[0])}")
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/tmp")
    for name, value in build_environment(_PYTHON).items():
        yield from ("--setenv", name, value)
    yield from ("--remount-ro", f"{_COURSE}/autograder/instructor", "--remount-ro", _COURSE)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")


def _hide_package(where: str, packages: Path, name: str) -> Iterator[str]:
    """Yield the arguments that hide an installed copy of one of the course's packages."""
    if (packages / name).exists():
        yield from ("--tmpfs", f"{where}/{name}", "--remount-ro", f"{where}/{name}")


def _list_package_aliases(packages: Sequence[Path]) -> Iterator[str]:
    """Yield the other paths under which the sandbox shows the folder of packages."""
    base = Path(sys.base_prefix)
    for path in packages[:1]:
        if base != Path("/usr") and path.is_relative_to(base):
            yield f"{_PYTHON}/{path.relative_to(base)}"
        for shown in ("/usr", "/lib", "/lib64"):
            if path.is_relative_to(shown):
                yield str(path)
                break
