"""Generator of word-aligned English-Korean and English-French parallel corpora."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from coursekit.corpora.grammar import english, french, korean
from coursekit.corpora.grammar.aligned_tokens import Token, pair_of
from coursekit.corpora.grammar.korean_morphology import PARTICLES
from coursekit.corpora.grammar.meaning_tree import Sentence
from coursekit.corpora.grammar.sentence_sampler import sample_sentence
from coursekit.corpora.grammar.word_choice import SHORTEST
from coursekit.corpora.sentence_pair import SentencePair

REALISE: dict[str, Callable[[Sentence], list[Token]]] = {
    "korean": korean.realise,
    "french": french.realise,
}
ATTEMPTS = 50  # consecutive duplicates before a sentence length counts as exhausted
# Korean tokens that are written without a space before them
JOINED = {form for forms in PARTICLES.values() for form in forms} | {
    *("의", "에서", "에게", "들", "지", "고", "지만", "기")
}


class Splits(NamedTuple):
    """Three sets of sentence pairs that share no source sentence."""

    train: list[SentencePair]
    validation: list[SentencePair]
    test: list[SentencePair]


def english_korean(
    pairs: int, seed: int, min_length: int = 4, max_length: int = 30
) -> list[SentencePair]:
    """Generate English-Korean sentence pairs with known word alignments.

    The same arguments give the same pairs on every machine. Lengths are drawn uniformly from
    `min_length` to `max_length` and met exactly; longer sentences have more clauses, modifiers and
    relative clauses, with no noun or verb repeated. No pair is repeated unless the sentences of a
    length are exhausted.

    Words that express the same part of the meaning are linked. Articles, "does", Korean subject,
    topic and object particles, and 기 and 지 before 때문에 and 않다 have no link, as in manual
    alignments; 들 is linked like its noun, a counter like its number.

    Args:
        pairs: number of pairs.
        seed: seed of the generator.
        min_length: shortest source sentence, in words, at least 3.
        max_length: longest source sentence, in words.

    Returns:
        The pairs, lower case and without punctuation.

    Raises:
        ValueError: a number is negative or the lengths are impossible.
    """
    return _make("korean", pairs, seed, min_length, max_length)


def english_french(
    pairs: int, seed: int, min_length: int = 4, max_length: int = 30
) -> list[SentencePair]:
    """Generate English-French sentence pairs with known word alignments.

    Like `english_korean`, and from the same meanings: the same arguments give the same English
    sentences. Both parts of "ne ... pas" are linked to "not", "du" to "of" and "the". In French,
    "it" takes the gender of its antecedent.

    Args:
        pairs: number of pairs.
        seed: seed of the generator.
        min_length: shortest source sentence, in words, at least 3.
        max_length: longest source sentence, in words.

    Returns:
        The pairs, lower case and without punctuation.

    Raises:
        ValueError: a number is negative or the lengths are impossible.
    """
    return _make("french", pairs, seed, min_length, max_length)


def splits(
    language: str,
    train: int,
    validation: int,
    test: int,
    seed: int,
    min_length: int = 4,
    max_length: int = 30,
) -> Splits:
    """Generate training, validation and test sets that share no source sentence.

    Args:
        language: target language, "korean" or "french".
        train: pairs in the training set.
        validation: pairs in the validation set.
        test: pairs in the test set.
        seed: seed of the generator.
        min_length: shortest source sentence, in words, at least 3.
        max_length: longest source sentence, in words.

    Returns:
        The three sets.

    Raises:
        ValueError: the language is unknown, a number is negative, the lengths are impossible, or
            too few different sentences of these lengths exist.
    """
    if language not in REALISE:
        raise ValueError(f"language must be one of {', '.join(REALISE)}, not '{language}'.")
    for name, value in (("train", train), ("validation", validation), ("test", test)):
        if value < 0:
            raise ValueError(f"{name} must be 0 or more, not {value}.")
    total = train + validation + test
    pairs = _make(language, total, seed, min_length, max_length)
    different = len({pair.source for pair in pairs})
    if different < total:
        raise ValueError(
            f"Only {different} of {total} different sentences of {min_length} to {max_length} "
            "words could be generated: request fewer or longer ones."
        )
    # The training set comes last, so that a larger one leaves the other sets unchanged.
    test_end, validation_end = test, test + validation
    return Splits(pairs[validation_end:], pairs[test_end:validation_end], pairs[:test_end])


def as_text(words: tuple[str, ...] | list[str]) -> str:
    """Return Korean or French tokens as ordinary text: 개 는 - 개는, l' animal - l'animal."""
    text = ""
    for word in words:
        glue = not text or text.endswith("'") or word in JOINED
        text += word if glue else " " + word
    return text


def _make(
    language: str, pairs: int, seed: int, min_length: int, max_length: int
) -> list[SentencePair]:
    if pairs < 0:
        raise ValueError(f"pairs must be 0 or more, not {pairs}.")
    if min_length < SHORTEST:
        raise ValueError(f"min_length must be at least {SHORTEST} words, not {min_length}.")
    if min_length > max_length:
        raise ValueError(
            f"min_length ({min_length}) must not be greater than max_length ({max_length})."
        )
    random_source = random.Random(seed)
    seen: set[tuple[str, ...]] = set()
    exhausted: set[int] = set()
    made: list[SentencePair] = []
    while len(made) < pairs:
        length = min_length + random_source.randrange(max_length - min_length + 1)
        for _ in range(1 if length in exhausted else ATTEMPTS):
            sentence = sample_sentence(random_source, length)
            source = english.realise(sentence)
            words = tuple(token.word for token in source)
            if words not in seen:
                break
        else:
            exhausted.add(length)
        seen.add(words)
        target = REALISE[language](sentence)
        made.append(pair_of(source, target))
    return made
