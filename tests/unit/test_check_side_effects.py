"""Tests that a check does not change streams, random state, modes or dtypes."""

from __future__ import annotations

import random
import sys
import warnings

import numpy as np
import pytest
import torch
from tqdm import tqdm

from autograder import CheckFailed, check
from autograder.checking.checker import verify
from autograder.exercises import EXERCISES
from tests.helpers.checked_answers import ATTENTION, SOFTMAX, give_name, solve_softmax, write_card
from tests.unit.test_check import LargeEpsilon, Pieces


def noisy(scores, mask):
    print("printed to stdout")
    sys.stderr.write("written to stderr\n")
    warnings.warn("a warning", stacklevel=1)
    for _ in tqdm(range(2)):
        pass
    return solve_softmax(scores, mask)


def test_output_of_an_answer_stays_away(capfd):
    check(give_name(lambda s, m: noisy(s, m)))
    out, err = capfd.readouterr()
    assert err == ""
    assert "printed" not in out and len(out.splitlines()) == 1


def test_the_beginning_of_the_output_is_on_the_card_if_it_fails(capfd):
    def masked_softmax(scores, mask):
        for i in range(5000):
            print("line", i)
        return noisy(scores, mask) * 2

    with pytest.raises(CheckFailed) as caught:
        check(masked_softmax)
    text = str(caught.value)
    assert "Your code printed:\nline 0\nline 1\n" in text
    assert "line 10\n" not in text and len(text) < 3000
    assert capfd.readouterr().err == ""
    text = write_card(lambda s, m: noisy(s, m) * 2)
    assert "printed to stdout\nwritten to stderr" in text


def test_random_numbers_go_on_as_if_nothing_had_been():
    def draws(scores, mask):
        torch.rand(3), random.random(), np.random.rand()
        torch.manual_seed(0), random.seed(0), np.random.seed(0)
        return solve_softmax(scores, mask)

    def three():
        return torch.rand(1).item(), random.random(), np.random.rand()

    torch.manual_seed(5), random.seed(5), np.random.seed(5)
    first = three()
    torch.manual_seed(5), random.seed(5), np.random.seed(5)
    assert verify(draws, SOFTMAX).passed
    assert three() == first


def test_gradient_mode_and_streams_are_restored():
    def careless(scores, mask):
        torch.set_grad_enabled(False)
        raise ValueError("oh")

    streams = sys.stdout, sys.stderr
    assert "raised ValueError: oh" in write_card(careless)
    assert torch.is_grad_enabled()
    assert (sys.stdout, sys.stderr) == streams


def test_default_dtype_of_the_student_does_no_harm():
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        assert verify(solve_softmax, SOFTMAX).passed
        assert verify(Pieces, ATTENTION).passed
        assert verify(LargeEpsilon, ATTENTION).passed is False
        for name in ("BidirectionalEncoder", "AttentionDecoder"):
            from importlib import import_module

            answer = import_module(f"tests.answers.bahdanau.translator.{name}").RIGHT[0]
            assert verify(answer, EXERCISES[name]).passed
    finally:
        torch.set_default_dtype(before)


def test_interrupt_is_passed_on():
    def masked_softmax(scores, mask):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(masked_softmax, SOFTMAX)
