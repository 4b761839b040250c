"""Renders the report as one self-contained HTML page without scripts.

Names, headlines, reasons and remarks come from students. Everything is therefore escaped, the text
direction of each name is isolated, and a policy in the page forbids scripts and connections.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.instructor import formatting
from autograder.instructor.grading.course_folder import write_atomically
from autograder.instructor.grading.result_records import OUTCOMES
from autograder.instructor.report.class_statistics import (
    ClassStatistics,
    CommonMistake,
    ExerciseStatistics,
    LateSubmission,
    Review,
    SimilarSubmissions,
)
from autograder.instructor.sanitize import escape_html
from coursekit.plots.style import DARK, LIGHT, SERIES

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
    title = f"{facts.assignment}: how the class did"
    body = "".join(
        [
            _header(facts),
            _distribution(facts),
            _exercises(facts.exercises),
            _teach(facts),
            _others(facts),
            _reviews(facts),
            _alike(facts),
            _late(facts),
            _lists(facts),
        ]
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="robots" content="noindex">\n'
        f"<title>{escape_html(title)}</title>\n<style>\n{_css()}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


# Parts of the page


def _header(facts: ClassStatistics) -> str:
    graded = len(facts.points)
    of_most = f"of {formatting.format_point_count(facts.max_points)}"
    to_review = len({review.student for review in facts.reviews})
    numbers = [
        ("handed in", str(facts.handed_in), f"of {len(facts.names)} in the gradebook"),
        ("graded", str(graded), f"{facts.pending} not final" if facts.pending else ""),
        ("to review", str(to_review), ""),
        ("mean", formatting.format_points(facts.mean) if graded else "–", of_most),
        ("median", formatting.format_points(facts.median) if graded else "–", of_most),
    ]
    tiles = "".join(
        f"<div><dt>{escape_html(name)}</dt><dd>{escape_html(value)}</dd><dd>{escape_html(note)}</dd></div>"
        for name, value, note in numbers
    )
    date = f"{facts.made_at.day} {facts.made_at:%B %Y, %H:%M}"
    return (
        f"<header><h1>{escape_html(facts.assignment)}</h1>\n"
        f'<p class="muted">How the class did, {escape_html(date)}</p>\n'
        f'<dl class="tiles">{tiles}</dl></header>\n'
    )


def _distribution(facts: ClassStatistics) -> str:
    if not facts.points:
        return "<section><p>Nothing is graded yet.</p></section>\n"
    bins = _bins(facts.points, facts.max_points)
    highest = max(count for _, count in bins)
    bars = "".join(
        f"<li><div><span>{count or ''}</span>"
        f'<i style="height:calc((100% - 1.5em) * {count / highest:.3f})"></i></div>{start}</li>'
        for start, count in bins
    )
    size = bins[1][0] if len(bins) > 1 else 1
    said = "; ".join(
        f"from {formatting.format_point_count(start)}: {count}" for start, count in bins if count
    )
    return (
        "<section><h2>Points</h2>\n"
        f'<figure><ol class="columns" role="img" aria-label="{escape_html(said)}">{bars}</ol>\n'
        f"<figcaption>Submissions by points, in steps of {size}, after grading by hand and "
        "penalties.</figcaption></figure></section>\n"
    )


def _bins(points: Sequence[float], most: float) -> list[tuple[int, int]]:
    """Return the start of each range of points, and the number of submissions in it."""
    top = max([most, *points, 1.0])
    size = next((s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500) if top / s <= 10), 1000)
    counts = [0] * (int(top // size) + 1)
    for value in points:
        counts[int(value // size)] += 1
    return [(place * size, count) for place, count in enumerate(counts)]


def _exercises(exercises: Sequence[ExerciseStatistics]) -> str:
    if not exercises:
        return ""
    shown = [o for o in OUTCOMES if any(exercise.outcomes[o] for exercise in exercises)]
    legend = "".join(
        f'<li><i style="background:{_COLOURS[outcome]}"></i>{escape_html(_MEANING[outcome])}</li>'
        for outcome in shown
    )
    rows = "".join(map(_exercise, exercises))
    return (
        "<section><h2>Exercises</h2>\n"
        f'<ul class="legend">{legend}</ul>\n<div class="exercises">{rows}</div></section>\n'
    )


def _exercise(exercise: ExerciseStatistics) -> str:
    counts = [(o, n) for o, n in exercise.outcomes.items() if n]
    said = ", ".join(f"{n} {_MEANING[outcome]}" for outcome, n in counts)
    bar = "".join(
        f'<span style="flex-grow:{n};background:{_COLOURS[outcome]}" '
        f'title="{escape_html(f"{n} {_MEANING[outcome]}")}">'
        f"{n if n / exercise.answers >= 0.05 and outcome != 'missing' else ''}</span>"
        for outcome, n in counts
    )
    return (
        f"<h3>{escape_html(exercise.name)}</h3>"
        f'<p class="share"><b>{exercise.mean_share:.0%}</b> '
        f"of {escape_html(formatting.format_point_count(exercise.max_points))}</p>"
        + (
            f'<div class="bar" role="img" aria-label="{escape_html(said)}">{bar}</div>'
            if bar
            else ""
        )
        + f'<p class="counts">{escape_html(said or "graded without a diagnosis")}</p>'
    )


def _teach(facts: ClassStatistics) -> str:
    if not facts.misconceptions:
        text = "No answer was one of the known mistakes."
        return f"<section><h2>What to teach next</h2><p>{text}</p></section>\n"
    shared = [mistake for mistake in facts.misconceptions if len(mistake.students) > 1]
    single = [mistake for mistake in facts.misconceptions if len(mistake.students) == 1]
    cards = "".join(_mistake(mistake, facts) for mistake in shared)
    return (
        "<section><h2>What to teach next</h2>\n"
        '<p class="muted">Known mistakes, the most frequent first; each with the hint that the '
        f"students read.</p>\n{cards}{_single(single, facts)}</section>\n"
    )


def _single(mistakes: Sequence[CommonMistake], facts: ClassStatistics) -> str:
    if not mistakes:
        return ""
    rows = [
        [
            f"<code>{escape_html(mistake.exercise)}</code>",
            f'{escape_html(mistake.title)}<p class="names">{escape_html(mistake.hint)}</p>',
            _names(mistake.students, facts),
        ]
        for mistake in mistakes
    ]
    table = _fold(("exercise", "mistake", "student"), rows)
    return f"<h3>Mistakes of one student each</h3>\n{table}"


def _mistake(mistake: CommonMistake, facts: ClassStatistics) -> str:
    count = len(mistake.students)
    of_whom = f"{formatting.format_student_count(count)}, {mistake.share:.0%}"
    hint = f"<p>{escape_html(mistake.hint)}</p>" if mistake.hint else ""
    return (
        '<article class="card">'
        f'<p class="where"><code>{escape_html(mistake.exercise)}</code>'
        f"<b>{escape_html(of_whom)}</b></p>"
        f'<div class="meter"><i style="width:{100 * min(mistake.share, 1):.1f}%"></i></div>'
        f"<h3>{escape_html(mistake.title)}</h3>{hint}{_names(mistake.students, facts)}</article>\n"
    )


def _others(facts: ClassStatistics) -> str:
    if not facts.unexplained:
        return ""
    rows = [
        [
            f"<code>{escape_html(mistake.exercise)}</code>",
            escape_html(mistake.title or "No reason was recorded."),
            str(len(mistake.students)),
            _names(mistake.students, facts),
        ]
        for mistake in facts.unexplained
    ]
    return (
        "<section><h2>Other failures</h2>\n"
        '<p class="muted">What no known mistake explains, by what the students read.</p>\n'
        + _fold(("exercise", "what went wrong", "how many", "students"), rows)
        + "</section>\n"
    )


def _reviews(facts: ClassStatistics) -> str:
    if not facts.reviews:
        return "<section><h2>To review</h2><p>Nothing.</p></section>\n"
    rows = [[_name(r.student, facts), escape_html(r.where), _reason(r)] for r in facts.reviews]
    return (
        "<section><h2>To review</h2>\n" + _table(("student", "where", "why"), rows) + "</section>\n"
    )


def _reason(review: Review) -> str:
    remarks = "".join(f"<li>{escape_html(remark)}</li>" for remark in review.remarks)
    return escape_html(review.reason) + (f'<ul class="muted">{remarks}</ul>' if remarks else "")


def _alike(facts: ClassStatistics) -> str:
    if not facts.alike:
        return "<section><h2>Near-identical</h2><p>None.</p></section>\n"
    rows = [
        [_names(group.students, facts), _likeness(group), _in_exercises(group)]
        for group in facts.alike
    ]
    return (
        "<section><h2>Near-identical</h2>\n"
        '<p class="muted">How much of the shorter submission is in the other one, when names, '
        "comments, layout and order are left aside and what many wrote hardly counts. It is a "
        "reason to look, no more: two people may have learned from the same page.</p>\n"
        + _table(("students", "alike", "most in"), rows)
        + "</section>\n"
    )


def _likeness(group: SimilarSubmissions) -> str:
    most, least = group.likeness
    return f"{most:.0%}" if f"{most:.0%}" == f"{least:.0%}" else f"{least:.0%} to {most:.0%}"


def _in_exercises(group: SimilarSubmissions) -> str:
    return ", ".join(
        f"<code>{escape_html(name)}</code> {part:.0%}" for name, part in group.exercises
    )


def _late(facts: ClassStatistics) -> str:
    if not facts.late:
        return ""
    rows = [[_name(late.student, facts), _how_late(late), _taken(late)] for late in facts.late]
    return (
        "<section><h2>Late</h2>\n"
        + _table(("student", "how late", "points taken off"), rows)
        + "</section>\n"
    )


def _lists(facts: ClassStatistics) -> str:
    """Return who of the gradebook, the submissions and the grades is not in all three; groups."""
    rows = [["handed in nothing", _names(facts.missing, facts)]] if facts.missing else []
    if facts.ungraded:
        who = [
            _name(student, facts)
            + (f" (likely {_name(likely, facts)}; rename the folder)" if likely else "")
            for student, likely in facts.ungraded
        ]
        rows.append(["handed in, not graded yet", ", ".join(who)])
    rows += [
        [f"handed in together: {escape_html(name)}", _names(who, facts)]
        for name, who in facts.groups
    ]
    return (
        f"<section><h2>Students</h2>\n{_table(('status', 'students'), rows)}</section>\n"
        if rows
        else ""
    )


def _how_late(late: LateSubmission) -> str:
    return escape_html(formatting.format_duration(late.seconds)) if late.seconds else "–"


def _taken(late: LateSubmission) -> str:
    return escape_html(formatting.format_points(late.penalty))


# Building blocks


def _name(student: str, facts: ClassStatistics) -> str:
    name = facts.names.get(student, student)
    if name == student:
        return f"<bdi>{escape_html(student)}</bdi>"
    return f'<bdi>{escape_html(name)}</bdi> <bdi class="muted">{escape_html(student)}</bdi>'


def _names(students: Iterable[str], facts: ClassStatistics) -> str:
    names = [_name(student, facts) for student in students]
    text = ", ".join(names)
    if len(names) <= _MANY:
        return f'<p class="names">{text}</p>'
    summary = f"<summary>{formatting.format_student_count(len(names))}</summary>"
    return f'<details class="names">{summary}{text}</details>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = "".join(f'<th scope="col">{escape_html(name)}</th>' for name in head)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td data-head="{escape_html(name)}"><div>{cell}</div></td>'
            for name, cell in zip(head, row, strict=True)
        )
        + "</tr>\n"
        for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead>\n<tbody>{body}</tbody></table>"


def _fold(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with its first rows visible and its other rows folded."""
    if len(rows) <= _MANY:
        return _table(head, rows)
    rest = _table(head, rows[_MANY:])
    return (
        _table(head, rows[:_MANY])
        + f"<details><summary>{len(rows) - _MANY} more</summary>{rest}</details>"
    )


def _css() -> str:
    def variables(colours: dict[str, str], blank: str) -> str:
        named = "".join(f"--{name}:{value};" for name, value in colours.items())
        return f":root{{{named}--blank:{blank}}}"

    return (
        variables(LIGHT, "#c3cad2")
        + f"\n@media (prefers-color-scheme:dark){{{variables(DARK, '#8b97a4')}}}\n"
        + f"@media print{{{variables(LIGHT, '#c3cad2')}}}\n"
        + _STYLE
    )


_STYLE = """\
*{box-sizing:border-box}
html{color-scheme:light dark;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
  font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:58rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:.5rem 0 0;overflow-wrap:anywhere}
h2{font-size:1.25rem;margin:2.5rem 0 .6rem;padding-top:.9rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:0;overflow-wrap:anywhere}
h3:has(+table){margin:1.4rem 0 .4rem}
p{margin:.3rem 0}
code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.muted,figcaption,.counts,.names{color:var(--muted)}
.names,figcaption,.counts{font-size:.875rem}
.names bdi:not(.muted){color:var(--ink)}
bdi{word-break:keep-all}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.6rem;margin:1rem 0}
.tiles div{background:var(--panel);border:1px solid var(--line);border-radius:8px;
  padding:.6rem .8rem}
.tiles dt{font-size:.875rem;color:var(--muted)}
.tiles dd{margin:0;font-size:1.6rem;font-weight:650;line-height:1.2;
  font-variant-numeric:tabular-nums}
.tiles dd+dd{font-size:.8125rem;font-weight:400;color:var(--muted);min-height:1.2em}
figure{margin:0}
.columns{list-style:none;display:flex;gap:4px;height:12rem;margin:0 0 .3rem;padding:0;
  font-size:.8125rem;text-align:center;font-variant-numeric:tabular-nums}
.columns li{flex:1 1 0;min-width:0;display:flex;flex-direction:column}
.columns div{flex:1;display:flex;flex-direction:column;justify-content:flex-end;
  border-bottom:1px solid var(--muted);margin-bottom:.15rem}
.columns span{color:var(--muted);line-height:1.5em}
.columns i{background:var(--accent);border-radius:3px 3px 0 0;flex:none}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:0 0 1rem;padding:0;
  font-size:.875rem}
.legend i{display:inline-block;width:.85em;height:.85em;border-radius:2px;margin-right:.4em;
  vertical-align:-.05em;border:1px solid var(--line)}
.exercises{display:grid;grid-template-columns:1fr auto;gap:.2rem 1rem;align-items:baseline}
.exercises .share{margin:0;text-align:right;font-size:.875rem;color:var(--muted);white-space:nowrap}
.exercises .share b{color:var(--ink);font-size:1rem}
.bar,.counts{grid-column:1/-1}
.counts{margin:0 0 .9rem}
.bar{display:flex;gap:2px;height:1.6rem;border-radius:4px;overflow:hidden}
.bar span{flex-basis:0;min-width:3px;color:#111820;font-size:.8125rem;font-weight:600;
  line-height:1.6rem;text-align:center;overflow:hidden}
.card{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem;
  margin:.8rem 0;break-inside:avoid}
.card h3{margin:.5rem 0 .2rem}
.where{display:flex;justify-content:space-between;align-items:baseline;gap:0 1rem;
  flex-wrap:wrap;margin:0}
.meter{height:.4rem;margin:.35rem 0;border-radius:3px;background:var(--line);overflow:hidden}
.meter i{display:block;height:100%;min-width:3px;background:var(--gold)}
table{border-collapse:collapse;width:100%;font-size:.9375rem}
th,td{text-align:left;vertical-align:top;padding:.45rem .8rem .45rem 0;
  border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{font-size:.8125rem;font-weight:600;color:var(--muted);white-space:nowrap}
td p{margin:0}
td:first-child code{white-space:nowrap}
td ul{margin:.2rem 0 0;padding-left:1.1rem;font-size:.875rem}
summary{cursor:pointer;color:var(--accent);padding:.3rem 0}
@media (max-width:40rem){
  h2{margin-top:2rem}
  thead{display:none}
  tr{display:block;padding:.5rem 0;border-bottom:1px solid var(--line)}
  td{display:grid;grid-template-columns:6.2rem 1fr;gap:.6rem;padding:.12rem 0;border:0}
  td::before{content:attr(data-head);color:var(--muted);font-size:.8125rem}
  td:first-child code{white-space:normal}
  .tiles{grid-template-columns:repeat(auto-fit,minmax(6.5rem,1fr))}
}
@media print{
  *{print-color-adjust:exact;-webkit-print-color-adjust:exact}
  body{font-size:10.5pt}
  main{max-width:none;padding:0}
  tr,.card,figure{break-inside:avoid}
  h2,h3{break-after:avoid}
  details::details-content{content-visibility:visible;height:auto}
  summary{display:none}
}
"""
