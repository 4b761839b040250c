"""Training loop of all chapters: device, seeds, early stopping, history."""

from __future__ import annotations

import copy
import operator
import os
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .checkpoints import Checkpoint
from .progress_bar import ProgressBar


def device() -> torch.device:
    """Return the fastest device of this machine: CUDA, else Apple's MPS, else the CPU.

    The environment variable COURSEKIT_DEVICE names another, such as cpu.
    """
    if chosen := os.environ.get("COURSEKIT_DEVICE"):
        return torch.device(chosen)
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def seed_everything(seed: int) -> None:
    """Seed Python's, numpy's and torch's generators (all devices)."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


@dataclass
class History:
    """Record of a training, with one entry per epoch.

    Attributes:
        epochs: for each epoch {"epoch", "loss", "seconds", and the metrics from `validate`}.
        best_epoch: the epoch (from 1) whose weights the model has now.
        last_weights: the weights after each of the last `keep_last` epochs.
    """

    epochs: list[dict[str, Any]] = field(default_factory=list)
    best_epoch: int = 0
    last_weights: list[dict[str, Tensor]] = field(default_factory=list)

    def column(self, name: str) -> list[float]:
        """Return one quantity for all epochs."""
        return [epoch[name] for epoch in self.epochs]

    @property
    def seconds(self) -> float:
        """Seconds spent in training and validation together."""
        return sum(self.column("seconds"))


def train(
    model: nn.Module,
    batches: Callable[[int], Iterable[Any]],
    loss: Callable[[nn.Module, Any], Tensor],
    *,
    epochs: int,
    learning_rate: float = 1e-3,
    decay: bool = False,
    clip: float = 1.0,
    validate: Callable[[nn.Module], dict[str, float]] | None = None,
    select: str | None = None,
    patience: int | None = None,
    precision: torch.dtype = torch.float32,
    progress: bool = True,
    schedule: Callable[[int], float] | None = None,
    optimizer: Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer] | None = None,
    keep_last: int = 0,
) -> History:
    """Train with Adam and leave the model with the weights of its best epoch.

    Inside `save_checkpoints_to(folder)`, training resumes after the last saved epoch.

    Args:
        model: moved to `device()` first.
        batches: `batches(epoch)` yields the batches of an epoch (counted from 1), each with a
            method `to(device)`.
        loss: `loss(model, batch)` returns a scalar.
        epochs: number of passes over the data.
        learning_rate: learning rate of Adam (Kingma and Ba 2015).
        decay: whether to decay the learning rate linearly to 0, step by step, after the first
            epoch, whose length determines the total number of steps.
        clip: maximum norm of the gradient.
        validate: called after each epoch in eval mode without gradients; returns metrics.
        select: metric that selects the best epoch (larger is better); by default the model keeps
            the last epoch's weights.
        patience: stop after this many epochs without a better `select`.
        precision: torch.bfloat16 computes the loss with autocast: about twice as fast on GPUs and
            CPUs that have it; weights and optimiser stay in float32.
        progress: show a progress bar, unless the site's pages are being built.
        schedule: `schedule(step)` returns the learning rate of each step, counted from 1; it
            replaces `learning_rate` and `decay`.
        optimizer: `optimizer(parameters)` returns an optimiser to use in place of Adam with its
            default settings.
        keep_last: number of last epochs whose weights to keep in the history.

    Returns:
        the history; `history.best_epoch` names the epoch whose weights the model has.

    Raises:
        ValueError: `select` is given without `validate` or `patience` without `select`, `validate`
            does not return the metric, or `decay` and `schedule` are both given.
        FloatingPointError: the loss is no longer finite.
    """
    _check_options(decay, schedule, validate, select, patience)
    where = device()
    model.to(where)
    if optimizer is None:
        fused = where.type in ("cpu", "cuda")
        updater: torch.optim.Optimizer
        updater = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=fused)
    else:
        updater = optimizer(model.parameters())
    checkpoint = Checkpoint(model, updater)
    state = _State(**(checkpoint.load() or {}))
    if state.history:
        print(f"Resuming after epoch {len(state.history)} of {epochs} from {checkpoint.path}.")

    def set_learning_rate() -> None:
        if schedule is not None:
            rate = schedule(state.step + 1)
        elif decay and state.steps_per_epoch:
            first = state.steps_per_epoch
            rest = 1 - (state.step - first) / (first * max(1, epochs - 1))
            rate = learning_rate * max(rest, 0.0)
        else:
            return
        for group in updater.param_groups:
            group["lr"] = rate

    def update(batch: Any) -> float:
        with torch.autocast(where.type, torch.bfloat16, enabled=precision == torch.bfloat16):
            value = loss(model, batch.to(where))
        updater.zero_grad(set_to_none=True)
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        set_learning_rate()
        updater.step()
        state.step += 1
        return value.item()

    bar = ProgressBar(epochs, state.step, state.steps_per_epoch, progress)
    while not state.ended and len(state.history) < epochs:
        epoch = len(state.history) + 1
        started = time.perf_counter()
        model.train()
        total, count = 0.0, 0
        given = batches(epoch)
        bar.start_epoch(epoch, operator.length_hint(given))
        for batch in given:
            value = update(batch)
            if not np.isfinite(value):
                raise FloatingPointError(
                    f"The loss became {value} in epoch {epoch}; use a smaller learning rate."
                )
            total, count = total + value, count + 1
            bar.add_step(value)
        state.steps_per_epoch = state.steps_per_epoch or count
        row: dict[str, Any] = {"epoch": epoch, "loss": total / max(count, 1)}
        if validate is not None:
            model.eval()
            with torch.no_grad():
                row |= validate(model)
        row["seconds"] = time.perf_counter() - started
        state.record(row, model, select, keep_last)
        state.ended = patience is not None and epoch - state.best_epoch >= max(patience, 1)
        checkpoint.save(**vars(state))
        bar.end_epoch(epoch, count)
    bar.close()
    if state.best_weights is not None:
        model.load_state_dict(state.best_weights)
    else:  # also if the metric was always NaN
        state.best_epoch = len(state.history)
    model.eval()
    return History(state.history, state.best_epoch, state.last_weights)


def _check_options(
    decay: bool, schedule: object, validate: object, select: str | None, patience: int | None
) -> None:
    if select is not None and validate is None:
        raise ValueError("select names a metric of validate(model); pass validate too.")
    if patience is not None and select is None:
        raise ValueError("patience counts epochs without a better metric; pass select too.")
    if decay and schedule is not None:
        raise ValueError("decay and schedule both set the learning rate; pass one of them.")


@dataclass
class _State:
    """Training state that a checkpoint saves besides the model and the optimizer."""

    history: list[dict[str, Any]] = field(default_factory=list)
    best_epoch: int = 0
    best: float = -float("inf")
    best_weights: dict[str, Tensor] | None = None
    steps_per_epoch: int = 0  # known after the first epoch
    step: int = 0
    ended: bool = False
    last_weights: list[dict[str, Tensor]] = field(default_factory=list)

    def record(
        self, row: dict[str, Any], model: nn.Module, select: str | None, keep_last: int
    ) -> None:
        """Record an epoch, and the model's weights if they are the best or among the last ones."""
        self.history.append(row)
        if select is not None:
            if select not in row:
                raise ValueError(
                    f"select is {select!r}, but validate(model) returned only: "
                    f"{', '.join(row.keys() - {'epoch', 'loss', 'seconds'}) or 'nothing'}."
                )
            if row[select] > self.best:
                self.best, self.best_epoch = row[select], row["epoch"]
                self.best_weights = copy.deepcopy(model.state_dict())
        if keep_last:
            now = copy.deepcopy(model.state_dict())
            self.last_weights = [*self.last_weights, now][-keep_last:]
