"""Tokens linked to the nodes of a meaning tree, from which word alignments follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from coursekit.corpora.grammar.meaning_tree import NounPhrase

Key = tuple[Any, str]  # a node of the meaning tree and the part of it, such as (clause, "verb")


class Token(NamedTuple):
    """A word with the parts of the meaning that it expresses; none for a function word."""

    word: str
    keys: tuple[Key, ...] = ()


Tokens = Iterator[Token]


def express(words: Iterable[str], *keys: Key) -> Tokens:
    """Return all the words of a phrase, each expressing the same."""
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
    """Return pairs (position of a pronoun, position of the noun that it stands for)."""
    positions = {key: i for i, token in enumerate(source) for key in token.keys}
    return frozenset(
        (i, positions[node.antecedent, "noun"])
        for (node, _), i in positions.items()
        if isinstance(node, NounPhrase) and node.is_pronoun
    )
