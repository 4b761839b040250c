"""Cheats that make the feedback page leak tests, answers, secrets or other students' data."""

from __future__ import annotations

from tests.submissions.cheats.cheat_builders import THIEF, WRONG, in_code

# Every feedback page is searched for the planted secrets, see `graded_course.py`.


def _one(slug: str, title: str, closing: str = "", opening: str = "", **more):
    return in_code("feedback_leaks", slug, title, opening, closing=closing, **more)


def _raising(expression: str) -> dict[str, str]:
    """Return answers whose error messages are the value of an expression."""
    return {
        "masked_softmax": "def masked_softmax(scores, mask):\n"
        f"    raise ValueError({expression})\n",
        "additive_score": "def additive_score(query, keys, W, U, v):\n"
        f"    raise ValueError({expression})\n",
    }


FILES = (
    THIEF
    + """
def words():
    found = []
    for path in [course() / "notes-of-the-staff.txt", Path.home() / "private.txt",
                 course() / "submitted/aaron/bahdanau/scores.ipynb",
                 course() / "solutions/bahdanau/scores/solution.py"]:
        try:
            found.append(path.read_text()[-6000:])
        except OSError as error:
            found.append(repr(error))
    return " ".join(" ".join(found).split())
"""
)

CHEATS = [
    _one("environment", "prints the environment", "import os\nprint(dict(os.environ))"),
    _one(
        "environments-of-others",
        "prints the environments and command lines of all processes",
        """
import pathlib
for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
    try:
        print(path.read_text().replace("\\0", " "), (path.parent / "cmdline").read_text())
    except OSError as error:
        print(error)
""",
    ),
    _one(
        "cells-that-ran",
        "prints the cells that have run, the hidden tests among them",
        """
print(In)
print(get_ipython().history_manager.input_hist_raw)
""",
    ),
    _one(
        "tests-in-the-gradebook",
        "prints the hidden tests as the gradebook keeps them",
        """
import sqlite3
try:
    book = sqlite3.connect(course() / "gradebook.db")
    for (source,) in book.execute("SELECT source FROM source_cell WHERE name LIKE 'test-%'"):
        print(source)
except Exception as error:
    print(error)
""",
        THIEF,
    ),
    _one("files-printed", "prints the staff's and others' files", "print(words())", FILES),
    _one(
        "files-reversed",
        "prints them backwards and as hexadecimal numbers",
        "print(words()[::-1])\nprint(words().encode().hex())",
        FILES,
    ),
    _one(
        "files-in-errors",
        "the answer's error message is what the files say",
        "",
        FILES,
        answers=_raising("words()[-1500:]"),
    ),
    _one(
        "tests-in-errors",
        "the answer's error message is the caller's source",
        "",
        """
import inspect, sys

def callers():
    found, frame = [], sys._getframe(1)
    while frame is not None:
        try:
            found.append(inspect.getsource(frame))
        except (OSError, TypeError):
            pass
        frame = frame.f_back
    return " ".join(" ".join(found).split())
""",
        answers={
            "masked_softmax": """
def masked_softmax(scores, mask):
    print(callers())
    raise ValueError(callers()[:1500])
"""
        },
    ),
    _one(
        "expected-in-errors",
        "the answer's error message is what was expected",
        "",
        """
import sys

def expected():
    frame = sys._getframe(1)
    while frame is not None:
        for thing in frame.f_locals.values():
            if type(thing).__name__ == "Exp" + "ected":
                return " ".join(repr(thing).split())
        frame = frame.f_back
    return "nothing"
""",
        answers=_raising("expected()"),
    ),
    _one(
        "files-by-magic",
        "magics and shell commands that show files",
        """
!cat ../../../notes-of-the-staff.txt ../../../solutions/bahdanau/scores/solution.py ~/private.txt
%env
%cat ../../../notes-of-the-staff.txt
%pycat ../../../nbgrader_config.py
%psource get_ipython
%ls ../..
""",
    ),
    _one(
        "files-by-display",
        "files displayed as text, Markdown and pictures",
        """
from IPython.display import FileLink, FileLinks, Markdown, Pretty, display
from pathlib import Path
for kind in (Pretty, Markdown):
    for place in (course() / "notes-of-the-staff.txt", Path.home() / "private.txt"):
        try:
            display(kind(filename=str(place)))
        except Exception as error:
            print(error)
display(FileLinks(str(course())))
""",
        THIEF,
    ),
    _one(
        "judge-dissected",
        "the judge's modules, their names and sources",
        """
import inspect, sys
for name, module in sorted(sys.modules.items()):
    if name.startswith(("autograder.instructor", "solutions")):
        try:
            print(inspect.getsource(module))
        except (OSError, TypeError) as error:
            print(error)
""",
        "try:\n    import autograder.instructor.grading.hidden_tests\n"
        "    import solutions.bahdanau.scores.solution\n"
        "except ImportError as error:\n    print(error)",
    ),
    _one(
        "traceback-of-ours",
        "a traceback through the hidden test",
        "",
        "import autograder.exercises\ncheck = None",
        answers={
            "masked_softmax": WRONG["masked_softmax"] + "\nmasked_softmax = 3\n",
            "AdditiveAttention": "AdditiveAttention = object()\ndel additive_score\n",
        },
    ),
]
