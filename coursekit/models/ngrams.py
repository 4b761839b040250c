"""N-gram language models with interpolated Kneser-Ney smoothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from coursekit.text.vocabulary import BOS

Sentences = Sequence[Sequence[int]]


def context_windows(sentences: Sentences, window: int) -> tuple[Tensor, Tensor]:
    """Return every word with the words before it; positions before a sentence hold <bos>.

    Args:
        sentences: ids of sentences, each with its <eos>.
        window: words of context.

    Returns:
        contexts (N, window) in reading order, and the words that follow them (N,).

    Raises:
        ValueError: `window` is less than 1, or there are no words.
    """
    if window < 1:
        raise ValueError(f"window must be at least 1 word, not {window}.")
    rows = []
    for sentence in sentences:
        words = [BOS] * window + list(sentence)
        rows += [words[i : i + window + 1] for i in range(len(sentence))]
    if not rows:
        raise ValueError("there are no words: give at least one sentence.")
    table = torch.tensor(rows)  # (N, window + 1)
    return table[:, :-1], table[:, -1]


class NgramModel:
    """N-gram language model with interpolated Kneser-Ney smoothing.

    A discount D is subtracted from every count; the probability saved for a history h goes to the
    model with one word less of context (h' is h without its first word):

    p_k(w | h) = max(c(h w) - D_k, 0) / c(h) + D_k t(h) / c(h) p_{k-1}(w | h'),   p_0(w) = 1 / V

    c(h) is the sum of c(h w) over w, t(h) the number of different words that followed h. An unseen
    history backs off to h'. For the longest n-grams, and those at the beginning of a sentence, c is
    the number of occurrences; for shorter ones it is the number of different words before them
    (Kneser and Ney, 1995): a word that always follows the same word is a poor guess elsewhere.

    Args:
        order: words in the longest n-gram; 1 uses no context.
        vocabulary_size: V, the number of ids.
        discounts: D_1 ... D_order, each from 0 to 1, or one for all.

    Attributes:
        sentences: the ids that it was fitted to.

    Raises:
        ValueError: an argument is out of range.

    Source: Chen and Goodman (1999), interpolated Kneser-Ney, with one discount for each order.
    """

    def __init__(
        self, order: int, vocabulary_size: int, discounts: float | Sequence[float] = 0.75
    ) -> None:
        if order < 1 or vocabulary_size < 1:
            raise ValueError("order and vocabulary_size must be at least 1.")
        self.order = order
        self.vocabulary_size = vocabulary_size
        self.discounts = list(discounts) if isinstance(discounts, Sequence) else [discounts] * order
        if len(self.discounts) != order or not all(0 <= d <= 1 for d in self.discounts):
            raise ValueError(f"give {order} discounts from 0 to 1, not {discounts}.")
        self.sentences: Sentences = []
        self._counts: list[dict[tuple[int, ...], int]] = []  # of n-grams of 1, 2, ... words
        self._totals: list[dict[tuple[int, ...], int]] = []  # c(h) by history
        self._types: list[dict[tuple[int, ...], int]] = []  # t(h) by history

    def fit(self, sentences: Sentences) -> NgramModel:
        """Count the n-grams of the training sentences.

        Args:
            sentences: ids of sentences, each with its <eos>.

        Returns:
            the model itself.
        """
        self.sentences = sentences
        seen = [Counter(_ngrams(sentences, k)) for k in range(1, self.order + 1)]
        self._counts = []
        for k, often in enumerate(seen, start=1):
            if k < self.order:
                after = Counter(ngram[1:] for ngram in seen[k])
                self._counts.append({g: n if g[0] == BOS else after[g] for g, n in often.items()})
            else:
                self._counts.append(dict(often))
        self._totals, self._types = [], []
        for counts in self._counts:
            totals: Counter[tuple[int, ...]] = Counter()
            for ngram, n in counts.items():
                totals[ngram[:-1]] += n
            self._totals.append(dict(totals))
            self._types.append(dict(Counter(ngram[:-1] for ngram in counts)))
        return self

    @property
    def stored_counts(self) -> int:
        """Number of different n-grams of 1 to `order` words that the model stores."""
        return sum(map(len, self._counts))

    def probability(self, word: int, history: Sequence[int]) -> float:
        """Return p(word | history).

        Args:
            word: an id.
            history: the words before it since the beginning of the sentence, <bos> first; all but
                the last `order` - 1 are ignored.
        """
        return float(self._mix(self._look_up([(*history, word)]))[0])

    def probabilities(self, sentences: Sentences) -> np.ndarray:
        """Return the probability of every word given those before it, as one array (N,).

        Args:
            sentences: ids of sentences, each with its <eos>.
        """
        return self._mix(self._look_up(self._windows(sentences)))

    def perplexity(self, sentences: Sentences) -> float:
        """Return exp of the mean negative log probability of a word, <eos> included.

        Raises:
            ValueError: there are no words.
        """
        return perplexity(self.probabilities(sentences))

    def tune(self, sentences: Sentences, steps: int = 20) -> NgramModel:
        """Choose discounts that give held-out sentences a low perplexity.

        Coordinate search: each discount in turn, from the shortest n-grams to the longest, takes
        the best of `steps` - 1 values between 0 and 1; all of this twice.

        Returns:
            the model itself.
        """
        counts = self._look_up(self._windows(sentences))  # (N, order, 3)
        for _ in range(2):
            for k in range(self.order):
                tried = {}
                for discount in np.arange(1, steps) / steps:
                    self.discounts[k] = float(discount)
                    tried[float(discount)] = perplexity(self._mix(counts))
                self.discounts[k] = min(tried, key=tried.__getitem__)
        return self

    def _windows(self, sentences: Sentences) -> list[tuple[int, ...]]:
        """Return every word with the words before it that the longest n-gram covers."""
        windows = []
        for sentence in sentences:
            words = (BOS, *sentence)
            windows += [words[max(0, i - self.order + 1) : i + 1] for i in range(1, len(words))]
        return windows

    def _look_up(self, windows: Iterable[tuple[int, ...]]) -> np.ndarray:
        """Return c(h w), c(h), t(h) of each window at each order, (N, order, 3); 0 where unseen."""
        if not self._counts:
            raise ValueError("the model has not been fitted yet: call fit first.")
        rows = []
        for window in windows:
            row = np.zeros((self.order, 3))
            for k in range(1, min(self.order, len(window)) + 1):
                ngram = window[-k:]
                total = self._totals[k - 1].get(ngram[:-1])
                if total is None:
                    break  # longer histories are unseen as well
                row[k - 1] = (
                    self._counts[k - 1].get(ngram, 0),
                    total,
                    self._types[k - 1][ngram[:-1]],
                )
            rows.append(row)
        return np.array(rows).reshape(-1, self.order, 3)

    def _mix(self, counts: np.ndarray) -> np.ndarray:
        """Return the probabilities (N,), interpolated from the shortest n-grams to the longest."""
        p = np.full(len(counts), 1 / self.vocabulary_size)
        for k, discount in enumerate(self.discounts):
            count, total, types = counts[:, k].T  # (N,) each
            kept = np.maximum(count - discount, 0) + discount * types * p
            p = np.where(total > 0, kept / np.maximum(total, 1), p)
        return p


def perplexity(probabilities: np.ndarray) -> float:
    """Return exp of the mean negative logarithm of the words' probabilities (N,).

    Raises:
        ValueError: there are no words.
    """
    if not len(probabilities):
        raise ValueError("perplexity needs at least one word.")
    with np.errstate(divide="ignore"):  # -log 0 is infinite
        return math.exp(min(-np.log(probabilities).mean(), 700.0))


def _ngrams(sentences: Sentences, k: int) -> Iterable[tuple[int, ...]]:
    """Yield all n-grams of k words; <bos> alone is not counted as a unigram."""
    for sentence in sentences:
        words = (BOS, *sentence) if k > 1 else tuple(sentence)
        yield from zip(*(words[i:] for i in range(k)), strict=False)
