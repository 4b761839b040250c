"""Debates of the Canadian parliament, tokenised like the manually aligned sentences.

The aligned sentences are published as words: elisions and contractions are expanded (*l'Orateur* is
*le orateur*, *du* is *de le*), and hyphens are separate. The debates are published as text without
accents. This module converts both to lower-case words without accents.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from coursekit.corpora import SentencePair

Words = tuple[str, ...]

_TOKENS = re.compile(
    r"\d+(?:[.,]\d+)*|(?:mrs?|ms|dr|hon|st|no|m|mme)\.|aujourd'|[a-z]+|'s\b|\.{3}|--|\S"
)
_ELISIONS = re.compile(r"\b(l|d|c|n|j|s|m|t|qu|jusqu|lorsqu|puisqu|quoiqu)'(?=\w)")
_QUOTES = str.maketrans("«»“”", '""""')
_CONTRACTIONS = {"du": "de le", "des": "de les", "au": "a le", "aux": "a les"}
_CONTRACTED = re.compile(rf"\b({'|'.join(_CONTRACTIONS)})\b")


def simplify_words(words: Iterable[str]) -> Words:
    """Return words in lower case without accents."""
    return tuple(_plain(word) for word in words)


def read_english(line: str) -> Words:
    """Return the words of a line of the English debates."""
    return tuple(_TOKENS.findall(_plain(line)))


def read_french(line: str) -> Words:
    """Return the words of a line of the French debates, with elisions and contractions expanded."""
    text = _ELISIONS.sub(r"\1e ", _plain(line))
    text = _CONTRACTED.sub(lambda match: _CONTRACTIONS[match[1]], text)
    return tuple(_TOKENS.findall(text))


def _plain(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.lower().translate(_QUOTES))
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def read_debates(
    lines: Sequence[tuple[str, str]], longest: int, leave: Iterable[SentencePair]
) -> list[tuple[Words, Words]]:
    """Return the sentence pairs of the debates without duplicates, in a fixed random order.

    Args:
        lines: lines of `datasets.load("hansards-en-fr")`.
        longest: pairs with more words on either side are dropped.
        leave: aligned sentences to exclude from training.
    """
    kept = {(read_english(source), read_french(target)): None for source, target in lines}
    for pair in leave:
        kept.pop((simplify_words(pair.source), simplify_words(pair.target)), None)
    pairs = [pair for pair in kept if all(1 <= len(words) <= longest for words in pair)]
    random.Random(1).shuffle(pairs)
    return pairs


def plain_pairs(pairs: Iterable[SentencePair]) -> list[SentencePair]:
    """Return aligned sentences with simplified words."""
    return [
        replace(p, source=simplify_words(p.source), target=simplify_words(p.target)) for p in pairs
    ]
