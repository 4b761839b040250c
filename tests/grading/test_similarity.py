"""Tests of copy detection: disguised copies are found, independent answers are not accused.

Honest answers are the bank's right answers, each in its own style, and classes in which many
students write the obvious (`independent`).
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.exercises import EXERCISES
from autograder.instructor.report import similarity
from autograder.instructor.report.similarity import compare_course, find_pairs, split_statements
from tests.answers import entries, source
from tests.grading import independent_students
from tests.grading.filled_gradebook import directory

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = "bahdanau"
STUBS = similarity.read_answers(ROOT / "exercises" / ASSIGNMENT)


def bank() -> dict[str, dict[str, str]]:
    """Return the assignment's right answers by name, without the bank's renaming."""
    found: dict[str, dict[str, str]] = {}
    for entry in entries():
        if entry.right and EXERCISES[entry.exercise].assignment == ASSIGNMENT:
            text = re.sub(r"\n\w+\.__name__ = .*\n.*\n", "", source(entry))
            found.setdefault(entry.exercise, {})[entry.answer.__name__] = text
    return found


BANK = bank()


def stylists() -> dict[str, dict[str, str]]:
    """Return a class in which the n-th student wrote the n-th right answer to each exercise."""
    count = max(map(len, BANK.values()))
    return {
        f"student-{number:02d}": {
            exercise: list(answers.values())[number]
            for exercise, answers in BANK.items()
            if number < len(answers)
        }
        for number in range(count)
    }


# Disguises


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.names.get(node.arg, node.arg)
        return node


def renamed(text: str) -> str:
    """Rename every variable and parameter."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    keywords = {node.arg for node in nodes if isinstance(node, ast.keyword)}
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    mine = sorted(names - keywords - {"self"})
    return ast.unparse(_Renamed({n: f"my_{i}" for i, n in enumerate(mine)}).visit(tree))


def reordered(text: str) -> str:
    """Reverse the order of methods and statements, even if the code no longer runs."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            node.body.reverse()
    return ast.unparse(tree)


def commented(text: str) -> str:
    """Add comments and blank lines everywhere."""
    lines = []
    for line in ast.unparse(ast.parse(text)).splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        lines += [f"{indent}# my own idea", f"{line}  # and so", ""]
    return "\n".join(lines)


def documented(text: str) -> str:
    """Replace docstrings and type hints."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            node.body.insert(0, ast.Expr(ast.Constant("I wrote this alone. " * 5)))
        if isinstance(node, ast.FunctionDef):
            node.returns = ast.Name("Tensor", ast.Load())
            for argument in node.args.args:
                argument.annotation = ast.Name("Tensor", ast.Load())
    return ast.unparse(ast.fix_missing_locations(tree))


class _Whiled(ast.NodeTransformer):
    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        before = ast.parse(f"items = list({ast.unparse(node.iter)})\nplace = 0").body
        head = "while place < len(items):\n    "
        loop = ast.parse(f"{head}{ast.unparse(node.target)} = items[place]\n    place += 1").body[0]
        assert isinstance(loop, ast.While)
        loop.body += node.body
        return [*before, loop]


def whiled(text: str) -> str:
    """Turn each for loop into a while loop with the same body."""
    return ast.unparse(ast.fix_missing_locations(_Whiled().visit(ast.parse(text))))


def with_aliases(text: str) -> str:
    """Import the same objects under other names."""
    text = re.sub(r"^import torch\.nn\.functional as F$", "import torch as t", text, flags=re.M)
    text = re.sub(r"\bF\.(?=\w+\()", "functions.", text)
    return f"import torch.nn.functional as functions\n{text}"


def broken(text: str) -> str:
    """Leave a syntax error at the end."""
    return f"{renamed(text)}\n)"


def everything(text: str) -> str:
    return commented(documented(reordered(renamed(whiled(text)))))


DISGUISES: list[Callable[[str], str]] = [
    str,
    renamed,
    reordered,
    commented,
    documented,
    whiled,
    with_aliases,
    broken,
    everything,
]


# Honest answers


def test_stylists_are_left_in_peace():
    assert find_pairs(stylists(), STUBS) == []
    for exercise, answers in BANK.items():
        assert find_pairs({name: {exercise: text} for name, text in answers.items()}, STUBS) == []


@pytest.mark.parametrize(("size", "seed"), [(2, 1), (3, 2), (10, 3), (30, 4), (100, 5)])
def test_a_class_that_thinks_of_the_obvious_is_left_in_peace(size, seed):
    assert find_pairs(independent_students.students(size, seed), STUBS) == []


def test_untouched_stubs_are_nobodys_work():
    untouched = {f"s{number}": STUBS for number in range(5)}
    assert find_pairs(untouched, STUBS) == []
    assert find_pairs(untouched | {"t": {}, "u": {"masked_softmax": ""}}, STUBS) == []


@pytest.mark.parametrize("sharing", [2, 3, 10])
@pytest.mark.parametrize("others", [0, 1, 10])
def test_the_same_short_answer_is_no_reason_to_look(sharing, others):
    short = {
        "context_vector": "def context_vector(weights, values):\n"
        "    return (weights.unsqueeze(1) @ values).squeeze(1)",
        "additive_score": "def additive_score(query, keys, W, U, v):\n"
        "    return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v",
    }
    answers = {f"same-{number}": short for number in range(sharing)}
    answers |= dict(list(stylists().items())[:others])
    assert find_pairs(answers, STUBS) == []


# Copies


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda d: d.__name__)
def test_copied_submission_is_found(disguise):
    honest = stylists()
    whole = [name for name, answers in honest.items() if len(answers) == len(BANK)]
    assert len(whole) == 5
    for name in whole:
        copied = {exercise: disguise(text) for exercise, text in honest[name].items()}
        reported = find_pairs(honest | {"zoe": copied}, STUBS)
        assert [(pair.first, pair.second) for pair in reported] == [(name, "zoe")]
        assert reported[0].likeness >= 0.87
        assert reported[0].evidence >= 2 * similarity.EVIDENCE_TOGETHER


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda d: d.__name__)
@pytest.mark.parametrize(
    ("exercise", "answer"),
    [("AttentionDecoder", "HandWrittenCell"), ("AttentionDecoder", "OneSentenceAtATime")],
)
def test_one_copied_exercise_is_found_if_it_is_long(exercise, answer, disguise):
    honest = stylists()
    (name,) = (n for n, mine in honest.items() if mine.get(exercise) == BANK[exercise][answer])
    other = "student-00" if name != "student-00" else "student-01"
    honest[other] = honest[other] | {exercise: disguise(BANK[exercise][answer])}
    reported = find_pairs(honest, STUBS)
    assert [{pair.first, pair.second} for pair in reported] == [{name, other}]
    assert reported[0].exercises[0][0] == exercise


@pytest.mark.parametrize("size", [2, 3, 10, 100])
def test_copy_is_found_in_a_class_that_thinks_of_the_obvious(size):
    answers = independent_students.students(size, 11)
    answers["zoe"] = {name: everything(text) for name, text in answers["s0001"].items()}
    reported = find_pairs(answers, STUBS)
    assert [(pair.first, pair.second) for pair in reported] == [("s0001", "zoe")]


def test_ring_of_five_in_a_class_of_ten():
    answers = independent_students.students(10, 12)
    ring = ["s0002", "s0003", "s0005", "s0007", "s0008"]
    answers |= {name: {e: renamed(t) for e, t in answers["s0002"].items()} for name in ring[1:]}
    reported = find_pairs(answers, STUBS)
    assert {pair.first for pair in reported} | {pair.second for pair in reported} == set(ring)
    assert len(reported) == 10


def test_answer_hidden_in_a_longer_one_is_found():
    """How much of the shorter one is in the longer one counts, not the other way round."""
    honest = stylists()
    longer = {name: f"{text}\n\n\n{list(BANK[name].values())[4]}" for name, text in
              honest["student-02"].items()}  # fmt: skip
    reported = find_pairs(honest | {"zoe": longer}, STUBS)
    assert ("student-02", "zoe") in [(pair.first, pair.second) for pair in reported]


# A large class


def plant(answers: dict[str, dict[str, str]]) -> set[tuple[str, str]]:
    planted = set()
    for number in range(0, len(answers), 50):
        name, copy = f"s{number:04d}", f"s{number + 7:04d}"
        disguise = DISGUISES[number // 50 % len(DISGUISES)]
        answers[copy] = {exercise: disguise(text) for exercise, text in answers[name].items()}
        planted.add((name, copy))
    return planted


def test_a_statement_of_any_length_is_counted():
    """One so long that its probability is no longer a number hides no copy."""
    table = ", ".join(["1"] * 10_000)
    students = stylists()
    first, second = list(students)[:2]
    for name in (first, second):
        students[name] = dict(students[name]) | {"additive_score": f"table = [{table}]\n"}
    found = find_pairs(students, STUBS)
    assert {(pair.first, pair.second) for pair in found} == {(first, second)}
    assert math.isfinite(found[0].evidence)


def test_large_class():
    answers = independent_students.students(200, 21)
    planted = plant(answers)
    named = {(pair.first, pair.second) for pair in find_pairs(answers, STUBS)}
    assert named >= planted
    assert len(named - planted) <= 2


def test_nobody_or_one_student():
    assert find_pairs({}, STUBS) == []
    assert find_pairs({"ada": {}}, STUBS) == []
    assert find_pairs({"ada": dict(STUBS)}, {}) == []


# Parsing of answers


def test_only_what_an_answer_does_is_read():
    text = '''
import torch.nn.functional as F
%matplotlib inline --a --b
!pip install one two three
def f(x: Tensor, n: int = 2) -> Tensor:
    """A docstring."""
    y = F.softmax(x, dim=-1e0)  # a comment
    if (n > 1) and self.ready:
        return y
    for i, j in enumerate(x): y += 1_0; print("text", 1)
'''
    assert [" ".join(statement) for statement in split_statements(text)] == [
        "#0 = #1 . softmax #2 , #3 = - 1.0",
        "if #0 > 1.0 and #1 . #2",
        "for #0 , #1 in enumerate #2 #3 += 10.0",
        "print § , 1.0",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "def f(:\n  return",
        "'unclosed",
        '"""unclosed\n x = 1',
        "(" * 5000,
        "-" * 50_000 + "1",
        "x = " + "9" * 10_000,
        "x = '\\udcff'",
        "x = 1; " * 100_000,
        "if x:\n" * 200,
        "\\\n" * 1000,
        "\t\tx = 1\n  y = 2",
        "print 'python 2'",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_anything_can_be_read(text):
    assert find_pairs({"a": {"e": text}, "b": {"e": "x = 1"}}, {"e": text}) == []


# Of a course


def notebook(cells: list[tuple[dict, str]]) -> str:
    made = [
        new_code_cell(text, metadata={"nbgrader": options} if options else {})
        for options, text in cells
    ]
    return nbformat.writes(new_notebook(cells=made))


def solution(name: str) -> dict:
    return {"grade_id": name, "solution": True, "grade": False, "locked": False}


def hand_in(course: Path, student: str, answers: dict[str, str]) -> Path:
    folder = course / "autograded" / student / ASSIGNMENT
    folder.mkdir(parents=True)
    given = {"grade_id": "setup", "solution": False, "grade": False, "locked": True}
    cells = [(given, "import torch"), *((solution(n), t) for n, t in answers.items())]
    cells.append(
        ({"grade_id": "test-x", "grade": True, "solution": False, "locked": True}, "check(x)")
    )
    (folder / "scores.ipynb").write_text(notebook(cells), encoding="utf-8")
    return folder


def test_course_is_read_from_its_folder(tmp_path):
    honest = stylists()
    released = tmp_path / "exercises" / ASSIGNMENT
    released.mkdir(parents=True)
    (released / "scores.ipynb").write_text(notebook([(solution(n), t) for n, t in STUBS.items()]))
    for student, answers in honest.items():
        hand_in(tmp_path, student, answers)
    hand_in(tmp_path, "untouched", STUBS)
    hand_in(tmp_path, "untouched too", STUBS)
    hand_in(tmp_path, "zoe", {n: everything(t) for n, t in honest["student-02"].items()})
    (hand_in(tmp_path, "torn", {}) / "scores.ipynb").write_text('{"cells": [')
    (hand_in(tmp_path, "odd", {}) / "more.ipynb").write_bytes(b"\xff\xfe")
    (hand_in(tmp_path, "list", {}) / "scores.ipynb").write_text('[{"cells": 3}]')
    reported = compare_course(directory(tmp_path), ASSIGNMENT)
    assert [(pair.first, pair.second) for pair in reported] == [("student-02", "zoe")]
    assert compare_course(directory(tmp_path), "nothing") == []
    # A group hands in the same: nobody has copied, and its first member stands for it.
    groups = {"student-02": "red", "zoe": "red"}
    assert compare_course(directory(tmp_path), ASSIGNMENT, groups) == []
    hand_in(tmp_path, "yan", honest["student-02"])
    reported = compare_course(directory(tmp_path), ASSIGNMENT, groups | {"yan": ""})
    assert [(pair.first, pair.second) for pair in reported] == [("student-02", "yan")]


def test_cells_of_ones_own_belong_to_the_answer_before_them(tmp_path):
    cells = [
        ({}, "before = 1"),
        (solution("a"), "def a(): pass"),
        ({}, "helper = 2"),
        ({"grade_id": "given", "locked": True, "solution": False}, "given = 3"),
        (solution("b"), "def b(): pass"),
    ]
    (tmp_path / "n.ipynb").write_text(notebook(cells), encoding="utf-8")
    assert similarity.read_answers(tmp_path) == {
        "a": "before = 1\ndef a(): pass\nhelper = 2",
        "b": "def b(): pass",
    }


def test_reading_ends_where_a_string_has_no_end():
    """Python's own tokenizer goes on, and needs time with the square of the line's length."""
    said = "first = compute(y, z, 3)\n"
    long = "'" + "\\'" * similarity.LONGEST + "\n"
    assert list(similarity.split_statements(said + long + said)) == list(
        similarity.split_statements(said)
    )


def test_folders_of_a_course_directory(tmp_path):
    class Directory:
        root = str(tmp_path)
        release_directory = "out"
        autograded_directory = "done"

    honest = stylists()
    for student in ("student-01", "student-02"):
        hand_in(tmp_path, student, honest["student-02"])
    (tmp_path / "autograded").rename(tmp_path / "done")
    assert [(p.first, p.second) for p in compare_course(Directory, ASSIGNMENT)] == [
        ("student-01", "student-02")
    ]
