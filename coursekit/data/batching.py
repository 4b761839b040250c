"""Padding and batching of sentence pairs of similar length."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

from coursekit.text.vocabulary import BOS, PAD

EncodedPair = tuple[Sequence[int], Sequence[int]]


B = TypeVar("B", bound="Batch")


class Batch:
    """Base class of batches: dataclasses whose fields are tensors."""

    def to(self: B, device: torch.device | str) -> B:
        """Return the same batch on another device."""
        tensors = vars(self).items()
        return type(self)(**{name: tensor.to(device) for name, tensor in tensors})


T = TypeVar("T")


class Batches(Iterator[T]):
    """An iterator over batches, made one by one, that knows how many it has.

    `operator.length_hint` returns the number of batches that are left, for a progress bar.
    """

    def __init__(self, count: int, batches: Iterator[T]):
        """Wrap an iterator over `count` batches."""
        self._left, self._batches = count, batches

    def __next__(self) -> T:
        """Return the next batch."""
        batch = next(self._batches)
        self._left -= 1
        return batch

    def __length_hint__(self) -> int:
        """Return the number of batches that are left."""
        return self._left


@dataclass(frozen=True)
class TranslationBatch(Batch):
    """Sentence pairs as padded ids.

    Attributes:
        source: (B, S), each row a source sentence with its <eos>.
        lengths: (B,), the number of real tokens in each source row.
        previous: (B, T), <bos> and the target sentence without its <eos>: what the decoder reads.
        target: (B, T), the target sentence with its <eos>: what the decoder should predict.
    """

    source: Tensor
    lengths: Tensor
    previous: Tensor
    target: Tensor


def pad(sequences: Sequence[Sequence[int]]) -> Tensor:
    """Return the sequences as one tensor (B, L), shorter ones padded with <pad> at the end."""
    length = max(map(len, sequences))
    rows = [[*sequence, *[PAD] * (length - len(sequence))] for sequence in sequences]
    return torch.tensor(rows, dtype=torch.long)  # (B, L)


def source_batch(sources: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return source sentences as ids (B, S) and lengths (B,)."""
    return pad(sources), torch.tensor([len(source) for source in sources])  # (B, S), (B,)


def length_mask(lengths: Tensor, longest: int) -> Tensor:
    """Return bool (B, N), True where the position is below the length.

    Args:
        lengths: number of real tokens of each row, (B,).
        longest: number of positions, N.
    """
    positions = torch.arange(longest, device=lengths.device)  # (N,)
    return positions < lengths.unsqueeze(1)  # (B, N)


def translation_batch(pairs: Sequence[EncodedPair]) -> TranslationBatch:
    """Pad encoded pairs (both sides ending in <eos>) into one batch."""
    source, lengths = source_batch([source for source, _ in pairs])
    target = pad([target for _, target in pairs])  # (B, T)
    previous = pad([[BOS, *target[:-1]] for _, target in pairs])  # (B, T)
    return TranslationBatch(source, lengths, previous, target)


def batches_by_length(
    pairs: Sequence[EncodedPair], batch_size: int, seed: int
) -> Batches[TranslationBatch]:
    """Return an iterator over all pairs, in random batches of similar length.

    Pairs are shuffled, sorted by length within pools of fifty batches, and the batches shuffled.
    This needs little padding and still composes different batches for each seed.

    Args:
        pairs: encoded pairs, both sides ending in <eos>.
        batch_size: pairs in a batch; the last one of a pool may hold fewer.
        seed: determines the order; pass a different one in each epoch.
    """
    keys = [(len(source), len(target)) for source, target in pairs]
    order = order_by_length(keys, batch_size, seed)
    return Batches(len(order), (translation_batch([pairs[i] for i in batch]) for batch in order))


def order_by_length(keys: Sequence[Any], batch_size: int, seed: int) -> list[list[int]]:
    """Return the indices of all items once, in random batches of similar length.

    Items are shuffled, sorted by length within pools of fifty batches, and the batches shuffled.

    Args:
        keys: the length of each item, or several lengths to sort by.
        batch_size: items in a batch; the last one of a pool may hold fewer.
        seed: determines the order.
    """
    generator = random.Random(seed)
    order = list(range(len(keys)))
    generator.shuffle(order)
    pool = 50 * batch_size
    batches = []
    for start in range(0, len(order), pool):
        members = sorted(order[start : start + pool], key=keys.__getitem__)
        batches += [members[i : i + batch_size] for i in range(0, len(members), batch_size)]
    generator.shuffle(batches)
    return batches
