"""Interrupts an answer after a time limit, and prints a progress message before that."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator

PROGRESS_AFTER_SECONDS = 1.0  # s
CASE_TIMEOUT_SECONDS = 10.0  # s for one case; the slowest right answer takes a hundredth of this


class TimeLimitExceeded(Exception):
    """Raised when an answer is interrupted because it takes too long."""


class Watchdog:
    """Interrupts code that takes too long, wherever it is, and prints progress before that.

    Args:
        name: name of the exercise that is being checked.
        at_most: time limit for one case, in s.
    """

    def __init__(self, name: str, at_most: float):
        self._name = name
        self.at_most = at_most
        self._began = time.monotonic()
        self._said = False
        self._out = sys.stdout  # kept here because an answer's output is captured

    @contextlib.contextmanager
    def enforce(self) -> Iterator[None]:
        """Raise TimeLimitExceeded if the block takes too long, but only in the main thread.

        A KeyboardInterrupt stops the running code, because `except Exception` does not catch it.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        over, fired = threading.Event(), threading.Event()

        def watch() -> None:
            until = time.monotonic() + self.at_most
            while not over.wait(self._next_look(until)):
                if time.monotonic() >= until:
                    fired.set()
                    until = time.monotonic() + 1.0  # again, as a bare `except:` may swallow it
                    _thread.interrupt_main()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            with _interruptible():
                try:
                    yield
                finally:
                    over.set()
                    watcher.join()
                    if fired.is_set():
                        time.sleep(0.05)  # let an interrupt that is still on its way arrive
        except KeyboardInterrupt as error:
            if not fired.is_set():
                raise
            raise TimeLimitExceeded from error

    def _next_look(self, until: float) -> float:
        now = time.monotonic()
        sign = self._began + PROGRESS_AFTER_SECONDS
        if not self._said and now >= sign:
            self._said = True
            print(f"Checking {self._name} ...", file=self._out, flush=True)
        return max(0.0, (until if self._said else min(until, sign)) - now)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let interrupts arrive even in a process that was started to ignore them, as by `nohup`."""
    before = signal.getsignal(signal.SIGINT)
    if before not in (signal.SIG_IGN, signal.SIG_DFL):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
