"""Interrupts an answer after a time limit, and prints a progress message before that."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

PROGRESS_AFTER_SECONDS = 1.0  # s
CASE_TIMEOUT_SECONDS = 10.0  # s per case; the slowest right answer takes a hundredth of this


class Watchdog:
    """Interrupts code that takes too long, and prints a progress message before that.

    Args:
        name: name of the exercise that is being checked.
        at_most: time limit for one case, in s.

    Attributes:
        fired: whether the last block was interrupted because it took too long.
    """

    def __init__(self, name: str, at_most: float):
        self._name = name
        self.at_most = at_most
        self.fired = False
        self._over = threading.Event()
        self._watcher: threading.Thread | None = None
        self._began = time.monotonic()
        self._progress_shown = False
        self._out = sys.stdout  # kept here because an answer's output is captured

    @contextlib.contextmanager
    def enforce(self) -> Iterator[None]:
        """Interrupt the block if it takes too long; do nothing outside the main thread.

        A KeyboardInterrupt stops the running code, because `except Exception` does not catch it. It
        may come at any line, even at the last one here, so code that catches it must call `stop`.
        """
        self.fired = False
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, args=[self._over], daemon=True)
        self._watcher.start()
        with _interruptible():
            try:
                yield
            finally:
                self.stop()

    def stop(self) -> None:
        """Stop interrupting."""
        self._over.set()
        if self._watcher is not None:
            self._watcher.join()
        if self.fired:
            time.sleep(0.05)  # let a pending interrupt arrive

    def _watch(self, over: threading.Event) -> None:
        until = time.monotonic() + self.at_most
        while not over.wait(self._seconds_until_next_check(until)):
            if time.monotonic() >= until:
                self.fired = True
                until = time.monotonic() + 1.0  # retry: a bare `except:` may swallow it
                _interrupt_main_thread()

    def _seconds_until_next_check(self, until: float) -> float:
        now = time.monotonic()
        sign = self._began + PROGRESS_AFTER_SECONDS
        if not self._progress_shown and now >= sign:
            self._progress_shown = True
            print(f"Checking {self._name} ...", file=self._out, flush=True)
        return max(0.0, (until if self._progress_shown else min(until, sign)) - now)


def _interrupt_main_thread() -> None:
    """Raise KeyboardInterrupt in the main thread, even in a call that waits, such as sleep()."""
    if os.name == "nt":
        _thread.interrupt_main()
    else:  # only a real signal ends a system call
        identity = threading.main_thread().ident
        assert identity is not None
        signal.pthread_kill(identity, signal.SIGINT)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Enable interrupts even in a process that was started to ignore them, as by `nohup`."""
    before = signal.getsignal(signal.SIGINT)
    if before not in (signal.SIG_IGN, signal.SIG_DFL):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
