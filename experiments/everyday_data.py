"""Everyday English-French sentences for five translators: for training, and tests by kind."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from coursekit.corpora import SentencePair
from coursekit.corpora.everyday_pairs import everyday_english_french, everyday_twins
from coursekit.data.batching import EncodedPair, TranslationBatch, batches_by_length
from coursekit.text.vocabulary import WordVocabulary

LONGEST, LONGEST_TEST = 20, 28  # words of a source
PAIRS, TEST, BEYOND, TWINS, VALIDATION = 60_000, 1_300, 400, 200, 300
DRAWN, LONGEST_SUGGESTED, NEW_PAIRS = 3_000, 8, 0.5  # sentences that are offered to a reader
BATCH = 64


@dataclass
class Languages:
    """The words of source and target: two vocabularies, or the same one twice."""

    source: WordVocabulary
    target: WordVocabulary

    def encode(self, pairs: Iterable[SentencePair]) -> list[EncodedPair]:
        """Return the ids of sources and targets, each with its <eos>."""
        return [(self.source.encode(p.source), self.target.encode(p.target)) for p in pairs]


@dataclass
class EverydaySentences:
    """Sentences for training and for tests.

    Attributes:
        test: of 2 to 28 words; those of more than 20 are longer than what most models train on.
        twins: pairs that differ in their last word, one after the other.
        validation: of 2 to 20 words.
        stories: sentences that the page shows, by story.
        apart: English and French words.
        joint: the words of both languages together, as the Transformer has them.
    """

    test: list[SentencePair]
    twins: list[SentencePair]
    validation: list[SentencePair]
    stories: dict[str, list[SentencePair]]
    apart: Languages = field(init=False)
    joint: Languages = field(init=False)
    _training: dict[int, list[SentencePair]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        first = self.training_pairs(LONGEST)
        source, target = (WordVocabulary(words) for words in zip(*_words(first), strict=True))
        both = WordVocabulary(words for pair in _words(first) for words in pair)
        self.apart, self.joint = Languages(source, target), Languages(both, both)

    def training_pairs(self, longest: int) -> list[SentencePair]:
        """Return the training pairs of up to `longest` words, without those of the tests."""
        if longest not in self._training:
            made = everyday_english_french(PAIRS, seed=1000 + longest, max_length=longest)
            held_out = {
                pair.source
                for pairs in (self.test, self.twins, self.validation, *self.stories.values())
                for pair in pairs
            }
            self._training[longest] = [pair for pair in made if pair.source not in held_out]
        return self._training[longest]

    def batches(
        self, longest: int, languages: Languages, seed: int
    ) -> Callable[[int], Iterable[TranslationBatch]]:
        """Return the batches of each epoch, in an order that depends on the seed."""
        pairs = languages.encode(self.training_pairs(longest))
        return lambda epoch: batches_by_length(pairs, BATCH, seed=1000 * seed + epoch)


def _words(pairs: Iterable[SentencePair]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(pair.source, pair.target) for pair in pairs]


def read_stories() -> dict[str, list[SentencePair]]:
    """Return the sentences of the page with their translations, by story."""
    path = Path(__file__).with_name("five_translators_sentences.csv")
    stories: dict[str, list[SentencePair]] = {}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        source, target = tuple(row["source"].split()), tuple(row["target"].split())
        stories.setdefault(row["story"], []).append(SentencePair(source, target, frozenset()))
    return stories


def read_synonyms() -> dict[str, str]:
    """Return a known word in place of each that readers are likely to type."""
    path = Path(__file__).with_name("five_translators_synonyms.csv")
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    return {row["word"]: row["known"] for row in rows}


def choose_suggestions() -> list[tuple[str, ...]]:
    """Return sentences of up to 8 words to offer in place of one that the models cannot read.

    They are all those drawn of up to 4 words, and of the longer ones those where at least
    `NEW_PAIRS` of the pairs of words occur together for the first time.
    """
    drawn = [
        pair.source for pair in everyday_english_french(DRAWN, seed=5, max_length=LONGEST_SUGGESTED)
    ]
    stories = [pair.source for pairs in read_stories().values() for pair in pairs]
    candidates = {source for source in (*drawn, *stories) if len(source) <= LONGEST_SUGGESTED}
    seen: set[frozenset[str]] = set()
    chosen = []
    for source in sorted(candidates, key=lambda source: (len(source), source)):
        pairs = {frozenset(pair) for pair in combinations(set(source), 2)}
        if len(source) <= 4 or len(pairs - seen) >= NEW_PAIRS * len(pairs):
            chosen.append(source)
            seen |= pairs
    return chosen


def load() -> tuple[EverydaySentences, str]:
    """Return the sentences and their SHA-256, with the training sentences."""
    beyond = everyday_english_french(
        BEYOND, seed=2, min_length=LONGEST + 1, max_length=LONGEST_TEST
    )
    data = EverydaySentences(
        test=[*everyday_english_french(TEST, seed=1, max_length=LONGEST), *beyond],
        twins=[one for two in everyday_twins(TWINS, seed=3) for one in two],
        validation=everyday_english_french(VALIDATION, seed=4, max_length=LONGEST),
        stories=read_stories(),
    )
    digest = repr([data.test, data.twins, data.validation, data.training_pairs(LONGEST)])
    return data, hashlib.sha256(digest.encode()).hexdigest()
