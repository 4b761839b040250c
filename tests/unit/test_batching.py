"""Tests of batching: every pair once, padding only at the end, order set by the seed."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import torch

from coursekit.data.batching import (
    batches_by_length,
    length_mask,
    pad,
    source_batch,
    translation_batch,
)
from coursekit.text.vocabulary import BOS, EOS, PAD


def encoded_pairs(count: int, seed: int = 0):
    generator = random.Random(seed)

    def sentence(longest: int) -> list[int]:
        return [*(generator.randint(4, 99) for _ in range(generator.randint(1, longest))), EOS]

    return [(sentence(20), sentence(15)) for _ in range(count)]


PAIRS = encoded_pairs(333)


def unpadded(row: torch.Tensor) -> tuple[int, ...]:
    kept = [i for i in row.tolist() if i != PAD]
    assert row.tolist() == kept + [PAD] * (len(row) - len(kept)), "padding before the end"
    return tuple(kept)


def pairs_of(batches):
    return [
        (unpadded(source), unpadded(target))
        for batch in batches
        for source, target in zip(batch.source, batch.target, strict=True)
    ]


def test_pad_fills_the_end_up_to_the_longest():
    padded = pad([[5, 6, 7], [8], []])
    assert padded.dtype == torch.long
    assert padded.tolist() == [[5, 6, 7], [8, PAD, PAD], [PAD, PAD, PAD]]


def test_length_mask_is_true_below_the_length():
    mask = length_mask(torch.tensor([1, 3, 0]), 4)
    assert mask.dtype == torch.bool
    assert mask.int().tolist() == [[1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0]]


def test_source_batch_counts_real_tokens():
    source, lengths = source_batch([[5, EOS], [6, 7, 8, EOS]])
    assert source.tolist() == [[5, EOS, PAD, PAD], [6, 7, 8, EOS]]
    assert lengths.tolist() == [2, 4]
    assert lengths.dtype == torch.long


def test_previous_is_the_target_one_step_later():
    batch = translation_batch([([5, EOS], [6, 7, EOS]), ([8, 9, EOS], [4, EOS])])
    assert batch.source.tolist() == [[5, EOS, PAD], [8, 9, EOS]]
    assert batch.target.tolist() == [[6, 7, EOS], [4, EOS, PAD]]
    assert batch.previous.tolist() == [[BOS, 6, 7], [BOS, 4, PAD]]


def test_the_decoder_never_reads_what_it_has_to_predict():
    for batch in batches_by_length(PAIRS, 16, seed=1):
        assert batch.previous.shape == batch.target.shape
        assert (batch.previous[:, 0] == BOS).all()
        assert (batch.previous != EOS).all()
        real = batch.target[:, 1:] != PAD
        assert torch.equal(batch.previous[:, 1:][real], batch.target[:, :-1][real])


@pytest.mark.parametrize("batch_size", [1, 7, 64, 1000])
def test_every_pair_comes_exactly_once(batch_size):
    batches = list(batches_by_length(PAIRS, batch_size, seed=3))
    assert Counter(pairs_of(batches)) == Counter((tuple(s), tuple(t)) for s, t in PAIRS)
    assert max(len(batch.source) for batch in batches) <= batch_size


def test_lengths_and_shapes_fit_the_rows():
    for batch in batches_by_length(PAIRS, 16, seed=1):
        assert batch.lengths.tolist() == [len(unpadded(row)) for row in batch.source]
        assert batch.source.shape[1] == batch.lengths.max()
        assert (batch.target[:, -1] != PAD).any()


def test_the_order_is_a_function_of_the_seed_alone():
    random.seed(5)
    first = pairs_of(batches_by_length(PAIRS, 16, seed=1))
    random.seed(6)
    assert pairs_of(batches_by_length(PAIRS, 16, seed=1)) == first
    assert pairs_of(batches_by_length(PAIRS, 16, seed=2)) != first


def test_batches_are_composed_anew_with_another_seed():
    def composition(seed):
        return {frozenset(pairs_of([b])) for b in batches_by_length(PAIRS, 16, seed=seed)}

    assert len(composition(1) & composition(2)) < len(composition(1)) / 2


def test_similar_lengths_are_together():
    def padding(batches):
        rows = [batch.source for batch in batches]
        return sum((r == PAD).sum().item() for r in rows) / sum(r.numel() for r in rows)

    in_given_order = [translation_batch(PAIRS[i : i + 16]) for i in range(0, len(PAIRS), 16)]
    assert padding(batches_by_length(PAIRS, 16, seed=1)) < padding(in_given_order) / 5


def test_short_sentences_do_not_come_first():
    longest = [batch.source.shape[1] for batch in batches_by_length(PAIRS, 16, seed=1)]
    assert longest != sorted(longest)


def test_the_pairs_are_not_reordered_in_place():
    before = list(PAIRS)
    list(batches_by_length(PAIRS, 16, seed=1))
    assert before == PAIRS


def test_no_pairs_give_no_batch():
    assert list(batches_by_length([], 16, seed=1)) == []


def test_a_batch_moves_as_a_whole():
    batch = translation_batch(PAIRS[:3]).to("meta")
    tensors = (batch.source, batch.lengths, batch.previous, batch.target)
    assert {tensor.device.type for tensor in tensors} == {"meta"}
