"""Word-by-word English glosses of the synthetic translations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from coursekit.corpora.grammar.korean_morphology import PARTICLES
from coursekit.corpora.grammar.lexicon import NOUNS, NUMBERS, VERBS
from coursekit.corpora.sentence_pair import SentencePair

# Words that have no link, inconsistent links, or links only as part of a phrase.
_KOREAN = {
    **{form: f"({kind})" for kind in ("topic", "subject", "object") for form in PARTICLES[kind]},
    **{noun.counter: "(counter)" for noun in NOUNS},
    **{"개": "dog", "들": "(plural)", "지": "(ending)", "기": "(ending)"},
    **{"에서": "in, at", "매일": "every day", "오늘": "today"},
    **{"아침": "morning", "저녁": "evening", "밤": "night"},
}
_NUMBERS = {phrase.korean[-1] for phrase in NUMBERS}
_ARTICLES = {"le", "la", "l'"}
_FRENCH_VERBS = {form for verb in VERBS for form in (verb.french, verb.french_plural)}
_FRENCH = {
    **{"de": "of", "d'": "of", "que": "that", "qu'": "that", "qui": "that", "ce": "this"},
    **{"chaque": "every", "matin": "morning", "soir": "evening", "nuit": "night"},
    **{"pomme": "apple", "terre": "earth"},
}


def meanings(pairs: Iterable[SentencePair]) -> dict[str, str]:
    """Return each target word's English meaning: the source words it is most often linked to.

    Args:
        pairs: sentence pairs with their links. Korean particles, endings and counters have no
            reliable links; their meaning is a label in brackets, such as "(topic)".
    """
    linked: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        sources: dict[int, list[int]] = defaultdict(list)
        for source, target in pair.links:
            sources[target].append(source)
        for target, word in enumerate(pair.target):
            linked[word][" ".join(pair.source[i] for i in sorted(sources[target]))] += 1
    remarks = _KOREAN | _FRENCH
    return {word: remarks.get(word, found.most_common(1)[0][0]) for word, found in linked.items()}


def gloss(sentence: Sequence[str], known: Mapping[str, str]) -> str:
    """Return the words' meanings in sentence order, with "?" for an unknown word."""
    return " ".join(meaning or "?" for meaning in _read(sentence, known))


def glossed(sentence: Sequence[str], known: Mapping[str, str]) -> list[str]:
    """Return each word followed by its meaning, as labels of a figure."""
    return [
        f"{word} {meaning}" if meaning else word
        for word, meaning in zip(sentence, _read(sentence, known), strict=True)
    ]


def _read(sentence: Sequence[str], known: Mapping[str, str]) -> Iterator[str]:
    """Yield each word's meaning.

    After a number, 개 is a counter, not "dog"; before a verb, *la* is a pronoun, not an article.
    """
    for before, word, after in zip(["", *sentence], sentence, [*sentence[1:], ""], strict=False):
        if word == "개" and before in _NUMBERS:
            yield "(counter)"
        elif word in _ARTICLES and after in _FRENCH_VERBS:
            yield "it"
        else:
            yield known.get(word, "")
