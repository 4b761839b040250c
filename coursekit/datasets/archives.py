"""Iteration over the files of zip and tar archives."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterator


def archive_members(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of every file in a zip or tar archive, in the archive's order."""
    if zipfile.is_zipfile(io.BytesIO(archive)):
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            for info in opened.infolist():
                if not info.is_dir():
                    yield info.filename, opened.read(info)
        return
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            stream = tar.extractfile(member)
            if stream is not None:
                yield member.name, stream.read()
