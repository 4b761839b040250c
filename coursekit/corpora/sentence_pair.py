"""Word-aligned sentence pair."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SentencePair:
    """A sentence, its translation, and which word translates which.

    Attributes:
        source: the words of the source sentence.
        target: the words of the target sentence.
        links: pairs (source position, target position), both counted from 0; only the sure links
            where annotators distinguished sure from possible ones.
        antecedents: pairs (position of `it`, position of its antecedent noun), both in the source
            sentence.
        possible: the links annotated as possible.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: frozenset[tuple[int, int]]
    antecedents: frozenset[tuple[int, int]] = frozenset()
    possible: frozenset[tuple[int, int]] = frozenset()
