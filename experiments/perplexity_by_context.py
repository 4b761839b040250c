"""Perplexity by how often a test word's context occurs in the training text."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from coursekit.models.ngrams import context_windows, perplexity
from coursekit.text.vocabulary import BOS

GROUPS = ((0, 0), (1, 4), (5, 19), (20, None))  # occurrences of the context, from and to


def name_groups() -> list[str]:
    """Return how often the contexts of each group occur: "never", "1–4 times", ..."""
    names = []
    for low, high in GROUPS:
        times = f"{low} times or more" if high is None else f"{low}–{high} times"
        names.append("never" if high == 0 else times)
    return names


def count_contexts(train: list[list[int]], test: list[list[int]], window: int = 4) -> np.ndarray:
    """Return how often the words before each word of `test` occur together in `train`, (N,).

    The first `window` words of a sentence have less context, and it is frequent for that reason
    alone: they get -1 and belong to no group. The word that is to be predicted plays no part, so
    the groups favour no model. (Whether an n-gram *with* that word has been seen does: a model that
    counts is good exactly where it has.)
    """
    seen = Counter(map(tuple, context_windows(train, window)[0].tolist()))
    contexts = context_windows(test, window)[0].tolist()
    return np.array([-1 if BOS in context else seen[tuple(context)] for context in contexts])


def group_by_context(probabilities: np.ndarray, counts: np.ndarray) -> list[dict[str, Any]]:
    """Return the words and the perplexity of each group.

    Args:
        probabilities: of each word of the test set, (N,).
        counts: from `count_contexts`, (N,).
    """
    rows: list[dict[str, Any]] = []
    for low, high in GROUPS:
        inside = (counts >= low) & (counts <= (np.inf if high is None else high))  # (N,)
        rows.append(
            {
                "from": low,
                "to": high,
                "words": int(inside.sum()),
                "perplexity": perplexity(probabilities[inside]),
            }
        )
    return rows
