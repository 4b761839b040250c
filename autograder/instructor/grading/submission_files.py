"""Lists and reads the files of a submission, with limits on count, depth and size.

The limits bound the time and memory that reading takes.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

FILE_AT_MOST = 100 << 20  # a notebook with its outputs
NOTEBOOKS_AT_MOST = 200 << 20  # all notebooks together
BESIDE_AT_MOST = 20 << 20  # other files, all together
FILES_AT_MOST = 500
DEPTH_AT_MOST = 8
_LEFT_OUT = {".ipynb_checkpoints", "__pycache__", "feedback"}
_ARCHIVES = (".zip", ".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".alz", ".egg")
_ARCHIVES_BEGIN = (
    b"PK\x03\x04",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"ALZ\x01",
)


def decode_name(name: str) -> str:
    """Return a file's name as text, even if its bytes are not UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def list_files(folder: Path) -> tuple[list[Path], bool]:
    """Return the files below a folder, and whether there are more than the limits allow."""
    paths: list[Path] = []
    more = False
    waiting = [(folder, 0)]
    while waiting:
        where, depth = waiting.pop()
        folders, pages = _list_one(where)
        room = FILES_AT_MOST - len(paths)
        # A folder, or a link to one, is also listed if it has the name of a notebook.
        here = pages + [path for path in folders if path.suffix == ".ipynb"]
        paths += here[:room]
        if len(here) > room or (folders and depth == DEPTH_AT_MOST):
            more = True
        if len(here) <= room and depth < DEPTH_AT_MOST:
            waiting += [(path, depth + 1) for path in reversed(folders) if not path.is_symlink()]
    return paths, more


def _list_one(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return a folder's subfolders and its other entries, each in order."""
    folders, pages = [], []
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number > 20 * FILES_AT_MOST:  # do not even sort a million names
                    break
                if not os.path.isdir(entry.path):  # also False for a link to itself
                    pages.append(folder / entry.name)
                elif entry.name not in _LEFT_OUT:
                    folders.append(folder / entry.name)
    except (FileNotFoundError, NotADirectoryError):  # the folder is gone
        pass
    # Notebooks come first, so that the limits cut off other files first.
    return sorted(folders), sorted(pages, key=lambda path: (path.suffix.lower() != ".ipynb", path))


def is_archive(path: Path, content: bytes) -> bool:
    """Return whether a file's name or first bytes mark an archive, which may hold a notebook."""
    return path.suffix.lower() in _ARCHIVES or content.startswith(_ARCHIVES_BEGIN)


def read_file(path: Path, at_most: int) -> bytes | str:
    """Return a file's content, or a sentence that says why it cannot be read."""
    name = decode_name(path.name)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        if path.is_symlink():
            return f"{name} is a link to another file; hand in the file itself."
        return f"{name} cannot be opened."
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        return f"{name} is not a file; hand in the notebook itself."
    with os.fdopen(handle, "rb") as page:
        if status.st_size > at_most:
            return (
                f"{name} is larger than {at_most >> 20} MB; clear its outputs (Kernel, Restart & "
                "Clear Output) and hand it in again."
            )
        if status.st_nlink > 1:  # it may be another person's file under a second name
            return f"{name} is a hard link to another file; hand in a separate copy."
        return page.read(at_most)
