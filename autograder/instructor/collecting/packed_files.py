"""Lists and reads the files in a zip or tar archive, or in a folder.

Archives come from students and platforms alike, so that nothing in them is trusted: names cannot
lead out of a folder, links are not followed, and a file is read up to a limit.
"""

from __future__ import annotations

import io
import re
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from autograder.instructor.grading.submission_files import (
    FILE_AT_MOST,
    FILES_AT_MOST,
    NOTEBOOKS_AT_MOST,
    read_file,
)
from autograder.instructor.sanitize import sanitize_line

NESTED_AT_MOST = 3  # zips within zips
# Bytes that are unpacked in all, archives included: a few kilobytes of zip can hold gigabytes.
UNPACKED_AT_MOST = 3 * NOTEBOOKS_AT_MOST
_NAME_AT_MOST = 200  # bytes of one part of a path; file systems take 255
_ZIP_NAMES = (".zip",)
_TAR_NAMES = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
_OTHER_ARCHIVES = (".7z", ".rar", ".alz", ".egg")
# What systems and editors add without anybody wanting to hand it in.
_CLUTTER = re.compile(
    r"(^|/)(__MACOSX|__pycache__|\.ipynb_checkpoints|\.git|\.idea|\.vscode|\.venv)(/|$)"
    r"|(^|/)(\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini|\.writing-[^/]*)$"
)
_DAMAGED = "is damaged or was cut off while it was uploaded"


class PackedFileError(Exception):
    """Raised if a file cannot be read; the message follows the file's name."""


@dataclass(frozen=True)
class PackedFile:
    """A file in an archive or a folder.

    Attributes:
        path: where it lies in there, with `/` between the parts.
        size: the most bytes that its content has.
        read: returns its content, or raises PackedFileError.
    """

    path: str
    size: int
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return PurePosixPath(self.path).name


@contextmanager
def open_package(source: Path | IO[bytes], name: str) -> Iterator[list[PackedFile]]:
    """Provide the files in a folder or an archive, without those that nobody handed in.

    Args:
        source: a folder, an archive, or an archive's open file.
        name: name of the archive, which tells its kind.

    Raises:
        PackedFileError: if it is neither, or is damaged or encrypted; the message follows its name.
    """
    with ExitStack() as stack:
        if isinstance(source, Path) and source.is_dir():
            files = _list_folder(source)
        elif name.lower().endswith(_OTHER_ARCHIVES):
            raise PackedFileError("is an archive of a kind that only other programs unpack")
        else:
            try:
                page: IO[bytes] = (
                    stack.enter_context(source.open("rb")) if isinstance(source, Path) else source
                )
                if name.lower().endswith(_TAR_NAMES):
                    tar = stack.enter_context(tarfile.open(fileobj=page, mode="r:*"))
                    files = _list_tar(tar)
                else:
                    files = _list_zip(stack.enter_context(zipfile.ZipFile(page)))
            except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error) as error:
                raise PackedFileError(_DAMAGED) from error
            except OSError as error:
                raise PackedFileError(f"cannot be read: {error.strerror or error}") from error
        yield [file for file in files if not _CLUTTER.search(file.path)]


def unpack_nested(files: list[PackedFile]) -> tuple[list[tuple[str, bytes]], dict[str, str]]:
    """Return the contents of files by path, with archives among them unpacked, and what failed.

    Returns:
        pairs of a path and its content; and for each path that was left out the reason, a phrase
        that follows the path.
    """
    contents: list[tuple[str, bytes]] = []
    left: dict[str, str] = {}
    room, unpacked = NOTEBOOKS_AT_MOST, 0
    waiting = [(file, 0) for file in reversed(files)]
    with ExitStack() as archives:  # which stay open until their files have been read
        while waiting:
            file, depth = waiting.pop()
            if len(contents) == FILES_AT_MOST:
                left[file.path] = f"is one file too many: at most {FILES_AT_MOST} are taken"
                break
            try:
                if FILE_AT_MOST >= file.size > min(room, UNPACKED_AT_MOST - unpacked):
                    megabytes = NOTEBOOKS_AT_MOST >> 20
                    raise PackedFileError(f"is more than the {megabytes} MB that one may hand in")
                content = file.read()
            except PackedFileError as error:
                left[file.path] = str(error)
                continue
            unpacked += len(content)
            if not is_archive_of_files(file.name, content):
                room -= len(content)
                contents.append((file.path, content))
            elif depth == NESTED_AT_MOST:
                left[file.path] = "is an archive in an archive in an archive"
            else:
                package = open_package(io.BytesIO(content), file.name)
                try:
                    inner = archives.enter_context(package)
                except PackedFileError as error:
                    left[file.path] = str(error)
                    contents.append((file.path, content))  # the grader will ask for another
                    continue
                if not inner:
                    left[file.path] = "is an empty archive"
                parent = PurePosixPath(file.path).with_suffix("").as_posix()
                inside = [replace(one, path=f"{parent}/{one.path}") for one in inner]
                waiting += [(one, depth + 1) for one in reversed(inside)]
    return contents, left


def is_archive_of_files(name: str, content: bytes) -> bool:
    """Return whether a file is an archive to unpack.

    Documents and saved tensors are zips, too; without an archive's name, only a zip that holds a
    notebook counts.
    """
    if name.lower().endswith((*_ZIP_NAMES, *_TAR_NAMES, *_OTHER_ARCHIVES)):
        return True
    if not content.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return any(inner.lower().endswith(".ipynb") for inner in archive.namelist())
    except zipfile.BadZipFile:
        return False


def clean_path(path: str) -> str:
    """Return a path that stays inside of a folder and that every file system takes; may be ""."""
    parts = []
    for part in unicodedata.normalize("NFC", path.replace("\\", "/")).split("/"):
        part = re.sub(r'[<>:"|?*\x00-\x1f\x7f]', "_", part).strip(" ").rstrip(".")
        if not part or re.fullmatch(r"\.+", part) or re.fullmatch("[A-Za-z]_", part):
            continue
        stem, dot, suffix = part.rpartition(".")
        while len(part.encode("utf-8", "replace")) > _NAME_AT_MOST:
            stem = (stem or part)[:-1]
            part = f"{stem}{dot}{suffix[:20]}" if dot else stem
        parts.append(part)
    return "/".join(parts)


def _list_folder(folder: Path) -> list[PackedFile]:
    files = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_dir():
            inside = path.relative_to(folder).as_posix()
            size = path.lstat().st_size
            files.append(PackedFile(clean_path(inside), size, partial(_read_path, path)))
    return files


def _read_path(path: Path) -> bytes:
    content = read_file(path, FILE_AT_MOST)
    if isinstance(content, str):
        raise PackedFileError(content.removeprefix(f"{path.name} ").rstrip("."))
    return content


def _list_zip(archive: zipfile.ZipFile) -> list[PackedFile]:
    return [
        PackedFile(
            clean_path(_decode_zip_name(entry)), entry.file_size, partial(_read_zip, archive, entry)
        )
        for entry in archive.infolist()
        if not entry.is_dir() and clean_path(entry.filename)
    ]


def _decode_zip_name(entry: zipfile.ZipInfo) -> str:
    """Return the name of an entry; archives of macOS and of Windows rarely name its encoding."""
    if entry.flag_bits & 0x800:  # it is UTF-8
        return entry.filename
    raw = entry.filename.encode("cp437", "replace")
    for encoding in ("utf-8", "euc-kr"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            pass
    return entry.filename


def _read_zip(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.external_attr >> 28 == 0xA:
        raise PackedFileError("is a link to another file")
    try:
        _refuse_above_limit(entry.file_size)
        with archive.open(entry) as page:
            return page.read()
    except RuntimeError as error:  # zipfile's error for a missing password
        raise PackedFileError("is protected by a password") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise PackedFileError(_DAMAGED) from error
    except NotImplementedError as error:
        raise PackedFileError("is compressed in a way that only other programs unpack") from error


def _list_tar(archive: tarfile.TarFile) -> list[PackedFile]:
    return [
        PackedFile(clean_path(entry.name), entry.size, partial(_read_tar, archive, entry))
        for entry in archive.getmembers()
        if not entry.isdir() and clean_path(entry.name)
    ]


def _read_tar(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    if not entry.isreg():
        raise PackedFileError("is a link to another file")
    try:
        _refuse_above_limit(entry.size)
        page = archive.extractfile(entry)
        assert page is not None
        with page:
            return page.read()
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise PackedFileError(_DAMAGED) from error


def _refuse_above_limit(size: int) -> None:
    # `zipfile` and `tarfile` return no more bytes of a file than its header announces.
    if size > FILE_AT_MOST:
        raise PackedFileError(f"is larger than {FILE_AT_MOST >> 20} MB")


def describe_left_out(left: dict[str, str]) -> list[str]:
    """Return a sentence for each file that was left out."""
    return [f"{sanitize_line(path)} {reason}." for path, reason in left.items()]
