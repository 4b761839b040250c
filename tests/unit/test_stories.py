"""Tests of the synthetic stories: deterministic, without repeats, and predictable."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from coursekit.corpora.stories import TAGS, Story, generator, splits, stories
from coursekit.corpora.stories.lexicon import COLOURS, MEN, PLOTS, THINGS, WOMEN

SAMPLE = stories(3000, seed=11)


def of_gender(words: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return bool({*words} & {*names})


def test_lengths():
    assert {len(s.sentences) for s in SAMPLE} == {4, 5, 6, 7}
    assert {len(sentence) for s in SAMPLE for sentence in s.sentences} <= set(range(3, 12))
    assert max(len(s.words) for s in SAMPLE) <= 56


def test_words_are_plain():
    for story in SAMPLE:
        asked = [word for question in story.questions for word in question.words]
        for word in (*story.words, *asked):
            assert word.isalpha() and word.islower(), story


def test_articles():
    asked = [question.words for story in SAMPLE for question in story.questions]
    for words in (*(sentence for s in SAMPLE for sentence in s.sentences), *asked):
        for word, following in pairwise(words):
            if word in ("a", "an"):
                assert (following[0] in "aeiou") == (word == "an"), words


def test_plots_are_drawn_evenly_and_can_be_chosen():
    counts = Counter(story.plot for story in SAMPLE)
    assert set(counts) == set(PLOTS)
    assert min(counts.values()) > 0.8 * len(SAMPLE) / len(PLOTS)
    assert {story.plot for story in stories(20, 0, plots=("loss", "work"))} == {"loss", "work"}


def test_every_word_has_a_tag():
    for story in SAMPLE:
        assert [len(s) for s in story.sentences] == [len(t) for t in story.tags]
        assert len(story.words) == len(story.word_tags)
        assert set(story.word_tags) <= set(TAGS)
    assert {tag for story in SAMPLE for tag in story.word_tags} == set(TAGS)


def test_a_tag_can_need_the_neighbours():
    tags = defaultdict(set)
    for story in SAMPLE:
        for word, tag in zip(story.words, story.word_tags, strict=True):
            tags[word].add(tag)
    both = {word: kinds for word, kinds in tags.items() if len(kinds) > 1}
    assert both.pop("her") == {"PRON", "DET"}
    assert both.pop("to") == {"ADP", "PART"}
    assert len(both) >= 3
    assert set(map(frozenset, both.values())) == {frozenset({"NOUN", "VERB"})}


def test_tags_are_right_where_the_neighbours_tell():
    for story in SAMPLE:
        for sentence, tags in zip(story.sentences, story.tags, strict=True):
            for i, (word, tag) in enumerate(zip(sentence, tags, strict=True)):
                after = tags[i + 1] if i + 1 < len(tags) else ""
                if word in ("a", "an", "the", "every", "this"):
                    assert tag == "DET" and after in ("NOUN", "ADJ"), sentence
                if word == "her":
                    assert tag == ("DET" if after in ("NOUN", "ADJ") else "PRON"), sentence
                if word == "to":
                    assert tag == ("PART" if after == "VERB" else "ADP"), sentence
                assert (word in WOMEN + MEN) == (tag == "PROPN")


def test_answers():
    for story in SAMPLE:
        assert story.questions
        starts = [0]
        for sentence in story.sentences:
            starts.append(starts[-1] + len(sentence))
        for question in story.questions:
            assert starts[question.sentence] <= question.first <= question.last
            assert question.last < starts[question.sentence + 1]
            answer, tags = story.answer(question), story.word_tags[question.first :]
            first = question.words[0]
            if first == "who":
                assert tags[0] == "PROPN" and len(answer) == 1
            if first == "where":
                assert tags[0] == "ADP" and story.word_tags[question.last] == "NOUN"
            if first == "what":
                assert story.word_tags[question.last] == "NOUN"
            if first == "how":
                assert tags[0] == "ADJ" and len(answer) == 1
    assert len({question.words for story in SAMPLE for question in story.questions}) > 400


def test_no_question_has_two_answers():
    for story in SAMPLE:
        answers = defaultdict(set)
        for question in story.questions:
            answers[question.words].add(story.answer(question))
        assert all(len(given) == 1 for given in answers.values()), story


def test_where_a_question_points_depends_on_more_than_its_first_word():
    """Most stories have several places and several people, so that "where" alone is not enough."""
    names = [len({w for w in s.words if w in WOMEN + MEN}) for s in SAMPLE]
    assert set(names) == {2}
    assert sum(s.word_tags.count("ADP") >= 2 for s in SAMPLE) > 0.8 * len(SAMPLE)


def test_pronouns_can_be_told_from_a_name():
    """In a story there are one woman and one man; each pronoun stands for one who is named."""
    for story in SAMPLE:
        assert of_gender(story.words, WOMEN) and of_gender(story.words, MEN)
        protagonist = next(word for word in story.words if word in WOMEN + MEN)
        seen: set[str] = set()
        for sentence in story.sentences:
            here = {*sentence} & {*WOMEN, *MEN}
            if {"she", "he"} & {*sentence}:
                assert seen | here, story
            woman_known = bool((seen | here) & {*WOMEN})
            man_known = bool((seen | here) & {*MEN})
            assert woman_known or not {"she", "her"} & {*sentence}, story
            assert man_known or not {"he", "him", "his"} & {*sentence}, story
            seen |= here
        assert protagonist in seen


def test_the_next_sentence_can_often_be_told():
    """A sentence in the middle names somebody or something that the one before has named."""
    common, strange = [], []
    content = {"NOUN", "PROPN", "ADJ"}

    def named(story: Story, i: int) -> set[str]:
        pairs = zip(story.sentences[i], story.tags[i], strict=True)
        return {word for word, tag in pairs if tag in content}

    for story, other in pairwise(SAMPLE):
        before = set().union(*(named(story, i) for i in range(3)))
        common.append(bool(before & named(story, 3)))
        strange.append(bool(before & named(other, 3)))
    assert sum(common) > 1.8 * sum(strange)


def test_the_verb_tells_the_thing_and_the_thing_the_verb():
    nouns = [thing for thing, _ in THINGS]
    verbs = [verb for _, verb in THINGS]
    assert len(set(nouns)) == len(set(verbs)) == len(THINGS)


def test_a_colour_comes_again_with_its_thing():
    """Whoever has read where a thing was first named can fill in its colour later."""
    again = 0
    for story in SAMPLE:
        colours: dict[str, str] = {}
        for sentence in story.sentences:
            for word, following in pairwise(sentence):
                if word in COLOURS:
                    again += following in colours
                    assert colours.setdefault(following, word) == word, story
    assert again > 1000


def test_no_story_twice_and_splits_share_none():
    parts = splits(600, 150, 150, seed=2)
    assert [len(part) for part in parts] == [600, 150, 150]
    texts = [s.words for part in parts for s in part]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"number": -1}, "number must be 0 or more"),
        ({"plots": ("opera",)}, "plots must be some of loss, shopping"),
        ({"plots": ()}, "plots must be some of"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        stories(**{"number": 5, "seed": 0} | arguments)
    with pytest.raises(ValueError, match="test must be 0 or more"):
        splits(1, 1, -1, seed=0)


def test_too_many_are_refused(monkeypatch):
    known = stories(1, 0)[0]
    monkeypatch.setattr(generator, "_draw", lambda source, plot: known)
    with pytest.raises(ValueError, match="Only 1 of 2"):
        stories(2, 0)
