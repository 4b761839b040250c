"""The data a chapter or notebook trains on, by the size that the reader has chosen.

"quick" is the embedded English-Korean corpus, whose word links are known; "full" is Multi30k,
German to English.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from coursekit import corpora, datasets
from coursekit.batching import EncodedPair
from coursekit.vocabulary import SubwordVocabulary, WordVocabulary

Vocabulary = WordVocabulary | SubwordVocabulary


@dataclass(frozen=True)
class TranslationData:
    """Sentence pairs, encoded, with the vocabularies to read them.

    Attributes:
        name: what it is, for a caption.
        source_words: vocabulary of the source language.
        target_words: vocabulary of the target language.
        train: encoded pairs, both sides ending in <eos>.
        validation: likewise, to choose the epoch by.
        test: likewise, to report on.
        source_lengths: words in each source sentence of the test set.
        references: the translations of the test set as text.
        links: gold links of each test pair, (source position, target position); None if unknown.
    """

    name: str
    source_words: Vocabulary
    target_words: Vocabulary
    train: list[EncodedPair]
    validation: list[EncodedPair]
    test: list[EncodedPair]
    source_lengths: list[int]
    references: list[str]
    links: list[frozenset[tuple[int, int]]] | None = field(default=None)


def translation_data(size: str, seed: int = 1) -> TranslationData:
    """Return what to train a translator on.

    Args:
        size: "quick", 14,000 made-up pairs of 4 to 26 words, or "full", Multi30k's 29,000.
        seed: of the embedded corpus.

    Raises:
        DatasetError: "full", and the data cannot be had; the sentence says what to do.
    """
    return _embedded(seed) if size == "quick" else _multi30k()


def _embedded(seed: int) -> TranslationData:
    parts = corpora.splits("korean", 14_000, 200, 600, seed=seed, min_length=4, max_length=26)
    source = WordVocabulary([pair.source for pair in parts.train])
    target = WordVocabulary([pair.target for pair in parts.train])

    def encoded(pairs: Sequence[corpora.SentencePair]) -> list[EncodedPair]:
        return [(source.encode(pair.source), target.encode(pair.target)) for pair in pairs]

    return TranslationData(
        "English to Korean, made by the course",
        source,
        target,
        encoded(parts.train),
        encoded(parts.validation),
        encoded(parts.test),
        [len(pair.source) for pair in parts.test],
        [" ".join(pair.target) for pair in parts.test],
        [pair.links for pair in parts.test],
    )


def _multi30k() -> TranslationData:
    corpus = datasets.load("multi30k-de-en")
    source = SubwordVocabulary([s for s, _ in corpus.train], 8000)
    target = SubwordVocabulary([t for _, t in corpus.train], 8000)

    def encoded(pairs: Sequence[tuple[str, str]]) -> list[EncodedPair]:
        return [(source.encode(s), target.encode(t)) for s, t in pairs]

    return TranslationData(
        "Multi30k, German to English",
        source,
        target,
        encoded(corpus.train),
        encoded(corpus.validation),
        encoded(corpus.test),
        [len(s.split()) for s, _ in corpus.test],
        [t for _, t in corpus.test],
    )
