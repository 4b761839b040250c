"""What the heads of a BERT attend to: the weights are those that the encoder uses."""

import pytest
import torch

from experiments.bert_heads import compute_weights, measure_habits
from solutions.bert.inputs import BertEmbeddings
from solutions.bert.pretraining import BertEncoder, BertLayer

ITEM = ([2, 5, 6, 3, 7, 3], [0, 0, 0, 0, 1, 1], 0)


def test_the_weights_make_what_the_layer_makes():
    torch.manual_seed(0)
    encoder = BertEncoder(BertEmbeddings(9, 8, 6), [BertLayer(8, 2, 12) for _ in range(2)]).cpu()
    seen = []
    first = encoder.layers[0].attention
    first.register_forward_hook(lambda module, given, output: seen.append((given[0], output)))
    weights = compute_weights(encoder, ITEM)
    assert [tuple(w.shape) for w in weights] == [(2, 6, 6)] * 2
    (x, output) = seen[0]
    v = first.value(x).unflatten(-1, (2, -1)).transpose(1, 2)  # (1, h, N, d / h)
    mixed = first.output((weights[0] @ v).transpose(1, 2).flatten(2))
    assert torch.allclose(mixed, output, atol=1e-6)
    assert not torch.allclose(weights[0], weights[1])


def test_the_hooks_leave_with_an_error():
    encoder = BertEncoder(BertEmbeddings(9, 8, 6), [BertLayer(8, 2, 12)])
    with pytest.raises(IndexError):
        compute_weights(encoder, ([99], [0], 0))
    assert not encoder.layers[0].attention._forward_pre_hooks


def test_habits_of_heads_made_by_hand():
    n = 5
    before = torch.eye(n).roll(-1, dims=1)  # row i has its weight on i - 1
    special = torch.zeros(n, n)
    special[:, 0] = special[:, 4] = 0.5
    habits = measure_habits(torch.stack([before, special]), special=(0, 4), last=3)
    assert habits["before"].tolist() == [1.0, pytest.approx(0.5 / 3)]
    assert habits["cls"].tolist() == [pytest.approx(1 / 3), 0.5]
    assert habits["sep"].tolist() == [0.0, 0.5]
    assert habits["used"].tolist() == [pytest.approx(1.0), pytest.approx(2.0)]
