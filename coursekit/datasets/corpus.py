"""Corpus types that `load` returns: parallel, aligned, labelled, pairs, text, weights."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from coursekit.corpora import SentencePair
from coursekit.datasets.errors import DatasetError

Item = TypeVar("Item")


@dataclass(frozen=True, repr=False)
class Corpus(Generic[Item]):
    """A data set in memory.

    Attributes:
        name: its name in the registry.
        licence: its terms of use.
        citation: what to cite.
        sha256: checksum of each file, by the file's path.
        splits: the items of each split, by the split's name.
    """

    name: str
    licence: str
    citation: str
    sha256: Mapping[str, str]
    splits: Mapping[str, list[Item]]

    @property
    def train(self) -> list[Item]:
        """The items to train on."""
        return self.split("train")

    @property
    def validation(self) -> list[Item]:
        """The items for choosing settings and the best epoch."""
        return self.split("validation")

    @property
    def test(self) -> list[Item]:
        """The items to report results on."""
        return self.split("test")

    def split(self, name: str) -> list[Item]:
        """Return the items of a split.

        Raises:
            DatasetError: the data set has no split of that name.
        """
        if name not in self.splits:
            raise DatasetError(
                f"The data set '{self.name}' has no split '{name}': use one of "
                f"{', '.join(self.splits)}."
            )
        return self.splits[name]

    @property
    def data_sha256(self) -> str:
        """One checksum for all files: SHA-256 of the sorted lines `sha256  path`."""
        lines = sorted(f"{checksum}  {path}\n" for path, checksum in self.sha256.items())
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {len(items):,}" for name, items in self.splits.items())
        return f"{type(self).__name__}({self.name}; {counts})"


class ParallelCorpus(Corpus[tuple[str, str]]):
    """Sentences with their translations: items are (source, target)."""


class AlignedCorpus(Corpus[SentencePair]):
    """Tokenised sentence pairs with manual word alignments."""


class LabelledCorpus(Corpus[tuple[str, int]]):
    """Texts with a class: items are (text, label)."""


class PairCorpus(Corpus[tuple[str, str, int]]):
    """Pairs of texts with a class: items are (first, second, label)."""


class TextCorpus(Corpus[str]):
    """Running text: items are lines."""


class PublishedWeights(Corpus[Any]):
    """A published pretrained model: `weights` are (name, tensor), `pieces` are word pieces."""
