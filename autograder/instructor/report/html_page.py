"""Renders the report as one self-contained HTML page without scripts, from `page.html.j2`.

Names, headlines, reasons and remarks come from students. Everything is therefore escaped, the text
direction of each name is isolated, and a policy in the page forbids scripts and connections.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from autograder.instructor import formatting
from autograder.instructor.grading.course_folder import write_atomically
from autograder.instructor.grading.gradebook_results import OUTCOMES
from autograder.instructor.report.class_statistics import ClassStatistics
from autograder.instructor.sanitize import escape_html
from coursekit.plots.style import DARK, LIGHT, SERIES

_HERE = Path(__file__).parent
_MANY = 12  # names or rows that are shown without unfolding

_MEANING = {
    "right": "right",
    "part": "partly right",
    "wrong": "wrong",
    "unwritten": "not written",
    "missing": "not found",
    "stopped": "stopped",
    "refused": "refused",
}
# Okabe and Ito's green and vermilion are safe for colour blindness; untried is grey or empty.
_COLOURS = {
    "right": SERIES[2],
    "part": SERIES[5],
    "wrong": SERIES[1],
    "unwritten": "var(--blank)",
    "missing": "repeating-linear-gradient(45deg, var(--blank) 0 4px, var(--paper) 4px 7px)",
    "stopped": SERIES[3],
    "refused": SERIES[4],
}


def write(facts: ClassStatistics, to: Path) -> None:
    """Write the page, and create its folder if necessary."""
    to.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(to, make_page(facts).encode())


def make_page(facts: ClassStatistics) -> str:
    """Return the page as HTML."""
    bins = _bins(facts.points, facts.max_points)
    rows: list[tuple[str, Any]] = []  # of the last section; None: those who are not graded yet
    if facts.missing:
        rows.append(("handed in nothing", facts.missing))
    if facts.ungraded:
        rows.append(("handed in, not graded yet", None))
    rows += [(f"handed in together: {name}", who) for name, who in facts.groups]
    return _template().render(
        facts=facts,
        css=Markup(_css()),
        many=_MANY,
        tiles=_tiles(facts),
        bins=bins,
        step=bins[1][0] if len(bins) > 1 else 1,
        highest=max(count for _, count in bins),
        shown_outcomes=[o for o in OUTCOMES if any(e.outcomes[o] for e in facts.exercises)],
        meaning=_MEANING,
        colours=_COLOURS,
        single=[m for m in facts.misconceptions if len(m.students) == 1],
        students_rows=rows,
    )


@cache
def _template() -> Template:
    """Return the template; it escapes each value as everything that students wrote is escaped."""
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        finalize=lambda value: (
            value if isinstance(value, Markup) else Markup(escape_html(str(value)))
        ),
    )
    environment.filters |= {
        "count": formatting.format_point_count,
        "points": formatting.format_points,
        "students": formatting.format_student_count,
        "duration": formatting.format_duration,
        "percent": "{:.0%}".format,
        "range": _format_range,
    }
    return environment.get_template("page.html.j2")


def _tiles(facts: ClassStatistics) -> list[tuple[str, str, str]]:
    """Return the title, the value and the note of each number at the top."""
    graded = len(facts.points)
    of_most = f"of {formatting.format_point_count(facts.max_points)}"
    to_review = len({review.student for review in facts.reviews})
    return [
        ("handed in", str(facts.handed_in), f"of {len(facts.names)} in the gradebook"),
        ("graded", str(graded), f"{facts.pending} not final" if facts.pending else ""),
        ("to review", str(to_review), ""),
        ("mean", formatting.format_points(facts.mean) if graded else "–", of_most),
        ("median", formatting.format_points(facts.median) if graded else "–", of_most),
    ]


def _bins(points: Sequence[float], most: float) -> list[tuple[int, int]]:
    """Return the start of each range of points, and the number of submissions in it."""
    top = max([most, *points, 1.0])
    size = next((s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500) if top / s <= 10), 1000)
    counts = [0] * (int(top // size) + 1)
    for value in points:
        counts[int(value // size)] += 1
    return [(place * size, count) for place, count in enumerate(counts)]


def _format_range(likeness: tuple[float, float]) -> str:
    most, least = (f"{share:.0%}" for share in likeness)
    return most if most == least else f"{least} to {most}"


def _css() -> str:
    def variables(colours: dict[str, str], blank: str) -> str:
        named = "".join(f"--{name}:{value};" for name, value in colours.items())
        return f":root{{{named}--blank:{blank}}}"

    return (
        variables(LIGHT, "#c3cad2")
        + f"\n@media (prefers-color-scheme:dark){{{variables(DARK, '#8b97a4')}}}\n"
        + f"@media print{{{variables(LIGHT, '#c3cad2')}}}\n"
        + (_HERE / "page.css").read_text(encoding="utf-8")
    )
