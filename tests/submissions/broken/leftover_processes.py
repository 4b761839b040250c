"""Broken submissions: cells that leave threads, processes or files behind."""

from __future__ import annotations

from tests.submissions.broken.broken_submission import Bank
from tests.submissions.student_notebooks import SCORES, reference

BANK = Bank()

BANK.own_cell(
    "thread-waiting",
    "a thread that is not a daemon and never ends",
    "import threading\nthreading.Thread(target=threading.Event().wait).start()",
    after="setup",
)
BANK.own_cell(
    "thread-busy",
    "a daemon that keeps a core busy",
    """
import threading
def spin():
    while True:
        pass
threading.Thread(target=spin, daemon=True).start()
""",
    after="setup",
)
BANK.own_cell(
    "thread-that-prints",
    "a thread that prints without end",
    """
import threading, time
def talk():
    while True:
        print("still here", flush=True)
        time.sleep(0.001)
threading.Thread(target=talk, daemon=True).start()
""",
    after="setup",
)
BANK.own_cell(
    "thread-that-exits-later",
    "a thread that ends the process after half a second",
    """
import os, threading, time
def leave():
    time.sleep(0.5)
    os._exit(0)
threading.Thread(target=leave, daemon=True).start()
""",
    maybe=SCORES,
    why="when it strikes is chance, so that no cell is to blame",
    says=r"stopped|ended|process|exit|kill",
    after="setup",
)
BANK.own_cell(
    "thread-pool",
    "a pool of threads that is never shut down",
    "from concurrent.futures import ThreadPoolExecutor\n"
    "pool = ThreadPoolExecutor(4)\nlist(pool.map(abs, range(10)))",
    after="setup",
)
BANK.own_cell(
    "process-pool",
    "a pool of processes",
    "import multiprocessing\nwith multiprocessing.Pool(2) as pool:\n"
    "    print(pool.map(abs, [1, -2]))",
    after="setup",
)
BANK.own_cell(
    "process-left-behind",
    "a program that goes on for an hour",
    "import subprocess\nsubprocess.Popen(['sleep', '3600'])",
    after="setup",
)
BANK.own_cell(
    "process-with-a-session-of-its-own",
    "a program that goes on for an hour in a session of its own and holds all files open",
    "import subprocess\n"
    "subprocess.Popen(['sleep', '3600'], start_new_session=True, close_fds=False)",
    after="setup",
)
BANK.own_cell(
    "process-forked",
    "a forked process that goes on for an hour",
    "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(3600)",
    after="setup",
)
BANK.own_cell(
    "process-forked-and-goes-on",
    "a forked process that runs the rest of the notebook as well",
    "import os\nos.fork()",
    after="setup",
)
BANK.own_cell(
    "data-loader",
    "a loader of torch with two processes",
    """
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.arange(8.0))
for batch in DataLoader(data, batch_size=4, num_workers=2):
    print(batch)
""",
    after="setup",
)
BANK.own_cell(
    "event-loop",
    "a task that is never awaited",
    "import asyncio\ntask = asyncio.ensure_future(asyncio.sleep(3600))",
    after="setup",
)
BANK.own_cell(
    "server",
    "a web server in a thread",
    """
import http.server, threading
server = http.server.HTTPServer(("", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever).start()
""",
    after="setup",
)
BANK.own_cell(
    "backward-before",
    "a training step of the student's own, above all exercises",
    """
model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(20):
    optimizer.zero_grad()
    model(torch.randn(8, 3)).pow(2).mean().backward()
    optimizer.step()
""",
    after="setup",
)
BANK.answer(
    "answer-with-threads",
    "an answer that computes in threads",
    "additive_score",
    """
from concurrent.futures import ThreadPoolExecutor


def additive_score(query, keys, W, U, v):
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda f: f(), [lambda: query @ W.T, lambda: keys @ U.T])
        one, other = parts
    return torch.tanh(one.unsqueeze(1) + other) @ v
""",
)
BANK.answer(
    "answer-that-leaves-threads",
    "an answer that starts a busy thread in each call",
    "context_vector",
    "import threading, time\n\n\ndef _spin():\n    while True:\n        time.sleep(0.01)\n\n\n"
    + reference("context_vector").replace(
        "    return ", "    threading.Thread(target=_spin, daemon=True).start()\n    return ", 1
    ),
    maybe=["context_vector", "AdditiveAttention"],
    why="a limit on threads may be reached",
    review_if_lost=False,
    says=r"thread|process|limit|Error",
)
