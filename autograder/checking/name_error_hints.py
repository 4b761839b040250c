"""Explains a NameError in a notebook when the undefined name is an exercise."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from coursekit.notebook.settings import is_in_notebook


def install_name_error_hints(exercises: Container[str]) -> None:
    """Explain NameErrors about exercises in a notebook; do nothing elsewhere."""

    def explain(
        shell: Any, kind: type, error: NameError, trace: Any, tb_offset: Any = None
    ) -> None:
        name = getattr(error, "name", None)
        if name in exercises:
            message = (
                f"{name} is not defined yet: run the cell in which you wrote it, then this one."
            )
            error = NameError(message)
            shell._showtraceback(NameError, error, [f"NameError: {message}"])
        else:
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    if is_in_notebook():
        from IPython import get_ipython

        get_ipython().set_custom_exc((NameError,), explain)
