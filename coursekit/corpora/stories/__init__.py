"""Synthetic short stories with part-of-speech tags, questions and answers."""

from coursekit.corpora.stories.generator import StorySplits, splits, stories
from coursekit.corpora.stories.story import TAGS, Question, Story

__all__ = ["TAGS", "Question", "Story", "StorySplits", "splits", "stories"]
