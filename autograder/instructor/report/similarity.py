"""Finds pairs of submissions that are too similar to be independent.

An answer is read as a set of statements, without comments, layout, headers, parentheses and
strings. Names are numbered by first appearance, so neither renaming nor reordering statements or
methods changes anything. Code that was handed out does not count.

How much a shared statement reveals depends on the class. A statement that most students wrote
reveals nothing about two of them. A line that nobody else wrote reveals much, and the longer it is,
the more it reveals. This is measured in bits: a statement that a quarter of the class wrote is
worth two bits, and the bits of all shared statements are added up. A pair is reported if nearly all
of the shorter submission is in the other one and chance can be ruled out, which it never can for a
line or two.

Winnowing, as in MOSS and copydetect, cannot distinguish such short answers: on the classes of
tests/grading/test_similarity.py, copydetect finds 0.6 to 0.9 of the shorter answer in the other one
for people who worked independently, and 0.5 to 0.8 for a disguised copy, whatever the length of its
k-grams.
"""

from __future__ import annotations

import builtins
import io
import json
import keyword
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from nbgrader.coursedir import CourseDirectory
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from autograder.instructor.report.nbgrader_paths import find_folder, find_students

THRESHOLD = 0.85
"""Likeness from which a pair is reported: independent answers reach 0.83, copies 0.89."""

EVIDENCE = 30.0
"""Bits that must be shared in one exercise; few answers under ten lines contain this many."""

EVIDENCE_TOGETHER = 36.0
"""Bits that must be shared if several exercises are added up, which leaves chance more room."""

LONGEST = 40_000
"""Maximum number of characters read from an answer; nobody writes more by hand."""

_SHORT = 3  # tokens; everybody writes a statement this short, such as "return weights"
_RATE = 0.15  # bits by which, in the prior guess, each token makes a statement less likely
_TOKENS_AT_MOST = 5000  # counted in one statement; LONGEST limits the whole answer
_PRIOR = 2.0  # weight of the prior guess, in students

Statement = tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """Two students whose answers are near-identical.

    Attributes:
        first, second: the students, in alphabetical order.
        likeness: share of the shorter submission that is in the other one, 0 to 1; statements that
            are rare in the class count most.
        evidence: bits that the two share.
        exercises: likeness in each similar exercise, by name, the most similar first.
    """

    first: str
    second: str
    likeness: float
    evidence: float
    exercises: tuple[tuple[str, float], ...]


def find_pairs(answers: Mapping[str, Mapping[str, str]], released: Mapping[str, str]) -> list[Pair]:
    """Return the pairs of students whose answers are near-identical, the most similar first.

    Args:
        answers: source of each answer, by student and exercise.
        released: stub of each exercise.
    """
    students = sorted(answers)
    names = sorted({name for mine in answers.values() for name in mine})
    if not names:
        return []
    tables = [
        _Table([answers[student].get(name, "") for student in students], released.get(name, ""))
        for name in names
    ]
    # Five students who handed in the same code do not show that such code is common, so they count
    # as one author.
    whole = np.sum([table.share(np.ones(len(students))) for table in tables], axis=0)
    sizes = whole.diagonal()
    same = whole >= THRESHOLD * np.maximum(sizes, sizes[:, None])
    _, authors = connected_components(same & (sizes > 0), directed=False)
    shares = 1 / np.bincount(authors)[authors]

    shared = np.array([table.share(shares) for table in tables])  # (exercises, students, students)
    sizes = np.diagonal(shared, axis1=1, axis2=2)  # (exercises, students)
    smaller = np.minimum(sizes[:, :, None], sizes[:, None, :])
    together = _divide(shared.sum(0), smaller.sum(0), EVIDENCE_TOGETHER)
    likeness = np.maximum(_divide(shared, smaller, EVIDENCE).max(0), together)
    alike = []
    for first, second in np.argwhere(np.triu(likeness, 1) >= THRESHOLD).tolist():
        parts = _divide(shared[:, first, second], smaller[:, first, second], 0).tolist()
        alike.append(
            Pair(
                students[first],
                students[second],
                float(likeness[first, second]),
                float(shared[:, first, second].sum()),
                _list_alike(dict(zip(names, parts, strict=True))),
            )
        )
    return sorted(alike, key=lambda pair: (-pair.likeness, -pair.evidence, pair.first, pair.second))


def _divide(shared: np.ndarray, smaller: np.ndarray, evidence: float) -> np.ndarray:
    """Return the shared fraction, or 0 where it may be chance."""
    part = np.minimum(shared / np.maximum(smaller, 1e-9), 1.0)
    return np.where(shared >= max(evidence, 1e-9), part, 0.0)


def _list_alike(by_exercise: dict[str, float]) -> tuple[tuple[str, float], ...]:
    ordered = sorted(by_exercise.items(), key=lambda entry: -entry[1])
    high = tuple(entry for entry in ordered if entry[1] >= THRESHOLD)
    return high or tuple(entry for entry in ordered if entry[1] > 0)


class _Table:
    """Records who wrote which statement of one exercise."""

    def __init__(self, texts: Sequence[str], stub: str) -> None:
        handed_out = set(split_statements(stub))
        answers = [set(split_statements(text)) - handed_out for text in texts]
        columns = {s: n for n, s in enumerate(sorted(set().union(*answers)))}
        rows = [(row, columns[s]) for row, answer in enumerate(answers) for s in answer]
        at = np.array(rows, dtype=np.int32).reshape(-1, 2).T
        shape = len(texts), len(columns)
        self._wrote = csr_matrix((np.ones(at.shape[1]), tuple(at)), shape=shape)
        self._tokens = np.array([len(statement) for statement in columns])

    def share(self, shares: np.ndarray) -> np.ndarray:
        """Return the bits that each pair of students shares.

        The prior guess is that a statement becomes less likely with every token; the class, without
        the two students who share the statement, corrects this guess.

        Args:
            shares: the share of an author that each student counts as.
        """
        having = np.maximum(self._wrote.T @ shares - 2, 0)
        everybody = max(float(shares[np.diff(self._wrote.indptr) > 0].sum()) - 2, 0)
        # The limit keeps the guess above 0, and thus the bits finite.
        guess = _PRIOR * 2.0 ** (-_RATE * np.minimum(self._tokens, _TOKENS_AT_MOST))
        bits = -np.log2(np.minimum((having + guess) / (everybody + _PRIOR), 1.0))
        return (self._wrote.multiply(bits) @ self._wrote.T).toarray()


# Reading an answer

_HEADS = "import from def class @ pass global nonlocal try except else finally % !"
_KEPT = frozenset(dir(builtins)) | frozenset(keyword.kwlist)
_LEFT_OUT = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)


def split_statements(text: str) -> Iterator[Statement]:
    """Yield the meaningful statements of an answer; the header of a loop or branch counts as one.

    Code that cannot be tokenized to its end, which earns nothing, is read as far as possible.
    """
    line: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text[:LONGEST]).readline):
            if token.type == tokenize.ERRORTOKEN and token.string in "'\"":
                return  # an unclosed string: every later quote would extend to the line's end
            if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER) or token.string == ";":
                if len(line) > _SHORT and line[0] not in _HEADS.split():
                    yield _number(line)
                line = []
            elif token.type == tokenize.NUMBER:
                line.append(_plain_number(token.string))
            elif token.type == tokenize.STRING or tokenize.tok_name[token.type][:1] == "F":
                line += _read_string(token.string)
            elif token.type not in _LEFT_OUT and token.string.strip() not in ("", "(", ")", ":"):
                line.append(token.string)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return


def _read_string(text: str) -> list[str]:
    """Return the tokens for a string; for einsum, its pattern with the letters numbered."""
    pattern = text.strip("'\"")
    if "->" not in pattern:
        return ["§"]
    seen: dict[str, int] = {}
    return [
        f"§{seen.setdefault(sign, len(seen))}" if sign.isalpha() else sign
        for sign in pattern
        if not sign.isspace()
    ]


def _plain_number(text: str) -> str:
    try:
        return repr(float(text))
    except ValueError:
        return text


def _number(line: list[str]) -> Statement:
    """Return a statement with the names that its author chose numbered in order of appearance.

    These are all names except Python's own and those after a dot, unless the dot follows self.
    """
    seen: dict[str, int] = {}
    named = []
    for place, token in enumerate(line):
        dotted = line[place - 1 : place] == ["."]
        if (
            token.isidentifier()
            and token not in _KEPT
            and not (dotted and line[place - 2] != "self")
        ):
            key = f".{token}" if dotted else token
            token = f"#{seen.setdefault(key, len(seen))}"
        named.append(token)
    return tuple(named)


# Comparing the submissions of a course


def compare_course(
    course: CourseDirectory, assignment: str, groups: Mapping[str, str] | None = None
) -> list[Pair]:
    """Return the pairs of near-identical submissions of an assignment in a course.

    The answers are read from the autograded notebooks, and the stubs from the release.

    Args:
        course: the course, which gives the folders.
        assignment: name of the assignment.
        groups: groups that handed in together, by student; the first member stands for all.
    """
    folders = find_students(course, "autograded", assignment)
    firsts: dict[str, str] = {}
    for student in sorted(folders):
        group = (groups or {}).get(student, "")
        if group and firsts.setdefault(group, student) != student:
            del folders[student]
    answers = {student: read_answers(path) for student, path in folders.items()}
    released = read_answers(find_folder(course, "release") / assignment)
    return find_pairs(answers, released)


def read_answers(path: Path) -> dict[str, str]:
    """Return the source of each answer in a folder's notebooks, by the solution cell's grade_id.

    A student's added cells belong to the solution cell before them, or to the first one. Files that
    are not notebooks are left out.
    """
    answers: dict[str, str] = {}
    for file in sorted(path.glob("*.ipynb")):
        for name, source in _answers(file):
            answers[name] = f"{answers[name]}\n{source}" if name in answers else source
    return answers


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
