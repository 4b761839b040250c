"""Protects torch's settings, the random state and the notebook's output from an answer."""

from __future__ import annotations

import contextlib
import io
import random
import sys
import warnings
from collections.abc import Iterator

import torch

from autograder.spec.outcome import Outcome

_MAX_PRINTED_CHARS = 2_000


def _default_device() -> torch.device:
    try:
        return torch.get_default_device()
    except (RuntimeError, AssertionError):  # set to a GPU that does not exist
        torch.set_default_device("cpu")
        return torch.device("cpu")


@contextlib.contextmanager
def use_default_torch_settings(default: torch.dtype = torch.float32) -> Iterator[None]:
    """Use torch's default settings in the block, whatever a cell has changed."""
    dtype, device = torch.get_default_dtype(), _default_device()
    anomaly = torch.is_anomaly_enabled()
    elsewhere = device.type != "cpu"
    torch.set_default_dtype(default)
    if elsewhere:
        torch.set_default_device("cpu")
    if anomaly:
        torch.autograd.set_detect_anomaly(False)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)
        if elsewhere:
            torch.set_default_device(device)
        if anomaly:
            torch.autograd.set_detect_anomaly(True)


@contextlib.contextmanager
def run_uncompiled() -> Iterator[None]:
    """Run what torch.compile has decorated as it is written; compiling takes many seconds."""
    compiler = getattr(torch.compiler, "set_stance", None)  # since torch 2.6
    if compiler is None or "torch._dynamo" not in sys.modules:
        yield
        return
    with compiler("force_eager"):
        yield


@contextlib.contextmanager
def catch_exit() -> Iterator[None]:
    """Let exit() and quit() raise SystemExit in a notebook, where they end the kernel."""
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive else None
    if shell is None:
        yield
        return

    def refuse() -> None:
        raise SystemExit

    before = shell.ask_exit
    shell.ask_exit = refuse  # what IPython's exit() and quit() call
    try:
        yield
    finally:
        shell.ask_exit = before


@contextlib.contextmanager
def keep_random_state() -> Iterator[None]:
    """Restore the random generators after the block, so that a check leaves no trace."""
    numpy = sys.modules.get("numpy")
    states = torch.random.get_rng_state(), random.getstate()
    numpy_state = numpy.random.get_state() if numpy else None
    try:
        yield
    finally:
        torch.random.set_rng_state(states[0])
        random.setstate(states[1])
        if numpy and numpy_state:
            numpy.random.set_state(numpy_state)


@contextlib.contextmanager
def capture_output(outcome: Outcome) -> Iterator[None]:
    """Keep the answer's output and warnings out of the notebook, because it runs many times."""
    page = io.StringIO()
    try:
        with (
            contextlib.redirect_stdout(page),
            contextlib.redirect_stderr(page),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        outcome.printed = page.getvalue()[:_MAX_PRINTED_CHARS]
