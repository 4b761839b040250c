"""Measure how much of each word the state of a recurrent encoder still holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from coursekit.text.vocabulary import SPECIAL


def measure_what_is_left(encoder: Any, ids: Sequence[int]) -> Tensor:
    """Return `measure_distances` divided by the distance right after the word that is replaced.

    Returns:
        (S, S); in row t, column j, the share that is left of word j after word t: 1 for t = j.
    """
    distances = measure_distances(encoder, ids)  # (t, j)
    return distances / distances.diagonal()


@torch.no_grad()
def measure_distances(encoder: Any, ids: Sequence[int], others: int = 16, seed: int = 1) -> Tensor:
    """Replace each word by others and measure how far the later states move.

    Args:
        encoder: `encoder(tokens (B, S), lengths (B,)) -> (states (B, S, d), final)`, with an
            `embedding`.
        ids: the words of one sentence, without <eos>.
        others: number of words that are drawn in place of each.
        seed: of the drawing.

    Returns:
        (S, S); in row t, column j, the mean distance by which the state after word t moves when
        word j is replaced: 0 for t < j.
    """
    n = len(ids)
    generator = torch.Generator().manual_seed(seed)
    plain = torch.tensor([ids])  # (1, S)
    changed = plain.repeat(n * others, 1)  # (S K, S)
    words = encoder.embedding.num_embeddings
    drawn = torch.randint(len(SPECIAL), words, (n, others), generator=generator)  # (S, K)
    for j in range(n):
        changed[j * others : (j + 1) * others, j] = drawn[j]
    states, _ = encoder(plain, torch.tensor([n]))  # (1, S, d)
    moved, _ = encoder(changed, torch.full((n * others,), n))  # (S K, S, d)
    distances: Tensor = (moved - states).norm(dim=-1).reshape(n, others, n).mean(dim=1)  # (j, t)
    return distances.T  # (t, j)
