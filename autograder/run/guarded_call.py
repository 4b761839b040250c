"""Calls a student's code, and turns whatever it raises into one sentence."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import sysconfig
import textwrap
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from autograder.spec.exercise import Exercise

_AUTOGRADER = f"{Path(__file__).parents[1]}{os.sep}"
_STDLIB = sysconfig.get_paths()["stdlib"]


class CaseError(Exception):
    """Raised when a case cannot run to its end; the message is one sentence for the student."""

    def __init__(self, kind: str, sentence: str):
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence


def call_guarded(function: Any, arguments: list[Any], shown: str) -> Any:
    """Call the function and return its result.

    Args:
        function: the student's function, method or class.
        arguments: its arguments.
        shown: its name in messages.

    Raises:
        CaseError: if the call raised an error; the message explains it, the cause is the error.
    """
    try:
        return function(*arguments)
    except (KeyboardInterrupt, CaseError):
        raise
    except SystemExit as error:
        raise CaseError(
            "raised",
            f"{shown} calls exit() or quit(), which would end the whole notebook; return the "
            f"result instead.{locate_student_line(error.__traceback__)}",
        ) from error
    except NotImplementedError as error:
        if get_message(error):
            raise CaseError("raised", _explain_error(shown, error)) from error
        stub = _find_stub(error, shown)
        if _stands_beside_code(error.__traceback__):
            raise CaseError(
                "unwritten",
                f"{stub} still has the line raise NotImplementedError(): put the rest of your code "
                "in its place, or delete it if your code is complete.",
            ) from error
        raise CaseError(
            "unwritten",
            f"{stub} is not written yet: replace raise NotImplementedError() with your code, run "
            "the cell, and check again.",
        ) from error
    except BaseException as error:
        raise CaseError("raised", _explain_error(shown, error)) from error


def explain_timeout(exercise: Exercise, error: BaseException, seconds: float) -> tuple[str, str]:
    """Return the problem of an answer that was interrupted."""
    return "time", (
        f"{exercise.name} did not finish within {seconds:g} seconds; is there an infinite "
        f"loop, or a call that waits?{locate_student_line(error.__traceback__)}"
    )


def _find_stub(error: BaseException, shown: str) -> str:
    """Return the name of the unwritten function, which may be one that the answer calls."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not is_student_file(trace.tb_frame.f_code.co_filename):
        return shown
    inner = trace.tb_frame.f_code.co_name
    if inner == shown.rpartition(".")[2] or not inner.isidentifier() or inner == "__init__":
        return shown
    owner = trace.tb_frame.f_locals.get("self")
    return inner if owner is None else f"{type(owner).__name__}.{inner}"


def _stands_beside_code(trace: TracebackType | None) -> bool:
    """Return whether the function that raised an error has other statements than the `raise`."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    try:
        code = textwrap.dedent(inspect.getsource(trace.tb_frame.f_code))
        (function,) = ast.parse(code).body
    except (OSError, TypeError, ValueError, SyntaxError):
        return False
    body = getattr(function, "body", None)
    return isinstance(body, list) and any(
        not isinstance(statement, ast.Raise | ast.Pass)
        and not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in body
    )


def is_student_file(filename: str) -> bool:
    """Return whether a file or cell is a student's, and not ours, torch's or Python's."""
    return not filename.startswith((_AUTOGRADER, _STDLIB)) and not any(
        folder in filename
        for folder in ("site-packages", "dist-packages")  # Debian and Colab use the latter
    )


def _explain_error(shown: str, error: BaseException) -> str:
    where = locate_student_line(error.__traceback__)
    return f"{shown} raised {type(error).__name__}: {get_first_line(error)}{where}"


def get_first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    lines = get_message(error).strip().splitlines()
    return lines[0] if lines else "(no message)"


def get_message(error: BaseException) -> str:
    """Return an error's message, or "" if it cannot be read."""
    try:
        return str(error)
    except Exception:  # the student's own error class has a faulty __str__
        return ""


def locate_student_line(trace: TracebackType | None) -> str:
    """Return the line of the student's code, not of torch's or ours, that raised the error."""
    frames = [f for f in traceback.extract_tb(trace) if is_student_file(f.filename)]
    if not frames or frames[-1].lineno is None:
        return ""
    line = linecache.getline(frames[-1].filename, frames[-1].lineno).strip()
    place = "its cell" if "ipykernel" in frames[-1].filename else "its file"
    return f"\nin {frames[-1].name}, line {frames[-1].lineno} of {place}: {line}" if line else ""
