"""Tests of the time limit of a check: endless loops, interrupts, threads, a sign of life."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from functools import partial

import pytest
import torch

from autograder.checking.checker import verify
from autograder.checking.timeout import Watchdog
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import load_solution

right = {name: load_solution(exercise) for name, exercise in EXERCISES.items()}


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN, signal.SIG_DFL])
def test_an_infinite_loop_ends_in_a_sentence(monkeypatch, request, handler):
    """Also where interrupts are ignored, as in a process that was started in the background."""
    monkeypatch.setattr("autograder.checking.checker.CASE_TIMEOUT_SECONDS", 0.3)
    request.addfinalizer(partial(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT)))
    signal.signal(signal.SIGINT, handler)

    def masked_softmax(scores, mask):
        while True:
            with contextlib.suppress(Exception):
                time.sleep(0.01)

    verdict = verify(masked_softmax, EXERCISES["masked_softmax"])
    assert verdict.kind == "time" and "infinite loop" in verdict.headline
    assert signal.getsignal(signal.SIGINT) is handler
    assert verify(right["masked_softmax"], EXERCISES["masked_softmax"]).passed


def test_an_interrupt_of_the_users_own_stays_one():
    with pytest.raises(KeyboardInterrupt), Watchdog("x", 5.0).enforce():
        raise KeyboardInterrupt


def test_what_ends_just_in_time_is_not_interrupted_later():
    for _ in range(20):
        watchdog = Watchdog("x", 0.01)
        try:
            with watchdog.enforce():
                time.sleep(0.01)
        except KeyboardInterrupt:
            watchdog.stop()
    time.sleep(0.1)  # a late interrupt would arrive here


def test_there_is_a_sign_of_life_after_a_second(capsys, monkeypatch):
    monkeypatch.setattr("autograder.checking.timeout.PROGRESS_AFTER_SECONDS", 0.05)
    with Watchdog("Transformer", 5.0).enforce():
        time.sleep(0.3)
    assert capsys.readouterr().out == "Checking Transformer ...\n"


def test_a_check_in_a_thread_has_no_limit_and_works():
    found = []
    thread = threading.Thread(
        target=lambda: found.append(verify(right["dot_score"], EXERCISES["dot_score"]).passed)
    )
    thread.start()
    thread.join()
    assert found == [True]


def test_a_check_uses_one_thread_and_gives_the_others_back():
    before, seen = torch.get_num_threads(), set()

    def dot_score(query, keys):
        seen.add(torch.get_num_threads())
        return right["dot_score"](query, keys)

    torch.set_num_threads(2)
    try:
        verify(dot_score, EXERCISES["dot_score"])
        assert seen == {1} and torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
