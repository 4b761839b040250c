"""Recorded results on a page: the `{recorded}` role and the `{provenance}` directive.

    Attention reaches {recorded}`rnnsearch-all.multi30k-de-en bleu .1f` BLEU.

shows the mean over the seeds and the range: "37.2 (36.7–37.7)". The name is that of the file in
book/results; a row of a comparison is named behind it, as in `bottleneck.english-korean/fixed`. Of
Python's formats, only `.Nf` and `.N%` are supported. Without a format, `settings.width` shows a
setting, and `parameters` the number of parameters.

    ```{provenance} rnnsearch-all.multi30k-de-en rnnencdec-all.multi30k-de-en
    ```

shows, folded, how these results were made: command, seeds, time, hardware, versions, data.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from book.site.generated_markdown import GeneratedMarkdown
from coursekit.training import results

logger = logging.getLogger(__name__)
_TEXT = re.compile(
    r"(?P<model>[\w-]+)\.(?P<data>[\w-]+)(?:/(?P<row>[\w-]+))? "
    r"(?:settings\.(?P<setting>\w+)|(?P<parameters>parameters)"
    r"|(?P<metric>\w+) \.(?P<digits>\d)(?P<kind>[f%]))"
)


def cite_result(text: str) -> str:
    """Return the text that a role shows.

    Raises:
        ValueError: the text does not name a record with one of its metrics and a format, or with
            one of its settings.
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
    if (setting := cited["setting"]) is not None:
        if setting not in result["settings"]:
            raise ValueError(
                f"{{recorded}}`{text}`: the record has no setting {setting}; it has "
                f"{', '.join(result['settings'])}."
            )
        value = result["settings"][setting]
        return f"{value:,}" if isinstance(value, int) else str(value)
    if rows := result.get("rows"):
        if cited["row"] not in rows:
            raise ValueError(f"{{recorded}}`{text}`: name one of the rows {', '.join(rows)}.")
        result = rows[cited["row"]]
    if cited["parameters"]:
        return f"{results.count_parameters(result):,}"
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


def show_provenance(*records: str) -> str:
    """Return, as folded Markdown, how results were made; what they have in common once.

    Args:
        records: names of files in book/results, without the ending.
    """
    found = {}
    for name in records:
        model, _, data = name.partition(".")
        found[name] = results.read(model, data)
    title = "How these results were made" if len(found) > 1 else "How this result was made"
    lines = [f"::::{{dropdown}} {title}", ""]
    for what, tell in _PROVENANCE.items():
        names: dict[str, list[str]] = {}  # by value
        for name, result in found.items():
            names.setdefault(tell(result), []).append(f"`{name}`")
        if len(names) == 1:
            lines.append(f"* {what}: {next(iter(names))}")
        else:
            lines.append(f"* {what}:")
            lines += [f"  * {value} ({', '.join(made)})" for value, made in names.items()]
    return "\n".join([*lines, "", "::::"])


def _runs(result: dict[str, Any]) -> list[dict[str, Any]]:
    rows = result["rows"].values() if "rows" in result else [result]
    return [run for row in rows for run in row["runs"]]


def _seeds(result: dict[str, Any]) -> str:
    return ", ".join(str(seed) for seed in sorted({run["seed"] for run in _runs(result)}))


_PROVENANCE: dict[str, Callable[[dict[str, Any]], str]] = {
    "command": lambda result: f"`{result['command']}`",
    "seeds": _seeds,
    "hours, all runs": lambda result: f"{sum(run['seconds'] for run in _runs(result)) / 3600:.2f}",
    "hardware": lambda result: result["hardware"],
    "versions": lambda result: ", ".join(f"{name} {v}" for name, v in result["versions"].items()),
    "measured": lambda result: result["scorer"],
    "data, SHA-256": lambda result: f"{result['data_sha256'][:16]}…",
    "date": lambda result: result["date"],
}


class Provenance(GeneratedMarkdown):
    """``{provenance}``: how recorded results were made."""

    required_arguments = 1
    final_argument_whitespace = True

    def write(self) -> str:
        """Return the list; a page is rebuilt when one of its records changes."""
        records = self.arguments[0].split()
        for record in records:
            self.env.note_dependency(str(results.FOLDER / f"{record}.json"))
        return show_provenance(*records)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the role and the directive."""
    app.add_role("recorded", RecordedRole())
    app.add_directive("provenance", Provenance)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
