"""English-French sentences with the pronoun `it`, among them Winograd pairs, for a translator.

Each seed has training sentences of its own; the validation and test sentences are the same for all.
No two nouns of a Winograd pair for validation or test meet, in this order, in a pair to train on.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from coursekit.corpora import english_french
from coursekit.corpora.grammar.lexicon import NOUNS
from coursekit.corpora.sentence_pair import SentencePair
from coursekit.corpora.winograd_pairs import WinogradPair, twins
from coursekit.data.batching import EncodedPair
from coursekit.text.vocabulary import WordVocabulary

GENERAL, OWN, TWINS = 4_000, 2_000, 1_000  # to train on, for each seed; twins are two sentences
TEST, VALIDATION = 400, 100  # sentences of each kind
MAX_LENGTH = 12  # words of a source sentence
DRAWN = 20_000  # sentences of which about OWN have `it`
LONGER = (13, 20)  # lengths that no training sentence has
KINDS = ("general", "own", "twins")
OF_GENDER = {"il": "elle", "elle": "il", "le": "la", "la": "le"}  # l' has none
NOUN_FORMS = {form for noun in NOUNS for form in (noun.english, noun.english_plural)}
Pairs = list[SentencePair]


def find_pronoun(pair: SentencePair) -> tuple[int, int, int]:
    """Return where `it` is, the noun that it stands for, and its translation in the target."""
    ((it, noun),) = pair.antecedents
    (translated,) = (t for s, t in pair.links if s == it)
    return it, noun, translated


def has_gender(pair: SentencePair) -> bool:
    """Tell whether the pair has one `it`, whose translation shows the gender of the noun."""
    return len(pair.antecedents) == 1 and pair.target[find_pronoun(pair)[2]] in OF_GENDER


def is_masculine(pair: SentencePair) -> bool:
    """Tell whether `it` is translated as il or le."""
    return pair.target[find_pronoun(pair)[2]] in ("il", "le")


def find_other_nouns(pair: SentencePair) -> list[int]:
    """Return the positions of the nouns that `it` does not stand for."""
    noun = find_pronoun(pair)[1]
    return [i for i, word in enumerate(pair.source) if word in NOUN_FORMS and i != noun]


@dataclass(frozen=True)
class PronounSentences:
    """The sentences, and one vocabulary for both languages.

    Attributes:
        test: sentences of each of KINDS; two in a row are Winograd twins.
        validation: the same, other sentences.
        longer: test sentences with more words than those of the training.
        unseen: nouns, in this order, of the twins for validation and test.
        vocabulary: the words of the first seed's training sentences.
    """

    test: dict[str, Pairs]
    validation: dict[str, Pairs]
    longer: Pairs
    unseen: frozenset[tuple[str, str]]
    vocabulary: WordVocabulary

    def training_pairs(self, seed: int) -> Pairs:
        """Return the training sentences of a seed, without those of the other two sets."""
        held_out = {
            pair.source
            for part in (self.test, self.validation)
            for pairs in part.values()
            for pair in pairs
        }
        pairs = _draw_training_pairs(seed, self.unseen)
        known = self.vocabulary.ids.keys()
        return [
            pair
            for pair in pairs
            if pair.source not in held_out and known >= {*pair.source, *pair.target}
        ]

    def encode(self, pairs: Iterable[SentencePair]) -> list[EncodedPair]:
        """Return the ids of sources and targets, each with its <eos>."""
        encode = self.vocabulary.encode
        return [(encode(pair.source), encode(pair.target)) for pair in pairs]


@lru_cache(maxsize=1)
def _draw_training_pairs(seed: int, unseen: frozenset[tuple[str, str]]) -> Pairs:
    return [
        *english_french(GENERAL, seed=1000 * seed + 1, min_length=4, max_length=MAX_LENGTH),
        *_with_pronoun(DRAWN, 1000 * seed + 2)[:OWN],
        *_flatten(pair for pair in twins(TWINS, seed=1000 * seed + 3) if pair.nouns not in unseen),
    ]


def _with_pronoun(drawn: int, seed: int) -> Pairs:
    made = english_french(drawn, seed=seed, min_length=10, max_length=MAX_LENGTH)
    return [pair for pair in made if len(pair.antecedents) == 1]


def _flatten(pairs: Iterable[WinogradPair]) -> Pairs:
    return [one for pair in pairs for one in (pair.first, pair.second)]


def load_sentences() -> PronounSentences:
    """Generate the sentences."""
    both = TEST + VALIDATION
    made = twins(1_600, seed=1)
    meeting = sorted({pair.nouns for pair in made})
    random.Random(1).shuffle(meeting)
    unseen = frozenset(meeting[: len(meeting) // 5])
    sentences = {
        "general": english_french(both, seed=2, min_length=4, max_length=MAX_LENGTH),
        "own": _with_pronoun(10 * both, seed=3)[:both],
        "twins": _flatten(pair for pair in made if pair.nouns in unseen)[:both],
    }
    assert all(len(pairs) == both for pairs in sentences.values())
    first = _draw_training_pairs(1, unseen)
    return PronounSentences(
        {kind: pairs[:TEST] for kind, pairs in sentences.items()},
        {kind: pairs[TEST:] for kind, pairs in sentences.items()},
        english_french(TEST, seed=5, min_length=LONGER[0], max_length=LONGER[1]),
        unseen,
        WordVocabulary(words for pair in first for words in (pair.source, pair.target)),
    )


def load() -> tuple[PronounSentences, str]:
    """Return the sentences and their SHA-256, with the training sentences of the first seed."""
    data = load_sentences()
    digest = repr([data.test, data.validation, data.longer, data.training_pairs(1)])
    return data, hashlib.sha256(digest.encode()).hexdigest()


def guess_last_noun(pair: SentencePair) -> bool:
    """Tell whether the noun just before `it` is the one that it stands for."""
    it, noun, _ = find_pronoun(pair)
    return max(i for i, word in enumerate(pair.source[:it]) if word in NOUN_FORMS) == noun


def guess_by_last_word(
    training: Sequence[SentencePair], pairs: Sequence[SentencePair]
) -> list[bool]:
    """Tell for each pair whether the gender that its last word had most in training is right.

    A last word that had both genders equally often, or none, counts as feminine.
    """
    balance: Counter[str] = Counter()  # masculine pronouns less feminine ones
    for pair in training:
        if has_gender(pair):
            balance[pair.source[-1]] += 1 if is_masculine(pair) else -1
    return [(balance[pair.source[-1]] > 0) == is_masculine(pair) for pair in pairs]


def guess_by_noun_and_last_word(
    training: Sequence[SentencePair], pairs: Sequence[SentencePair]
) -> list[bool]:
    """Tell for each pair whether `it` stands for the noun that met its last word most in training.

    Only training pairs in which `it` stood for the noun are counted.
    """
    met: Counter[tuple[str, str]] = Counter()
    for pair in training:
        if len(pair.antecedents) == 1:
            met[pair.source[find_pronoun(pair)[1]], pair.source[-1]] += 1
    return [
        max(
            (i for i, word in enumerate(pair.source) if word in NOUN_FORMS),
            key=lambda i, pair=pair: met[pair.source[i], pair.source[-1]],  # type: ignore[misc]
        )
        == find_pronoun(pair)[1]
        for pair in pairs
    ]


def score_guesses(
    training: Sequence[SentencePair], test: Mapping[str, Sequence[SentencePair]]
) -> dict[str, dict[str, float]]:
    """Return how often two guesses find the noun of `it`, by kind of sentences.

    Only pairs whose French pronoun shows the gender of the noun count.
    """
    shares = {}
    for kind in ("own", "twins"):
        pairs = [pair for pair in test[kind] if has_gender(pair)]
        shares[kind] = {
            "last noun": fmean(map(guess_last_noun, pairs)),
            "noun and last word": fmean(guess_by_noun_and_last_word(training, pairs)),
        }
    return shares
