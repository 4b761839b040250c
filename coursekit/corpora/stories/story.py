"""Story with its part-of-speech tags, questions and answers."""

from __future__ import annotations

from dataclasses import dataclass

# The universal part-of-speech tags (Petrov et al. 2012, Universal Dependencies) that occur.
TAGS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "NOUN"),
    *("NUM", "PART", "PRON", "PROPN", "SCONJ", "VERB"),
)


@dataclass(frozen=True)
class Question:
    """A question about a story, and the position of its answer.

    Attributes:
        words: the question, lower case and without punctuation.
        sentence: the sentence that holds the answer, counted from 0.
        first: index of the answer's first word in the story's `words`.
        last: index of its last word, inclusive.
    """

    words: tuple[str, ...]
    sentence: int
    first: int
    last: int


@dataclass(frozen=True)
class Story:
    """A few sentences about the same people and things.

    Attributes:
        sentences: the words of each sentence, lower case and without punctuation.
        tags: the part of speech of each word, one of `TAGS`.
        questions: at least one question that the story answers.
        plot: the kind of story: "loss", "shopping", "animal", "work", "weather" or "visit".
    """

    sentences: tuple[tuple[str, ...], ...]
    tags: tuple[tuple[str, ...], ...]
    questions: tuple[Question, ...]
    plot: str

    @property
    def words(self) -> tuple[str, ...]:
        """All words, one sentence after the other."""
        return tuple(word for sentence in self.sentences for word in sentence)

    @property
    def word_tags(self) -> tuple[str, ...]:
        """The tags of `words`."""
        return tuple(tag for sentence in self.tags for tag in sentence)

    def answer(self, question: Question) -> tuple[str, ...]:
        """Return the words of the story that answer one of its questions."""
        return self.words[question.first : question.last + 1]
