"""Tokens linked to the nodes of a meaning tree, from which word alignments follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from coursekit.corpora.grammar.meaning_tree import NounPhrase
from coursekit.corpora.sentence_pair import SentencePair

Key = tuple[Any, str]  # a meaning-tree node and one of its parts, such as (clause, "verb")


class Token(NamedTuple):
    """A word and the parts of the meaning it expresses; a function word expresses none."""

    word: str
    keys: tuple[Key, ...] = ()


Tokens = Iterator[Token]


def express(words: Iterable[str], *keys: Key) -> Tokens:
    """Yield the words of a phrase, each with the same keys."""
    for word in words:
        yield Token(word, keys)


def links(source: list[Token], target: list[Token]) -> frozenset[tuple[int, int]]:
    """Return pairs (source position, target position) of words that express the same part."""
    positions: dict[Key, list[int]] = {}
    for i, token in enumerate(source):
        for key in token.keys:
            positions.setdefault(key, []).append(i)
    return frozenset(
        (i, j)
        for j, token in enumerate(target)
        for key in token.keys
        for i in positions.get(key, ())
    )


def antecedents(source: list[Token]) -> frozenset[tuple[int, int]]:
    """Return pairs (position of a pronoun, position of its antecedent noun)."""
    positions = {key: i for i, token in enumerate(source) for key in token.keys}
    return frozenset(
        (i, positions[node.antecedent, "noun"])
        for (node, _), i in positions.items()
        if isinstance(node, NounPhrase) and node.is_pronoun
    )


def pair_of(source: list[Token], target: list[Token]) -> SentencePair:
    """Return the words of a sentence in two languages, with their links and antecedents."""
    return SentencePair(
        tuple(token.word for token in source),
        tuple(token.word for token in target),
        links(source, target),
        antecedents(source),
    )
