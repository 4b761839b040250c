"""The `{recorded}` role, which shows a recorded result within a sentence.

    Attention reaches {recorded}`rnnsearch-all.multi30k-de-en bleu .1f` BLEU.

shows the mean over the seeds and the range: "37.2 (36.7–37.7)". The name is that of the file in
book/results; a row of a comparison is named behind it, as in `bottleneck.english-korean/fixed`. Of
Python's formats, only `.Nf` and `.N%` are supported.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from coursekit.training import results

logger = logging.getLogger(__name__)
_TEXT = re.compile(
    r"(?P<model>[\w-]+)\.(?P<data>[\w-]+)(?:/(?P<row>[\w-]+))? (?P<metric>\w+)"
    r" \.(?P<digits>\d)(?P<kind>[f%])"
)


def cite_result(text: str) -> str:
    """Return the text that a role shows.

    Raises:
        ValueError: the text does not name a record, one of its metrics and a format.
    """
    cited = _TEXT.fullmatch(text)
    if cited is None:
        raise ValueError(
            f"{{recorded}}`{text}`: write a record, a metric and a format, such as "
            "`rnnsearch-all.multi30k-de-en bleu .1f`."
        )
    try:
        result = results.read(cited["model"], cited["data"])
    except FileNotFoundError as error:
        raise ValueError(f"{{recorded}}`{text}`: {error}") from error
    if rows := result.get("rows"):
        if cited["row"] not in rows:
            raise ValueError(f"{{recorded}}`{text}`: name one of the rows {', '.join(rows)}.")
        result = rows[cited["row"]]
    if cited["metric"] not in result["metrics"]:
        raise ValueError(
            f"{{recorded}}`{text}`: the record has no metric {cited['metric']}; it has "
            f"{', '.join(result['metrics'])}."
        )
    scale, unit = (100.0, " %") if cited["kind"] == "%" else (1.0, "")
    return results.format_metric(result, cited["metric"], int(cited["digits"]), scale) + unit


class RecordedRole(SphinxRole):
    """The text of one number; a page is rebuilt when its record changes."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the number as text; a missing one is a warning, which fails the build."""
        record = re.split("[ /]", self.text)[0]
        self.env.note_dependency(str(results.FOLDER / f"{record}.json"))
        try:
            shown = cite_result(self.text)
        except ValueError as error:
            logger.warning("%s", error, location=self.get_location())
            shown = "?"
        return [nodes.Text(shown)], []


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the role."""
    app.add_role("recorded", RecordedRole())
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
