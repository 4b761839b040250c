"""Fuzz tests of frames from socket to verdict: no crash, and no unearned points."""

from __future__ import annotations

import copy
import json
import socket
import threading
import time
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.notebook_builder import SOLUTIONS
from autograder.instructor.authoring.reference_solution import load_solution
from autograder.instructor.grading import secret_cases
from autograder.instructor.grading.notebook_grader import NotebookGrader
from autograder.instructor.grading.notebook_run import TimeLimits
from autograder.instructor.grading.sandbox_launcher import Sandbox
from autograder.instructor.grading.secret_cases import SecretCases
from autograder.instructor.grading.source_notebook import list_exercises, read_sources
from autograder.instructor.grading.submission_parser import NotebookSubmission, read_cells
from autograder.sandbox import framing, isolation, worker
from autograder.sandbox.frame_schema import check_frame
from autograder.sandbox.framing import ProtocolError
from autograder.sandbox.serialization import KINDS
from tests.conftest import ROOT

NAME = "AttentionDecoder"  # tests its parts, too
DECLARED = EXERCISES[NAME]
Frame = tuple[dict, dict]


class Shell:
    """The part of a notebook that a worker needs."""

    def __init__(self, answer):
        self.user_ns = {NAME: answer}

    def run_cell(self, source, **given):
        print(source)


def wrong_by_one(name: str):
    """Return the solution with one method's results shifted."""

    def moved(self, *given):
        def add(thing):
            return thing + 1 if isinstance(thing, torch.Tensor) else type(thing)(map(add, thing))

        return add(getattr(load_solution(DECLARED), name)(self, *given))

    return moved


def make_wrong():
    methods = {method for part in DECLARED.parts for method in part.methods}
    return type(NAME, (load_solution(DECLARED),), {name: wrong_by_one(name) for name in methods})


class Replayed(Sandbox):
    """A sandbox that sends a test's frames through a real socket."""

    def __init__(self, cases):
        self.configure("", (), cases, isolation.Limits(), TimeLimits(total=5.0))
        self.frames: list[tuple[int | None, bytes]] = []
        self.went: list[object] = []

    def run(self, cells, files=None, skip=()):
        counts = {
            c["index"]: len(self._cases[c["cases"]]) if "exercise" in c else None for c in cells
        }
        ours, theirs = socket.socketpair()
        leash, keeper = socket.socketpair()
        with ours, leash:
            thread = threading.Thread(target=self._feed, args=(theirs, {None, *counts}))
            thread.start()
            keeper.close()
            run = self._read_frames(framing.Channel(ours, 128 << 20), leash, counts, True)
        thread.join()
        self.went.append(run.end.why)
        return run

    def _feed(self, line, cells):
        with line:
            try:
                for cell, frame in self.frames:
                    if cell in cells:
                        line.sendall(frame)
            except OSError:  # the grader has closed the socket
                pass


@cache
def desk():
    """Return a grader, its sandbox, a notebook, and the cells that it runs."""
    sources = read_sources(
        SOLUTIONS / DECLARED.assignment, "raise NotImplementedError()", EXERCISES
    )
    mine = {DECLARED.notebook: sources[DECLARED.notebook]}
    secret = SecretCases(list_exercises(mine), [1])
    sandbox = Replayed(secret.cases)
    tests = dict.fromkeys(mine[DECLARED.notebook].identifiers.exercises, "")
    released = ROOT / "exercises" / DECLARED.assignment / f"{DECLARED.notebook}.ipynb"
    handed = NotebookSubmission(tuple(read_cells(released.read_bytes())))
    return NotebookGrader(DECLARED.assignment, mine, sandbox, secret, tests), sandbox, handed


def grade(frames: list[tuple[int | None, bytes]]):
    """Return the grader's result for the one exercise, given frames."""
    grader, sandbox, handed = desk()
    sandbox.frames, sandbox.went = frames, []
    started = time.monotonic()
    graded = grader.grade("ada", DECLARED.notebook, handed, {}, only=[NAME])
    assert time.monotonic() - started < 20
    return next(r for r in graded.result.exercises if r.exercise == NAME)


@cache
def index() -> int:
    """Return the index of the exercise's cell."""
    found = []
    grader, sandbox, handed = desk()

    class Stop(Exception):
        pass

    def run(cells, *given):
        found.extend(c["index"] for c in cells if "exercise" in c)
        raise Stop

    real, sandbox.run = sandbox.run, run
    try:
        with pytest.raises(Stop):
            grader.grade("ada", DECLARED.notebook, handed, {}, only=[NAME])
    finally:
        sandbox.run = real
    return found[0]


@cache
def record(right: bool) -> tuple[Frame, ...]:
    """Return the frames of a right or a wrong answer."""
    answer = load_solution(DECLARED) if right else make_wrong()
    cells = [{"index": index(), "exercise": NAME, "cases": NAME}]
    cells += [
        {"index": 1_000_000 + n, "exercise": NAME, "cases": f"{NAME}/{n}"}
        for n in range(len(DECLARED.parts))
    ]
    job = {"cells": cells, "skip": [], "limits": {}}
    ours, theirs = socket.socketpair()
    frames: list[Frame] = [({"ready": True}, {})]

    def read():
        channel = framing.Channel(ours)
        while (frame := channel.receive()) is not None:
            frames.append(frame)

    thread = threading.Thread(target=read)
    thread.start()
    with ours:
        with theirs:
            tests = worker.ExerciseCases(EXERCISES, desk()[1]._cases)
            shell: Any = Shell(answer)
            worker.run_notebook(job, tests, shell, framing.Channel(theirs))
        thread.join()
    return tuple(frames)


def pack(header, tensors) -> bytes:
    """Return a frame with any JSON content."""
    text = json.dumps(header).encode()
    payload = save({n: t.contiguous().clone() for n, t in tensors.items()}) if tensors else b""
    return framing._LENGTHS.pack(len(text), len(payload)) + text + payload


def about(header) -> int | None:
    """Return the cell of a frame, which is sent when that cell is run."""
    return header.get("at", header.get("exercise"))


def replay(frames) -> list[tuple[int | None, bytes]]:
    """Return frames in the form in which they are sent."""
    return [(about(header), pack(header, tensors)) for header, tensors in frames]


def test_recorded_frames_are_graded_as_they_should():
    right = grade(replay(record(True)))
    assert (right.outcome, right.points) == ("right", DECLARED.points)
    assert desk()[1].went == [""]
    wrong = grade(replay(record(False)))
    assert (wrong.outcome, wrong.points) == ("wrong", 0.0)


# Mutations

_STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.sampled_from([-1, 0, 1, 1.0, 500, 1_000_000, 2**31, 1e300, "\ud800", "\0", "x" * 9_999]),
    st.text(max_size=8),
    st.lists(st.integers(-1, 3), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.sampled_from([["x"], [[]], [None, None], [{}], ["unwritten", 3], ["right", "fine"]]),
    st.sampled_from(sorted(KINDS)).map(lambda kind: [kind, "said"]),
)
_WORDS = "ready end at cell exercise answer outcomes outputs sentence case dtype problem changed "
_KEY = st.one_of(st.sampled_from([*_WORDS.split(), "printed"]), st.text(max_size=3))
_VALUE = st.recursive(
    _STRANGE,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEY, inner, max_size=4)),
    max_leaves=8,
)
_MADE_UP = st.dictionaries(_KEY, _VALUE, max_size=4)


def _list_places(thing, path=()):
    """Return the paths to a header's members, only the first few of similar ones."""
    found = [path] if path else []
    members = thing.items() if isinstance(thing, dict) else ()
    members = enumerate(thing[:3]) if isinstance(thing, list) else members
    for key, member in members:
        found += _list_places(member, (*path, key))
    return found


def _bend_header(draw, header):
    header = copy.deepcopy(header)
    path = draw(st.sampled_from(_list_places(header)))
    owner = header
    for key in path[:-1]:
        owner = owner[key]
    how = draw(st.sampled_from(["replace", "remove", "repeat", "add"]))
    if how == "remove":
        del owner[path[-1]]
    elif how == "repeat" and isinstance(owner, list):
        owner.extend(copy.deepcopy(owner[path[-1]]) for _ in range(draw(st.integers(1, 50))))
    elif how == "add" and isinstance(owner, dict):
        owner[draw(_KEY)] = draw(_VALUE)
    else:
        owner[path[-1]] = draw(_VALUE)
    return header


_NUMBERS = [float("nan"), float("inf"), -float("inf"), 1e308, 0.0, -1.0]
_SHAPES = [(), (0,), (0, 5), (1,), (1, 1, 1, 1, 1, 1), (7, 3), (1,) * 70, (2, 0, 3), (300, 300)]


def _bend_tensors(draw, tensors):
    tensors = dict(tensors)
    for _ in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from(sorted(tensors)))
        how = draw(st.sampled_from(["values", "shape", "dtype", "drop", "name", "swap", "large"]))
        old = tensors[name]
        if how == "values":
            number = torch.tensor(draw(st.sampled_from(_NUMBERS)), dtype=torch.float64)
            tensors[name] = number.expand(old.shape).to(old.dtype)
        elif how == "shape":
            dtype = draw(st.sampled_from(framing.PLAIN_DTYPES))
            tensors[name] = torch.ones(draw(st.sampled_from(_SHAPES)), dtype=dtype)
        elif how == "dtype":
            kinds = [*framing.PLAIN_DTYPES, torch.complex64, torch.float8_e4m3fn, torch.uint16]
            tensors[name] = torch.ones(old.shape).to(draw(st.sampled_from(kinds)))
        elif how == "drop" and len(tensors) > 1:
            del tensors[name]
        elif how == "name":
            odd = [
                "",
                "0/float64/o/",
                "0/float64/x/y",
                "\n",
                "a" * 999,
                name + "/",
                "9/float64/o/y",
            ]
            tensors[draw(st.sampled_from(odd))] = old
        elif how == "swap":
            other = draw(st.sampled_from(sorted(tensors)))
            tensors[name], tensors[other] = tensors[other].clone(), old.clone()
        elif how == "large":
            tensors[name] = torch.zeros(draw(st.sampled_from([1 << 16, (1 << 20) + 1])))
    return tensors


def _bend_bytes(draw, data: bytes) -> bytes:
    bent = bytearray(data)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.one_of(st.integers(0, min(len(bent), 400) - 1), st.integers(0, len(bent) - 1)))
        bent[at] = draw(st.integers(0, 255))
    return bytes(bent[: draw(st.integers(len(bent) // 2, len(bent)))])


class Sent(list):
    """Frames with a short repr."""

    def __repr__(self) -> str:
        return repr([(cell, frame[:200]) for cell, frame in self])


@st.composite
def bent_runs(draw) -> list[tuple[int | None, bytes]]:
    """Draw a process's frames: mutated ones of a recorded wrong answer, and invented ones."""
    (ready, *recorded), frames = record(False), Sent()
    frames.append((None, pack(*ready)))  # before any student code
    for header, tensors in recorded:
        if draw(st.integers(0, 9)) == 0:
            frames.append((about(header), pack(draw(_MADE_UP), {})))
        how = draw(st.sampled_from(["keep", "keep", "header", "tensors", "both", "bytes", "drop"]))
        if how == "drop":
            continue
        if how in ("tensors", "both") and tensors:
            tensors = _bend_tensors(draw, tensors)
        cell = about(header)
        if how in ("header", "both"):
            header = _bend_header(draw, header)
        data = pack(header, tensors)
        frames.append((cell, _bend_bytes(draw, data) if how == "bytes" else data))
    return frames


CALM = settings(deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@pytest.mark.slow
@settings(CALM, max_examples=200)
@given(bent_runs())
def test_bent_frames_of_a_wrong_answer_earn_nothing(frames):
    assert grade(frames).points == 0.0


@pytest.mark.slow
@settings(CALM, max_examples=800)
@given(st.data())
def test_frames_bent_before_the_judge(data):
    """Right and wrong outcomes, whose header fits: straight to the judge and to the parts."""
    grader, sandbox, _ = desk()
    right = data.draw(st.booleans())
    tried = [frame for frame in record(right) if "outcomes" in frame[0]]
    part = data.draw(st.integers(0, len(tried) - 1))
    header, tensors = tried[part]
    cases = NAME if part == 0 else f"{NAME}/{part - 1}"
    counts = {header["exercise"]: len(sandbox._cases[cases])}
    bent = _bend_tensors(data.draw, tensors)
    if data.draw(st.booleans()):
        header = _bend_header(data.draw, header)
    try:
        # As received from a socket.
        bent = framing._tensors(save({n: t.contiguous().clone() for n, t in bent.items()}))
        check_frame(json.loads(json.dumps(header)), bent, counts)
    except (ProtocolError, TypeError):
        return
    if header.get("answer") != "tried":
        return
    if part:
        passed = grader._secret.passes(DECLARED, part - 1, header, bent)
    else:
        passed = grader._secret.judge(DECLARED, header, bent).passed
    assert not passed or right


@pytest.mark.slow
@settings(CALM, max_examples=1500)
@given(_MADE_UP)
def test_made_up_headers_fit_or_are_broken(header):
    try:
        check_frame(header, {}, {0: None, 1: 3})
    except ProtocolError:
        return
    assert set(header) & {"ready", "end", "at", "cell", "exercise"}


FORGED = [
    {"cell": 500, "outputs": []},
    {"at": 500},
    {"at": True},
    {"at": -1},
    {"exercise": 500, "answer": "tried", "outcomes": []},
    {"cell": "EXERCISE", "outputs": []},
    {"exercise": "EXERCISE", "answer": "right"},
    {"exercise": "EXERCISE", "answer": "tried", "outcomes": [{"case": 0, "dtype": ["x"]}]},
    {"exercise": "EXERCISE", "answer": "tried", "outcomes": "all"},
    {"exercise": "EXERCISE", "answer": "tried", "outcomes": [], "passed": True},
    {"at": "EXERCISE", "end": True},
]


@pytest.mark.parametrize("forged", FORGED, ids=json.dumps)
def test_a_forged_frame_ends_the_run(forged):
    header = {key: index() if value == "EXERCISE" else value for key, value in forged.items()}
    frames = [pack({"ready": True}, {}), pack({"at": index()}, {}), pack(header, {})]
    result = grade([(None, frame) for frame in frames])
    assert desk()[1].went[0] == "broken"
    assert (result.outcome, result.points) == ("stopped", 0.0)


def test_memory_that_torch_does_not_get_is_no_fault_of_the_answer(monkeypatch):
    """Such an error comes from the judge's own process, which is full."""
    name = "context_vector"
    cases = SecretCases([EXERCISES[name]], [1])

    def full(*given):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 TB")

    monkeypatch.setattr(secret_cases, "judge", full)
    with pytest.raises(MemoryError):
        cases.judge(EXERCISES[name], {"outcomes": []}, {})


def test_a_whole_number_may_be_written_as_a_float():
    frames = []
    for header, tensors in record(True):
        if "outcomes" in header:
            outcomes = [{**entry, "case": float(entry["case"])} for entry in header["outcomes"]]
            header = {**header, "outcomes": outcomes}
        frames.append(({k: float(v) if type(v) is int else v for k, v in header.items()}, tensors))
    assert grade(replay(frames)).points == DECLARED.points


def test_overlapping_tensors_are_broken():
    header = {"a": {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}}
    header["b"] = {"dtype": "F64", "shape": [2], "data_offsets": [8, 24]}
    text = json.dumps(header).encode()
    with pytest.raises(ProtocolError):
        framing._tensors(len(text).to_bytes(8, "little") + text + bytes(24))
