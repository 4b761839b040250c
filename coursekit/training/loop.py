"""Training loop of all chapters: device, seeds, early stopping, history."""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from .checkpoints import Checkpoint


def device() -> torch.device:
    """Return the fastest device of this machine: CUDA, else Apple's MPS, else the CPU."""
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
    """What happened in training, one entry per epoch.

    Attributes:
        epochs: for each epoch {"epoch", "loss", "seconds", and what `validate` returned}.
        best_epoch: the epoch (from 1) whose weights the model has now.
        last_weights: the weights after each of the last epochs, as many as were to be kept.
    """

    epochs: list[dict[str, Any]] = field(default_factory=list)
    best_epoch: int = 0
    last_weights: list[dict[str, Tensor]] = field(default_factory=list)

    def column(self, name: str) -> list[float]:
        """Return one quantity over the epochs."""
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

    Inside `checkpoints.kept_in(folder)` it goes on after the last epoch that is kept there.

    Args:
        model: moved to `device()` first.
        batches: `batches(epoch)` yields the batches of an epoch (counted from 1), each with a
            method `to(device)`.
        loss: `loss(model, batch)` returns a scalar.
        epochs: how often the data are seen.
        learning_rate: of Adam (Kingma and Ba 2015).
        decay: after the first epoch, whose length tells the number of steps to come, let the
            learning rate fall linearly to 0, a little after each step.
        clip: largest norm of the gradient.
        validate: called after each epoch in eval mode without gradients; returns metrics.
        select: the metric, larger is better, by which the best epoch is chosen; without it the
            last epoch's weights stay.
        patience: stop after this many epochs without a better `select`.
        precision: torch.bfloat16 computes the loss with autocast: about twice as fast on GPUs and
            CPUs that have it; weights and optimiser stay in float32.
        progress: show a progress bar.
        schedule: the learning rate of each step, `schedule(step)`, steps counted from 1; it takes
            the place of `learning_rate` and `decay`.
        optimizer: `optimizer(parameters)` returns another optimiser than Adam with its usual
            settings.
        keep_last: how many of the last epochs' weights to keep in the history.

    Returns:
        the history; `history.best_epoch` names the epoch whose weights the model has.

    Raises:
        ValueError: `select` or `patience` is given without what it needs, `validate` does not
            return the metric, or `decay` and `schedule` are both given.
        FloatingPointError: the loss is no longer a finite number.
    """
    if select is not None and validate is None:
        raise ValueError("select names a metric of validate(model); pass validate too.")
    if patience is not None and select is None:
        raise ValueError("patience counts epochs without a better metric; pass select too.")
    if decay and schedule is not None:
        raise ValueError("decay and schedule both set the learning rate; pass one of them.")
    where = device()
    model.to(where)
    updater: torch.optim.Optimizer
    if optimizer is None:
        fused = where.type in ("cpu", "cuda")
        updater = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=fused)
    else:
        updater = optimizer(model.parameters())
    history = History()
    best, best_weights = -float("inf"), None
    steps_per_epoch, step = 0, 0  # known after the first epoch
    ended = False
    checkpoint = Checkpoint(model, updater)
    if kept := checkpoint.load():
        history.epochs, history.best_epoch, best, best_weights, steps_per_epoch, step, ended = (
            kept["history"], kept["best_epoch"], kept["best"], kept["best_weights"],
            kept["steps_per_epoch"], kept["step"], kept["ended"],
        )  # fmt: skip
        history.last_weights = kept.get("last_weights", [])
        print(f"Goes on after epoch {len(history.epochs)} of {epochs}, from {checkpoint.path}.")
    bar = tqdm(total=epochs, unit="epoch", disable=not progress, leave=True)
    bar.update(len(history.epochs))
    while not ended and len(history.epochs) < epochs:
        epoch = len(history.epochs) + 1
        started = time.perf_counter()
        model.train()
        total, count = 0.0, 0
        for batch in batches(epoch):
            with torch.autocast(where.type, torch.bfloat16, enabled=precision == torch.bfloat16):
                value = loss(model, batch.to(where))
            updater.zero_grad(set_to_none=True)
            value.backward()
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            rate = None
            if schedule is not None:
                rate = schedule(step + 1)
            elif decay and steps_per_epoch:
                rest = 1 - (step - steps_per_epoch) / (steps_per_epoch * max(1, epochs - 1))
                rate = learning_rate * max(rest, 0.0)
            if rate is not None:
                for group in updater.param_groups:
                    group["lr"] = rate
            updater.step()
            total, count, step = total + value.item(), count + 1, step + 1
            if not np.isfinite(total):
                raise FloatingPointError(
                    f"The loss became {value.item()} in epoch {epoch}; use a smaller learning rate."
                )
            bar.set_postfix(loss=f"{total / count:.3f}")
        steps_per_epoch = steps_per_epoch or count
        record: dict[str, Any] = {"epoch": epoch, "loss": total / max(count, 1)}
        if validate is not None:
            model.eval()
            with torch.no_grad():
                record |= validate(model)
        record["seconds"] = time.perf_counter() - started
        history.epochs.append(record)
        bar.update()
        if select is not None and select not in record:
            raise ValueError(
                f"select is {select!r}, but validate(model) returned only: "
                f"{', '.join(record.keys() - {'epoch', 'loss', 'seconds'}) or 'nothing'}."
            )
        if select is not None and record[select] > best:
            best, history.best_epoch = record[select], epoch
            best_weights = copy.deepcopy(model.state_dict())
        if keep_last:
            now = copy.deepcopy(model.state_dict())
            history.last_weights = [*history.last_weights, now][-keep_last:]
        ended = patience is not None and epoch - history.best_epoch >= max(patience, 1)
        checkpoint.save(
            history=history.epochs, best_epoch=history.best_epoch, best=best, ended=ended,
            best_weights=best_weights, steps_per_epoch=steps_per_epoch, step=step,
            last_weights=history.last_weights,
        )  # fmt: skip
    bar.close()
    if best_weights is not None:
        model.load_state_dict(best_weights)
    else:  # also if the metric was never a number
        history.best_epoch = len(history.epochs)
    model.eval()
    return history
