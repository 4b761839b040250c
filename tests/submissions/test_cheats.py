"""Tests that cheats gain, harm and learn nothing, and that honest parts keep their points."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.conftest import ROOT, needs_bubblewrap
from tests.submissions.cheats import Cheat, cheats
from tests.submissions.cheats.graded_course import POINTS, OurClass, graded_by_ours
from tests.submissions.cheats.html_injection import active
from tests.submissions.cheats.monkeypatching import LOADED

pytestmark = pytest.mark.slow

BANK = cheats()


@pytest.fixture(scope="module")
def everybody(tmp_path_factory) -> OurClass:
    """Return the class of all cheats, graded in one run."""
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


def exists(name: str) -> bool:
    """Return whether a module, or an object in one, exists with a dotted name."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent / "cheats").glob("*.py")), ids=lambda path: path.stem
)
def test_cheats_aim_at_what_there_is(path):
    """A cheat that names a module of another time finds nothing, and proves nothing."""
    text = path.read_text("utf-8")
    dotted = set(re.findall(r"\b(?:autograder|solutions)(?:\.[a-zA-Z_]\w*)+(?!\w*/)", text))
    imported = re.findall(r"\bfrom ((?:autograder|solutions)[\w.]*) import (\w+)", text)
    dotted |= {f"{module}.{name}" for module, name in imported}
    assert [name for name in sorted(dotted) if not exists(name) and name != "autograder.py"] == []
    places = set(re.findall(r'"((?:solutions|tests|autograder)/[\w/]+\w)"', text))
    made = {place for place in places if "__pycache__" in place}
    assert [place for place in sorted(places - made) if not (ROOT / place).exists()] == []
    judges = [import_module(name) for name in re.findall(r'"(autograder\.[\w.]+)"', LOADED)]
    changed = set(
        re.findall(
            r'\bjudge_of\.(\w+)|_in_all\(\s*"(\w+)"|__name__ == "([a-zA-Z]\w*)"(?! \+)', text
        )
    )
    names = {name for found in changed for name in found if name}
    assert [name for name in names if not any(hasattr(judge, name) for judge in judges)] == []


@needs_bubblewrap
@pytest.mark.parametrize("cheat", BANK, ids=lambda cheat: cheat.slug)
def test_a_cheat_gains_nothing(everybody, cheat):
    gets_what_it_deserves(everybody, cheat)


@needs_bubblewrap
def test_nobody_is_harmed(everybody):
    assert list(everybody.harm) == []


# Tests that harm is detected


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
