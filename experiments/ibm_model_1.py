"""IBM model 1 (Brown et al. 1993), the classical unsupervised word alignment model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

NULL = 0  # source of target words without a counterpart

Encoded = tuple[Sequence[int], Sequence[int]]


class IBM1:
    """Model 1: each target word comes from one source word or NULL, whatever their positions.

        p(f | e) = c prod_j sum_{i=0}^{S} t(f_j | e_i),   e_0 = NULL

    The table t is learned by expectation maximisation. The table gives the share of each target
    word in each word of its source sentence; the shares, summed over the corpus, give a new table:

        share(i, j) = t(f_j | e_i) / sum_k t(f_j | e_k)
        t(f | e) = shares of pairs (e, f) / shares of pairs (e, any)

    Args:
        pairs: encoded sentences (source, target); no word has id 0.
        iterations: iterations of expectation maximisation.

    Source: Brown, Della Pietra, Della Pietra and Mercer (1993), section 4.2.
    """

    def __init__(self, pairs: Sequence[Encoded], iterations: int = 8):
        sources, targets, cells = [], [], []
        for source, target in pairs:
            wide = [NULL, *source]
            sources.append(np.tile(wide, len(target)))
            targets.append(np.repeat(target, len(wide)))
            cells.append(len(wide) * np.ones(len(target), dtype=np.int64))
        self._width = 1 + max(chain.from_iterable(target for _, target in pairs))
        keys = np.concatenate(sources) * self._width + np.concatenate(targets)
        column = np.repeat(np.arange(sum(map(len, cells))), np.concatenate(cells))
        self._keys, place = np.unique(keys, return_inverse=True)
        source_of = self._keys // self._width
        self._table = np.ones(len(self._keys))  # t(f | e), for every co-occurring pair of words
        for _ in range(iterations):
            share = self._table[place]
            share /= np.bincount(column, share)[column]
            counts = np.bincount(place, share)
            self._table = counts / np.bincount(source_of, counts)[source_of]

    def shares(self, source: Sequence[int], target: Sequence[int]) -> np.ndarray:
        """Return share(i, j) of each target word j in the source words i and, last, in NULL.

        Args:
            source: ids of the source words, S of them.
            target: ids of the target words, T of them.

        Returns:
            rows that sum to 1, (T, S + 1). A word that never co-occurred with any of them comes
            from NULL.
        """
        wanted = np.array([*source, NULL]) * self._width + np.array(target)[:, None]  # (T, S + 1)
        place = np.searchsorted(self._keys, wanted).clip(max=len(self._keys) - 1)
        share = np.where(self._keys[place] == wanted, self._table[place], 0.0)  # (T, S + 1)
        share[:, -1] += share.sum(axis=1) == 0
        return share / share.sum(axis=1, keepdims=True)

    def __len__(self) -> int:
        return len(self._table)
