"""Checkpoints that let an interrupted training resume.

with save_checkpoints_to(folder):
    train(model, ...)  # saves its state after each epoch, and resumes from what is saved there
    predictions = load_or_compute(model, lambda: predict(model))  # computed once
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

_files: ContextVar[Iterator[Path] | None] = ContextVar("files", default=None)


@contextmanager
def save_checkpoints_to(folder: Path | None) -> Iterator[None]:
    """Save the state of each training inside to `folder`: the first to 1.pt, the next to 2.pt.

    On a rerun, the code inside must call `train` and `load_or_compute` for the same trainings and
    results in the same order. A file is used only if the model starts with the same weights. With
    None, no training inside saves anything.
    """
    files = None if folder is None else (folder / f"{i}.pt" for i in itertools.count(1))
    token = _files.set(files)
    try:
        yield
    finally:
        _files.reset(token)


class Checkpoint:
    """The checkpoint file of one training; outside `save_checkpoints_to`, nothing is saved.

    Args:
        model: the model before the first step.
        optimizer: its optimizer, whose state is saved, too.
    """

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer):
        files = _files.get()
        self.path = next(files) if files is not None else None
        self.model, self.optimizer = model, optimizer
        self.began = _checksum(model) if self.path else ""

    def load(self) -> dict[str, Any] | None:
        """Restore model, optimizer and random generators; return the rest of what was saved."""
        kept = _read(self.path, self.began)
        if kept is None:
            return None
        self.model.load_state_dict(kept["model"])
        self.optimizer.load_state_dict(kept["optimizer"])
        version, numbers, gauss = kept["random"]
        random.setstate((version, tuple(numbers), gauss))
        name, keys, *others = kept["numpy"]
        np.random.set_state((name, np.array(keys, dtype=np.uint32), *others))
        torch.set_rng_state(kept["torch"])
        if kept["cuda"] and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(kept["cuda"])
        return kept["rest"]

    def save(self, **rest: Any) -> None:
        """Save the current state and the rest: numbers, strings, lists, dicts and tensors."""
        if self.path is None:
            return
        name, keys, *others = np.random.get_state(legacy=True)
        _write(
            self.path,
            {
                "began": self.began,
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "random": random.getstate(),
                "numpy": (name, np.asarray(keys).tolist(), *others),
                "torch": torch.get_rng_state(),
                "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
                "rest": rest,
            },
        )


def load_or_compute(model: nn.Module, compute: Callable[[], Any]) -> Any:
    """Return the saved result of `compute()` for a model with these weights, or compute it now.

    It uses the next file number of `save_checkpoints_to`. The result must consist of numbers,
    strings, lists, dicts and tensors, and computing it must not draw random numbers.
    """
    files = _files.get()
    if files is None:
        return compute()
    path, began = next(files), _checksum(model)
    if (kept := _read(path, began)) is None:
        kept = {"began": began, "result": compute()}
        _write(path, kept)
    return kept["result"]


def _read(path: Path | None, began: str) -> dict[str, Any] | None:
    if path is None or not path.exists():
        return None
    try:
        kept = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch has no specific error for a damaged file
        print(f"{path} cannot be read ({type(error).__name__}); this part starts over.")
        return None
    if kept["began"] != began:
        print(f"{path} belongs to a model with different initial weights; this part starts over.")
        return None
    return kept


def _write(path: Path, kept: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = path.with_suffix(".new")
    torch.save(kept, begun)
    os.replace(begun, path)  # atomic: an interrupted run leaves the old file


def _checksum(model: nn.Module) -> str:
    digest = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()
