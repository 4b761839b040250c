"""The `{whole-model}` directive, which shows the complete code of a model's solutions.

    ```{whole-model}
    from solutions.transformer.attention import MultiHeadAttention
    from solutions.transformer.model import Transformer
    ```

shows the imported classes and functions with everything that they need. A site for a class is built
without answers: `COURSE_ANSWERS=no`.
"""

from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from book.site.exercise_lists import read_notebook_title
from book.site.generated_markdown import GeneratedMarkdown

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = "The answers are left out of this edition, which was made for a class."


def answers_shown() -> bool:
    """Return whether pages show answers: True unless COURSE_ANSWERS is "no"."""
    return os.environ.get("COURSE_ANSWERS", "yes") != "no"


def leave_out(app: Sphinx, page: str, source: list[str]) -> None:
    """Remove the answers from exercises and solution pages unless answers are shown."""
    if answers_shown():
        return
    from autograder.instructor.authoring.notebook_builder import SOLUTION_PAGES, strip_answers

    if page.startswith(f"{SOLUTION_PAGES}/"):
        title = next(line for line in source[0].split("\n") if line.startswith("# "))
        source[0] = f"{title}\n\n{LEFT_OUT}\n"
    elif page.startswith("exercises/"):
        notebook = json.loads(source[0])
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = strip_answers("".join(cell["source"]), links=True)
        source[0] = json.dumps(notebook)


class WholeModel(GeneratedMarkdown):
    """``{whole-model}``: the code named by imports from `solutions`."""

    has_content = True

    def write(self) -> str:
        """Return the code as Markdown, with a heading that links to each notebook it is from."""
        # Imported late: these modules import torch, which Sphinx need not inspect.
        from autograder.instructor.authoring.inline_imports import inline_solution_imports
        from autograder.instructor.authoring.solution_pages import shorten_docstrings

        if not answers_shown():
            return LEFT_OUT
        for master in sorted((ROOT / "solutions").glob("*/*/solution.py")):
            self.env.note_dependency(str(master))
        return divide(shorten_docstrings(inline_solution_imports("\n".join(self.content))))


def divide(code: str) -> str:
    """Return code as Markdown, divided where it says from which notebook it is."""
    imports, *parts = re.split(r"^# From the notebook (\S+)\n", code, flags=re.MULTILINE)
    lines = ["```python", imports.strip(), "```", ""]
    for notebook, part in zip(parts[::2], parts[1::2], strict=True):
        defined = [node.name for node in ast.parse(part).body if isinstance(node, _DEFINITIONS)]
        names = ", ".join(f"`{name}`" for name in defined if not name.startswith("_"))
        title = read_notebook_title(notebook)
        lines += [f"### {title}", "", f"{names}: [the exercises](../exercises/{notebook}.ipynb)."]
        lines += ["", "```python", part.strip(), "```", ""]
    return "\n".join(lines)


_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive, and rebuild the pages when COURSE_ANSWERS changes."""
    app.add_directive("whole-model", WholeModel)
    app.add_config_value("course_answers", answers_shown(), "env")
    app.connect("source-read", leave_out)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
