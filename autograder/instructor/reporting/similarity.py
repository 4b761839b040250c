"""Finds submissions that are too alike to have been written apart.

Each statement of an answer, in its plain form, gives fingerprints: its runs of a few tokens, in
which the names that the student chose are numbered by their first appearance. Comments, layout and
renaming change none of them, and statements or methods may change places, because no fingerprint
spans two statements. What was handed out does not count.

How much a shared fingerprint says depends on the class. What most people write tells nothing about
two of them, and a line that nobody else wrote tells much, the more the longer it is. It is counted
in bits: a statement that a quarter of the class wrote is worth two, and the statements are added
up. A pair is reported if nearly all of the shorter submission is in the other one and chance is
ruled out as an explanation, which it never is for a line or two.

To compare fingerprints in place of texts is the idea of Schleimer, Wilkerson and Aiken,
"Winnowing: local algorithms for document fingerprinting" (SIGMOD 2003). Answers are so short that
all fingerprints are kept, not a sample. An index from fingerprints to students, asked student by
student, takes the place of comparing all pairs, so that memory grows with the class and not with
its square.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from autograder.instructor.reporting.folders import folder, of_students
from autograder.instructor.reporting.normalising import CHOSEN, attributes, statements

THRESHOLD = 0.85
"""Likeness from which a pair is reported; tests/grading/test_similarity.py measures it."""

EVIDENCE = 30.0
"""Bits that must be shared in one exercise; few answers of less than ten lines hold so many."""

EVIDENCE_TOGETHER = 36.0
"""Bits that must be shared where several exercises are added up: chance has more room there."""

RUN = 6
"""Tokens of a fingerprint."""

PARTNERS = 100
"""So many pairs are kept of a student with later ones; what a thousand copied is clear by then."""

_SHORT = 3  # a statement of so few tokens, "return weights", is everybody's
_RATE = 0.15  # bits by which a token makes a statement less likely, before the class is looked at
_PRIOR = 2.0  # students that this guess counts for


@dataclass(frozen=True)
class Pair:
    """Two students whose answers are near-identical.

    Attributes:
        first, second: the students, in alphabetical order.
        likeness: 0 to 1: how much of the shorter submission is in the other, where what is rare
            in the class counts most.
        evidence: what they share, in bits.
        exercises: likeness of the exercises that are alike, by name, the most alike first.
    """

    first: str
    second: str
    likeness: float
    evidence: float
    exercises: tuple[tuple[str, float], ...]


def pairs(
    answers: Mapping[str, Mapping[str, str]],
    released: Mapping[str, str],
    threshold: float = THRESHOLD,
) -> list[Pair]:
    """Return the pairs of students whose answers are near-identical, the most alike first.

    Args:
        answers: by student, the source of each answer by exercise.
        released: the stub of each exercise.
        threshold: of the likeness, above 0 and at most 1; a pair reaches it in one exercise or
            in all together.

    Raises:
        ValueError: the threshold is not in that range.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"The threshold must be above 0 and at most 1, not {threshold}.")
    students = sorted(answers)
    names = sorted({name for mine in answers.values() for name in mine})
    if not names:
        return []
    indices = [
        _Index([answers[student].get(name, "") for student in students], released.get(name, ""))
        for name in names
    ]
    # Five who handed in the same are no proof that people write so: they count as one author.
    authors = _authors(indices, len(students))
    for index in indices:
        index.weigh(1 / np.bincount(authors)[authors])
    found = []
    for number, shared, sizes in _rows(indices, len(students)):
        smaller = np.minimum(sizes, sizes[:, [number]])
        alone = _ratio(shared, smaller, EVIDENCE)
        together = _ratio(shared.sum(0), smaller.sum(0), EVIDENCE_TOGETHER)
        likeness = np.maximum(alone.max(0), together)
        likeness[: number + 1] = 0  # each pair once
        for other in np.argsort(-likeness, kind="stable")[:PARTNERS].tolist():
            if likeness[other] < threshold:
                break
            each = _ratio(shared[:, other], smaller[:, other], 0)
            found.append(
                Pair(
                    students[number],
                    students[other],
                    float(likeness[other]),
                    float(shared[:, other].sum()),
                    _alike(dict(zip(names, each.tolist(), strict=True)), threshold),
                )
            )
    return sorted(found, key=lambda pair: (-pair.likeness, -pair.evidence, pair.first, pair.second))


def _rows(indices: list[_Index], count: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield, student by student, the bits shared with each, by exercise, and all sizes."""
    sizes = np.array([index.sizes for index in indices])
    for number in range(count):
        yield number, np.array([index.shared_with(number) for index in indices]), sizes


def _authors(indices: list[_Index], count: int) -> np.ndarray:
    """Return a number for each student, the same for those whose whole submissions are alike."""
    author = np.arange(count)
    for number, shared, sizes in _rows(indices, count):
        whole = sizes.sum(0)
        larger = np.maximum(whole, whole[number])
        alike = (shared.sum(0) >= THRESHOLD * larger) & (larger > 0)
        alike[number] = True
        joined = np.unique(author[alike])
        author[np.isin(author, joined)] = joined[0]
    return author


def _ratio(shared: np.ndarray, smaller: np.ndarray, evidence: float) -> np.ndarray:
    """Return which part is shared, 0 where that may be chance."""
    part = np.minimum(shared / np.maximum(smaller, 1e-9), 1.0)
    return np.where(shared >= max(evidence, 1e-9), part, 0.0)


def _alike(by_exercise: dict[str, float], threshold: float) -> tuple[tuple[str, float], ...]:
    ordered = sorted(by_exercise.items(), key=lambda entry: -entry[1])
    high = tuple(entry for entry in ordered if entry[1] >= threshold)
    return high or tuple(entry for entry in ordered if entry[1] > 0)


class _Index:
    """Who has which fingerprint of one exercise, and what it says.

    Attributes:
        sizes: the bits of each student's answer.
    """

    def __init__(self, texts: list[str], stub: str) -> None:
        given = attributes(stub)
        handed_out = {run for statement in fingerprints(stub, given) for run in statement.runs}
        number_of: dict[tuple[Any, ...], int] = {}
        self._answers: list[list[tuple[int, np.ndarray]]] = []  # statements: tokens, runs
        owners: list[list[int]] = []
        for student, text in enumerate(texts):
            answer = []
            seen = set(handed_out)
            for statement in fingerprints(text, given):
                runs = [run for run in statement.runs if run not in seen]
                seen.update(runs)
                numbers = [number_of.setdefault(run, len(number_of)) for run in runs]
                owners += [[] for _ in range(len(number_of) - len(owners))]
                for number in numbers:
                    owners[number].append(student)
                if numbers:
                    answer.append((statement.tokens, np.array(numbers, dtype=np.int32)))
            self._answers.append(answer)
        self._owners = [np.array(each, dtype=np.int32) for each in owners]
        self._mine = [
            np.concatenate([np.zeros(0, dtype=np.int32), *(numbers for _, numbers in answer)])
            for answer in self._answers
        ]
        self.weigh(np.ones(len(texts)))

    def weigh(self, shares: np.ndarray) -> None:
        """Count the bits of each fingerprint; `shares` says which part of an author each is.

        The guess before the class is looked at is that a statement becomes less likely with every
        token; the class, without the two who share it, corrects that.
        """
        having = np.array([shares[owners].sum() for owners in self._owners])
        wrote = sum(share for share, mine in zip(shares, self._mine, strict=True) if mine.size)
        self._weights = []
        for answer in self._answers:
            bits = [np.zeros(0)]
            for tokens, numbers in answer:
                guess = _PRIOR * 2 ** (-_RATE * tokens)
                others = np.maximum(having[numbers] - 2, 0)
                bits.append(_spread((others + guess) / (max(wrote - 2, 0) + _PRIOR)))
            self._weights.append(np.concatenate(bits))
        self.sizes = [float(weights.sum()) for weights in self._weights]

    def shared_with(self, student: int) -> np.ndarray:
        """Return the bits that a student shares with each."""
        bits = np.zeros(len(self._mine))
        for number, weight in zip(
            self._mine[student].tolist(), self._weights[student].tolist(), strict=True
        ):
            bits[self._owners[number]] += weight
        return bits


def _spread(chances: np.ndarray) -> np.ndarray:
    """Return the bits of a statement's fingerprints.

    They are shared together or hardly at all, so all of them say as much as the one that says most.
    """
    bits = -np.log2(np.minimum(chances, 1.0))
    return bits * bits.max() / max(bits.sum(), 1e-9)


class _Statement(NamedTuple):
    """What is compared of a statement.

    Attributes:
        tokens: how many it has.
        runs: its fingerprints.
    """

    tokens: int
    runs: list[tuple[Any, ...]]


def fingerprints(text: str, given: frozenset[str] = frozenset()) -> list[_Statement]:
    """Return the fingerprints of each statement of an answer that says anything.

    Args:
        text: Python, also what does not parse.
        given: names of attributes and methods that were handed out.
    """
    found = []
    for statement in statements(text, given):
        if len(statement) > _SHORT:
            starts = range(max(len(statement) - RUN + 1, 1))
            runs = dict.fromkeys(_numbered(statement[start : start + RUN]) for start in starts)
            found.append(_Statement(len(statement), list(runs)))
    return found


def _numbered(tokens: list[str]) -> tuple[Any, ...]:
    seen: dict[str, int] = {}
    return tuple([seen.setdefault(t, len(seen)) if t[0] == CHOSEN else t for t in tokens])


# Of a course


def of_course(course: Any, assignment: str, threshold: float = THRESHOLD) -> list[Pair]:
    """Return the near-identical submissions of an assignment in a course folder.

    The answers are read from autograded/<student>/<assignment>/, the stubs from the release.

    Args:
        course: the folder with nbgrader_config.py, or nbgrader's CourseDirectory.
        assignment: its name.
        threshold: as for `pairs`.
    """
    found = of_students(course, "autograded", assignment)
    answers = {student: answers_in(path) for student, path in found.items()}
    released = answers_in(folder(course, "release", "exercises") / assignment)
    return pairs(answers, released, threshold)


def answers_in(path: Path) -> dict[str, str]:
    """Return the source of each answer in a folder's notebooks, by the solution cell's grade_id.

    Cells of the student's own belong to the solution cell before them, or to the first one. What
    is no notebook is left out.
    """
    found: dict[str, str] = {}
    for file in sorted(path.glob("*.ipynb")):
        for name, source in _answers(file):
            found[name] = f"{found[name]}\n{source}" if name in found else source
    return found


def _answers(path: Path) -> Iterator[tuple[str, str]]:
    try:
        page = json.loads(path.read_text(encoding="utf-8-sig"))
        cells = [
            (dict(cell.get("metadata", {}).get("nbgrader") or {}), "".join(cell["source"]))
            for cell in page["cells"]
            if cell["cell_type"] == "code"
        ]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return
    current = ""
    waiting: list[str] = []
    for options, source in cells:
        if options.get("grade") or options.get("locked"):
            continue
        if options.get("solution"):
            current = str(options.get("grade_id"))
        waiting.append(source)
        if current:
            yield current, "\n".join(waiting)
            waiting.clear()
