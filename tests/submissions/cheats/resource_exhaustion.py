"""Cheats that exhaust processor, memory, disk, processes, output or time for all students."""

from __future__ import annotations

import nbformat
from nbformat import NotebookNode

from tests.submissions.cheats import Files, Scene
from tests.submissions.cheats.cheat_builders import RIGHT, WRONG, handed_in, in_code, in_page, page

MACHINE = "it would exhaust the machine"


def _one(slug: str, title: str, body: str, opening: str = "", **more):
    """Return a cheat whose `masked_softmax` does harm; the other answers are just wrong."""
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    answers = {"masked_softmax": f"def masked_softmax(scores, mask):\n{lines}\n"}
    more.setdefault("not_on_stock", MACHINE)
    return in_code(
        "resource_exhaustion", slug, title, opening, answers, attacks=("masked_softmax",), **more
    )


def _neighbour(scene: Scene) -> Files:
    """Return an honest student who is graded at the same time."""
    return handed_in(page(scene, RIGHT))


def _hard_to_parse(found: NotebookNode, scene: Scene) -> None:
    texts = (
        "-" * 30_000 + "1",
        "1" + "+1" * 30_000,
        "(" * 30_000,
        "[" * 150 + "]" * 150,
        "x" + ".x" * 100_000,
        "x" + "[0]" * 20_000,
        "if 1:\n" + "".join(" " * i + "if 1:\n" for i in range(1, 99)),
        "lambda: " * 20_000 + "1",
        "f" + "'{" * 50_000,
        "async" + " " * 200_000 + "def",
        "\0\x0c\ufeff\u2028",
        "%" * 20_000,
        "!" + "x" * 100_000 + "\n" * 100_000,
    )
    for number, text in enumerate(texts):
        source = "# solutions, instructor, masked_softmax = 1\n" + text
        found.cells.append(nbformat.v4.new_code_cell(source, id=f"hard-{number}"))


CHEATS = [
    _one(
        "fork-bomb",
        "processes without end",
        """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
""",
    ),
    _one(
        "memory-bomb",
        "memory without end",
        """
kept = []
while True:
    try:
        kept.append(bytearray(1 << 26))
        kept[-1][::4096] = b"x" * len(kept[-1][::4096])
    except MemoryError:
        pass
""",
    ),
    _one(
        "disk-full",
        "files without end in every place that can be written",
        """
import os
for folder in ("/tmp", "/var/tmp", "/dev/shm", os.getcwd(), os.path.expanduser("~")):
    for number in range(4096):
        try:
            with open(f"{folder}/@MARK@-{number}", "wb") as file:
                for _ in range(64):
                    file.write(bytes(1 << 20))
        except OSError:
            break
return torch.zeros_like(scores)
""",
    ),
    _one(
        "small-files",
        "a million files without content",
        """
import os, tempfile, time
until = time.monotonic() + 5
folder = tempfile.mkdtemp()
for number in range(1000000):
    if time.monotonic() > until:
        break
    try:
        open(f"{folder}/{number}", "w").close()
    except OSError:
        break
return torch.zeros_like(scores)
""",
        own_risk=True,
    ),
    _one(
        "descriptors",
        "all descriptors that can be had",
        """
import os
try:
    while True:
        kept.append(os.pipe())
except OSError:
    return torch.zeros_like(scores)
""",
        "kept = []",
        own_risk=True,
        not_on_stock="",
    ),
    _one(
        "threads",
        "threads without end",
        """
import threading, time
try:
    while True:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
except RuntimeError:
    return torch.zeros_like(scores)
""",
        own_risk=True,
    ),
    _one(
        "flood",
        "output without end, on all streams",
        """
import os, sys
for _ in range(300):
    print("x" * (1 << 20))
    print("x" * (1 << 20), file=sys.__stdout__)
    try:
        os.write(1, b"x" * (1 << 20))
        os.write(2, b"x" * (1 << 20))
    except OSError:
        pass
return torch.zeros_like(scores)
""",
    ),
    _one(
        "flood-at-the-top",
        "300 MB of output when the cell runs, and half a million outputs",
        "return torch.zeros_like(scores)",
        """
from IPython.display import display
for _ in range(300):
    print("x" * (1 << 20))
for number in range(20000):
    display(number)
""",
    ),
    _one(
        "endless",
        "a loop that catches everything",
        """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
""",
        not_on_stock="",
    ),
    _one(
        "deaf",
        "all signals are ignored and the clock is asked for an hour",
        """
import signal, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
time.sleep(3600)
""",
        not_on_stock="",
    ),
    _one(
        "stopped",
        "the process stops itself",
        """
import os, signal
os.kill(os.getpid(), signal.SIGSTOP)
return torch.zeros_like(scores)
""",
        not_on_stock="",
    ),
    _one(
        "crash",
        "a segmentation fault",
        """
import ctypes
ctypes.string_at(0)
""",
        not_on_stock="",
    ),
    _one(
        "crash-by-depth",
        "recursion without end in C",
        """
import sys
sys.setrecursionlimit(1 << 30)
deep = None
for _ in range(5000000):
    deep = (deep,)
def down():
    return repr(deep) + down()
down()
""",
        not_on_stock="",
    ),
    _one(
        "huge-tensor",
        "a result that is larger than any memory when it is copied",
        """
return scores.new_zeros(1).expand(1 << 40)
""",
        not_on_stock="",
    ),
    _one(
        "huge-message",
        "an error message of half a gigabyte",
        """
raise ValueError("x" * (1 << 29))
""",
    ),
    _one(
        "huge-graph",
        "a gradient that takes a day",
        """
found = scores * 0
for _ in range(200000):
    found = found + scores * 0
return found
""",
    ),
    in_code(
        "resource_exhaustion",
        "slow-everywhere",
        "each call takes just less than a limit would allow",
        "import time",
        {
            "masked_softmax": WRONG["masked_softmax"].replace(
                "    return", "    time.sleep(1.5)\n    return"
            ),
            "additive_score": WRONG["additive_score"].replace(
                "    return", "    time.sleep(1.5)\n    return"
            ),
        },
        own_risk=True,
        not_on_stock="",
    ),
    _one(
        "large-source",
        "a cell of nine megabytes",
        "return torch.zeros_like(scores)",
        "#" + "x" * (9 << 20),
        not_on_stock="",
    ),
    in_page(
        "resource_exhaustion",
        "hard-to-parse",
        "cells that break whoever takes their text apart",
        _hard_to_parse,
    ),
    in_code(
        "resource_exhaustion",
        "pictures",
        "a hundred megabytes of pictures",
        closing="from IPython.display import display\n"
        + 'display({"image/png": "A" * 999_996, "text/plain": "x"}, raw=True)\n' * 100,
        not_on_stock=MACHINE,
    ),
    _one(
        "all-processors",
        "a hundred threads take the processors while a neighbour is graded",
        """
hog()
return torch.zeros_like(scores)
""",
        """
import threading, time

UNTIL = time.monotonic() + 10

def work():
    numbers = torch.rand(300, 300)
    while time.monotonic() < UNTIL:
        numbers @ numbers

def hog():
    threads = [threading.Thread(target=work) for _ in range(100)]
    try:
        for thread in threads:
            thread.start()
    except RuntimeError:
        pass
    work()
""",
        friend=_neighbour,
        friend_deserves={"masked_softmax": 2.0, "additive_score": 3.0, "context_vector": 1.0},
        own_risk=True,
    ),
]
