"""Tests that an interrupt at any line of an answer leaves nothing of its trial behind."""

from __future__ import annotations

import contextlib
import random
import sys
import warnings

import torch
from torch import overrides

from autograder.checking.checker import verify
from autograder.exercises import EXERCISES
from autograder.run.runner import run_case
from solutions.transformer.layers import EncoderLayer

EXERCISE = EXERCISES["EncoderLayer"]
STRIDE = 41  # between the lines that are tried


class InterruptedLine:
    """Raises KeyboardInterrupt at one line of what runs in its block, and counts the lines.

    Args:
        number: the line, counted from 1 as they are executed.
    """

    def __init__(self, number: int):
        self.left = number
        self.count = 0

    @contextlib.contextmanager
    def enforce(self):
        """As `Watchdog.enforce`."""
        sys.settrace(self._trace)
        try:
            yield
        finally:
            sys.settrace(None)

    def _trace(self, frame, event, argument):
        if event == "line":
            self.count += 1
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self._trace


def read_state():
    """Return what an answer must not leave behind."""
    modes = overrides._get_current_function_mode_stack()
    return {
        "dtype": torch.get_default_dtype(),
        "gradients": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "modes": [mode for mode in modes if getattr(mode, "active", True)],
        "streams": (sys.stdout, sys.stderr),
        "warnings": list(warnings.filters),
        "torch": torch.random.get_rng_state().tolist(),
        "python": random.getstate(),
    }


def run_until(number):
    """Interrupt a trial in training mode at a line; return whether it got that far."""
    (case, *_) = (c for c in EXERCISE.draw(1) if c.training_mode == "certain")
    line = InterruptedLine(number)
    with contextlib.suppress(KeyboardInterrupt):
        run_case(EncoderLayer, EXERCISE, case, limit=line.enforce)
    return line.count


def test_an_interrupt_leaves_nothing_behind_whatever_line_it_hits():
    lines = run_until(0)
    assert lines > 2_000
    before = read_state()
    for number in range(1, lines, STRIDE):
        assert run_until(number) == number
        assert read_state() == before, f"interrupted at line {number}"
    assert verify(EncoderLayer, EXERCISE).passed
