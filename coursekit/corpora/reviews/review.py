"""Review with its rating and its deciding words and sentences."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Review:
    """A review, its verdict, and the words and sentences that decide the verdict.

    Attributes:
        sentences: the words of each sentence, lower case and without punctuation.
        rating: the writer's verdict, 1 (worst) to 5 (best).
        deciding_words: pairs (sentence, word), both counted from 0: the words that state the
            writer's opinion, with their negations and modifiers of degree.
        deciding_sentences: the sentences that contain these words.
        topic: what is reviewed: "film", "book", "hotel" or "restaurant".
    """

    sentences: tuple[tuple[str, ...], ...]
    rating: int
    deciding_words: frozenset[tuple[int, int]]
    deciding_sentences: frozenset[int]
    topic: str

    @property
    def label(self) -> int:
        """1 for a rating above 3, else 0."""
        return int(self.rating > 3)

    @property
    def words(self) -> tuple[str, ...]:
        """All words, one sentence after the other."""
        return tuple(word for sentence in self.sentences for word in sentence)

    @property
    def deciding_positions(self) -> frozenset[int]:
        """The positions of the deciding words in `words`."""
        starts = [0]
        for sentence in self.sentences:
            starts.append(starts[-1] + len(sentence))
        return frozenset(starts[i] + j for i, j in self.deciding_words)
