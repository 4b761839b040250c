"""A submission with hostile text in every place that a student controls, and its pages."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import nbgrader
from nbconvert.exporters import HTMLExporter
from traitlets.config import Config

from autograder.diagnose.verdict import Verdict
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.notebook_builder import SOLUTIONS
from autograder.instructor.grading.gradebook_results import OUTCOMES
from autograder.instructor.grading.notebook_grader import GradedNotebook, NotebookGrader
from autograder.instructor.grading.notebook_run import (
    NotebookRun,
    ProcessEnd,
    TimeLimits,
    clean_outputs,
)
from autograder.instructor.grading.source_notebook import read_sources
from autograder.instructor.grading.submission_parser import (
    NotebookSubmission,
    StudentCell,
    read_cells,
)
from autograder.instructor.nbgrader.preprocessors import configure
from autograder.instructor.nbgrader.shorten_tracebacks import HideOwnTracebacks
from autograder.instructor.report.class_statistics import (
    ClassStatistics,
    CommonMistake,
    ExerciseStatistics,
    LateSubmission,
    Review,
    SimilarSubmissions,
)
from tests.conftest import ROOT

ASSIGNMENT = "bahdanau"
SOURCES = read_sources(SOLUTIONS / ASSIGNMENT, "raise NotImplementedError()", EXERCISES)
RELEASED = ROOT / "exercises" / ASSIGNMENT / "scores.ipynb"
HANDED = read_cells(RELEASED.read_bytes())
FORMGRADER = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"
TEMPLATES = FORMGRADER / "templates"
STYLES = FORMGRADER / "static" / "node_modules" / "bootstrap" / "dist" / "css"

FRAGMENTS = [
    "<script>alert(1)</script>", "<img src=//evil.example/x onerror=alert(1)>", "</pre><b>", "-->",
    "'\"><svg/onload=alert(1)>", "<a href='javascript:alert(1)'>click</a>", "</div></body>", "<!--",
    "</textarea></style></title><iframe srcdoc='<script>alert(1)</script>'>", "<base href=//evil>",
    "[click](javascript:alert(1))", "![](//evil.example/b.png)", "[click][1]", "]: x", "`<b>`",
    "\n[1]: javascript:alert(1)\n", "<javascript:alert(1)>", "https://evil.example", "www.evil.net",
    "a@evil.example", "[x](data:text/html,<script>alert(1)</script>)", "&#x6a;avascript:",
    "&lt;b&gt;", "$\\href{javascript:alert(1)}{x}$", "$$\\href{javascript:alert(1)}{x}$$", "$",
    "\\$", "\\\\", "\\(\\href{javascript:alert(1)}{x}\\)", "\\\\(x\\\\)", "\\[", "\\]",
    "\\begin{align}x\\end{align}", "\\unicode{60}", "\\require{html}\\class{x}{y}", "`", "```",
    "````\n", "~~~", "```mermaid\n", "\n# about", "\ntest-additive_score\n===\n", "\n---\n", "\n* ",
    "\n1. ", "\n    ", "\n> ", "|a|b|", "\n|-|-|\n", "**b**", "_i_", "\n- [x] done",
    "\x1b[31mred\x1b[0m", "\x1b[2J", "\x9b2J", "\x07",
    "\x1b]8;;javascript:alert(1)\x1b\\x\x1b]8;;\x1b\\", "\x1b]0;title\x07", "\x1b[1A\x1b[2K",
    "\b\b", "\u202egnp.exe", "\u2066x\u2069", "\u200f", "\u2028", "\u2029", "\x85", "\r", "\r\n",
    "\t", "\n", "=cmd|'/c calc'!A1", "+1+1", "-1+1", "@SUM(1)", ";=1+1", "\n=1", "\t=1", "＝1",
    ",=1", '"', "'", "\x00", "\ud800", "\udcb0\udcfa", "\ufeff", "\U000e0041", "{{ 7 * 7 }}",
    "{% raw %}", "%s", "%(x)s", "다\u0301", "é", "山田\u3000太郎", "👩\u200d💻", "x", " ", ".",
    "(", ")", "}", "{",
]  # fmt: skip
Say = Callable[[], str]  # returns the student's next text


def say(things: list[str]) -> Say:
    return itertools.cycle(things).__next__


WORD = say(["word"])


class _Sandbox:
    """Returns what a sandbox would have returned."""

    times = TimeLimits()

    def __init__(self, say: Say, ends: int):
        self._say, self._ends = say, ends

    def run(self, cells, beside, skip) -> NotebookRun:
        said = self._say
        outputs = [
            {"output_type": "stream", "name": "stdout", "text": said()},
            {"output_type": "stream", "name": "stderr", "text": said()},
            {"output_type": "display_data", "data": {"text/plain": said(), "image/png": said()}},
            {
                "output_type": "error",
                "ename": said(),
                "evalue": said(),
                "traceback": [said(), said()],
            },
        ]
        kinds = itertools.cycle(["unusable", "missing", "tried"])
        answers = {
            c["index"]: ({"answer": next(kinds), "sentence": said(), "outcomes": []}, {})
            for c in cells
            if "exercise" in c
        }
        shown = {c["index"]: clean_outputs(outputs) for c in cells if "exercise" not in c}
        alive = self._ends in skip or self._ends not in shown
        return NotebookRun(
            shown, answers, ProcessEnd() if alive else ProcessEnd(self._ends, "exit")
        )


class _Secret:
    """Returns what a judge would have found."""

    def __init__(self, say: Say):
        self._say = say

    def judge(self, exercise, header, tensors) -> Verdict:
        said = self._say
        return Verdict(
            exercise, False, said(), "error", details=(said(), said()), printed=f"{said()}."
        )

    def passes(self, *given) -> bool:
        return False


def grade(
    said: Say, texts: list[str], remarks: tuple[str, ...] = (), review: str = ""
) -> GradedNotebook:
    """Grade a notebook with the student's text in every possible place."""
    added = [StudentCell(kind, text) for text in texts for kind in ("markdown", "raw")]
    code = [
        StudentCell("code", said() + "."),
        StudentCell("code", f"# {said()}"),
        StudentCell("code", ""),
    ]
    handed = NotebookSubmission((*HANDED, *added, *code), "0" * 64, remarks, review)
    ends = len(HANDED) + len(added) + 1  # the second one ends the process
    sandbox: Any = _Sandbox(said, ends)
    secret: Any = _Secret(said)
    grader = NotebookGrader(ASSIGNMENT, SOURCES, sandbox, secret, dict.fromkeys(EXERCISES, ""))
    return grader.grade("ada", "scores", handed, {})


def exporter(template: str) -> HTMLExporter:
    """Return the exporter of nbgrader's pages, configured by nbgrader_config.py."""
    config = Config()
    configure(config)
    config.HTMLExporter.template_name = template
    config.HTMLExporter.extra_template_basedirs = [str(TEMPLATES)]
    config.HTMLExporter.extra_template_paths = [str(STYLES)]
    made = HTMLExporter(config=config)
    made.register_preprocessor(HideOwnTracebacks, enabled=True)
    return made


EXPORTERS = {name: exporter(name) for name in ("feedback", "formgrade")}


def pages(graded: GradedNotebook, name: str = "ada") -> dict[str, str]:
    """Return the student's page and the page on which the teacher grades."""
    about: dict[str, Any] = {
        "nbgrader": {"notebook": "scores", "score": 0, "max_score": 1, "late_penalty": 0},
        **{"notebook_id": "scores", "submission_id": "1", "index": 0, "total": 1, "base_url": ""},
        **{"student": name, "first_name": name, "last_name": name, "assignment_id": ASSIGNMENT},
        "notebook_path": f"autograded/{name}/{ASSIGNMENT}/scores.ipynb",
    }
    for cell in graded.page.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.score = 0  # nbgrader takes it from the gradebook
    return {
        template: made.from_notebook_node(graded.page, resources=dict(about))[0]
        for template, made in EXPORTERS.items()
    }


def facts(said: Say, students: list[str]) -> ClassStatistics:
    who = tuple(students)
    one = dict.fromkeys(OUTCOMES, 0) | {"right": 1, "wrong": 1}
    return ClassStatistics(
        assignment=ASSIGNMENT,
        made_at=datetime(2030, 5, 1),
        names={student: said() + "." for student in students},
        max_points=10.0,
        handed_in=2,
        points=(1.0, 2.0),
        pending=0,
        exercises=(ExerciseStatistics("masked_softmax", 3.0, one, 0.5),),
        misconceptions=tuple(
            CommonMistake("masked_softmax", said(), said() + ".", mine, 0.5)
            for mine in (who, who[:1])
        ),
        unexplained=(CommonMistake("masked_softmax", said() + ".", "", who, 1.0),),
        reviews=(Review(students[0], said(), said(), (said(), said())),),
        alike=(SimilarSubmissions(who, (0.9, 0.9), (("masked_softmax", 0.9),)),),
        late=(LateSubmission(students[1], 60.0, 1.0),),
    )
