"""Synthetic corpora, generated from a seed without any download."""

from coursekit.corpora.glosses import gloss, glossed, meanings
from coursekit.corpora.parallel import Splits, as_text, english_french, english_korean, splits
from coursekit.corpora.sentence_pair import SentencePair

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
