"""Accessible tables: row headers, header scopes, and scrollable containers.

The theme puts every table into a container that scrolls sideways; ``tables.js`` makes a container
that does scroll reachable by keyboard.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

ROW_HEADS = 6  # columns from which the first one is a row header and stays visible


# A table of coursekit whose first column has no name: that column holds row headers.
_ROWS_OF_OUTPUT = re.compile(
    r'<thead><tr><th scope="col"></th>(?P<heads>.*?)</thead><tbody>(?P<rows>.*?)</tbody>', re.S
)


def _head_each_row(table: re.Match[str]) -> str:
    rows = re.sub(r"<tr><td>(.*?)</td>", r'<tr><th scope="row">\1</th>', table["rows"], flags=re.S)
    return f"<thead><tr><td></td>{table['heads']}</thead><tbody>{rows}</tbody>"


class HeadTheRows(SphinxTransform):
    """Makes the first column row headers if its own header is empty, or if the table is wide."""

    default_priority = 510

    def apply(self, **kwargs: Any) -> None:
        """Mark the first column of each such table, and remove an empty header row."""
        for table in self.document.findall(nodes.tgroup):
            columns = [child for child in table if isinstance(child, nodes.colspec)]
            head = next((c for c in table if isinstance(c, nodes.thead)), None)
            if head is None or not columns:
                continue
            cells = [cell.astext().strip() for cell in head[0]]
            if not any(cells):  # Markdown requires a header row; an empty one is useless
                table.remove(head)
                columns[0]["stub"] = 1
            elif not cells[0] or len(cells) >= ROW_HEADS:
                columns[0]["stub"] = 1
            if len(cells) >= ROW_HEADS:
                table.parent["classes"].append("wide-table")


def say_what_heads_belong_to(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Write the scope of each header; an empty corner becomes an ordinary cell."""
    body = context.get("body")
    if not body or "<th" not in body:
        return
    body = re.sub(
        r'<th class="(head[^"]*)">\s*(?:<p>\s*</p>)?\s*</th>', r'<td class="\1"></td>', body
    )
    body = _ROWS_OF_OUTPUT.sub(_head_each_row, body)
    body = body.replace('<th class="head', '<th scope="col" class="head')
    context["body"] = re.sub(r'<th class="stub', '<th scope="row" class="stub', body)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform, the scopes and the script."""
    app.add_transform(HeadTheRows)
    app.connect("html-page-context", say_what_heads_belong_to)
    app.add_css_file("reference.css")
    app.add_js_file("tables.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
