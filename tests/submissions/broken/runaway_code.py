"""Broken submissions: code that hangs, exits, exhausts memory, or prints too much.

In a student's own cell it costs nothing: all exercises keep their points, even those below the
cell. In an answer it costs only that exercise.
"""

from __future__ import annotations

from typing import Any

from tests.submissions.broken.broken_submission import Bank
from tests.submissions.student_notebooks import SCORES, Handed

BANK = Bank()
STOPPED = (
    r"time|long|second|stopped|ended|end(s|ed)? the|exit|crash|kill|memory|process|limit|"
    r"quit|recursion|never|printed|output|not permitted|PermissionError|too large|space"
)


def _put(places: str, slug: str, title: str, source: str, *, slow: bool = False) -> None:
    """Put the code into own cells and answers.

    Args:
        places: any of "above" (all exercises), "below" and "inside" (an answer).
    """
    if "above" in places:
        shown = f"{title}, above all exercises"
        BANK.own_cell(f"{slug}-above", shown, source, after="setup", slow=slow)
    if "below" in places:
        BANK.own_cell(f"{slug}-below", f"{title}, below all exercises", source, slow=slow)
    if "inside" in places:
        _in_an_answer(f"{slug}-inside", f"{title}, in an answer", source, slow=slow)


def _in_an_answer(slug: str, title: str, source: str, **more: Any) -> None:
    """Put the code at the beginning of an answer."""
    indented = "\n".join("    " + line for line in source.strip("\n").splitlines())

    def change(right: str) -> str:
        head, tail = right.split("    projected_query = ", 1)
        return f"{head}{indented}\n    projected_query = {tail}"

    more.setdefault("lost", ["additive_score"])
    BANK.answer(slug, title, "additive_score", change, says=STOPPED, **more)


# Without end

_put("above below inside", "endless-loop", "an infinite loop", "while True:\n    pass", slow=True)
_put(
    "above inside",
    "endless-loop-that-catches-all",
    "an infinite loop that catches every exception",
    """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
""",
    slow=True,
)
_put(
    "above inside",
    "endless-loop-deaf-to-signals",
    "an infinite loop that ignores all signals",
    """
import signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    pass
""",
    slow=True,
)
_put(
    "above inside",
    "endless-in-c",
    "a call into C that never comes back",
    """
import collections, itertools
collections.deque(itertools.count(), maxlen=0)
""",
    slow=True,
)
_put(
    "above",
    "endless-regex",
    "a regular expression that never ends",
    'import re\nre.match(r"(a+)+$", "a" * 60 + "b")',
    slow=True,
)
_put(
    "inside",
    "endless-torch-operation",
    "an operation of torch that takes hours",
    "big = torch.ones(6000, 6000)\nfor _ in range(10**6):\n    big = big @ big",
    slow=True,
)
_put("above inside", "sleep", "a sleep of an hour", "import time\ntime.sleep(3600)", slow=True)
_put(
    "above",
    "deadlock",
    "a lock that is taken twice",
    "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
    slow=True,
)
_put(
    "below",
    "wait-for-a-thread",
    "waiting for a thread that never ends",
    """
import threading
waiting = threading.Thread(target=threading.Event().wait)
waiting.start()
waiting.join()
""",
    slow=True,
)
BANK.own_cell(
    "all-cells-endless",
    "an endless loop at the top, one in the middle and one at the end",
    "while True:\n    pass",
    after="setup",
    slow=True,
)


@BANK(slow=True)
def three_cells_that_kill(hand: Handed) -> None:
    """Three own cells end the process or never end, between the exercises."""
    hand.add("import os\nos._exit(0)", after="setup")
    hand.add("while True:\n    pass", before="text-additive_score")
    hand.add("import os\nos.abort()", before="text-AdditiveAttention")


@BANK(
    maybe=["additive_score", "context_vector", "AdditiveAttention"],
    why="a notebook is not run again and again without end, but the answers are right",
    says=STOPPED,
)
def ten_cells_that_kill(hand: Handed) -> None:
    """Ten own cells end the process."""
    for number in range(10):
        hand.add(f"import os\nos._exit({number})", before="test-additive_score")


# Exits

_put("above below", "exit", "exit()", "exit()")
_in_an_answer(
    "exit-inside",
    "exit(), in an answer",
    "exit()",
    lost=[],
    maybe=["additive_score"],
    why="in a notebook exit() lets the function go on, and ends the kernel later",
    review_if_lost=False,
)
_put("above", "quit", "quit()", "quit()")
_put("above below inside", "sys-exit", "sys.exit()", "import sys\nsys.exit()")
_put(
    "inside", "sys-exit-1", "sys.exit with a message", "import sys\nsys.exit('something is wrong')"
)
_put("above inside", "raise-system-exit", "raise SystemExit", "raise SystemExit(0)")
_put(
    "above inside", "raise-keyboard-interrupt", "raise KeyboardInterrupt", "raise KeyboardInterrupt"
)
_put("above below inside", "os-exit", "os._exit(0)", "import os\nos._exit(0)")
_put("above", "os-exit-1", "os._exit(1)", "import os\nos._exit(1)")
_put("above inside", "abort", "os.abort()", "import os\nos.abort()")
_put("above below", "kill-9", "os.kill of the own process", "import os\nos.kill(os.getpid(), 9)")
_in_an_answer(
    "kill-9-inside",
    "os.kill of the own process, in an answer",
    "import os\nos.kill(os.getpid(), 9)",
    lost=[],
    maybe=["additive_score"],
    why="the first process of a namespace cannot be killed from inside",
    review_if_lost=False,
)
_put("above", "kill-all", "os.kill of every process", "import os\nos.kill(-1, 15)")
_put("above", "kill-parent", "os.kill of the parent", "import os\nos.kill(os.getppid(), 9)")
_in_an_answer(
    "kill-parent-inside",
    "os.kill of the parent, in an answer",
    "import os\nos.kill(os.getppid(), 9)",
    lost=[],
    maybe=["additive_score"],
    why="what a process cannot see it cannot kill",
    review_if_lost=False,
)
_put("above", "killpg", "os.killpg of the own group", "import os\nos.killpg(0, 9)")
_put(
    "above",
    "stop-itself",
    "a process that stops itself",
    "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    slow=True,
)
_put("above below inside", "segfault", "reading at address 0", "import ctypes\nctypes.string_at(0)")
_put(
    "above",
    "exec",
    "the process becomes another program",
    "import os\nos.execv('/bin/true', ['true'])",
)
BANK.own_cell(
    "exit-hook",
    "an exit hook that never ends",
    "import atexit, time\natexit.register(time.sleep, 3600)",
)
BANK.own_cell(
    "alarm",
    "an alarm that ends the process after a second",
    "import signal\nsignal.alarm(1)",
    after="setup",
    maybe=SCORES,
    why="when it strikes is chance, so that no cell is to blame",
    says=STOPPED,
)
BANK.answer(
    "exit-below-the-answer",
    "os._exit in the solution cell, below the function",
    "additive_score",
    lambda right: right + "\n\nimport os\nos._exit(0)\n",
    maybe=["additive_score"],
    why="the function is right, but its own cell ends the process",
    review_if_lost=False,
    says=STOPPED,
)
BANK.answer(
    "loop-below-the-answer",
    "an endless loop in the solution cell, below the function",
    "additive_score",
    lambda right: right + "\n\nwhile True:\n    pass\n",
    maybe=["additive_score"],
    why="the function is right, but its own cell never ends",
    review_if_lost=False,
    says=STOPPED,
    slow=True,
)
BANK.answer(
    "loop-in-init",
    "an endless loop in a module's __init__",
    "BidirectionalEncoder",
    lambda right: right.replace(
        "super().__init__()", "super().__init__()\n        while True: pass"
    ),
    lost=["BidirectionalEncoder"],
    says=STOPPED,
    slow=True,
)
BANK.answer(
    "loop-on-long-inputs-only",
    "a while loop that ends only for sentences of two words",
    "context_vector",
    """
def context_vector(weights, values):
    i, context = 0, 0
    while i < weights.shape[1]:
        context = context + weights[:, i, None] * values[:, i]
        if i < 2:
            i += 1
    return context
""",
    lost=["context_vector"],
    partly=["AdditiveAttention"],
    says=STOPPED,
    slow=True,
)
BANK.answer(
    "slow-answer",
    "a right answer that takes 20 milliseconds",
    "additive_score",
    lambda right: (
        "import time\n\n\n"
        + right.replace("    projected_query", "    time.sleep(0.02)\n    projected_query", 1)
    ),
)

# Crashes that take a while

_put(
    "above inside",
    "recursion",
    "a recursion without end",
    "def deeper(n):\n    return deeper(n + 1) + 1\ndeeper(0)",
)
_put(
    "above inside",
    "recursion-in-c",
    "a recursion without end through C, with a raised limit",
    """
import sys
sys.setrecursionlimit(10**9)
def deeper(n):
    return list(map(deeper, [n + 1]))
deeper(0)
""",
)

# Processes, memory, files

_put("above inside", "fork-bomb", "a fork bomb", "import os\nwhile True:\n    os.fork()", slow=True)
_put(
    "above inside",
    "thread-bomb",
    "threads without end",
    """
import threading
while True:
    threading.Thread(target=threading.Event().wait, daemon=True).start()
""",
)
_put("above inside", "memory-list", "a list that takes all memory", "eaten = [0] * 10**11")
_put("above", "memory-bytes", "bytes that take all memory", "eaten = bytearray(200 * 2**30)")
_put(
    "above below inside", "memory-torch", "a tensor of 100 GB", "eaten = torch.ones(25_000_000_000)"
)
_put(
    "above inside",
    "memory-slowly",
    "memory that grows and grows",
    "eaten = []\nwhile True:\n    eaten.append(bytearray(2**20))",
    slow=True,
)
_put(
    "above",
    "memory-and-catch",
    "memory that grows, and every error is caught",
    """
eaten = []
while True:
    try:
        eaten.append(torch.ones(2**22))
    except BaseException:
        pass
""",
    slow=True,
)
_put(
    "above inside",
    "disk",
    "a file that grows and grows",
    """
with open("big.bin", "wb") as page:
    for _ in range(50_000):
        page.write(bytes(2**20))
""",
)
BANK.own_cell(
    "many-files",
    "a hundred thousand small files",
    "for i in range(100_000):\n    open(f'{i}.txt', 'w').write('x' * 5000)",
    after="setup",
    slow=True,
)
BANK.own_cell(
    "open-files",
    "ten thousand open files",
    "pages = [open('/dev/null') for _ in range(10_000)]",
    after="setup",
)
BANK.own_cell(
    "memory-kept", "a tensor of a gigabyte that stays", "kept = torch.ones(2**28)", after="setup"
)

# Output


def _loud(slug: str, title: str, source: str) -> None:
    BANK.own_cell(slug, title, source, after="setup", slow=True)


_loud("print-300-mb", "300 MB by print", "for _ in range(300):\n    print('x' * 2**20)")
_loud("print-many-lines", "ten million short prints", "for i in range(10**7):\n    print(i)")
_loud("display-300-mb", "300 MB by display", "for _ in range(300):\n    display('x' * 2**20)")
_loud(
    "stderr-300-mb",
    "300 MB to stderr",
    "import sys\nfor _ in range(300):\n    sys.stderr.write('x' * 2**20)",
)
_loud(
    "descriptor-300-mb",
    "300 MB to the file descriptors 1 and 2",
    "import os\nfor _ in range(300):\n    os.write(1, b'x' * 2**20)\n    os.write(2, b'x' * 2**20)",
)
_loud("value-of-300-mb", "a last line of 300 MB", "'x' * (300 * 2**20)")
_loud(
    "display-html",
    "200 MB of HTML",
    "from IPython.display import HTML, display\nfor _ in range(200):\n"
    "    display(HTML('x' * 2**20))",
)
_loud(
    "error-of-300-mb", "an error whose message has 300 MB", "raise ValueError('x' * (300 * 2**20))"
)
_in_an_answer(
    "print-in-an-answer",
    "an answer that prints all its inputs",
    "print(query, keys)\nfor i in range(1000):\n    print('step', i)",
    lost=[],
)
_in_an_answer(
    "print-300-mb-in-an-answer",
    "an answer that prints 300 MB when it is called first",
    """
if not hasattr(additive_score, "called"):
    additive_score.called = True
    for _ in range(300):
        print("x" * 2**20)
""",
    lost=[],
    maybe=["additive_score"],
    why="prints cost nothing, but so many may be more than the process can hold",
    review_if_lost=False,
    slow=True,
)
_in_an_answer(
    "returns-a-huge-tensor", "an answer that returns 400 MB", "return torch.zeros(100_000_000)"
)
_in_an_answer(
    "raises-a-huge-message",
    "an answer whose error has a message of 100 MB",
    "raise ValueError('x' * (100 * 2**20))",
)
