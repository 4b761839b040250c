"""Submissions that try to get points, or what is not theirs, without the work.

Each cheat is data: what it is, how it is built from the released notebooks, and what it deserves.
`python -m tests.submissions.cheats` grades all of them, with stock nbgrader and with ours, and
prints who gained what. The modules of this package hold the cheats by kind.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

ASSIGNMENT = "bahdanau"
KINDS = {
    "forged_metadata": "what the notebook says about its cells",
    "display_hooks": "what the kernel shows and reports",
    "monkeypatching": "the judge is changed in memory",
    "deceptive_objects": "objects that are not what they look like",
    "memory_inspection": "the answer is looked up in memory",
    "file_reading": "the answer is read from a file",
    "solution_imports": "the answer is imported",
    "file_writing": "files are changed",
    "stray_processes": "other processes",
    "protocol_forgery": "the way from the answer to the judge",
    "submission_folder": "what lies in the submission's folder",
    "feedback_leaks": "the feedback page tells too much",
    "html_injection": "the feedback page does too much",
    "resource_exhaustion": "nothing is left for the others",
}


@dataclass(frozen=True)
class Link:
    """A file of a submission that is a link.

    Attributes:
        target: an absolute path, or one from the folder in which the link lies.
        hard: a second name of the file instead of a symbolic link.
    """

    target: str
    hard: bool = False


@dataclass(frozen=True)
class Pipe:
    """A named pipe in the place of a file."""


# What lies in submitted/<student>/<assignment>/, by path; the path "." is that folder itself.
Files = Mapping[str, bytes | Link | Pipe]


@dataclass(frozen=True)
class Scene:
    """What a student has at hand who builds a cheat.

    Attributes:
        student: who hands it in.
        pages: the released notebooks by name, a copy of one's own.
        mark: a word that is in nothing but this cheat.
        port: where on 127.0.0.1 somebody serves right answers.
    """

    student: str
    pages: Mapping[str, NotebookNode]
    mark: str
    port: int


@dataclass(frozen=True)
class After:
    """What there is to see when everything is graded.

    Attributes:
        course: the course's folder.
        student: who handed the cheat in.
        mark: the cheat's word.
        feedback: the HTML of the student's feedback pages, one after the other.
        report: the HTML of the instructor's report, or "".
        written: all text that the student handed in.
    """

    course: Path
    student: str
    mark: str
    feedback: str
    report: str
    written: str


Check = Callable[[After], list[str]]


@dataclass(frozen=True)
class Cheat:
    """One way to cheat.

    Attributes:
        slug: its name, which is also the student's.
        title: one line that says what it does.
        kind: one of `KINDS`.
        build: returns what is handed in.
        attacks: the exercises for which it wants points that it has not earned.
        honest: the points that it deserves, by exercise; 0 for what is not named.
        check: looks at the course afterwards and returns the harm it finds, in a few words each.
        friend: builds what somebody else hands in, who is graded just before: an accomplice, or
            a neighbour who is to suffer.
        friend_deserves: the neighbour's points by exercise, or None for an accomplice.
        lingers: seconds after which it may still do something.
        own_risk: it breaks its own process, or borrows, so that it may lose what it deserves.
        not_on_stock: why stock nbgrader is not tried, or "".
    """

    slug: str
    title: str
    kind: str
    build: Callable[[Scene], Files]
    attacks: tuple[str, ...] = ("masked_softmax", "additive_score", "AdditiveAttention")
    honest: Mapping[str, float] = field(default_factory=lambda: {"context_vector": 1.0})
    check: Check | None = None
    friend: Callable[[Scene], Files] | None = None
    friend_deserves: Mapping[str, float] | None = None
    lingers: float = 0.0
    own_risk: bool = False
    not_on_stock: str = ""

    @property
    def touches_others(self) -> bool:
        """Whether those who are graded afterwards may notice it."""
        kinds = ("file_writing", "stray_processes", "submission_folder", "resource_exhaustion")
        return self.kind in kinds or self.friend is not None

    @property
    def is_read(self) -> bool:
        """Whether the feedback page is part of it."""
        return self.kind in ("feedback_leaks", "html_injection") or self.check is not None


def cheats() -> list[Cheat]:
    """Return all cheats, by kind."""
    found: list[Cheat] = []
    for kind in KINDS:
        found += importlib.import_module(f"{__name__}.{kind}").CHEATS
    return found
