"""Generator of synthetic reviews with known deciding words and sentences."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from coursekit.corpora.reviews.lexicon import (
    CONTRASTS,
    FAMILIES,
    HEARSAY,
    NEUTRAL,
    PHRASES,
    REACTIONS,
    TOPICS,
    VERDICTS,
)
from coursekit.corpora.reviews.review import Review

RATINGS = (1, 2, 3, 4, 5)
CONTRAST = 30  # percentage of deciding sentences with a contrast
OPINION = 50  # percentage of other sentences with an opinion
AGAINST = 30  # percentage of such opinions that contradict the verdict
LONGEST = 20  # maximum number of words in a sentence
ATTEMPTS = 200  # consecutive duplicates before the grammar counts as exhausted
SLOT = re.compile(r"\{(\w+)\}")


class ReviewSplits(NamedTuple):
    """Three sets of reviews that share no text."""

    train: list[Review]
    validation: list[Review]
    test: list[Review]


class _Writer:
    """Writes the sentences of one review."""

    def __init__(self, random_source: random.Random, topic: str, rating: int) -> None:
        self.random = random_source
        self.topic = TOPICS[topic]
        self.rating = rating

    def chance(self, percent: int) -> bool:
        """Return True with a probability of `percent` percent."""
        return self.random.randrange(100) < percent

    def other_rating(self, against: int) -> int:
        """Return a rating that contradicts the verdict in `against` percent of cases."""
        high = (self.rating > 3) != self.chance(50 if self.rating == 3 else against)
        return self.random.choice((4, 5) if high else (1, 2))

    def fill(self, template: str, rating: int, other: int) -> str:
        """Fill the slots of a template, recursively."""
        if template.count("{role}") == 2:
            first, second = self.random.sample(FAMILIES["role"], 2)
            template = template.replace("{role}", first, 1).replace("{role}", second, 1)
        return SLOT.sub(lambda slot: self.slot(slot[1], rating, other), template)

    def slot(self, name: str, rating: int, other: int) -> str:
        """Return the text of one slot."""
        choose = self.random.choice
        if name in FAMILIES:
            return choose(FAMILIES[name])
        if name == "thing":
            return choose(self.topic.things)
        if name == "it":
            return "it" if self.chance(60) else f"the {choose(self.topic.things)}"
        if name == "aspect":
            return choose(self.topic.aspects)
        if name == "tried":
            return self.topic.tried
        if name == "phrase":
            return self.fill(choose(PHRASES[rating]), rating, other)
        if name == "reaction":
            return self.fill(choose(REACTIONS[rating]), rating, other)
        if name == "verdict":
            return self.fill(choose(VERDICTS), rating, other)
        # The remaining slots follow the other rating and do not affect the verdict.
        if name == "word":
            families = {1: "awful", 2: "bad", 4: "good", 5: "great"}
            return choose(FAMILIES[families[other]])
        table = {"other": PHRASES, "other_reaction": REACTIONS}[name]
        return self.fill(choose(table[other]), other, other).replace("*", "")

    def deciding(self) -> str:
        """Return a sentence that states the verdict, its deciding words marked with a star."""
        templates = CONTRASTS if self.chance(CONTRAST) else VERDICTS
        return self.fill(self.random.choice(templates), self.rating, self.other_rating(100))

    def idle(self) -> str:
        """Return a sentence that does not decide the verdict."""
        if self.chance(OPINION):
            other = self.other_rating(AGAINST)
            # Opinions of other people, or opinions about a detail of the topic.
            group = HEARSAY if self.chance(65) else self.topic.told
            return self.fill(self.random.choice(group), other, other).replace("*", "")
        group = self.topic.neutral if self.chance(65) else NEUTRAL
        return self.fill(self.random.choice(group), self.rating, self.rating)


def _words(sentence: str) -> list[str]:
    """Return the words of a marked sentence, with "an" before a vowel."""
    words = sentence.split()
    return [
        "an" if word == "a" and words[i + 1].lstrip("*")[0] in "aeiou" else word
        for i, word in enumerate(words)
    ]


def _draw(random_source: random.Random, topic: str, rating: int, count: int) -> Review:
    writer = _Writer(random_source, topic, rating)
    deciding = 1 + (count > 3 and writer.chance(35))
    where = frozenset(random_source.sample(range(count), deciding))
    marked: list[str] = []
    for i in range(count):
        text = ""
        while not text or text in marked or len(text.split()) > LONGEST:
            text = writer.deciding() if i in where else writer.idle()
        marked.append(text)
    sentences = [_words(text) for text in marked]
    stars = frozenset(
        (i, j)
        for i, sentence in enumerate(sentences)
        for j, word in enumerate(sentence)
        if word.startswith("*")
    )
    plain = tuple(tuple(word.lstrip("*") for word in sentence) for sentence in sentences)
    return Review(plain, rating, stars, where, topic)


def reviews(
    number: int,
    seed: int,
    *,
    min_sentences: int = 1,
    max_sentences: int = 8,
    ratings: Sequence[int] = RATINGS,
    topics: Sequence[str] = tuple(TOPICS),
) -> list[Review]:
    """Generate reviews whose verdict, deciding words and deciding sentences are known.

    The same arguments give the same reviews on every machine, and no text is repeated. One
    sentence (sometimes two in longer reviews), at any position, states the writer's verdict. The
    others tell a story, or report an expectation or another person's opinion, in the same words of
    praise and blame. Some of them contradict the verdict; the other side of a "but" always does.
    "good" alone is therefore weak evidence; "it was not good at all" is decisive.

    Args:
        number: number of reviews.
        seed: seed of the generator.
        min_sentences: fewest sentences of a review, at least 1.
        max_sentences: most sentences of a review.
        ratings: ratings, drawn uniformly; without 3, each is positive or negative.
        topics: topics, drawn uniformly.

    Returns:
        The reviews.

    Raises:
        ValueError: an argument is out of range, or too few different reviews exist.
    """
    if number < 0:
        raise ValueError(f"number must be 0 or more, not {number}.")
    if not 1 <= min_sentences <= max_sentences:
        raise ValueError(
            "min_sentences must be at least 1 and not greater than max_sentences, "
            f"not {min_sentences} and {max_sentences}."
        )
    for name, given, known in (("ratings", ratings, RATINGS), ("topics", topics, tuple(TOPICS))):
        if not given or not set(given) <= set(known):
            raise ValueError(f"{name} must be some of {', '.join(map(str, known))}.")
    random_source = random.Random(seed)
    seen: set[tuple[tuple[str, ...], ...]] = set()
    made: list[Review] = []
    while len(made) < number:
        for _ in range(ATTEMPTS):
            rating = random_source.choice(ratings)
            topic = random_source.choice(topics)
            count = random_source.randint(min_sentences, max_sentences)
            review = _draw(random_source, topic, rating, count)
            if review.sentences not in seen:
                break
        else:
            raise ValueError(
                f"Only {len(made)} of {number} different reviews could be generated: request "
                "fewer or longer ones."
            )
        seen.add(review.sentences)
        made.append(review)
    return made


def splits(
    train: int, validation: int, test: int, seed: int, *, ratings: Sequence[int] = RATINGS
) -> ReviewSplits:
    """Generate training, validation and test sets that share no text.

    Args:
        train: reviews in the training set.
        validation: reviews in the validation set.
        test: reviews in the test set.
        seed: seed of the generator.
        ratings: as for `reviews`.

    Returns:
        The three sets.

    Raises:
        ValueError: a number is negative, or too few different reviews exist.
    """
    for name, value in (("train", train), ("validation", validation), ("test", test)):
        if value < 0:
            raise ValueError(f"{name} must be 0 or more, not {value}.")
    made = reviews(train + validation + test, seed, ratings=ratings)
    # The training set comes last, so that a larger one leaves the other sets unchanged.
    return ReviewSplits(made[test + validation :], made[test : test + validation], made[:test])
