"""Harness of the comparisons on made-up corpora: rows, data, seeds, and one record.

A comparison is a module of this folder that says what differs from row to row, and how a row is
trained and measured. This module repeats it for every row and seed, rehearses it, and records it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.training import History, results, train
from coursekit.training.checkpoints import save_checkpoints_to

from .run_registry import PROGRAMS, command, load

UPDATES = 10  # of a rehearsal


# The training loop that a row is given: `coursekit.training.train`, or a rehearsal of it.
Train = Callable[..., History]


@dataclass(frozen=True)
class Comparison:
    """What a record holds, and how each of its numbers is made.

    Attributes:
        program: the module of this folder.
        data: name of the corpus, the second part of the record's name.
        rows: the models that are compared, by key: what the book calls each.
        seeds: of the runs that are recorded.
        settings: sizes and epochs, as they are recorded.
        load: returns the data, and their SHA-256.
        train_row: `train_row(row, seed, data, train)` trains one model and returns its "metrics",
            "history", "seconds", "parameters" and further measurements.
        scorer: how the metrics are computed.
        tolerance: by which share of a loss a rehearsal on another processor may differ. What it
            rounds differently grows with each update, so where the rows learn from a network that
            is trained first, the first losses differ already.
    """

    program: str
    data: str
    rows: Mapping[str, str]
    seeds: tuple[int, ...]
    settings: Mapping[str, Any]
    load: Callable[[], tuple[Any, str]]
    train_row: Callable[[str, int, Any, Train], dict[str, Any]]
    scorer: str
    tolerance: float = 1e-3

    def parser(self) -> argparse.ArgumentParser:
        """Return the parser of the command's options."""
        arguments = argparse.ArgumentParser(description=f"{', '.join(self.rows.values())}.")
        arguments.add_argument("--seeds", type=int, nargs="+", default=list(self.seeds))
        arguments.add_argument(
            "--rows", nargs="+", choices=list(self.rows), default=list(self.rows)
        )
        arguments.add_argument("--device", help="cpu, cuda or mps; left out: the fastest there is")
        return arguments

    def main(self, options: argparse.Namespace) -> None:
        """Train every row with every seed, rehearse the rows, and write the record."""
        data, digest = self.load()
        runs: dict[str, list[dict[str, Any]]] = {row: [] for row in options.rows}
        with use_device(options.device):
            for seed in options.seeds:
                for row in options.rows:
                    run = {"seed": seed} | self.train_row(row, seed, data, train)
                    print(f"seed {seed}, {self.rows[row]}: {run['metrics']}", flush=True)
                    runs[row].append(run)
        results.write_comparison(
            self.program,
            self.data,
            rows={row: (self.rows[row], runs[row]) for row in options.rows},
            data_sha256=digest,
            command=command(self.program, options, leave=["device"]),
            scorer=self.scorer,
            settings=dict(self.settings),
            rehearsal=self.rehearse(data, options.rows),
        )

    def rehearse(self, data: Any, rows: Iterable[str] | None = None) -> dict[str, list[float]]:
        """Return the losses of the first updates of the first seed on one CPU thread.

        They are returned for each of the rows, or of all rows.

        They cost seconds, and change where the model, the data or the training has changed: then
        the record has to be made again.
        """
        losses: dict[str, list[float]] = {}
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with use_device("cpu"), save_checkpoints_to(None):
                for row in self.rows if rows is None else rows:
                    losses[row] = []
                    rehearsal = partial(_train_a_little, losses[row])
                    with suppress(_EnoughError):
                        self.train_row(row, self.seeds[0], data, rehearsal)
        finally:
            torch.set_num_threads(threads)
        return losses


def list_comparisons() -> list[Comparison]:
    """Return all comparisons of this folder."""
    found = (getattr(load(program), "COMPARISON", None) for program in PROGRAMS)
    return [comparison for comparison in found if comparison is not None]


class _EnoughError(Exception):
    """Ends a rehearsal."""


def _train_a_little(
    losses: list[float],
    model: nn.Module,
    batches: Callable[[int], Any],
    loss: Callable[[nn.Module, Any], Tensor],
    **settings: Any,
) -> History:
    def counted(model: nn.Module, batch: Any) -> Tensor:
        if len(losses) == UPDATES:
            raise _EnoughError
        value = loss(model, batch)
        losses.append(value.item())
        return value

    return train(model, batches, counted, **settings)


@contextmanager
def use_device(name: str | None) -> Iterator[None]:
    """Let `coursekit.training.device` return this device inside; None changes nothing."""
    before = os.environ.get("COURSEKIT_DEVICE")
    if name is not None:
        os.environ["COURSEKIT_DEVICE"] = name
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("COURSEKIT_DEVICE", None)
        else:
            os.environ["COURSEKIT_DEVICE"] = before
