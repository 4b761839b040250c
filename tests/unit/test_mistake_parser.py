"""Tests of the parser of `mistakes.md`: what a card changes, and what is refused."""

import inspect
import re
import textwrap
from dataclasses import replace

import pytest

from autograder.instructor.authoring import mistake_loader
from autograder.instructor.authoring.mistake_loader import SolutionText, load_mistakes
from autograder.instructor.authoring.mistake_parser import Arrow, read_cards
from autograder.spec.exercise import Exercise

MASTER = '''
import math

# %% exercise
def area(width, height):
    """Return an area."""
    ### BEGIN SOLUTION
    # the shorter side first
    short, long = min(width, height), max(width, height)  # two numbers
    if short < 0:
        return 0
    return short * long
    ### END SOLUTION


# %% exercise
class Box:
    def __init__(self, side):
        self.side = side

    def surface(self):
        ### BEGIN SOLUTION
        return 6 * self.side**2
        ### END SOLUTION

    def volume(self):
        ### BEGIN SOLUTION
        return self.side**3
        ### END SOLUTION
'''
HEAD = "# Mistakes in boxes\n\n## area\n\n### slug: You do it wrong.\n\nDo it right.\n\n"


def change(*arrows, name="area"):
    """Return what the changed solution defines."""
    space = {}
    exec(SolutionText(MASTER, name).change(list(arrows), []), space)
    return space[name]


def read_one(tmp_path, body):
    """Return the only card of a page."""
    page = tmp_path / "mistakes.md"
    page.write_text(HEAD + textwrap.dedent(body), encoding="utf-8")
    read_cards.cache_clear()
    return read_cards(page)["area"][1]


@pytest.mark.parametrize(
    ("body", "arrow"),
    [
        ("`short * long` → `short + long`", Arrow("short * long", "short + long")),
        ("`if short < 0` → nothing", Arrow("if short < 0", "")),
        ("Everywhere: `short` → `long`", Arrow("short", "long", everywhere=True)),
        (
            "In `surface` and `volume`: `self.side` → `1`",
            Arrow("self.side", "1", ("surface", "volume")),
        ),
        ("In `a`, `b` and `c`: `x` → `y`", Arrow("x", "y", ("a", "b", "c"))),
        ("`` f`x` `` → `y`", Arrow("f`x`", "y")),
        ("```diff\n-a\n b\n+c\n```", Arrow("a\nb", "b\nc", lines=True)),
        ("```diff\n@@ volume\n-a\n+c\n```", Arrow("a", "c", ("volume",), lines=True)),
    ],
)
def test_an_arrow_says_what_replaces_what_and_where(tmp_path, body, arrow):
    card = read_one(tmp_path, body)
    assert (card.slug, card.title, card.hint) == ("slug", "You do it wrong.", "Do it right.")
    assert card.arrows == [arrow]


def test_text_with_an_arrow_in_it_is_a_hint(tmp_path):
    card = read_one(tmp_path, "The shapes go (B, N) → (B, d).\n\n* `a` → `b`\n* `c` → `d`\n")
    assert card.hint == "Do it right. The shapes go (B, N) → (B, d)."
    assert card.arrows == [Arrow("a", "b"), Arrow("c", "d")]


def test_code_is_replaced_in_the_solution_alone_and_without_its_comments():
    assert change(Arrow("short * long", "short + long"))(2, 3) == 5
    assert change(Arrow("min(width, height)", "width"), Arrow("max(width, height)", "1"))(2, 3) == 2
    assert change(Arrow("< 0", "< 9"))(2, 3) == 0
    with pytest.raises(ValueError, match="'two numbers' stands 0 times in the solution, not once"):
        change(Arrow("two numbers", "x"))
    with pytest.raises(ValueError, match="stands 0 times"):  # given code is no part of it
        change(Arrow("self.side = side", "pass"), name="Box")


def test_an_arrow_fits_whole_words():
    with pytest.raises(ValueError, match="'hort' stands 0 times"):
        change(Arrow("hort", "x"))
    with pytest.raises(ValueError, match="'short' stands 3 times in the solution, not once"):
        change(Arrow("short", "x"))


def test_methods_are_changed_by_themselves():
    box = change(Arrow("self.side", "2", ("volume",)), name="Box")(5)
    assert (box.surface(), box.volume()) == (150, 8)
    box = change(Arrow("self.side", "2", ("surface", "volume")), name="Box")(5)
    assert (box.surface(), box.volume()) == (24, 8)
    box = change(Arrow("self.side", "2", everywhere=True), name="Box")(5)
    assert (box.surface(), box.volume()) == (24, 8)
    with pytest.raises(ValueError, match=r"'self\.side' stands 2 times in the solution, not once"):
        change(Arrow("self.side", "2"), name="Box")
    with pytest.raises(ValueError, match="stands 0 times in `depth`, not once"):
        change(Arrow("self.side", "2", ("depth",)), name="Box")


def test_whole_lines_keep_their_indentation():
    lines = Arrow("if short < 0:\n    return 0", "if short < 9:\n    return 1", lines=True)
    assert change(lines)(2, 3) == 1


def test_two_arrows_at_one_place_are_refused():
    with pytest.raises(ValueError, match="two arrows replace the same code"):
        change(Arrow("short * long", "1"), Arrow("long", "2", everywhere=True))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("Instead of `a` → `b`", "an arrow begins with"),
        ("```diff\nreturn 0\n```", "a line of a diff begins with"),
        ("```yaml\na: 1\n```", "a fence is `python` or `diff`, not 'yaml'"),
        ("### no title\n", "the heading of a card is"),
        ("### slug: Again.", "there is a second card slug"),
        ("## area", "there is a second heading for area"),
        ("## other\n\n`a` → `b`", "an arrow stands below the heading of a card"),
        ("`a` → `a`", "an arrow must change 'a'"),
        ("`a` -> `b`", "the arrow between two pieces of code is '→'"),
    ],
)
def test_a_page_with_a_mistake_names_the_line(tmp_path, body, says):
    with pytest.raises(ValueError, match=says) as raised:
        read_one(tmp_path, body)
    assert re.search(r"mistakes\.md, line (9|11): ", str(raised.value))


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Return a function that loads the mistakes of `area` from a page with this card."""
    folder = tmp_path / "shapes" / "boxes"
    folder.mkdir(parents=True)
    module = type("Module", (), {"__name__": "boxes"})
    monkeypatch.setattr(mistake_loader, "SOLUTIONS", tmp_path)
    monkeypatch.setattr(mistake_loader.importlib, "import_module", lambda name: module)
    monkeypatch.setattr(inspect, "getsource", lambda thing: MASTER)
    exercise = Exercise("area", 1, 1, 5, "(width, height)", {}, lambda draw: [])
    exercise = replace(exercise, assignment="shapes", notebook="boxes")

    def load(body, head=HEAD):
        (folder / "mistakes.md").write_text(head + textwrap.dedent(body), encoding="utf-8")
        read_cards.cache_clear()
        return load_mistakes(exercise)

    return load


def test_a_mistake_is_an_arrow_a_body_or_a_function(loaded):
    (mistake,) = loaded("`short * long` → `short + long`")
    assert (mistake.slug, mistake.title) == ("slug", "You do it wrong.")
    assert mistake.code(2, 3) == 5
    (mistake,) = loaded("```python area\nreturn width\n```")
    assert mistake.code(2, 3) == 2
    (mistake,) = loaded("```python\ndef slug(width, height):\n    return height\n```")
    assert mistake.code(2, 3) == 3


def test_helpers_stand_above_the_cards(loaded):
    helped = HEAD.replace("### slug", "```python\ndef half(x):\n    return x / 2\n```\n\n### slug")
    (mistake,) = loaded("`short * long` → `half(short * long)`", helped)
    assert mistake.code(2, 3) == 3


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("", "a card needs a title, a hint, and an arrow or a fence"),
        ("`volume` → `area`", "'volume' stands 0 times in the solution, not once"),
        ("```python volume\nreturn 1\n```", "the solution has 0 parts in `volume`, not one"),
        ("`short * long` → `short *`", "invalid syntax"),
        ("```python\ndef other():\n    pass\n```", "its fence must define slug"),
        ("```python\nmissing()\n```", "NameError: name 'missing' is not defined"),
    ],
)
def test_a_card_that_does_not_fit_is_named(loaded, body, says):
    with pytest.raises(ValueError, match=says) as raised:
        loaded(body)
    assert "mistakes.md, card slug: " in str(raised.value)
