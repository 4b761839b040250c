"""Sphinx extension for author-year citations and the bibliography's labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pybtex.plugin
from pybtex.database import parse_file
from pybtex.style.formatting.unsrt import Style as UnsortedStyle
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting.author_year_title import SortingStyle
from sphinx.application import Sphinx
from sphinxcontrib.bibtex.plugin import register_plugin as register_bibtex_plugin
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle


def _round() -> BracketStyle:
    return BracketStyle(left="(", right=")", sep="; ")


@dataclass
class AuthorYearRound(AuthorYearReferenceStyle):
    """Citations as in (Bahdanau et al., 2015) and Bahdanau et al. (2015)."""

    bracket_textual: BracketStyle = field(default_factory=_round)
    bracket_parenthetical: BracketStyle = field(default_factory=_round)


class AuthorYearLabels(BaseLabelStyle):
    """Labels such as "Bahdanau et al., 2015", with the same text as the citations."""

    def format_labels(self, sorted_entries: Any) -> Any:
        """Yield the label of each entry, the same on every page; a second equal label gets a b."""
        for entry in sorted_entries:
            yield read_labels()[entry.key.lower()]


def _label(entry: Any) -> str:
    people = [" ".join(p.prelast_names + p.last_names) for p in entry.persons["author"]]
    who = people[0] if len(people) == 1 else " and ".join(people)
    if len(people) > 2:
        who = f"{people[0]} et al."
    return f"{who}, {entry.fields['year']}"


@cache
def read_labels() -> dict[str, str]:
    """Return the labels of all works by key; a single page's list does not know all works."""
    works = parse_file(str(Path(__file__).parents[1] / "references.bib")).entries.values()
    seen: dict[str, int] = {}
    labels: dict[str, str] = {}
    for entry in SortingStyle().sort(works):
        label = _label(entry)
        seen[label] = seen.get(label, 0) + 1
        labels[entry.key.lower()] = label + (
            "" if seen[label] == 1 else "abcdefgh"[seen[label] - 1]
        )
    return labels


class AuthorYearStyle(UnsortedStyle):
    """The bibliography: sorted by author and year, labelled like the citations."""

    default_label_style = AuthorYearLabels
    default_sorting_style = SortingStyle


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the styles of the citations and of the bibliography."""
    pybtex.plugin.register_plugin("pybtex.style.formatting", "author_year_labels", AuthorYearStyle)
    register_bibtex_plugin(
        "sphinxcontrib.bibtex.style.referencing", "author_year_round", AuthorYearRound
    )
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
