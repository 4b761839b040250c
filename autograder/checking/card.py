"""Renders a verdict as a card: HTML in a notebook, plain text elsewhere."""

from __future__ import annotations

import html
import os
from urllib.parse import quote, urljoin, urlparse

from autograder.diagnose.marked_numbers import MarkedLine
from autograder.diagnose.verdict import Verdict
from coursekit.notebook.settings import is_in_notebook

_STYLE = (
    "border-left:4px solid {colour};padding:.6em .9em;margin:.4em 0;max-width:60em;"
    "background:rgba(128,128,128,.09);border-radius:0 4px 4px 0"
)
_PRE = (
    "margin:.5em 0 0;padding:.5em .7em;overflow-x:auto;background:rgba(128,128,128,.11);"
    "border-radius:4px;font-size:.85em;line-height:1.35"
)
PASSED, FAILED = "#009E73", "#D55E00"  # Okabe and Ito's palette: safe for colour blindness


def format_card_text(verdict: Verdict) -> str:
    """Return the card as plain text."""
    lines = [("✓ " if verdict.passed else "✗ ") + _titled(verdict)]
    if verdict.hint:
        lines += ["", verdict.hint]
    if verdict.details:
        lines += ["", *verdict.details]
    if sentences := (*verdict.trace, *verdict.remarks):
        lines += ["", *sentences]
    if verdict.printed and not verdict.passed:
        lines += ["", "Your code printed:", *_printed(verdict)]
    return "\n".join(lines)


def format_card_html(verdict: Verdict, extra: str = "") -> str:
    """Return the card as HTML, in colours that work on light and dark pages.

    Args:
        verdict: the verdict.
        extra: HTML to put below the details.
    """
    colour = PASSED if verdict.passed else FAILED
    mark = "✓" if verdict.passed else "✗"
    first, *rest = _titled(verdict).split("\n")
    parts = [
        # Make MathJax skip the card: code quoted from an answer may look like a formula.
        f'<div role="status" class="tex2jax_ignore mathjax_ignore" '
        f'style="{_STYLE.format(colour=colour)}">',
        f'<div><strong style="color:{colour}">{mark}</strong> '
        f"<strong>{html.escape(first)}</strong></div>",
    ]
    if rest:
        parts.append(_pre(rest))
    if verdict.hint:
        parts.append(f'<div style="margin-top:.4em">{html.escape(verdict.hint)}</div>')
    if verdict.details:
        parts.append(_pre(verdict.details))
    parts.append(extra)
    for line in (*verdict.trace, *verdict.remarks):
        parts.append(f'<div style="margin-top:.4em">{html.escape(line)}</div>')
    if verdict.printed and not verdict.passed:
        parts.append('<div style="margin-top:.4em">Your code printed:</div>')
        parts.append(_pre(_printed(verdict)))
    return "".join([*parts, "</div>"])


def _titled(verdict: Verdict) -> str:
    name = verdict.exercise.name
    head = verdict.headline
    return head if head.startswith(name) else f"{name}: {head}"


def _printed(verdict: Verdict) -> list[str]:
    lines = verdict.printed.splitlines()
    return lines[:10] + (["..."] if len(lines) > 10 else [])


def _pre(lines: list[str] | tuple[str, ...]) -> str:
    return f'<pre style="{_PRE}">{chr(10).join(map(_format_line, lines))}</pre>'


def _format_line(line: str) -> str:
    """Return a line as HTML, with its wrong numbers coloured and those that do not count faded."""
    if not isinstance(line, MarkedLine):
        return html.escape(line)
    parts, done = [], 0
    for mark in line.marks:
        if mark.error == 0:
            style = "opacity:.6"
        elif line.is_expected:
            style = f"font-weight:bold;background:{PASSED}{_to_hex(0.25)}"
        else:
            style = f"font-weight:bold;background:{FAILED}{_to_hex(0.2 + 0.45 * mark.error)}"
        number = html.escape(line[mark.start : mark.end])
        parts += [html.escape(line[done : mark.start]), f'<span style="{style}">{number}</span>']
        done = mark.end
    return "".join([*parts, html.escape(line[done:])])


def _to_hex(opacity: float) -> str:
    """Return an opacity from 0 to 1 as the last two digits of a CSS colour."""
    return f"{round(255 * opacity):02x}"


def link_to_progress_page(name: str) -> str:
    """Return a link that ticks an exercise on the site's page "Your progress", as HTML.

    The variable COURSE_SITE holds the address of the site; without it there is no link.
    """
    site = os.environ.get("COURSE_SITE", "").strip()
    if urlparse(site).scheme not in ("http", "https"):
        return ""
    address = f"{urljoin(site.rstrip('/') + '/', 'book/progress.html')}#passed={quote(name)}"
    return (
        f'<div style="margin-top:.4em"><a href="{html.escape(address, quote=True)}" '
        'style="color:inherit;text-decoration:underline" target="_blank" rel="noopener">'
        "Tick it on your progress page</a></div>"
    )


def display_card(verdict: Verdict, extra: str = "") -> None:
    """Display the card in a notebook, or print it elsewhere.

    Args:
        verdict: the verdict.
        extra: HTML to put below the details, in a notebook only.
    """
    if is_in_notebook():
        from IPython.display import display

        # Send both forms: logs and front ends that cannot show HTML use the text.
        display(
            {
                "text/html": format_card_html(verdict, extra),
                "text/plain": format_card_text(verdict),
            },
            raw=True,
        )
    else:
        print(format_card_text(verdict))


def display_lines(lines: list[str]) -> None:
    """Display lines of text in a notebook, or print them elsewhere."""
    if is_in_notebook():
        from IPython.display import display

        plain = chr(10).join(lines)
        page = f'<div class="tex2jax_ignore mathjax_ignore">{_pre(lines)}</div>'
        display({"text/html": page, "text/plain": plain}, raw=True)
    else:
        print(chr(10).join(lines))
