"""Generator of synthetic stories from the templates of a plot."""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from coursekit.corpora.grammar.lexicon import english_s
from coursekit.corpora.stories.lexicon import (
    ANIMALS,
    COLOURS,
    FURS,
    JOBS,
    MEN,
    NEEDS,
    NUMBERS,
    PLACES,
    PLOTS,
    PREPOSITIONS,
    QUESTIONS,
    SPOTS,
    TAG_OF,
    THINGS,
    TIMES,
    WEATHER,
    WOMEN,
)
from coursekit.corpora.stories.story import Question, Story

ATTEMPTS = 200  # consecutive duplicates before the grammar counts as exhausted
SLOT = re.compile(r"\{(\w+)\}")
PRONOUNS = {  # subject, object, possessive
    True: ("she/PRON", "her/PRON", "her/DET"),
    False: ("he/PRON", "him/PRON", "his/DET"),
}


class StorySplits(NamedTuple):
    """Three sets of stories that share no text."""

    train: list[Story]
    validation: list[Story]
    test: list[Story]


def _cast(random_source: random.Random) -> dict[str, str]:
    """Return the filler of each slot in one story, tagged with its part of speech."""
    choose, sample = random_source.choice, random_source.sample
    woman = random_source.randrange(2) == 0
    names, others = (WOMEN, MEN) if woman else (MEN, WOMEN)
    she, her, poss = PRONOUNS[woman]
    he2, him2, poss2 = PRONOUNS[not woman]
    (thing, do), (thing2, do2) = sample(THINGS, 2)
    colour, colour2 = sample(COLOURS, 2)
    job, workplace, product, make = choose(JOBS)
    animal, sound, food, home = choose(ANIMALS)
    sky, gear, state = choose(WEATHER)
    (need, helps), (need2, helps2) = sample(NEEDS, 2)
    place, place2 = sample(PLACES, 2)
    age, age2 = sample(("old", "new"), 2)
    nouns = {
        **{"thing": thing, "thing2": thing2, "job": job, "workplace": workplace},
        **{"product": product, "products": english_s(product), "animal": animal, "food": food},
        **{"home": home, "gear": gear, "place": place, "place2": place2},
        **{"spot": choose(SPOTS), "time": choose(TIMES)},
        "sibling": "brother" if woman else "sister",
    }
    verbs = {
        **{"do": do, "does": english_s(do), "do2": do2, "does2": english_s(do2)},
        **{"make": make, "makes": english_s(make), "sounds": english_s(sound)},
    }
    adjectives = {
        **{"colour": colour, "colour2": colour2, "state": state, "need": need, "need2": need2},
        **{"age": age, "age2": age2, "size": choose(("big", "small")), "fur": choose(FURS)},
    }
    first = random_source.randrange(2) == 0  # which of two things is named first
    pairs = [(colour, thing), (colour2, thing2)]
    (colour_a, thing_a), (colour_b, thing_b) = pairs if first else reversed(pairs)
    nouns |= {"thing_a": thing_a, "thing_b": thing_b}
    adjectives |= {"colour_a": colour_a, "colour_b": colour_b}
    slots = {"name": choose(names) + "/PROPN", "friend": choose(others) + "/PROPN"}
    slots |= {"she": she, "her": her, "poss": poss, "he2": he2, "him2": him2, "poss2": poss2}
    slots |= {"by": choose(PREPOSITIONS) + "/ADP", "number": choose(NUMBERS) + "/NUM"}
    slots |= {"sky": sky, "helps": helps, "helps2": helps2}
    for tag, words in (("NOUN", nouns), ("VERB", verbs), ("ADJ", adjectives)):
        slots |= {slot: f"{word}/{tag}" for slot, word in words.items()}
    return slots


def _fill(template: str, slots: dict[str, str]) -> list[str]:
    return SLOT.sub(lambda slot: slots[slot[1]], template).split()


def _with_articles(words: list[str]) -> tuple[str, ...]:
    """Return the words, with "an" before a vowel."""
    return tuple(
        "an" if word == "a" and words[i + 1][0] in "aeiou" else word for i, word in enumerate(words)
    )


def _draw(random_source: random.Random, plot: str) -> Story:
    slots = _cast(random_source)
    sentences: list[tuple[str, ...]] = []
    tags: list[tuple[str, ...]] = []
    answers: dict[str, tuple[int, int, int]] = {}  # question: sentence, first and last word
    before = 0
    for alternatives in PLOTS[plot]:
        template = random_source.choice(alternatives)
        if not template:
            continue
        words: list[str] = []
        word_tags: list[str] = []
        name, start = "", 0
        for token in _fill(template, slots):
            if token[0] == "(":
                name, start = token[1:], len(words)
            elif token == ")":
                answers[name] = (len(sentences), before + start, before + len(words) - 1)
            else:
                word, _, tag = token.partition("/")
                words.append(word)
                word_tags.append(tag or TAG_OF[word])
        sentences.append(_with_articles(words))
        tags.append(tuple(word_tags))
        before += len(words)
    questions = []
    for name, template in QUESTIONS[plot].items():
        if name in answers:
            asked = [token.partition("/")[0] for token in _fill(template, slots)]
            questions.append(Question(_with_articles(asked), *answers[name]))
    return Story(tuple(sentences), tuple(tags), tuple(questions), plot)


def stories(number: int, seed: int, *, plots: tuple[str, ...] = tuple(PLOTS)) -> list[Story]:
    """Generate stories of four to seven sentences about the same people and things.

    The same arguments give the same stories on every machine, and no text is repeated. One word of
    a story often follows from another: a pronoun from a name before or after it, a verb from the
    noun after it ("they ride the bicycle"), a thing's colour from its first mention. Every story
    has one woman and one man, so that "she", "he", "her" and "him" are unambiguous.

    Args:
        number: number of stories.
        seed: seed of the generator.
        plots: kinds of story, drawn uniformly.

    Returns:
        The stories.

    Raises:
        ValueError: an argument is out of range, or too few different stories exist.
    """
    if number < 0:
        raise ValueError(f"number must be 0 or more, not {number}.")
    if not plots or not set(plots) <= set(PLOTS):
        raise ValueError(f"plots must be some of {', '.join(PLOTS)}.")
    random_source = random.Random(seed)
    seen: set[tuple[str, ...]] = set()
    made: list[Story] = []
    while len(made) < number:
        for _ in range(ATTEMPTS):
            story = _draw(random_source, random_source.choice(plots))
            if story.words not in seen:
                break
        else:
            raise ValueError(
                f"Only {len(made)} of {number} different stories could be generated; request fewer."
            )
        seen.add(story.words)
        made.append(story)
    return made


def splits(train: int, validation: int, test: int, seed: int) -> StorySplits:
    """Generate training, validation and test sets that share no text.

    Args:
        train: stories in the training set.
        validation: stories in the validation set.
        test: stories in the test set.
        seed: seed of the generator.

    Returns:
        The three sets.

    Raises:
        ValueError: a number is negative, or too few different stories exist.
    """
    for name, value in (("train", train), ("validation", validation), ("test", test)):
        if value < 0:
            raise ValueError(f"{name} must be 0 or more, not {value}.")
    made = stories(train + validation + test, seed)
    # The training set comes last, so that a larger one leaves the other sets unchanged.
    return StorySplits(made[test + validation :], made[test : test + validation], made[:test])
