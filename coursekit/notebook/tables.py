"""Tables of results, rendered as HTML in notebooks and as text elsewhere."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coursekit.training import results

Column = tuple[str, int] | tuple[str, int, float] | Callable[[dict[str, Any]], Any]


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


def results_table(
    rows: Mapping[str, dict[str, Any]], columns: Mapping[str, Column], head: str = "model"
) -> Table:
    """Return a table of recorded results: a row for each model, mean and range over its seeds.

    Args:
        rows: label -> a result of `coursekit.training.results.read`, or a row of one.
        columns: title -> (metric, digits) or (metric, digits, factor), as `format_metric` takes
            them, or a function of the result. A model without the metric gets an empty cell.
        head: title of the labels' column.
    """
    lines = [
        [label, *(_cell(result, how) for how in columns.values())] for label, result in rows.items()
    ]
    return Table([head, *columns], lines)


def _cell(result: dict[str, Any], how: Column) -> Any:
    if callable(how):
        return how(result)
    return results.format_metric(result, *how) if how[0] in result["metrics"] else ""


def best_epochs(result: dict[str, Any]) -> str:
    """Return the epoch that each seed's validation chose, such as "9, 14, 11 of 14"."""
    epochs = ", ".join(str(run["best_epoch"]) for run in result["runs"])
    return f"{epochs} of {result['settings']['epochs']}"


def parameters(result: dict[str, Any]) -> str:
    """Return the number of parameters, such as "1,234,567"."""
    return f"{results.count_parameters(result):,}"
