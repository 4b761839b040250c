"""Corpora made by the course itself: no download, the same on every machine."""

from coursekit.corpora.glosses import gloss, glossed, meanings
from coursekit.corpora.making import Splits, as_text, english_french, english_korean, splits
from coursekit.corpora.pair import SentencePair

__all__ = [
    "SentencePair",
    "Splits",
    "as_text",
    "english_french",
    "english_korean",
    "gloss",
    "glossed",
    "meanings",
    "splits",
]
