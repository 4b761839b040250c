"""Run make targets one after the other, continue after failures, and print a final table.

    python3 tools/run_make_targets.py TARGET...

It needs only Python, because the first target may install everything else. Processes that a target
leaves running (a grader whose test was cut off, a server, a browser) are stopped and listed, and
the target counts as failed. When this process ends for any reason, so do all its descendants.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
GRACE = 15.0  # seconds for a target's processes to end by themselves, enough for a busy machine
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # options of Linux's prctl
COUNTS = re.compile(r"^=* ?((?:\d+ \w+,? ?)+in [\d.]+s.*?) ?=*$")  # pytest's last line
FAILURE = re.compile(r"^(?:FAILED|ERROR) \S|: error: |^Would reformat: |^make: \*\*\* ")


@dataclass(frozen=True)
class Outcome:
    """The result of a target: exit status, time, pytest's counts and failures."""

    target: str
    status: int
    seconds: float
    counts: str
    failures: list[str]

    def __str__(self) -> str:
        """Return one line of the table."""
        verdict = "passed" if self.status == 0 else "FAILED"
        return f"{verdict}  {self.seconds:5.0f} s  {self.target:<18} {self.counts}".rstrip()


def tie_to_parent() -> None:
    """Adopt orphaned descendants, and end when the parent ends (Linux only)."""
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None).prctl
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def list_children() -> list[int]:
    """Return the child processes of this process, including adopted ones."""
    try:
        names = Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii")
    except OSError:
        return []
    return [int(name) for name in names.split()]


def stop_children(grace: float, patience: float) -> list[str]:
    """End all children and, once adopted, their children; return the command lines of these.

    Args:
        grace: seconds for them to end by themselves.
        patience: seconds from SIGTERM to SIGKILL.
    """
    begun = time.monotonic()
    said: dict[int, str] = {}
    while children := list_children():
        waited = time.monotonic() - begun
        for pid in children:
            try:
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").strip()
                if waited >= grace and line:  # without a line, it is a zombie
                    said.setdefault(pid, line.decode(errors="replace"))
                    gentle = waited < grace + patience
                    os.kill(pid, signal.SIGTERM if gentle else signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
            except (OSError, ChildProcessError):
                continue
        if waited > grace + patience + 10:
            break
        time.sleep(0.1)
    return list(said.values())


def end(number: int, _frame: object) -> None:
    """Stop all children when this process receives a signal to end."""
    stop_children(grace=0, patience=1)
    os._exit(128 + number)


@dataclass
class Output:
    """The relevant output of a target: pytest's last line of counts, and lines with failures."""

    counts: str = ""
    failures: list[str] = field(default_factory=list)

    def read(self, lines: IO[str]) -> None:
        """Print the lines as they arrive, and record the relevant ones."""
        for line in lines:
            print(line, end="", flush=True)
            if match := COUNTS.match(line.strip()):
                self.counts = match[1]
            if FAILURE.search(line):
                self.failures.append(line.strip()[:300])


def run(command: list[str], target: str) -> Outcome:
    """Run a command, pass on its output, and stop the processes that it leaves running."""
    print(f"\n--- {target}", flush=True)
    begun = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    assert process.stdout is not None
    output = Output()
    # Leftover processes hold the pipe open, so wait for the target's own process.
    reader = threading.Thread(target=output.read, args=(process.stdout,))
    reader.start()
    status = process.wait()
    seconds = time.monotonic() - begun
    left = stop_children(GRACE, patience=3)
    reader.join()
    failures = output.failures + [f"left running: {line[:200]}" for line in left]
    outcome = Outcome(target, status or int(bool(left)), seconds, output.counts, failures)
    print(outcome, flush=True)
    return outcome


def print_table(outcomes: list[Outcome]) -> None:
    """Print all failures by name, then a line for each target."""
    for outcome in outcomes:
        if outcome.status:
            print(f"\n{outcome.target} failed:")
            print("\n".join(f"  {line}" for line in outcome.failures or ["see its output above"]))
    print(f"\n{sum(outcome.seconds for outcome in outcomes):.0f} s in all")
    print("\n".join(map(str, outcomes)), flush=True)


def main(targets: list[str]) -> int:
    """Run the targets; return 1 if any has failed."""
    tie_to_parent()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    outcomes = [run(["make", "--no-print-directory", target], target) for target in targets]
    print_table(outcomes)
    return int(any(outcome.status for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
