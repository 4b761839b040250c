"""Lists of the papers that the course covers, read from papers.csv.

The timeline of the landing page has an entry for each of `PAPERS`, and one for all papers of the
last chapter, `LATER_PAPERS`.
"""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


@dataclass(frozen=True)
class Paper:
    """One paper: its first appearance, venue, main idea and chapter.

    ``appeared`` is the day of the first appearance, on arXiv or in print (day 1 if only the month
    is known); ``key`` is the paper's key in references.bib; ``chapter`` is the file name of its
    chapter, without the extension; ``arxiv`` is its arXiv number, or "".
    """

    key: str
    appeared: datetime.date
    idea: str
    authors: str
    venue: str
    chapter: str
    arxiv: str

    @property
    def date(self) -> str:
        """The month of the first appearance, such as "Sep 2014"."""
        return f"{_MONTHS[self.appeared.month - 1]} {self.appeared.year}"

    @property
    def first_appearance(self) -> str:
        """The date with its source, such as "on arXiv Sep 2014"."""
        return f"{'on arXiv' if self.arxiv else 'published'} {self.date}"


def _read() -> Iterator[Paper]:
    text = Path(__file__).with_suffix(".csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        yield Paper(appeared=datetime.date.fromisoformat(row.pop("date")), **row)


_ALL = tuple(_read())
PAPERS = tuple(entry for entry in _ALL if entry.chapter < "10")
LATER_PAPERS = _ALL[len(PAPERS) :]
