"""Bank of cheats: submissions that try to get points or data without the work.

Each cheat is data: its description, its builder from the released notebooks, and the points that it
deserves. `python -m tests.submissions.cheats` grades all of them with stock nbgrader and with ours,
and prints their gains. The modules of this package hold the cheats by kind.
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
    """A link in place of a file of a submission.

    Attributes:
        target: an absolute path, or one relative to the link's folder.
        hard: whether it is a hard link instead of a symbolic one.
    """

    target: str
    hard: bool = False


@dataclass(frozen=True)
class Pipe:
    """A named pipe in place of a file."""


# The files in submitted/<student>/<assignment>/ by path; the path "." is that folder itself.
Files = Mapping[str, bytes | Link | Pipe]


@dataclass(frozen=True)
class Scene:
    """The means of a student who builds a cheat.

    Attributes:
        student: name of the student.
        pages: a copy of the released notebooks by name.
        mark: a word that occurs only in this cheat.
        port: port on 127.0.0.1 of a server with right answers.
    """

    student: str
    pages: Mapping[str, NotebookNode]
    mark: str
    port: int


@dataclass(frozen=True)
class After:
    """The visible state after grading.

    Attributes:
        course: the course's folder.
        student: the student who submitted the cheat.
        mark: the cheat's word.
        feedback: the HTML of the student's feedback pages, one after the other.
        report: the HTML of the instructor's report, or "".
        written: all text that the student submitted.
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
        build: returns the submitted files.
        attacks: the exercises for which it tries to get unearned points.
        honest: the points that it deserves, by exercise; 0 for exercises not named.
        check: inspects the course afterwards and returns the harm found, in a few words each.
        friend: builds the submission of another student, who is graded just before: an accomplice,
            or a neighbour as the victim.
        friend_deserves: the neighbour's points by exercise, or None for an accomplice.
        lingers: seconds during which it may still act afterwards.
        own_risk: whether it may lose points that it deserves, as it breaks its process or imports.
        not_on_stock: why it is not tried on stock nbgrader, or "".
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
        """Whether it may affect students who are graded afterwards."""
        kinds = ("file_writing", "stray_processes", "submission_folder", "resource_exhaustion")
        return self.kind in kinds or self.friend is not None

    @property
    def is_read(self) -> bool:
        """Whether the attack involves the feedback page."""
        return self.kind in ("feedback_leaks", "html_injection") or self.check is not None


def cheats() -> list[Cheat]:
    """Return all cheats, by kind."""
    found: list[Cheat] = []
    for kind in KINDS:
        found += importlib.import_module(f"{__name__}.{kind}").CHEATS
    return found
