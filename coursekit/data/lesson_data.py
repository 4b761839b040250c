"""Training data of chapters and notebooks, in the sizes quick and full.

"quick" is the synthetic English-Korean corpus, whose word links are known; "full" is Multi30k,
German to English. A language model trains on the English side of either.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from coursekit import corpora, datasets
from coursekit.corpora.everyday_pairs import everyday_english_french
from coursekit.data.batching import EncodedPair
from coursekit.text.vocabulary import SubwordVocabulary, WordVocabulary

Vocabulary = WordVocabulary | SubwordVocabulary


@dataclass(frozen=True)
class TranslationData:
    """Encoded sentence pairs with their vocabularies.

    Attributes:
        name: description for a caption.
        source_words: vocabulary of the source language.
        target_words: vocabulary of the target language.
        train: encoded pairs, both sides ending in <eos>.
        validation: likewise, for choosing the epoch.
        test: likewise, for the reported results.
        source_lengths: words in each source sentence of the test set.
        references: the translations of the test set as text.
        links: gold links of each test pair, (source position, target position); None if unknown.
        meanings: English meaning of each target word; empty if unknown.
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
    meanings: dict[str, str] = field(default_factory=dict)

    def glossed(self, ids: Sequence[int]) -> list[str]:
        """Return the target words of the ids, each followed by its English meaning if known."""
        return corpora.glossed(self.target_words.tokens(ids), self.meanings)

    def gloss(self, sentence: str) -> str:
        """Return a sentence of the target language in English, word by word; "" if unknown."""
        return corpora.gloss(sentence.split(), self.meanings) if self.meanings else ""


def translation_data(
    size: str, seed: int = 1, language: str = "korean", pairs: int = 14_000, max_length: int = 26
) -> TranslationData:
    """Return the training data of a translator.

    Args:
        size: "quick", synthetic pairs from English, or "full", the 29,000 pairs of Multi30k.
        seed: seed of the synthetic corpus.
        language: target language of the synthetic corpus, "korean" or "french".
        pairs: training pairs of the synthetic corpus.
        max_length: longest source sentence of the synthetic corpus, in words; the shortest has 4.

    Raises:
        DatasetError: the data for "full" is unavailable; the message says what to do.
    """
    return _make_data(seed, language, pairs, max_length) if size == "quick" else _multi30k()


def everyday_data(
    pairs: int = 16_000, max_length: int = 14, seed: int = 1, joint: bool = False
) -> TranslationData:
    """Return everyday English-French sentences like those of the five translators.

    Args:
        pairs: training pairs.
        max_length: longest source sentence, in words; the shortest has 2.
        seed: seed of the generator.
        joint: one vocabulary for both languages, as the Transformer needs it.
    """
    held_out = 200 + 600
    made = everyday_english_french(pairs + held_out, seed=seed, max_length=max_length)
    random.Random(seed).shuffle(made)
    return _encode_parts(
        "Everyday English to French, made by the course",
        made[held_out:],
        made[:200],
        made[200:held_out],
        joint,
    )


def _make_data(seed: int, language: str, pairs: int, max_length: int) -> TranslationData:
    parts = corpora.splits(
        language, pairs, 200, 600, seed=seed, min_length=4, max_length=max_length
    )
    name = f"English to {language.capitalize()}, made by the course"
    return _encode_parts(name, parts.train, parts.validation, parts.test)


def _encode_parts(
    name: str,
    train: Sequence[corpora.SentencePair],
    validation: Sequence[corpora.SentencePair],
    test: Sequence[corpora.SentencePair],
    joint: bool = False,
) -> TranslationData:
    sentences = [pair.source for pair in train], [pair.target for pair in train]
    if joint:
        source = target = WordVocabulary([*sentences[0], *sentences[1]])
    else:
        source, target = WordVocabulary(sentences[0]), WordVocabulary(sentences[1])

    def encode(pairs: Sequence[corpora.SentencePair]) -> list[EncodedPair]:
        return [(source.encode(pair.source), target.encode(pair.target)) for pair in pairs]

    return TranslationData(
        name,
        source,
        target,
        encode(train),
        encode(validation),
        encode(test),
        [len(pair.source) for pair in test],
        [" ".join(pair.target) for pair in test],
        [pair.links for pair in test],
        corpora.meanings(train),
    )


def _multi30k() -> TranslationData:
    corpus = datasets.load("multi30k-de-en")
    source = SubwordVocabulary([s for s, _ in corpus.train], 8000)
    target = SubwordVocabulary([t for _, t in corpus.train], 8000)

    def encode(pairs: Sequence[tuple[str, str]]) -> list[EncodedPair]:
        return [(source.encode(s), target.encode(t)) for s, t in pairs]

    return TranslationData(
        "Multi30k, German to English",
        source,
        target,
        encode(corpus.train),
        encode(corpus.validation),
        encode(corpus.test),
        [len(s.split()) for s, _ in corpus.test],
        [t for _, t in corpus.test],
    )


@dataclass(frozen=True)
class LanguageData:
    """Encoded sentences of one language with their vocabulary.

    Attributes:
        name: description for a caption.
        vocabulary: maps words to ids and back.
        train: sentences as ids, each ending in <eos>.
        validation: likewise, for choosing settings.
        test: likewise, for the reported results.
    """

    name: str
    vocabulary: WordVocabulary
    train: list[list[int]]
    validation: list[list[int]]
    test: list[list[int]]


def language_data(size: str, seed: int = 1) -> LanguageData:
    """Return the training data of a language model.

    Args:
        size: "quick", 12,000 synthetic English sentences of 4 to 26 words, or "full", the 29,000
            English captions of Multi30k in lower case, without punctuation, and with <unk> for
            words that occur only once.
        seed: seed of the synthetic corpus.

    Raises:
        DatasetError: the data for "full" is unavailable; the message says what to do.
    """
    if size == "quick":
        name = "English, made by the course"
        made = corpora.splits("korean", 12_000, 500, 1_000, seed=seed, min_length=4, max_length=26)
        parts = [[list(pair.source) for pair in part] for part in made]
    else:
        name = "Multi30k, English"
        corpus = datasets.load("multi30k-de-en")
        parts = [
            [re.findall(r"[\w'-]+", english.lower()) for _, english in part]
            for part in (corpus.train, corpus.validation, corpus.test)
        ]
    vocabulary = WordVocabulary(parts[0], minimum_count=1 if size == "quick" else 2)
    train, validation, test = ([vocabulary.encode(words) for words in part] for part in parts)
    return LanguageData(name, vocabulary, train, validation, test)
