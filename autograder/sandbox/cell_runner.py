"""Runs notebook cells in an in-process IPython shell and records their outputs."""

from __future__ import annotations

import base64
import builtins
import getpass
import io
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

TEXT_AT_MOST = 20_000  # characters of output per cell
PICTURE_AT_MOST = 1 << 20  # base64 characters per picture
OUTPUTS_AT_MOST = 50
_KEPT = ("text/plain", "image/png")  # no HTML from students: it would run in the reader's browser

Output = dict[str, Any]


class CappedStream(io.TextIOBase):
    """A cell's stdout or stderr, which accepts any amount of text and keeps the beginning."""

    def __init__(self, name: str, outputs: list[Output]):
        self._name = name
        self._outputs = outputs
        self.left = TEXT_AT_MOST

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Return the encoding that a terminal would have."""
        return "utf-8"

    def writable(self) -> bool:
        """Return True, because the stream accepts text."""
        return True

    def write(self, text: str) -> int:
        """Keep as much of the text as fits."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self.left > 0:
            kept = text[: self.left]
            self.left -= len(kept)
            if self.left <= 0:
                kept += "\n... (the rest is not shown)\n"
            last = self._outputs[-1] if self._outputs else {}
            if last.get("output_type") == "stream" and last["name"] == self._name:
                last["text"] += kept
            elif len(self._outputs) < OUTPUTS_AT_MOST:
                self._outputs.append({"output_type": "stream", "name": self._name, "text": kept})
        return len(text)

    def close(self) -> None:
        """Do nothing, because a notebook's streams must survive code that closes them."""


class _Publisher(DisplayPublisher):
    """Keeps what display() shows."""

    def publish(self, data: Mapping[str, Any], *given: Any, **more: Any) -> None:
        """Keep one output."""
        _record_output(_outputs(self.shell), "display_data", data)

    def clear_output(self, wait: bool = False) -> None:
        """Discard the outputs of the cell so far."""
        _outputs(self.shell).clear()


class _Hook(DisplayHook):
    """Keeps the value of a cell's last line."""

    def write_output_prompt(self) -> None:
        """Write nothing, because there is no terminal."""

    def write_format_data(self, format_dict: Mapping[str, Any], md_dict: Any = None) -> None:
        """Keep the value in its output formats."""
        _record_output(_outputs(self.shell), "execute_result", format_dict)

    def finish_displayhook(self) -> None:
        """Write nothing, because there is no terminal."""


def _outputs(shell: Any) -> list[Output]:
    """Return the outputs of the running cell so far."""
    found: list[Output] = shell.outputs
    return found


def _record_output(outputs: list[Output], kind: str, data: Mapping[str, Any]) -> None:
    if len(outputs) >= OUTPUTS_AT_MOST or not isinstance(data, Mapping):
        return
    kept: dict[str, str] = {}
    for name in _KEPT:
        shown = data.get(name)
        if isinstance(shown, bytes):
            shown = base64.b64encode(shown).decode("ascii")
        if isinstance(shown, str):
            if name == "text/plain":
                kept[name] = shown[:TEXT_AT_MOST]
            elif len(shown) <= PICTURE_AT_MOST:
                kept[name] = shown
    if kept:
        outputs.append({"output_type": kind, "data": kept, "metadata": {}})


class GradingShell(InteractiveShell):
    """An IPython shell without a terminal, a history or shell commands."""

    displayhook_class = Type(_Hook)
    display_pub_class = Type(_Publisher)

    def __init__(self, **given: Any):
        self.outputs: list[Output] = []
        super().__init__(**given)

    def init_history(self) -> None:
        """Keep no history on disk."""
        self.config.HistoryManager.enabled = False
        super().init_history()

    def system(self, command: str) -> None:  # type: ignore[override]
        """Print that a shell command, as in !command, is not run."""
        print(f"(not run while the notebook is graded: !{command})")
        self.user_ns["_exit_code"] = 1

    system_raw = system
    system_piped = system

    def getoutput(self, command: str, split: bool = True, depth: int = 0) -> list[str]:
        """Return no lines, because no command is run."""
        self.system(command)
        return []

    def enable_gui(self, gui: Any = None) -> None:
        """Start no event loop, because pictures are recorded, not shown."""

    def ask_exit(self) -> None:
        """Ignore exit() in a cell, so that it does not end the grading."""
        print("(exit() has no effect while the notebook is graded)")

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        lines = [str(line)[:2_000] for line in stb][-60:] if isinstance(stb, list) else [str(stb)]
        try:
            message = str(evalue)
        except Exception:
            message = ""
        self.outputs.append(
            {
                "output_type": "error",
                "ename": getattr(etype, "__name__", "Error"),
                "evalue": message[:2_000],
                "traceback": lines,
            }
        )


class InputNotAvailableError(RuntimeError):
    """Raised when code calls input(), because nobody can answer."""

    def _render_traceback_(self) -> list[str]:
        return [f"NoInput: {self}"]


def _no_input(*given: Any, **more: Any) -> str:
    raise InputNotAvailableError(
        "input() cannot be answered while the notebook is graded; write the value into the code."
    )


def create_shell() -> GradingShell:
    """Return the process's only shell, created before any submission is forked."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = GradingShell.instance(config=config)
    _magics(shell)
    warnings.filterwarnings("ignore", message="To exit: use")
    builtins.input = _no_input
    getpass.getpass = _no_input
    return shell


def _magics(shell: GradingShell) -> None:
    """Replace the magics that start programs with one that prints that nothing is run."""

    def not_run(line: str, cell: str | None = None) -> None:
        print("(not run while the notebook is graded)")

    for name in ("pip", "conda", "mamba", "micromamba", "uv", "sx", "sc", "system"):
        shell.register_magic_function(not_run, "line", name)  # type: ignore[arg-type]
    for name in ("bash", "sh", "script", "perl", "ruby", "system"):
        shell.register_magic_function(not_run, "cell", name)  # type: ignore[arg-type]


def run_cell(shell: GradingShell, source: str) -> list[Output]:
    """Run one cell and return its outputs in the format of a notebook file."""
    outputs: list[Output] = []
    shell.outputs = outputs
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = CappedStream("stdout", outputs), CappedStream("stderr", outputs)
    try:
        shell.run_cell(source, store_history=False, silent=False)
    finally:
        sys.stdout, sys.stderr = before
        shell.outputs = []
    return outputs
