"""The `{try}` directive: a task for a live explorer, to predict first and then to check.

    :::{try} translator s=the king sees a cat&bar=2
    :shows: 그것

    In *the king sees a cat*, the word *king* is barred. What will the translation begin with?

    ---

    With 그것, *it*.
    :::

The argument names an explorer and the state that the link gives it, written as in the address. The
answer below the line is folded. `:shows:` lists texts, separated by commas, that the explorer must
show in this state; a browser test looks for them, so that no answer survives a training that makes
it wrong.

`{slides}` with the name of an explorer stands above such tasks. It adds a button that shows them
one after the other, each with the text of its section beside the explorer, for a lecture.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book.site.generated_markdown import parse_markdown

EXPLORERS = ("cloze", "history", "nextword", "review", "training", "transformer", "translator")


def link_to(argument: str) -> str:
    """Return the link to a state, "#live=translator&s=the+king", from a directive's argument.

    Raises:
        ValueError: there is no such explorer, or the state is not of the form key=value&key=value.
    """
    explorer, _, state = argument.strip().partition(" ")
    pairs = parse_qsl(state)
    if explorer not in EXPLORERS or not pairs or len(pairs) != state.count("&") + 1:
        raise ValueError(
            f"{{try}} {argument}: write one of {', '.join(EXPLORERS)} and a state, such as "
            "“translator s=the king sees a cat&bar=2”."
        )
    return f"#{urlencode([('live', explorer), *pairs])}"


def split_answer(lines: list[str]) -> tuple[list[str], list[str]]:
    """Separate the lines of the task from those of the answer.

    Raises:
        ValueError: there is not exactly one line of three hyphens between them.
    """
    marks = [i for i, line in enumerate(lines) if re.fullmatch(r"-{3,}\s*", line)]
    if len(marks) != 1 or not "".join(lines[: marks[0]]).strip():
        raise ValueError("{try}: write the task, a line “---”, and the answer.")
    return lines[: marks[0]], lines[marks[0] + 1 :]


class Try(SphinxDirective):
    """``{try}``: a task, a link into the explorer, and the folded answer."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"shows": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Build the box; a malformed task fails the build."""
        try:
            link = link_to(self.arguments[0])
            task, answer = split_answer(list(self.content))
        except ValueError as error:
            raise self.error(str(error)) from error
        box = nodes.container(classes=["course-try"])
        box += parse_markdown(self, task)
        lead = nodes.paragraph(classes=["course-try-link"])
        lead += nodes.reference("", "Set the explorer to this", refuri=link, internal=True)
        box += lead
        fold = ["::::{dropdown} Predict first. What happens?", *answer, "::::"]
        box += parse_markdown(self, fold)
        return [box]


class Slides(SphinxDirective):
    """``{slides}``: a button that shows the page's tasks for an explorer as slides."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Build the button; the content is its label. Without JavaScript it is not there."""
        explorer, label = self.arguments[0], " ".join(self.content).strip()
        if explorer not in EXPLORERS or not label:
            raise self.error(
                f"{{slides}} {explorer}: write one of {', '.join(EXPLORERS)}, and below it the "
                "label of the button."
            )
        self.env.metadata[self.env.docname]["slides"] = explorer
        label = escape(label)
        button = (
            f'<p><button type="button" class="course-slides-open" hidden data-label="{label}" '
            f'data-explorer="{explorer}">{label} <kbd>Alt+P</kbd></button></p>'
        )
        return [nodes.raw("", button, format="html")]


def add_slides(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Load what the slides need on pages that have them."""
    if "slides" in app.env.metadata.get(page, {}):
        app.add_css_file("slides.css")
        app.add_js_file("slides.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directives."""
    app.add_directive("try", Try)
    app.add_directive("slides", Slides)
    app.connect("html-page-context", add_slides)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
