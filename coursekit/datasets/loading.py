"""Loading of data sets by name."""

from __future__ import annotations

from typing import Any

from coursekit.datasets.corpus import (
    AlignedCorpus,
    Corpus,
    LabelledCorpus,
    PairCorpus,
    ParallelCorpus,
    PublishedWeights,
    TextCorpus,
)
from coursekit.datasets.download import fetch
from coursekit.datasets.readers import READERS
from coursekit.datasets.registry import Registry, read_registry
from coursekit.datasets.splitting import divide

KINDS: dict[str, type[Corpus[Any]]] = {
    "parallel": ParallelCorpus,
    "aligned": AlignedCorpus,
    "labelled": LabelledCorpus,
    "pairs": PairCorpus,
    "text": TextCorpus,
    "weights": PublishedWeights,
}

_described: set[str] = set()


def names(registry: Registry | None = None) -> list[str]:
    """Return the names of all data sets."""
    return sorted((registry or read_registry()).datasets)


def describe(name: str, registry: Registry | None = None) -> str:
    """Return the title, licence and citation of a data set, in two lines.

    Raises:
        DatasetError: there is no data set of that name.
    """
    dataset = (registry or read_registry()).find(name)
    return f"{dataset.title}. Licence: {dataset.licence}.\nPlease cite: {dataset.citation}"


def load(name: str, registry: Registry | None = None) -> Corpus[Any]:
    """Load a data set, downloading it on first use.

    Files are read from the folder named by COURSEKIT_DATA, else from the cache, else downloaded;
    their checksums are always verified. Licence and citation are printed once per process.

    Args:
        name: one of `names()`.
        registry: a registry other than the course's own.

    Returns:
        A `ParallelCorpus`, `AlignedCorpus`, `LabelledCorpus`, `PairCorpus`, `TextCorpus` or
        `PublishedWeights` with its splits, licence, citation and checksums.

    Raises:
        DatasetError: the name is unknown, or a file is unavailable; the message says what to do.
    """
    registry = registry or read_registry()
    dataset = registry.find(name)
    if name not in _described:
        print(describe(name, registry))
        _described.add(name)
    contents: dict[str, bytes] = {}
    checksums: dict[str, str] = {}
    for path in dataset.file_paths():
        contents[path], checksums[path] = fetch(registry.files[path])
    splits = {
        split: READERS[spec["read"]]([contents[path] for path in spec["files"]], spec)
        for split, spec in dataset.splits.items()
    }
    if dataset.divide:
        options = dict(dataset.divide)
        divided = divide(splits[options.pop("split")], **options)
        # The remaining items replace the original split; empty parts are dropped.
        splits |= {part: items for part, items in divided.items() if items}
    order = {"train": 0, "validation": 1, "test": 2}
    splits = dict(sorted(splits.items(), key=lambda split: order.get(split[0], 3)))
    return KINDS[dataset.kind](name, dataset.licence, dataset.citation, checksums, splits)
