"""Records every tensor that an answer's own lines compute, with the line and the tensors used."""

from __future__ import annotations

import contextlib
import dis
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from autograder.run import guarded_call
from autograder.run.global_state import capture_output, use_default_torch_settings
from autograder.run.guarded_call import CaseError, is_student_file
from autograder.run.runner import observe_calls
from autograder.spec.exercise import Case, Exercise
from autograder.spec.outcome import Outcome

_RUNNER = str(Path(guarded_call.__file__).parent)
_RECORDS_AT_MOST = 1500
_NUMBERS_AT_MOST = 4096  # in one tensor
# Calls after which numbers go on in Python, where nothing is recorded.
_LEAVING = {"item", "tolist", "numpy", "__array__", "__float__", "__int__", "__index__"}


@dataclass
class Record:
    """A tensor that was computed.

    Attributes:
        operation: name of torch's operation; "" for an input or parameter.
        parents: indexes of the records from which it was computed.
        value: its numbers in float64, or None if they were not kept.
        function: name of the function that contains the line.
        file: the file, or cell, of the line.
        line: number of the line; 0 for an input or parameter.
        code: the expression.
        names: the variables that held it, if they were recorded, or the name of the input.
        inside: whether only a function of a library has seen it.
    """

    operation: str
    parents: tuple[int, ...]
    value: np.ndarray | None
    function: str = ""
    file: str = ""
    line: int = 0
    code: str = ""
    names: list[str] = field(default_factory=list)
    inside: bool = False

    @property
    def is_given(self) -> bool:
        """Return whether it is an input or a parameter."""
        return not self.operation


@dataclass
class Recording:
    """What a run has computed.

    Attributes:
        records: the records, in order.
        outputs: index of the record of each result, by name.
        leaves_torch: whether numbers went on outside torch, unseen.
        problem: the sentence about the error that ended the run, or "".
    """

    records: list[Record]
    outputs: dict[str, int]
    leaves_torch: bool
    problem: str = ""


def record_answer(
    answer: Any, exercise: Exercise, case: Case, name_variables: bool = False
) -> Recording:
    """Run an answer on a case in float64 and return what its lines computed.

    Args:
        answer: a function or class.
        exercise: the exercise that it answers.
        case: the case.
        name_variables: also record the names of local variables, which takes longer.
    """
    recorder = _Recorder()
    known: Mapping[str, Any] = {}
    problem = ""

    @contextlib.contextmanager
    def observe(inputs: Mapping[str, Tensor], module: nn.Module | None) -> Iterator[None]:
        weights = {} if module is None else module.state_dict(keep_vars=True)
        for name, tensor in {**weights, **inputs}.items():
            recorder.add_given(tensor, name)
        with recorder, _name_variables(recorder) if name_variables else contextlib.nullcontext():
            yield

    with use_default_torch_settings(), capture_output(Outcome()):
        try:
            known = observe_calls(answer, exercise, case, torch.float64, observe)
        except CaseError as error:
            problem = error.sentence
    outputs = {
        name: recorder.find(known[name])
        for call in case.calls
        for name in call.returned
        if isinstance(known.get(name), Tensor) and recorder.knows(known[name])
    }
    for index in outputs.values():
        recorder.records[index].inside = False
    return Recording(recorder.records, outputs, recorder.leaves_torch, problem)


class _Recorder(TorchFunctionMode):
    """Makes a record for each result of each call of torch in the answer's lines."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Record] = []
        self.leaves_torch = False
        self._latest: dict[int, tuple[int, int]] = {}  # id: index of its record, version
        self._alive: list[Any] = []  # so that no other tensor or frame gets its id
        self._library: dict[int, int] = {}  # index: id of the library's frame that computed it
        self._positions: dict[Any, list[Any]] = {}

    def knows(self, tensor: Tensor) -> bool:
        return id(tensor) in self._latest

    def find(self, tensor: Tensor) -> int:
        return self._latest[id(tensor)][0]

    def add_given(self, tensor: Tensor, name: str) -> None:
        self._add(tensor, Record("", (), _copy(tensor), names=[name]))

    def _add(self, tensor: Tensor, record: Record) -> int:
        self.records.append(record)
        self._alive.append(tensor)
        self._latest[id(tensor)] = len(self.records) - 1, _get_version(tensor)
        return len(self.records) - 1

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", str(func))
        frame, library = _find_frames(sys._getframe(1))
        if frame is None or len(self.records) >= _RECORDS_AT_MOST:
            return func(*args, **kwargs)
        if name == "__get__" and not isinstance(result := func(*args, **kwargs), Tensor):
            return result  # such as x.shape
        given = list(_list_tensors([*args, kwargs]))
        versions = [_get_version(tensor) for tensor in given]
        parents = tuple(dict.fromkeys(self._look_up(t, frame, library) for t in given))
        if name != "__get__":
            result = func(*args, **kwargs)
        if name == "__iter__":
            result = list(result)
        self.leaves_torch |= name in _LEAVING
        written = [t for t, v in zip(given, versions, strict=True) if _get_version(t) != v]
        for tensor in [*written, *_list_tensors(result)]:
            if self._latest.get(id(tensor), (0, -1))[1] != _get_version(tensor):
                index = self._add(tensor, self._describe(tensor, name, parents, frame))
                if library is not None:
                    self.records[index].inside = True
                    self._library[index] = id(library)
                    self._alive.append(library)
        return iter(result) if name == "__iter__" else result

    def _look_up(self, tensor: Tensor, frame: FrameType, library: FrameType | None) -> int:
        """Return the index of an argument's record, which is made if nothing is known about it."""
        if not self.knows(tensor):
            return self._add(tensor, self._describe(tensor, "?", (), frame))
        index, version = self._latest[id(tensor)]
        if self._library.get(index) != id(library):
            self.records[index].inside = False  # another line uses it
        if version != _get_version(tensor):  # written into through a view
            return self._add(tensor, self._describe(tensor, "?", (index,), frame))
        return index

    def _describe(
        self, tensor: Tensor, operation: str, parents: tuple[int, ...], frame: FrameType
    ) -> Record:
        code = frame.f_code
        line, text = frame.f_lineno, ""
        if hasattr(code, "co_positions"):  # since Python 3.11
            spots = self._positions.setdefault(code, list(code.co_positions()))
            spot = spots[frame.f_lasti // 2]
            if spot[0] is not None:
                line, text = spot[0], _read_code(code.co_filename, spot)
        if not text:
            text = linecache.getline(code.co_filename, line).strip()
        value = _copy(tensor)
        return Record(operation, parents, value, code.co_name, code.co_filename, line, text)


def _find_frames(frame: FrameType | None) -> tuple[FrameType | None, FrameType | None]:
    """Return the innermost frame of the answer's code, and the library's that it has called."""
    library = None
    while frame is not None and not is_student_file(frame.f_code.co_filename):
        if frame.f_code.co_filename.startswith(_RUNNER):  # above it stands the caller of check()
            return None, None
        library, frame = frame, frame.f_back
    return frame, library


def _list_tensors(thing: Any, depth: int = 3) -> Iterator[Tensor]:
    if isinstance(thing, Tensor):
        yield thing
    elif depth and isinstance(thing, tuple | list):
        for member in thing:
            yield from _list_tensors(member, depth - 1)
    elif depth and isinstance(thing, dict):
        yield from _list_tensors(list(thing.values()), depth - 1)


def _copy(tensor: Tensor) -> np.ndarray | None:
    try:
        if tensor.numel() > _NUMBERS_AT_MOST or tensor.is_complex():
            return None
        with torch._C.DisableTorchFunction():
            return tensor.detach().to("cpu", torch.float64).numpy().copy()
    except Exception:  # sparse, meta or another kind that has no numbers to look at
        return None


def _get_version(tensor: Tensor) -> int:
    try:
        return tensor._version
    except RuntimeError:  # an inference tensor has none
        return 0


def _read_code(file: str, spot: tuple[int, int | None, int | None, int | None]) -> str:
    """Return the code at a position, on one line."""
    first, last, begin, end = spot
    lines = [linecache.getline(file, n).rstrip("\n") for n in range(first, (last or first) + 1)]
    if begin is None or end is None or not lines[0]:
        return ""
    lines[-1] = lines[-1].encode()[:end].decode(errors="ignore")
    lines[0] = lines[0].encode()[begin:].decode(errors="ignore")
    return " ".join(line.strip() for line in lines)


@cache
def _find_unreadable(code: CodeType) -> frozenset[str]:
    """Return the variables of a function that must not be read from its frame.

    Before Python 3.13.3, that ends the process if a variable which an inner function uses is at the
    same time the variable of a comprehension (github.com/python/cpython/issues/128396).
    """
    shared = {*code.co_cellvars, *code.co_freevars}
    steps = dis.get_instructions(code) if shared else ()
    return frozenset(s.argval for s in steps if s.opname == "LOAD_FAST_AND_CLEAR") & shared


@contextlib.contextmanager
def _name_variables(recorder: _Recorder) -> Iterator[None]:
    """Note the names of the local variables that hold recorded tensors."""

    def look(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        variables = frame.f_locals
        for name in [*variables]:
            thing = None if name in _find_unreadable(frame.f_code) else variables.get(name)
            if isinstance(thing, Tensor) and recorder.knows(thing) and name != "_":
                record = recorder.records[recorder.find(thing)]
                if not record.is_given and name not in record.names:
                    record.names.append(name)
        return look

    def enter(frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        file = frame.f_code.co_filename
        # "<string>" is what namedtuples such as torch's PackedSequence are made of.
        return look if is_student_file(file) and not file.startswith("<") else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(before)
