"""Tests of coursekit.models.bert: padding, batches, the pre-training model."""

from __future__ import annotations

import torch
from torch import nn

from coursekit.models.bert import (
    PretrainingModel,
    initialise,
    labelled_batches,
    pad_items,
    pretraining_batches,
)

ITEMS = [
    ([2, 7, 3], [0, 0, 0], 1),
    ([2, 8, 9, 3, 5, 3], [0, 0, 0, 0, 1, 1], 0),
    ([2, 3], [0, 0], 1),
]


def test_padding_behind_ids_and_segments():
    tokens, segments, labels = pad_items(ITEMS, pad_id=6)
    assert tokens.tolist() == [[2, 7, 3, 6, 6, 6], [2, 8, 9, 3, 5, 3], [2, 3, 6, 6, 6, 6]]
    assert segments.tolist()[1] == [0, 0, 0, 0, 1, 1] and segments.tolist()[0] == [0] * 6
    assert labels.tolist() == [1, 0, 1]


def test_pretraining_batches_mask_what_may_be_masked():
    asked = []

    def mask(tokens, special):
        asked.append(special)
        return tokens.masked_fill(~special, 4), tokens.masked_fill(special, -100)

    (batch,) = pretraining_batches(ITEMS, 8, 1, mask, special=(0, 1, 2, 3, 4))
    row = batch.tokens[batch.tokens.eq(4).sum(dim=1) == 3][0].tolist()
    assert row == [2, 4, 4, 3, 4, 3]
    assert sorted(batch.is_next.tolist()) == [False, True, True]
    assert asked[0].dtype == torch.bool and asked[0].sum() == batch.labels.eq(-100).sum()
    assert sorted(batch.labels[batch.labels != -100].tolist()) == [5, 7, 8, 9]


def test_every_text_comes_once_in_another_order_with_another_seed():
    items = [([2, *range(5, 5 + n), 3], [0] * (n + 2), n) for n in range(40)]
    seen = [
        [label for batch in labelled_batches(items, 4, seed) for label in batch.labels.tolist()]
        for seed in (1, 2)
    ]
    assert sorted(seen[0]) == sorted(seen[1]) == list(range(40))
    assert seen[0] != seen[1]


def test_both_heads_read_the_same_states():
    class States(nn.Module):
        def forward(self, tokens, segments):
            return tokens.unsqueeze(-1) + segments.unsqueeze(-1) * torch.tensor([0.0, 1.0, 10.0])

    def pool(states, W, b):
        return states[:, 0] @ W.T + b

    head = nn.Linear(3, 11)
    model = PretrainingModel(States(), head, 3, pool)
    tokens, segments, _ = pad_items(ITEMS)
    token_logits, next_logits = model(tokens.float(), segments)
    states = model.encoder(tokens.float(), segments)
    assert torch.equal(token_logits, head(states))
    assert torch.equal(
        next_logits, model.next(pool(states, model.pooler.weight, model.pooler.bias))
    )
    assert {name.split(".")[0] for name, _ in model.named_parameters()} == {
        "head",
        "pooler",
        "next",
    }


def test_initial_weights_are_small_and_biases_nothing():
    torch.manual_seed(0)
    model = initialise(nn.Sequential(nn.Embedding(50, 40), nn.Linear(40, 60), nn.LayerNorm(60)))
    assert abs(model[0].weight.std().item() - 0.02) < 0.002
    assert abs(model[1].weight.std().item() - 0.02) < 0.002
    assert model[1].bias.abs().max() == 0 and model[2].weight.min() == 1
