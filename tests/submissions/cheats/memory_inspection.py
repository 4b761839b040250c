"""Cheats that find answers in memory: callers' frames, garbage collector, loaded modules."""

from __future__ import annotations

from tests.submissions.cheats.cheat_builders import (
    FORGING,
    REMEMBERED,
    TAKEN,
    forger,
    in_code,
    thief,
)

# Checks whether an object that was found belongs to the case with the given inputs.
FITS = """
def fits(thing, given):
    outputs, gradients = getattr(thing, "outputs", None), getattr(thing, "gradients", None)
    if not isinstance(outputs, dict) or not isinstance(gradients, dict) or len(outputs) != 1:
        return False
    (value,) = outputs.values()
    return (set(gradients) == {n for n, t in given.items() if t.is_floating_point()}
            and all(gradients[n] is not None and gradients[n].shape == given[n].shape
                    for n in gradients)
            and type(thing).__name__ == "Expected"
            and bool(torch.isfinite(value).all()))
"""
CHEATS = [
    forger(
        "memory_inspection",
        "frames",
        "the expected values are read from the callers' frames",
        FITS
        + """
import sys

def seen(**given):
    frame = sys._getframe()
    while frame is not None:
        for thing in frame.f_locals.values():
            if fits(thing, given):
                return thing
        frame = frame.f_back
""",
    ),
    forger(
        "memory_inspection",
        "stack",
        "the same by inspect.stack",
        FITS
        + """
import inspect

def seen(**given):
    for entry in inspect.stack(context=0):
        for thing in entry.frame.f_locals.values():
            if fits(thing, given):
                return thing
""",
    ),
    forger(
        "memory_inspection",
        "traceback-frames",
        "the same by the traceback of an exception",
        FITS
        + """
def seen(**given):
    try:
        raise ValueError
    except ValueError as error:
        frame = error.__traceback__.tb_frame
    while frame is not None:
        for thing in frame.f_locals.values():
            if fits(thing, given):
                return thing
        frame = frame.f_back
""",
    ),
    forger(
        "memory_inspection",
        "frames-of-threads",
        "the same from a helper thread, by sys._current_frames",
        FITS
        + """
import sys
from concurrent.futures import ThreadPoolExecutor

HELPER = ThreadPoolExecutor(1)

def search(given):
    for frame in sys._current_frames().values():
        while frame is not None:
            for thing in list(frame.f_locals.values()):
                if fits(thing, given):
                    return thing
            frame = frame.f_back

def seen(**given):
    return HELPER.submit(search, given).result()
""",
    ),
    forger(
        "memory_inspection",
        "garbage-collector",
        "the youngest Expected is found by the garbage collector",
        FITS
        + """
import gc

def seen(**given):
    found = None
    for age in (0, 1, 2):
        for thing in gc.get_objects(age):
            if type(thing).__name__ == "Expected" and fits(thing, given):
                found = thing
        if found is not None:
            return found
""",
    ),
    forger(
        "memory_inspection",
        "constructor-watched",
        "whoever makes an Expected leaves a copy",
        FITS
        + """
from autograder.diagnose import compare

MADE = []
inner = compare.Expected.__init__

def made(self, *given, **more):
    inner(self, *given, **more)
    MADE.append(self)

compare.Expected.__init__ = made

def seen(**given):
    for thing in reversed(MADE[-40:]):
        if fits(thing, given):
            return thing
""",
    ),
    thief(
        "memory_inspection",
        "oracle-imported",
        "the instructor's way to a solution is the answer",
        """
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import load_solution
for name in ("masked_softmax", "additive_score", "AdditiveAttention"):
    STOLEN[name] = load_solution(EXERCISES[name])
""",
    ),
    thief(
        "memory_inspection",
        "functions-by-gc",
        "any loaded function of the exercise's name that is not one's own",
        """
import gc
for name in (
    "autograder.instructor.authoring.mistake_loader", "solutions.bahdanau.scores.solution"
):
    try:
        __import__(name)
    except ImportError:
        pass
for thing in gc.get_objects():
    if not callable(thing) or type(thing).__module__ not in ("builtins",):
        continue
    name, home = getattr(thing, "__name__", ""), str(getattr(thing, "__module__", ""))
    if name in TAKEN_NAMES and home.endswith(".scores"):
        STOLEN[name] = thing
for name in [n for n in sys.modules if n.split(".")[0] == "solutions"]:
    del sys.modules[name]
for thing in STOLEN.values():
    thing.__module__ = "__main__"
""",
        before='TAKEN_NAMES = ("masked_softmax", "additive_score", "AdditiveAttention")\n',
    ),
    in_code(
        "memory_inspection",
        "solutions-when-called",
        "a solution is looked up among the loaded modules while the judge works",
        FORGING
        + REMEMBERED
        + """
import sys

def solution(name, given):
    for module in list(sys.modules.values()):
        if str(getattr(module, "__name__", "")).startswith("solutions.") and hasattr(module, name):
            return getattr(module, name)(**given)
    leaves = {n: t for n, t in given.items() if t.is_floating_point()}
    return forged(seen(**given), **leaves)
""",
        {
            "masked_softmax": """
def masked_softmax(scores, mask):
    return solution("masked_softmax", dict(scores=scores, mask=mask))
""",
            "additive_score": """
def additive_score(query, keys, W, U, v):
    return solution("additive_score", dict(query=query, keys=keys, W=W, U=U, v=v))
""",
        },
        attacks=("masked_softmax", "additive_score"),
    ),
    thief(
        "memory_inspection",
        "own-memory",
        "the text of a solution is searched for in the process's memory",
        """
import re
found = b""
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        if " rw" not in line:
            continue
        start, end = (int(x, 16) for x in line.split()[0].split("-"))
        if end - start > 1 << 28:
            continue
        try:
            memory.seek(start)
            found = memory.read(end - start)
        except (OSError, ValueError):
            continue
        for hit in re.finditer(rb"### BEGIN" + rb" SOLUTION", found):
            head = found.rfind(b"import torch\\n", 0, hit.start())
            text = found[max(head, hit.start() - 20000):hit.start() + 20000]
            adopt(text.split(b"\\0")[0].decode("utf-8", "ignore"))
""",
    ),
    thief(
        "memory_inspection",
        "memory-of-others",
        "the text of a solution is searched for in other processes' memory",
        """
import re
for pid in [p for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]:
    try:
        maps, memory = open(f"/proc/{pid}/maps"), open(f"/proc/{pid}/mem", "rb", 0)
    except OSError:
        continue
    for line in maps:
        start, end = (int(x, 16) for x in line.split()[0].split("-"))
        if " rw" not in line or end - start > 1 << 27:
            continue
        try:
            memory.seek(start)
            found = memory.read(end - start)
        except (OSError, ValueError):
            continue
        for hit in re.finditer(rb"def masked_softmax[^\\0]{20,1800}### END SOLUTION", found):
            adopt(hit.group().decode("utf-8", "ignore"))
            adopt(json.loads('"' + hit.group().decode("utf-8", "ignore") + '"'))
""",
        answers={name: TAKEN[name] for name in ("masked_softmax",)},
        attacks=("masked_softmax",),
    ),
]
