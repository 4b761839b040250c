"""Cheats gain nothing, harm nobody, and learn nothing; who also works honestly keeps the points."""

from __future__ import annotations

import ast
import re
import shutil
from collections import Counter

import nbformat
import pytest
from cheats import ASSIGNMENT, KINDS, Cheat, Link, Pipe, Scene, cheats
from cheats.building import ATTACKED, RIGHT, WRONG
from cheats.contained import PORT
from cheats.course import BYSTANDERS, POINTS, OurClass, friend_of, graded_by_ours
from cheats.injecting import active
from IPython.core.inputtransformer2 import TransformerManager

from autograder.exercises import EXERCISES
from autograder.instructor.examining import verdict_of

BANK = cheats()
# A few of each kind in the short run, none that runs into a limit of time.
QUICK = [c for kind in KINDS if kind != "exhausting" for c in BANK if c.kind == kind][::9]

needs_sandbox = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")


def by_slug(bank: list[Cheat]):
    return pytest.mark.parametrize("cheat", bank, ids=lambda cheat: cheat.slug)


# The bank itself


def test_there_are_many_of_every_kind():
    assert len(BANK) >= 60
    assert {cheat.kind for cheat in BANK} == set(KINDS)
    assert [slug for slug, n in Counter(cheat.slug for cheat in BANK).items() if n > 1] == []
    assert [title for title, n in Counter(cheat.title for cheat in BANK).items() if n > 1] == []
    assert {cheat.kind for cheat in QUICK} == set(KINDS) - {"exhausting"}


@by_slug(BANK)
def test_a_cheat_deserves_nothing_for_what_it_attacks(cheat):
    assert cheat.attacks
    assert {*cheat.attacks, *cheat.honest} <= set(POINTS)
    assert not set(cheat.attacks) & {name for name, n in cheat.honest.items() if n}
    assert all(n in (0.0, POINTS[name]) for name, n in cheat.honest.items())
    assert re.fullmatch(r"[a-z0-9-]+", cheat.slug)
    assert cheat.slug not in BYSTANDERS


@pytest.mark.parametrize("name", [*WRONG, *RIGHT])
def test_wrong_answers_are_wrong_and_right_ones_right(name):
    for passes, answers in ((False, WRONG), (True, RIGHT)):
        if name in answers:
            space: dict = {}
            exec("import torch\nfrom torch import nn\n" + answers[name], space)
            verdict = verdict_of(space[name], EXERCISES[name], [3])
            assert verdict.passed == passes


@by_slug(BANK)
def test_a_cheat_is_built_from_what_students_have(cheat, released):
    folder = released.folder / "exercises" / ASSIGNMENT
    for student, build in ((cheat.slug, cheat.build), (friend_of(cheat), cheat.friend)):
        if build is None:
            continue
        pages = {path.stem: nbformat.read(path, 4) for path in folder.glob("*.ipynb")}
        scene = Scene(student, pages, f"mark-{cheat.slug}", PORT)
        files = build(scene)
        assert files
        assert pages == {path.stem: nbformat.read(path, 4) for path in folder.glob("*.ipynb")}
        again = build(scene)
        assert {n: f for n, f in files.items() if not _zip(n)} == {
            n: f for n, f in again.items() if not _zip(n)
        }
        for name, content in files.items():
            assert not name.startswith("/")
            assert ".." not in name.split("/")
            assert isinstance(content, (bytes, Link, Pipe))
            if isinstance(content, bytes) and not _zip(name):
                assert b"@MARK@" not in content
                assert b"@PORT@" not in content
        if cheat.kind not in ("metadata", "placing"):
            _runs(files["scores.ipynb"], cheat)


def _zip(name: str) -> bool:
    return name.endswith(".zip")  # holds the time at which it was made


def _runs(content: bytes, cheat: Cheat) -> None:
    """Its cells are Python, and the answers that it attacks are not as they were released."""
    page = nbformat.reads(content.decode(), 4)
    transform = TransformerManager().transform_cell
    for cell in page.cells:
        if cell.cell_type == "code" and not cell.id.startswith("hard-"):
            ast.parse(transform(cell.source))
    sources = {cell.id: cell.source for cell in page.cells}
    for name in ATTACKED:
        assert "NotImplementedError()" not in sources[name].splitlines()[-1]
        assert name in sources[name]


# Ours


@pytest.fixture(scope="module")
def few(tmp_path_factory) -> OurClass:
    """The few, graded in one run."""
    return graded_by_ours(tmp_path_factory.mktemp("few"), QUICK)


@pytest.fixture(scope="module")
def everybody(tmp_path_factory) -> OurClass:
    """All of them, graded in one run."""
    return graded_by_ours(tmp_path_factory.mktemp("everybody"), BANK)


def gets_what_it_deserves(graded: OurClass, cheat: Cheat) -> None:
    result = graded.results[cheat.slug]
    assert result.points is not None
    deserved = dict.fromkeys(POINTS, 0.0) | dict(cheat.honest)
    if cheat.own_risk:
        found = {name: min(n, deserved[name]) for name, n in result.points.items()}
        assert dict(result.points) == found
    else:
        assert dict(result.points) == deserved
    assert list(result.harm) == []


@needs_sandbox
@by_slug(QUICK)
def test_a_cheat_of_the_few_gains_nothing(few, cheat):
    gets_what_it_deserves(few, cheat)


@needs_sandbox
def test_the_few_harm_nobody(few):
    assert list(few.harm) == []


@needs_sandbox
@pytest.mark.slow
@by_slug(BANK)
def test_a_cheat_gains_nothing(everybody, cheat):
    gets_what_it_deserves(everybody, cheat)


@needs_sandbox
@pytest.mark.slow
def test_nobody_is_harmed(everybody):
    assert list(everybody.harm) == []


# What looks for harm, finds it


@pytest.mark.parametrize(
    "page",
    [
        "<script>document.title = 'word'</script>",
        "<p><img src=x onerror=\"alert('word')\"></p>",
        '<a href=" JavaScript:word">x</a>',
        '<iframe srcdoc="word"></iframe>',
        "<style>p { color: red } /* word */</style>",
        '<svg onload="word"></svg>',
        '<meta http-equiv="refresh" content="0; url=word">',
    ],
)
def test_active_elements_are_found(page):
    assert active(f"<p>{page}</p>", "word")
    assert not active(f"<p>{page}</p>", "other")


@pytest.mark.parametrize(
    "page",
    [
        "<pre>&lt;script&gt;word&lt;/script&gt;</pre>",
        '<p title="word">word</p><script>other</script> word',
        '<a href="https://word.example">word</a>',
    ],
)
def test_plain_text_is_not_active(page):
    assert active(page, "word") == []
