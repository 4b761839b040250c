"""Retrieval of data files from COURSEKIT_DATA, the cache or a mirror, with checksums verified.

Every returned file has the checksum given in the registry. A download goes to a `.part` file and is
renamed only after verification, so the cache never holds an unverified file under its final name.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import pooch  # type: ignore[import-untyped]
import requests
from tqdm import tqdm  # type: ignore[import-untyped]

from coursekit.datasets.archives import archive_members
from coursekit.datasets.errors import DatasetError
from coursekit.datasets.registry import RemoteFile

COMPRESSIONS = ("", ".gz", ".xz")
DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, tarfile.TarError)
TIMEOUT = 30.0  # seconds without an answer until the next mirror is tried
STALE = 3600.0  # seconds after which the .part file of a killed process is deleted


class _Unusable(Exception):
    """A file or mirror cannot be used; the message is the predicate of a sentence about it."""


def fetch(file: RemoteFile) -> tuple[bytes, str]:
    """Return the verified content of a file and its checksum.

    The folder COURSEKIT_DATA is searched first, then the cache; a missing file is downloaded.

    Args:
        file: the file as declared in the registry.

    Returns:
        The content (uncompressed, unless the file is an archive) and its checksum.

    Raises:
        DatasetError: the local file is damaged, or no mirror has the right file.
    """
    local = _from_data_folder(file)
    if local is not None:
        return local
    cached = cache_folder() / file.path
    if cached.is_file():
        try:
            content = cached.read_bytes()
            _verify(content, file.sha256)
            return content, file.sha256
        except (OSError, _Unusable):
            pass  # damaged since it was stored: a new download replaces it
    return _download(file, cached), file.sha256


def cache_folder() -> Path:
    """Return the folder of downloads: COURSEKIT_CACHE, or the user's cache folder."""
    return Path(os.environ.get("COURSEKIT_CACHE") or pooch.os_cache("attention-course"))


def data_folder() -> Path | None:
    """Return the folder named by COURSEKIT_DATA, or None if the variable is not set.

    Raises:
        DatasetError: the variable names something that is not a folder.
    """
    name = os.environ.get("COURSEKIT_DATA")
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise DatasetError(
            f"COURSEKIT_DATA names {folder}, which is not a folder: correct the variable, or "
            "unset it to download the data."
        )
    return folder


def _from_data_folder(file: RemoteFile) -> tuple[bytes, str] | None:
    folder = data_folder()
    if folder is None:
        return None
    for path, sha256 in ((file.path, file.sha256), *file.also):
        suffixes = ("",) if path.endswith((".zip", ".gz")) else COMPRESSIONS
        for suffix in suffixes:
            local = folder / (path + suffix)
            if not local.is_file():
                continue
            try:
                content = _uncompress(local.read_bytes(), suffix)
                _verify(content, sha256)
            except (_Unusable, *DAMAGE) as reason:
                raise DatasetError(
                    f"The file {local} in COURSEKIT_DATA cannot be used because it "
                    f"{_why(reason)}: replace it, or remove it to download the original."
                ) from reason
            return content, sha256
    return None


def _download(file: RemoteFile, cached: Path) -> bytes:
    failures = []
    for url in file.urls:
        try:
            content = _download_from(url, file, cached)
        except _Unusable as reason:
            failures.append(f"{urlsplit(url).netloc} {reason}")
            continue
        return content
    raise DatasetError(
        f"Could not download {file.path} ({'; '.join(failures) or 'no address is known'}): "
        "check the network and try again, or put the file into a folder, as "
        f"{file.path}, and name that folder in the variable COURSEKIT_DATA."
    )


def _download_from(url: str, file: RemoteFile, cached: Path) -> bytes:
    """Download, verify and store a file; the temporary file is always removed."""
    address, _, member = url.partition("#")
    part = _new_part(cached)
    try:
        _transfer(address, part)
        try:
            raw = part.read_bytes()
            content = _member(raw, member) if member else raw
            if not file.is_archive and not member:
                content = _uncompress(raw, Path(urlsplit(address).path).suffix)
        except (KeyError, *DAMAGE) as reason:
            raise _Unusable("sent a truncated or damaged file") from reason
        try:
            _verify(content, file.sha256)
        except _Unusable as reason:
            raise _Unusable(f"sent a file that {reason}") from reason
        try:
            part.write_bytes(content)
            os.replace(part, cached)
        except OSError as reason:
            raise _cannot_write(cached, reason) from reason
        return content
    finally:
        part.unlink(missing_ok=True)  # also after Ctrl-C


def _transfer(address: str, part: Path) -> None:
    # The bar goes to stdout: some graders count any text on stderr as a failure.
    name = Path(urlsplit(address).path).name
    bar = tqdm(total=0, unit="B", unit_scale=True, desc=name, file=sys.stdout, leave=False)
    # Without "identity", a server may compress the body, and Content-Length is not the file's size.
    downloader = pooch.HTTPDownloader(
        progressbar=bar, timeout=TIMEOUT, headers={"Accept-Encoding": "identity"}
    )
    try:
        downloader(address, str(part), None)
    except requests.exceptions.HTTPError as reason:
        status = "an error" if reason.response is None else f"status {reason.response.status_code}"
        raise _Unusable(f"answered with {status}") from reason
    except (
        requests.exceptions.ChunkedEncodingError,
        requests.exceptions.ContentDecodingError,
    ) as reason:
        raise _Unusable("closed the connection before the end of the file") from reason
    except requests.exceptions.Timeout as reason:
        raise _Unusable("did not answer in time") from reason
    except requests.exceptions.RequestException as reason:
        raise _Unusable("could not be reached") from reason
    except OSError as reason:
        raise _cannot_write(part, reason) from reason
    finally:
        bar.close()


def _new_part(cached: Path) -> Path:
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        for old in cached.parent.glob(f"{cached.name}.*.part"):
            if time.time() - old.stat().st_mtime > STALE:
                old.unlink(missing_ok=True)
        handle, name = tempfile.mkstemp(prefix=f"{cached.name}.", suffix=".part", dir=cached.parent)
    except OSError as reason:
        raise _cannot_write(cached, reason) from reason
    os.close(handle)
    return Path(name)


def _cannot_write(path: Path, reason: OSError) -> DatasetError:
    return DatasetError(
        f"Cannot write to the cache folder {path.parent} ({reason.strerror or reason}): free some "
        "space there, or name another folder in the variable COURSEKIT_CACHE."
    )


def _uncompress(raw: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.decompress(raw)
    if suffix == ".xz":
        return lzma.decompress(raw)
    if suffix == ".bz2":
        return bz2.decompress(raw)
    return raw


def _member(archive: bytes, name: str) -> bytes:
    """Return a member or a folder of a zip or tar archive; raise KeyError if it is missing."""
    if name.endswith("/"):
        return _folder(archive, name)
    if zipfile.is_zipfile(io.BytesIO(archive)):
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return opened.read(name)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        member = tar.extractfile(name)
        if member is None:
            raise KeyError(name)
        return member.read()


def _folder(archive: bytes, name: str) -> bytes:
    """Return a tar archive of the files in a folder, with names relative to it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, content in archive_members(archive):
            if path.startswith(name):
                member = tarfile.TarInfo(path.removeprefix(name))
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        if not tar.getmembers():
            raise KeyError(name)
    return packed.getvalue()


def _verify(content: bytes, expected: str) -> None:
    kind = expected.split(":")[0] if ":" in expected else "SHA-256"
    actual = _CHECKSUMS[kind](content)
    if actual != expected:
        raise _Unusable(f"has a wrong checksum ({kind} expected {expected}, found {actual})")


def _git(content: bytes) -> str:
    """Return the SHA-1 that git uses as the name of a blob with this content."""
    header = f"blob {len(content)}\0".encode()
    return "git:" + hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def _tree(content: bytes) -> str:
    """Return a checksum of the files in an archive that does not depend on the packing."""
    lines = sorted(
        (name, hashlib.sha256(text).hexdigest()) for name, text in archive_members(content)
    )
    page = "".join(f"{checksum}  {name}\n" for name, checksum in lines)
    return "tree:" + hashlib.sha256(page.encode()).hexdigest()


_CHECKSUMS = {
    "SHA-256": lambda content: hashlib.sha256(content).hexdigest(),
    "git": _git,
    "tree": _tree,
}


def _why(reason: BaseException) -> str:
    return str(reason) if isinstance(reason, _Unusable) else "is truncated or damaged"
