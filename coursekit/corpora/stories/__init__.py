"""Short made-up stories to pre-train on, with tags, questions and answers that are known."""

from coursekit.corpora.stories.making import StorySplits, splits, stories
from coursekit.corpora.stories.story import TAGS, Question, Story

__all__ = ["TAGS", "Question", "Story", "StorySplits", "splits", "stories"]
