"""Loader of a user's own labelled texts from a tab-separated file."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from coursekit.datasets.corpus import LabelledCorpus
from coursekit.datasets.errors import DatasetError
from coursekit.datasets.readers import lines_of
from coursekit.datasets.splitting import divide


def own_table(
    path: str | Path,
    *,
    text: int = 0,
    label: int = 1,
    header: int = 0,
    encoding: str = "utf-8",
    validation: int = 0,
    test: int = 0,
    seed: int = 1,
) -> LabelledCorpus:
    """Read your own labelled texts from a tab-separated file with one text per line.

    Args:
        path: the file.
        text: the column of the texts, counted from 0.
        label: the column of the classes, whole numbers from 0.
        header: lines to skip at the top.
        encoding: encoding of the file; Korean files are often "cp949".
        validation: number of texts to hold out as validation set.
        test: number of texts to hold out as test set.
        seed: seed of the random split.

    Raises:
        DatasetError: the file does not exist, has another encoding, or has a malformed line; the
            message says which, and what to do.
    """
    where = Path(path).expanduser()
    try:
        raw = where.read_bytes()
    except OSError as reason:
        raise DatasetError(f"Cannot read {where} ({reason.strerror}): check the path.") from reason
    try:
        lines = lines_of(raw, encoding)
    except LookupError as reason:
        raise DatasetError(
            f"There is no encoding called {encoding!r}: use 'utf-8', or 'cp949' for old Korean "
            "files."
        ) from reason
    except UnicodeDecodeError as reason:
        raise DatasetError(
            f"{where} is not in the encoding {encoding} (byte {reason.start} does not fit): save "
            "it as UTF-8, or name its encoding, as in encoding='cp949'."
        ) from reason
    items = []
    for number, line in enumerate(lines[header:], header + 1):
        row = line.split("\t")
        if len(row) <= max(text, label):
            raise DatasetError(
                f"Line {number} of {where} has {len(row)} tab-separated column(s), but the text "
                f"is expected in column {text} and the class in column {label}, counted from 0."
            )
        if not row[label].strip().isdecimal():
            raise DatasetError(
                f"Line {number} of {where} has the class {row[label].strip()!r}; classes are whole "
                "numbers from 0 (skip a heading with header=1)."
            )
        items.append((row[text].strip(), int(row[label])))
    if not items:
        raise DatasetError(f"{where} is empty: put a text in each line, then a tab and its class.")
    splits: dict[str, Any] = {"train": items}
    if validation or test:
        divided = divide(items, seed, validation, test)
        splits = {part: members for part, members in divided.items() if members}
    checksum = {where.name: hashlib.sha256(raw).hexdigest()}
    return LabelledCorpus(where.stem, "your own", "your own", checksum, splits)
