"""Data files and registries for tests."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coursekit.datasets import Registry, read_registry


def sha256(content: bytes) -> str:
    """Return a file's checksum."""
    return hashlib.sha256(content).hexdigest()


def sha256_of_tree(files: Mapping[str, bytes]) -> str:
    """Return the checksum of an archive, which does not depend on the packing."""
    lines = "".join(f"{sha256(content)}  {name}\n" for name, content in sorted(files.items()))
    return f"tree:{sha256(lines.encode())}"


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip archive, with an entry for a folder."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("folder/", "")
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(files: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    """Return a tar archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def make_registry(
    folder: Path,
    files: Mapping[str, tuple[Sequence[str], str]],
    kind: str,
    splits: Any,
    **more: Any,
) -> Registry:
    """Write a registry of one data set, `tiny`, and read it.

    Args:
        folder: where to write it.
        files: addresses and checksum of each file.
        kind, splits: kind and splits of the data set.
        more: its other entries.
    """
    said = {"title": "Tiny", "description": "Two sentences", "licence": "CC0"}
    dataset = {**said, "citation": "Nobody (2020)", "kind": kind, "splits": splits, **more}
    entries = {path: {"urls": [*urls], "sha256": check} for path, (urls, check) in files.items()}
    page = folder / f"registry-{len(list(folder.iterdir()))}.json"
    page.write_text(json.dumps({"files": entries, "datasets": {"tiny": dataset}}), encoding="utf-8")
    return read_registry(page)
