"""Synthetic reviews with known ratings and known deciding words."""

from coursekit.corpora.reviews.generator import ReviewSplits, reviews, splits
from coursekit.corpora.reviews.review import Review

__all__ = ["Review", "ReviewSplits", "reviews", "splits"]
