"""Made-up reviews whose verdict, and the words that decide it, are known."""

from coursekit.corpora.reviews.making import ReviewSplits, reviews, splits
from coursekit.corpora.reviews.review import Review

__all__ = ["Review", "ReviewSplits", "reviews", "splits"]
