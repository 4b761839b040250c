"""Snapshots of a training: when they are taken, what they hold, and that they change nothing."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from coursekit.training import seed_everything, train
from coursekit.training.snapshots import Snapshots, spread_updates
from tests.helpers.one_line_errors import refused


class Batch:
    """Six points of a line."""

    def __init__(self, seed: int) -> None:
        self.x = torch.randn(6, 1, generator=torch.Generator().manual_seed(seed))

    def to(self, device: torch.device) -> Batch:
        self.x = self.x.to(device)
        return self


def loss(model: nn.Module, batch: Batch) -> Tensor:
    return (model(batch.x) - 3 * batch.x).square().mean()


def trained(watch=lambda loss: loss) -> tuple[nn.Module, list[float]]:
    """Return a model with dropout after twelve updates, and its losses by epoch."""
    seed_everything(5)
    model = nn.Sequential(nn.Linear(1, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    history = train(
        model,
        lambda epoch: [Batch(10 * epoch + i) for i in range(4)],
        watch(loss),
        epochs=3,
        learning_rate=0.05,
        progress=False,
    )
    return model, history.column("loss")


@given(st.integers(1, 5_000), st.integers(2, 60))
def test_updates_rise_from_the_first_to_the_last_with_growing_gaps(updates, snapshots):
    found = spread_updates(updates, snapshots)
    assert found[0] == 0 and found[-1] == updates
    assert found == sorted(set(found)) and len(found) <= snapshots
    gaps = [b - a for a, b in itertools.pairwise(found)]
    assert all(b >= a - 1 for a, b in itertools.pairwise(gaps))  # but for rounding


@pytest.mark.parametrize("given_", [(0, 5), (10, 1)])
def test_nothing_to_spread_is_refused(given_):
    with refused("at least two snapshots"):
        spread_updates(*given_)


def test_looking_changes_neither_the_model_nor_the_losses():
    snapshots = Snapshots(lambda model: {"training": model.training}, spread_updates(12, 5))
    watched, losses = trained(snapshots.watch)
    plain, expected = trained()
    assert losses == expected
    for mine, theirs in zip(watched.parameters(), plain.parameters(), strict=True):
        assert torch.equal(mine, theirs)
    assert not any(one["training"] for one in snapshots.taken)


def test_a_snapshot_sees_the_model_after_so_many_updates():
    def look(model):
        return {"weight": model[0].weight.clone()}

    snapshots = Snapshots(look, [0, 4, 8])
    model, losses = trained(snapshots.watch)
    snapshots.take(model)
    assert [one["update"] for one in snapshots.taken] == [0, 4, 8, 12]
    weights = [one["weight"] for one in snapshots.taken]
    assert torch.equal(weights[-1], model[0].weight)
    assert all(not torch.equal(a, b) for a, b in itertools.pairwise(weights))
    by_epoch = [sum(snapshots.losses[i : i + 4]) / 4 for i in (0, 4, 8)]
    assert by_epoch == pytest.approx(losses)


def test_gradients_are_not_recorded_and_training_goes_on():
    snapshots = Snapshots(lambda model: {"y": model(torch.ones(1, 1))}, [1])
    model, _ = trained(snapshots.watch)
    assert not snapshots.taken[0]["y"].requires_grad
    model.train()
    snapshots.take(model)
    assert model.training
