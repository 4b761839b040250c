"""Directives whose content is Markdown that the build writes."""

from __future__ import annotations

from collections.abc import Sequence

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


def parse_markdown(directive: SphinxDirective, lines: Sequence[str]) -> list[nodes.Node]:
    """Return Markdown lines as the nodes that they become in the place of a directive."""
    box = nodes.Element()
    text = StringList(list(lines), source=directive.env.docname)
    directive.state.nested_parse(text, directive.content_offset, box, match_titles=True)
    return box.children


class GeneratedMarkdown(SphinxDirective):
    """Base class of directives that generate Markdown."""

    def write(self) -> str:
        """Return the Markdown."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Parse the Markdown at the directive's position."""
        return parse_markdown(self, self.write().split("\n"))
