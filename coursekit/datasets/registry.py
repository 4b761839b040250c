"""Registry of data sets: their files, checksums, mirrors and splits.

`registry.json` is the only place to edit for a new data set::

    "files": {
        "folder/name.txt": {            the name in COURSEKIT_DATA and in the cache,
                                        without .gz or .xz
            "urls": [...],              mirrors in the order tried; "URL#member" takes one
                                        member out of a zip or tar archive, "URL#folder/"
                                        all files of a folder, as another tar archive
            "sha256": "...",            of the uncompressed content; if only another checksum is
                                        known, "git:" and the SHA-1 that git gives a blob of this
                                        content, or "tree:" and the SHA-256 of the lines
                                        `sha256  name` of an archive's files, sorted by name
            "also": [{"path": ..., "sha256": ...}]    equivalent local files (optional)
        }
    },
    "datasets": {
        "name": {
            "title", "description", "licence", "citation",
            "kind": "parallel" | "aligned" | "labelled" | "pairs" | "text"
                    | "weights",
            "splits": {"train": {"read": READER, "files": [...], ...options of the reader}},
            "divide": {"split": "train", "seed": 1, "validation": 500, "test": 500}   (optional)
        }
    }

A file whose name ends in .zip, .gz or .xz is an archive that is stored as it is: its `sha256` is
that of the archive. The readers and their options are in `readers.py`.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from coursekit.datasets.errors import DatasetError

DEFAULT_PATH = Path(__file__).with_name("registry.json")
ARCHIVE_SUFFIXES = (".zip", ".gz", ".xz")


@dataclass(frozen=True)
class RemoteFile:
    """One file of a data set: its name, its checksum and its mirrors.

    Attributes:
        path: `folder/name`, in the folder COURSEKIT_DATA and in the cache.
        sha256: checksum of the uncompressed content (of the archive, if `path` names one), with
            the prefix "git:" or "tree:" if it is not a SHA-256.
        urls: mirrors, in the order tried.
        also: equivalent local files (path, sha256), searched for in COURSEKIT_DATA.
    """

    path: str
    sha256: str
    urls: tuple[str, ...]
    also: tuple[tuple[str, str], ...] = ()

    @property
    def is_archive(self) -> bool:
        """Whether the file is stored compressed and its checksum is the archive's."""
        return self.path.endswith(ARCHIVE_SUFFIXES)


@dataclass(frozen=True)
class Dataset:
    """One data set as declared in the registry."""

    name: str
    title: str
    description: str
    licence: str
    citation: str
    kind: str
    splits: Mapping[str, Mapping[str, Any]]
    divide: Mapping[str, Any] = field(default_factory=dict)

    def file_paths(self) -> list[str]:
        """Return the paths of all files of all splits, each once, in order."""
        return list(dict.fromkeys(path for spec in self.splits.values() for path in spec["files"]))


@dataclass(frozen=True)
class Registry:
    """All declared files and data sets, by path and by name."""

    files: Mapping[str, RemoteFile]
    datasets: Mapping[str, Dataset]

    def find(self, name: str) -> Dataset:
        """Return the data set of this name.

        Raises:
            DatasetError: there is none; the message lists the known names and the closest one.
        """
        if name in self.datasets:
            return self.datasets[name]
        # The most likely mistake is the direction of translation: multi30k-en-de.
        words = sorted(str(name).split("-"))
        close = [known for known in self.datasets if sorted(known.split("-")) == words]
        close = close or difflib.get_close_matches(str(name), self.datasets, n=1, cutoff=0.4)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise DatasetError(
            f"There is no data set '{name}'{hint}: the known names are "
            f"{', '.join(sorted(self.datasets))}."
        )


@lru_cache(maxsize=8)
def read_registry(path: Path = DEFAULT_PATH) -> Registry:
    """Read a registry file (the course's own by default)."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    files = {
        name: RemoteFile(
            path=name,
            sha256=entry["sha256"],
            urls=tuple(entry["urls"]),
            also=tuple((other["path"], other["sha256"]) for other in entry.get("also", [])),
        )
        for name, entry in raw["files"].items()
    }
    datasets = {name: Dataset(name=name, **entry) for name, entry in raw["datasets"].items()}
    return Registry(files, datasets)
