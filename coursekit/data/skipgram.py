"""Skip-gram batches with negative sampling, and nearest neighbours of word vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit.data.batching import Batch, Batches


@dataclass(frozen=True)
class SkipGramBatch(Batch):
    """Pairs of neighbouring words, each with negative samples.

    Attributes:
        center: (B,), ids of the centre words.
        context: (B,), id of one neighbour of each centre word.
        negatives: (B, K), K randomly drawn ids for each pair.
    """

    center: Tensor
    context: Tensor
    negatives: Tensor


def neighbour_pairs(sentences: Iterable[Sequence[int]], window: int) -> Tensor:
    """Return each word of each sentence with every word at most `window` positions away.

    Args:
        sentences: each a sequence of ids.
        window: how far to look to either side, at least 1.

    Returns:
        ids (P, 2): centre word and neighbour; each pair occurs in both orders.

    Raises:
        ValueError: the window is not positive.
    """
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}.")
    pairs = [
        (word, sentence[j])
        for sentence in sentences
        for i, word in enumerate(sentence)
        for j in range(max(0, i - window), min(len(sentence), i + window + 1))
        if j != i
    ]
    return torch.tensor(pairs, dtype=torch.long).reshape(-1, 2)  # (P, 2)


def noise_distribution(
    sentences: Iterable[Sequence[int]], vocabulary_size: int, power: float = 0.75
) -> Tensor:
    """Return the distribution of the negatives: word frequencies raised to a power.

    P(w) = f(w)^0.75 / sum over w' of f(w')^0.75. Rare words are drawn more often than they occur.

    Args:
        sentences: the training sentences, each a sequence of ids.
        vocabulary_size: V; an id that never occurs gets probability 0.
        power: 0 gives all words that occur the same probability, 1 their relative frequency.

    Returns:
        probabilities (V,).

    Raises:
        ValueError: the sentences hold no words.

    Source: Mikolov et al. (2013b), section 2.2.
    """
    ids = torch.tensor([i for sentence in sentences for i in sentence], dtype=torch.long)
    if len(ids) == 0:
        raise ValueError("The sentences contain no words.")
    counts = torch.bincount(ids, minlength=vocabulary_size).double()  # (V,)
    raised = torch.where(counts > 0, counts**power, 0.0)  # (V,)
    return (raised / raised.sum()).float()  # (V,)


def skipgram_batches(
    pairs: Tensor, noise: Tensor, negatives: int, batch_size: int, seed: int
) -> Batches[SkipGramBatch]:
    """Return an iterator over all pairs in random order, each with freshly drawn negatives.

    A negative may by chance be the neighbour itself; the authors' word2vec.c skips such a draw.

    Args:
        pairs: result of `neighbour_pairs`, (P, 2).
        noise: result of `noise_distribution`, (V,).
        negatives: K, number of negatives for each pair.
        batch_size: pairs in a batch; the last one may hold fewer.
        seed: determines order and negatives; pass a different one in each epoch.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(rows: Tensor) -> SkipGramBatch:
        drawn = torch.multinomial(
            noise, len(rows) * negatives, replacement=True, generator=generator
        )
        center, context = pairs[rows].unbind(1)  # (B,), (B,)
        return SkipGramBatch(center, context, drawn.reshape(len(rows), negatives))

    parts = torch.randperm(len(pairs), generator=generator).split(batch_size)
    return Batches(len(parts), map(draw, parts))


def nearest(vectors: Tensor, word: int, count: int) -> list[tuple[int, float]]:
    """Return the words whose vectors have the highest cosine similarity to a word's vector.

    Args:
        vectors: one for each word, (V, d).
        word: id of the word, which is not in the result.
        count: number of words.

    Returns:
        ids with their cosine similarity, the nearest first.
    """
    similarity = F.cosine_similarity(vectors, vectors[word].unsqueeze(0), dim=-1)  # (V,)
    similarity = similarity.index_fill(0, torch.tensor(word, device=vectors.device), -torch.inf)
    values, ids = similarity.topk(min(count, len(vectors) - 1))
    return list(zip(ids.tolist(), values.tolist(), strict=True))
