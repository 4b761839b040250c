"""Verdicts on sandboxed answers, as in the grading command: only data crosses the boundary."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from autograder.diagnose.verdict import DTYPES, Verdict
from autograder.exercises import EXERCISES
from autograder.instructor.grading.secret_cases import SecretCases
from autograder.run.runner import run_case
from autograder.sandbox.framing import Channel, encode_frame
from autograder.sandbox.serialization import deserialize_cases, serialize_cases, serialize_outcomes
from autograder.spec.exercise import Case
from autograder.spec.outcome import Outcome


def crossed(cases: dict[str, list[Case]]) -> dict[str, list[Case]]:
    """Return cases as they arrive at the other end of a socket."""
    here, there = socket.socketpair()
    with here, there:
        sending = threading.Thread(
            target=here.sendall, args=(encode_frame(*serialize_cases(cases)),)
        )
        sending.start()
        received = Channel(there).receive()
        sending.join()
    assert received is not None
    return deserialize_cases(*received)


@cache
def _secret(name: str) -> tuple[SecretCases, list[Case]]:
    """Return an exercise's secret cases with their judge, and as received from a socket; cached."""
    secret = SecretCases([EXERCISES[name]], seeds=["a", "b"])
    return secret, crossed(secret.cases)[name]


def graded_outcomes(name: str, outcome: Callable[[Case, torch.dtype], Outcome]) -> Verdict:
    """Judge the outcomes returned for each case, whatever their origin."""
    secret, cases = _secret(name)
    answer, tensors = serialize_outcomes(
        (number, str(dtype).removeprefix("torch."), outcome(case, dtype))
        for number, case in enumerate(cases)
        for dtype in DTYPES
    )
    return secret.judge(EXERCISES[name], {"outcomes": answer}, tensors)


def graded(code: Any, name: str) -> Verdict:
    """Judge an answer."""
    return graded_outcomes(name, lambda case, dtype: run_case(code, EXERCISES[name], case, dtype))
