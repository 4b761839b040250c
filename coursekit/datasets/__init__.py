"""Real data by name: `load("multi30k-de-en")` downloads, verifies, caches and reads it.

`COURSEKIT_DATA` names a folder to search first, `COURSEKIT_CACHE` replaces the user's cache folder,
and `python -m coursekit.datasets NAME...` downloads data sets ahead of time.
"""

from coursekit.datasets.corpus import (
    AlignedCorpus,
    Corpus,
    LabelledCorpus,
    PairCorpus,
    ParallelCorpus,
    PublishedWeights,
    TextCorpus,
)
from coursekit.datasets.errors import DatasetError
from coursekit.datasets.flickr8k import CaptionedCorpus, CaptionedPicture, load_flickr8k
from coursekit.datasets.loading import describe, load, names
from coursekit.datasets.registry import Registry, read_registry
from coursekit.datasets.user_files import own_table

__all__ = [
    "AlignedCorpus",
    "CaptionedCorpus",
    "CaptionedPicture",
    "Corpus",
    "DatasetError",
    "LabelledCorpus",
    "PairCorpus",
    "ParallelCorpus",
    "PublishedWeights",
    "Registry",
    "TextCorpus",
    "describe",
    "load",
    "load_flickr8k",
    "names",
    "own_table",
    "read_registry",
]
