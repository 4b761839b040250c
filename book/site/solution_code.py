"""The `{solution}` directive, which shows the code of a score or a model where a page explains it.

    ```{solution} bahdanau/scores additive_score AdditiveAttention
    ```

The code of an exercise is folded, because readers may want to write it themselves, and has a link
to the exercise; other code is open. A class's site, which is built without answers, shows the
stubs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from sphinx.application import Sphinx

from book.site.complete_model_code import answers_shown
from book.site.generated_markdown import GeneratedMarkdown

ROOT = Path(__file__).resolve().parents[2]
WHOLE_MODELS = ROOT / "book" / "whole_models.md"


def show_solution(place: str, *names: str) -> str:
    """Return the code of functions or classes as Markdown.

    Args:
        place: assignment and notebook, "bahdanau/scores".
        names: functions and classes of this notebook.

    Raises:
        ValueError: the notebook has no such function or class.
    """
    # Imported late: these modules import torch, which Sphinx need not inspect.
    from autograder.exercises import EXERCISES
    from autograder.instructor.authoring.solution_pages import write_solution

    is_exercise = any(name in EXERCISES for name in names)
    if is_exercise and not answers_shown():
        page = nbformat.read(ROOT / "exercises" / f"{place}.ipynb", as_version=4)
        stubs = {cell.id: cell.source for cell in page.cells}
        codes = [stubs[name] for name in names]
    else:
        solution = ROOT / "solutions" / place / "solution.py"
        codes = [write_solution(solution, name) for name in names]
    block = ["```python", "\n\n\n".join(codes), "```"]
    if not is_exercise:
        return "\n".join(block)
    listed = " and ".join(f"`{name}`" for name in names)
    what = "The code" if answers_shown() else "The stub"
    kind = "It is an exercise" if len(names) == 1 else "They are exercises"
    links = [f"{kind} of the notebook [`{place}`](../exercises/{place}.ipynb)."]
    imports = WHOLE_MODELS.read_text(encoding="utf-8")
    if re.search(rf"^from solutions\.{place.split('/')[0]}\.", imports, re.MULTILINE):
        links.append("[The whole model](whole_models.md) stands on one page.")
    return "\n".join([f"::::{{dropdown}} {what} of {listed}", " ".join(links), "", *block, "::::"])


class Solution(GeneratedMarkdown):
    """``{solution}``: the code of functions and classes of a notebook."""

    required_arguments = 2
    final_argument_whitespace = True

    def write(self) -> str:
        """Return the code."""
        place = self.arguments[0]
        self.env.note_dependency(str(ROOT / "solutions" / place / "solution.py"))
        return show_solution(place, *self.arguments[1].split())


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("solution", Solution)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
