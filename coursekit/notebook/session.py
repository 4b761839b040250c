"""Setup of exercise notebooks, and exchange of answers and trained weights between them.

Cells that begin with `# demo` or `# play` are not answers; they are skipped during grading.
"""

from __future__ import annotations

import ast
import builtins
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from coursekit.datasets.download import cache_folder
from coursekit.notebook import settings

SKIPPED_PREFIXES = ("# demo", "# play")
_STUB = "raise NotImplementedError()"


class NotReadyError(Exception):
    """A step in another notebook has to be done first; the message says which."""

    def _render_traceback_(self) -> list[str]:
        """Return the message alone, which IPython shows in place of a traceback."""
        return [str(self)]


def start() -> None:
    """Set up a notebook: one thread for small models, and no demos during grading.

    Models of this size gain nothing from several threads, which on a busy machine wait for each
    other.
    """
    if settings.size() == "quick":
        torch.set_num_threads(1)
    shell = _shell()
    if (
        shell is not None
        and settings.is_grading()
        and _skip not in shell.input_transformers_cleanup
    ):
        shell.input_transformers_cleanup.append(_skip)


def _skip(lines: list[str]) -> list[str]:
    return ["pass\n"] if lines and lines[0].startswith(SKIPPED_PREFIXES) else lines


def _shell() -> Any:
    get = getattr(builtins, "get_ipython", None)
    return get() if get else None


def import_answers(*names: str, into: dict[str, Any] | None = None) -> None:
    """Import your answers from other notebooks in the same folder, and print one line for each.

    The notebooks are read from disk, so unsaved answers are missing. Answers and given code are
    run, but no checks, demos or training.

    Args:
        names: file names, such as "scores.ipynb".
        into: the namespace to import into; by default that of this notebook.

    Raises:
        NotReadyError: a notebook is missing, or one of its answers is missing or fails.
    """
    shell = _shell()
    space = into if into is not None else shell.user_ns if shell else {}
    for name in names:
        again = f"save {name} (Ctrl+S) and run this cell again."
        try:
            page = json.loads(Path(name).read_text(encoding="utf-8"))
        except OSError as error:
            raise NotReadyError(
                f"There is no {name} in this notebook's folder: copy it there and run this cell "
                "again."
            ) from error
        taken = []
        for cell in page["cells"]:
            text = "".join(cell["source"])
            options = cell.get("metadata", {}).get("nbgrader", {})
            if cell["cell_type"] != "code" or _is_left_out(text, options):
                continue
            if not options.get("grade_id"):  # the student's own: keep only definitions
                text = _definitions(text)
            if options.get("solution") and _STUB in text:
                raise NotReadyError(
                    f"{options['grade_id']} is not written yet, or not saved: {again}"
                )
            try:
                exec(compile(text, f"<{name}>", "exec"), space)
            except Exception as error:
                raise NotReadyError(
                    f"{name} fails with {type(error).__name__}: {error}. Fix it there, {again}"
                ) from error
            if options.get("solution"):
                taken.append(options["grade_id"])
        print(f"From {name}: {', '.join(taken)}")


def _is_left_out(text: str, options: dict[str, Any]) -> bool:
    if options.get("grade") or options.get("grade_id") == "setup-check":
        return True
    return text.startswith((*SKIPPED_PREFIXES, "check(", "# In Colab"))


def _definitions(text: str) -> str:
    """Return the imports and definitions of a cell."""
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return ""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    return "\n".join(ast.unparse(node) for node in body if isinstance(node, kinds))


def save_weights(model: nn.Module, name: str) -> None:
    """Save a trained model's weights, so that another notebook need not train it again.

    Args:
        model: the model, on any device.
        name: the name to pass to `load_weights`.
    """
    path = _kept(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = {n: tensor.detach().cpu().clone() for n, tensor in model.state_dict().items()}
    save_file(weights, path)


def load_weights(model: nn.Module, name: str, notebook: str) -> None:
    """Load the weights that `save_weights` saved into a model.

    Args:
        model: a model of the same sizes.
        name: the name passed to `save_weights`.
        notebook: the notebook that trains the model.

    Raises:
        NotReadyError: no weights are saved yet, or they belong to a different model.
    """
    try:
        model.load_state_dict(load_file(_kept(name)))
    except (OSError, RuntimeError) as error:
        raise NotReadyError(
            f"Your trained model has not been saved yet: run {notebook} to the end, then run this "
            "cell again."
        ) from error


def _kept(name: str) -> Path:
    return cache_folder() / "kept" / f"{name}-{settings.size()}.safetensors"
