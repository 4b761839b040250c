"""Copies are found under their disguises; people who wrote apart are left in peace.

The honest are the bank's right answers, in as many styles as there are answers, and classes in
which everybody thinks of the obvious (`independent`).
"""

from __future__ import annotations

import ast
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import independent
import pytest
from bank import entries, source

from autograder.exercises import EXERCISES
from autograder.instructor.reporting import similarity
from autograder.instructor.reporting.normalising import attributes, statements
from autograder.instructor.reporting.similarity import Pair, of_course, pairs

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = "bahdanau"
STUBS = similarity.answers_in(ROOT / "exercises" / ASSIGNMENT)


def bank() -> dict[str, dict[str, str]]:
    """Return the assignment's right answers by name, without the bank's own renaming."""
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
    """Give every variable and parameter another name."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    keywords = {node.arg for node in nodes if isinstance(node, ast.keyword)}
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    mine = sorted(names - keywords - {"self"})
    return ast.unparse(_Renamed({n: f"my_{i}" for i, n in enumerate(mine)}).visit(tree))


def reordered(text: str) -> str:
    """Turn round the order of methods and statements, whether it still runs or not."""
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
    """Add other docstrings and type hints."""
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
    """Import the same things under other names."""
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


def found(reported: list[Pair], first: str, second: str) -> Pair | None:
    return next((pair for pair in reported if (pair.first, pair.second) == (first, second)), None)


# The honest


def test_stylists_are_left_in_peace():
    assert pairs(stylists(), STUBS) == []
    for exercise, answers in BANK.items():
        assert pairs({name: {exercise: text} for name, text in answers.items()}, STUBS) == []


@pytest.mark.parametrize(("size", "seed"), [(2, 1), (3, 2), (10, 3), (30, 4), (100, 5)])
def test_a_class_that_thinks_of_the_obvious_is_left_in_peace(size, seed):
    assert pairs(independent.students(size, seed), STUBS) == []


def test_untouched_stubs_are_nobodys_work():
    untouched = {f"s{number}": STUBS for number in range(5)}
    assert pairs(untouched, STUBS) == []
    assert pairs(untouched | {"t": {}, "u": {"masked_softmax": ""}}, STUBS) == []


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
    assert pairs(answers, STUBS) == []


# Copies


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda d: d.__name__)
def test_copied_submission_is_found(disguise):
    honest = stylists()
    whole = [name for name, answers in honest.items() if len(answers) == len(BANK)]
    assert len(whole) == 7
    for name in whole:
        copied = {exercise: disguise(text) for exercise, text in honest[name].items()}
        reported = pairs(honest | {"zoe": copied}, STUBS)
        assert [(pair.first, pair.second) for pair in reported] == [(name, "zoe")]
        assert reported[0].likeness >= 0.87
        assert reported[0].evidence >= 100


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda d: d.__name__)
@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("AttentionDecoder", "HandWrittenCell"),
        ("AttentionDecoder", "OneSentenceAtATime"),
        ("BidirectionalEncoder", "OneSentenceAtATime"),
        ("AdditiveAttention", "WithEinsum"),
    ],
)
def test_one_copied_exercise_is_found_if_it_is_long(exercise, answer, disguise):
    honest = stylists()
    (name,) = (n for n, mine in honest.items() if mine.get(exercise) == BANK[exercise][answer])
    other = "student-00" if name != "student-00" else "student-01"
    honest[other] = honest[other] | {exercise: disguise(BANK[exercise][answer])}
    reported = pairs(honest, STUBS)
    assert [{pair.first, pair.second} for pair in reported] == [{name, other}]
    assert reported[0].exercises[0][0] == exercise


@pytest.mark.parametrize("size", [2, 3, 10, 100])
def test_copy_is_found_in_a_class_that_thinks_of_the_obvious(size):
    answers = independent.students(size, 11)
    answers["zoe"] = {name: everything(text) for name, text in answers["s0001"].items()}
    reported = pairs(answers, STUBS)
    assert [(pair.first, pair.second) for pair in reported] == [("s0001", "zoe")]


def test_ring_of_five_in_a_class_of_ten():
    answers = independent.students(10, 12)
    ring = ["s0002", "s0003", "s0005", "s0007", "s0008"]
    answers |= {name: {e: renamed(t) for e, t in answers["s0002"].items()} for name in ring[1:]}
    reported = pairs(answers, STUBS)
    assert {pair.first for pair in reported} | {pair.second for pair in reported} == set(ring)
    assert len(reported) == 10


def test_answer_hidden_in_a_longer_one_is_found():
    """How much of the shorter one is in the longer one counts, not the other way round."""
    honest = stylists()
    longer = {name: f"{text}\n\n\n{list(BANK[name].values())[4]}" for name, text in
              honest["student-02"].items()}  # fmt: skip
    reported = pairs(honest | {"zoe": longer}, STUBS)
    assert found(reported, "student-02", "zoe") is not None


def test_separation(capsys, monkeypatch):
    """Print how far apart honest submissions and copies are; the thresholds lie between them."""
    nothing, never = 0.0, float("inf")
    needed, needed_together = similarity.EVIDENCE, similarity.EVIDENCE_TOGETHER
    honest = stylists()
    monkeypatch.setattr(similarity, "EVIDENCE", never)
    monkeypatch.setattr(similarity, "EVIDENCE_TOGETHER", nothing)
    apart = pairs(honest, STUBS, 0.01)[0].likeness
    obvious = pairs(independent.students(100, 31), STUBS, 0.01)[0].likeness
    copied, bits = [], []
    for disguise in DISGUISES:
        for name in [name for name, answers in honest.items() if len(answers) == len(BANK)]:
            copy = {exercise: disguise(text) for exercise, text in honest[name].items()}
            pair = found(pairs(honest | {"zoe": copy}, STUBS, 0.5), name, "zoe")
            assert pair is not None
            copied.append(pair.likeness)
            bits.append(pair.evidence)
    monkeypatch.setattr(similarity, "EVIDENCE", nothing)
    monkeypatch.setattr(similarity, "EVIDENCE_TOGETHER", never)
    alone = [
        pair.evidence
        for exercise, answers in BANK.items()
        for pair in pairs({n: {exercise: text} for n, text in answers.items()}, STUBS)
    ]
    lines = [
        "likeness of whole submissions:",
        f"  every student in another style   at most {apart:.2f}",
        f"  all think of the obvious         at most {obvious:.2f}",
        f"  disguised copies                 at least {min(copied):.2f}, {min(bits):.0f} bits",
        "bits of one exercise whose likeness reaches the threshold:",
        f"  every student in another style   at most {max(alone, default=0):.0f}",
    ]
    with capsys.disabled():
        print("", *lines, sep="\n")
    assert apart < 0.5
    assert obvious < similarity.THRESHOLD < min(copied)
    assert max(alone, default=0) < needed / 2
    assert min(bits) > 2 * needed_together


# A large class


def plant(answers: dict[str, dict[str, str]]) -> set[tuple[str, str]]:
    planted = set()
    for number in range(0, len(answers), 50):
        name, copy = f"s{number:04d}", f"s{number + 7:04d}"
        disguise = DISGUISES[number // 50 % len(DISGUISES)]
        answers[copy] = {exercise: disguise(text) for exercise, text in answers[name].items()}
        planted.add((name, copy))
    return planted


@pytest.mark.parametrize("size", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_large_class(size, capsys):
    resource = pytest.importorskip("resource", reason="Windows does not tell what memory was used")
    answers = independent.students(size, 21)
    planted = plant(answers)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    reported = pairs(answers, STUBS)
    seconds = time.perf_counter() - started
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    with capsys.disabled():
        print(f"\n{size} students, {len(STUBS)} exercises: {seconds:.1f} s, {grown / 1024:.0f} MB")
    named = {(pair.first, pair.second) for pair in reported}
    assert len(named & planted) >= 0.9 * len(planted)
    assert len(named - planted) <= size / 100
    assert grown < 300 * 1024


def test_pairs_grow_with_the_class_and_not_with_its_square():
    """A quarter handed in the same, so that chance is no explanation for any two of them."""
    answers = independent.students(800, 22)
    same = {name: renamed(text) for name, text in answers["s0000"].items()}
    answers |= {f"s{number:04d}": same for number in range(200)}
    reported = pairs(answers, STUBS)
    assert 200 <= len(reported) < 200 * 199 / 2 - 1000
    ring = {f"s{number:04d}" for number in range(200)}
    assert {pair.first for pair in reported} | {pair.second for pair in reported} >= ring


@pytest.mark.parametrize("threshold", [0, -1, 1.1])
def test_threshold_is_a_share(threshold):
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        pairs({}, {}, threshold)


def test_nobody_or_one_student():
    assert pairs({}, STUBS) == []
    assert pairs({"ada": {}}, STUBS) == []
    assert pairs({"ada": dict(STUBS)}, {}) == []


# What is read of an answer


def plain(text: str) -> list[str]:
    return [" ".join(statement).replace("\N{MICRO SIGN}", "") for statement in statements(text)]


def test_only_what_an_answer_does_is_read():
    text = '''
    import torch.nn.functional as F
    %matplotlib inline
    !pip install x

    def f(x: Tensor, n: int = 2) -> Tensor:
        """A docstring."""
        global g
        y: Tensor = F.softmax(x, dim=-1)  # a comment
        z: int
        if n > 1:
            return y
        else:
            print(f"{n} is 'small'", "text")
        with torch.no_grad():
            for i, j in enumerate(x):
                pass
        try:
            while True:
                break
        except ValueError as error:
            raise error
        match n:
            case 1:
                return torch.einsum("q n , n -> q", x, y)
    '''
    text = "\n".join(line[4:] for line in text.splitlines())
    expected = [
        "y = functional . softmax ( x , dim = - 1 )",
        "if n > 1",
        "return y",
        "print ( § , § )",
        "with torch . no_grad ( )",
        "for i , j in enumerate ( x )",
        "while True",
        "break",
        "raise error",
        "match n",
        "return torch . einsum ( §0 §1 , §1 → §0 , x , y )",
    ]
    assert [line.replace("( i , j )", "i , j") for line in plain(text)] == expected


def test_names_of_ones_own_are_marked_and_others_are_not():
    marked = {t for s in statements("def f(a, b):\n    c = torch.sum(a)\n    return c") for t in s}
    assert {"\N{MICRO SIGN}a", "\N{MICRO SIGN}c"} <= marked
    assert {"torch", "sum", "return"} <= marked


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
    statements(text)
    assert pairs({"a": {"e": text}, "b": {"e": "x = 1"}}, {"e": text}) == []


def test_what_does_not_parse_is_read_like_what_does():
    shares = []
    for exercise, answers in BANK.items():
        given = attributes(STUBS[exercise])
        for text in answers.values():
            whole = {tuple(statement) for statement in statements(text, given)}
            broken_text = f"{ast.unparse(ast.parse(text))}\n)"
            torn = {tuple(statement) for statement in statements(broken_text, given)}
            shares.append(len(whole & torn) / len(whole))
    assert min(shares) >= 0.25
    assert sum(shares) / len(shares) >= 0.75


# Of a course


def notebook(cells: list[tuple[dict, str]]) -> str:
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"c{number}",
                    "metadata": {"nbgrader": options} if options else {},
                    "source": text.splitlines(keepends=True),
                    "outputs": [],
                    "execution_count": None,
                }
                for number, (options, text) in enumerate(cells)
            ],
        }
    )


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
    reported = of_course(tmp_path, ASSIGNMENT)
    assert [(pair.first, pair.second) for pair in reported] == [("student-02", "zoe")]
    assert of_course(tmp_path, "nothing") == []


def test_cells_of_ones_own_belong_to_the_answer_before_them(tmp_path):
    cells = [
        ({}, "before = 1"),
        (solution("a"), "def a(): pass"),
        ({}, "helper = 2"),
        ({"grade_id": "given", "locked": True, "solution": False}, "given = 3"),
        (solution("b"), "def b(): pass"),
    ]
    (tmp_path / "n.ipynb").write_text(notebook(cells), encoding="utf-8")
    assert similarity.answers_in(tmp_path) == {
        "a": "before = 1\ndef a(): pass\nhelper = 2",
        "b": "def b(): pass",
    }


def test_folders_of_a_course_directory(tmp_path):
    class Directory:
        root = str(tmp_path)
        release_directory = "out"
        autograded_directory = "done"

    honest = stylists()
    for student in ("student-01", "student-02"):
        hand_in(tmp_path, student, honest["student-02"])
    (tmp_path / "autograded").rename(tmp_path / "done")
    assert [(p.first, p.second) for p in of_course(Directory, ASSIGNMENT)] == [
        ("student-01", "student-02")
    ]
