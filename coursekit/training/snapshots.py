"""Measurements of a model while it is trained."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn


def spread_updates(updates: int, snapshots: int) -> list[int]:
    """Return after how many updates to take snapshots: often at first, when most is learned.

    The i-th of n snapshots is taken after updates (i / (n - 1))^2 of them, rounded; the first
    before any, the last after all. Numbers that coincide stand once.

    Raises:
        ValueError: there are fewer than two snapshots, or no updates.
    """
    if snapshots < 2 or updates < 1:
        raise ValueError("there must be at least two snapshots and one update.")
    return sorted({round(updates * (i / (snapshots - 1)) ** 2) for i in range(snapshots)})


class Snapshots:
    """Look at a model during its training.

        snapshots = Snapshots(look, spread_updates(600, 31))
        train(model, batches, snapshots.watch(loss), epochs=3)
        snapshots.take(model)  # after the last update

    Looking changes neither the model nor the training: it happens in eval mode and without
    gradients, and must not draw random numbers.

    Args:
        look: `look(model)` returns what a snapshot holds.
        updates: after how many updates to look.

    Attributes:
        taken: the snapshots, each {"update": number of updates before it, ...}.
        losses: the loss of every update, before the update.
    """

    def __init__(self, look: Callable[[nn.Module], dict[str, Any]], updates: Iterable[int]):
        self.look = look
        self.updates = frozenset(updates)
        self.taken: list[dict[str, Any]] = []
        self.losses: list[float] = []

    def watch(self, loss: Callable[[nn.Module, Any], Tensor]) -> Callable[[nn.Module, Any], Tensor]:
        """Return the loss function `loss(model, batch)`, which looks at the model on its way."""

        def watched(model: nn.Module, batch: Any) -> Tensor:
            if len(self.losses) in self.updates:
                self.take(model)
            value = loss(model, batch)
            self.losses.append(value.item())
            return value

        return watched

    def take(self, model: nn.Module) -> None:
        """Look at the model now."""
        was_training = model.training
        model.eval()
        with torch.no_grad():
            self.taken.append({"update": len(self.losses)} | self.look(model))
        model.train(was_training)
