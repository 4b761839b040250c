"""In a notebook, a name that is not defined yet is explained if it is an exercise's name."""

from __future__ import annotations

import re
from typing import Any

from autograder.cards import in_notebook
from autograder.exercises import EXERCISES


def install() -> None:
    """Explain NameErrors about exercises in this notebook; does nothing elsewhere."""
    if in_notebook():
        from IPython import get_ipython

        get_ipython().set_custom_exc((NameError,), _explain)


def _explain(shell: Any, kind: type, error: NameError, trace: Any, tb_offset: Any = None) -> None:
    found = re.match(r"name '(\w+)' is not defined", str(error))
    if found and found[1] in EXERCISES:
        name = found[1]
        message = f"{name} is not defined yet: run the cell in which you wrote it, then this one."
        error = NameError(message)
        shell._showtraceback(NameError, error, [f"NameError: {message}"])
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
