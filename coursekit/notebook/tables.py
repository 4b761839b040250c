"""Tables of results, rendered as HTML in notebooks and as text elsewhere."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """A table that a notebook shows as HTML and a terminal as text.

    Attributes:
        head: the names of the columns.
        rows: rows of cells of any type, one cell per column.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.head):
                raise ValueError(f"A row has {len(row)} cells, the head {len(self.head)}: {row}.")

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in self.head)
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell_html(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        return f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'

    def __repr__(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(len(str(line[i])) for line in lines) for i in range(len(self.head))]
        return "\n".join(
            "  ".join(str(cell).ljust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        )


def _cell_html(cell: Any) -> str:
    """Return a cell as HTML; a range such as 93.2–96.5 is not broken across lines."""
    return re.sub(r"(?<=\d)–(?=\d)", "&#8288;–&#8288;", html.escape(str(cell)))


def provenance(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the provenance of a recorded run as rows (name, "", value).

    Args:
        result: a result of `coursekit.training.results.read`.
    """
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    several = len(result["runs"]) > 1
    return [
        ("seeds" if several else "seed", "", ", ".join(str(run["seed"]) for run in result["runs"])),
        ("hours, all seeds" if several else "hours", "", f"{result['seconds'] / 3600:.1f}"),
        ("hardware", "", result["hardware"]),
        ("versions", "", versions),
        ("scorer", "", result["scorer"]),
        ("data, SHA-256", "", f"{result['data_sha256'][:16]}…"),
        ("command", "", result["command"]),
        ("date", "", result["date"]),
    ]
