"""Tests of nbgrader's own commands, from submissions to points and feedback.

Every student submits both notebooks of an assignment; there is one student of each kind.
"""

from __future__ import annotations

import html
import re
import shutil
import sys
from collections.abc import Callable

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.apps.baseapp import NbGrader
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.checking.checker import CheckFailed
from autograder.exercises import EXERCISES
from autograder.instructor import examine
from autograder.instructor.authoring.mistake_loader import load_mistakes
from autograder.instructor.authoring.notebook_builder import list_masters, make_notebook
from autograder.instructor.grading import hidden_tests
from autograder.instructor.nbgrader.preprocessors import configure
from tests.conftest import ROOT, Course
from tests.grading.test_assignment_run import grade

ASSIGNMENT = "bahdanau"
POINTS = {e.name: e.points for e in EXERCISES.values() if e.assignment == ASSIGNMENT}
MASTERS = {
    m.parent.name: make_notebook(m, EXERCISES)
    for m in list_masters()
    if m.parent.parent.name == ASSIGNMENT
}
ANSWERS = {c.id: c.source for page in MASTERS.values() for c in page.cells if c.id in POINTS}

Submission = dict[str, str]  # the student's answers by exercise; the rest is as released

NOISE = """
import logging, os, sys, warnings
from tqdm import tqdm

logging.basicConfig(level=logging.INFO)
screen = sys.stderr


def make_noise():
    warnings.warn("deprecated", DeprecationWarning)
    warnings.warn("something may be slow")
    print("here", flush=True)
    print("there", file=sys.stderr)
    print("everywhere", file=screen, flush=True)
    logging.info("at work")
    for _ in tqdm(range(2), file=screen):
        pass
    os.write(2, b"deep down\\n")


print("loaded", file=sys.stderr)
"""


def noisy(answer: str) -> str:
    """Print noise at the start of every function and when the cell is run."""
    found = re.sub(r"^( +)### BEGIN SOLUTION$", r"\1make_noise()", answer, flags=re.M)
    assert found != answer
    return NOISE + found


def half() -> Submission:
    """Forget the tanh in one exercise and leave another unwritten."""
    wrong = ANSWERS["additive_score"].replace("torch.tanh(", "(")
    assert wrong != ANSWERS["additive_score"]
    written = {name: ANSWERS[name] for name in ANSWERS if name != "BidirectionalEncoder"}
    return written | {"additive_score": wrong}


def borrower() -> Submission:
    """Import answers in every plausible way, and write two exercises honestly."""
    return {
        "masked_softmax": "from scores import masked_softmax",
        "additive_score": (
            "def additive_score(query, keys, W, U, v):\n"
            "    from solutions.bahdanau import scores\n"
            "    return scores.additive_score(query, keys, W, U, v)\n"
        ),
        "context_vector": ANSWERS["context_vector"],  # honest, in a dishonest notebook
        "AdditiveAttention": (
            "from solutions.bahdanau.scores import AdditiveAttention\n"
            "check = None  # an error in the graded cell itself, whose lines must not be shown\n"
        ),
        "BidirectionalEncoder": ANSWERS["BidirectionalEncoder"],  # honest, before the import
        "AttentionDecoder": (
            "import solutions.bahdanau.translator as mine\n"
            "class AttentionDecoder(mine.AttentionDecoder):\n"
            "    pass\n"
        ),
    }


NOTHING = dict.fromkeys(POINTS, 0.0)
CLASS: dict[str, tuple[Callable[[], Submission], dict[str, float]]] = {
    "reference": (lambda: ANSWERS, POINTS),
    "untouched": (dict, NOTHING),
    "half": (half, POINTS | {"additive_score": 0.0, "BidirectionalEncoder": 0.0}),
    "noisy": (lambda: {name: noisy(answer) for name, answer in ANSWERS.items()}, POINTS),
    "borrower": (borrower, NOTHING | {"BidirectionalEncoder": POINTS["BidirectionalEncoder"]}),
}


@pytest.fixture(scope="module")
def graded(released, tmp_path_factory):
    """Return a course after submission, grading and feedback."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed (apt install bubblewrap)")
    course = Course(tmp_path_factory.mktemp("class"))
    shutil.copytree(released.folder, course.folder, dirs_exist_ok=True)
    course.nbgrader("generate_assignment", ASSIGNMENT, "--force")
    for student, (submission, _) in CLASS.items():
        written = submission()
        folder = course.folder / "submitted" / student / ASSIGNMENT
        folder.mkdir(parents=True)
        for path in sorted((course.folder / "exercises" / ASSIGNMENT).glob("*.ipynb")):
            page = nbformat.read(path, 4)
            for cell in page.cells:
                cell.source = written.get(cell.id, cell.source)
            nbformat.write(page, folder / path.name)
    damaged = course.folder / "submitted" / "damaged" / ASSIGNMENT
    shutil.copytree(course.folder / "submitted" / "reference" / ASSIGNMENT, damaged)
    whole = (damaged / "scores.ipynb").read_bytes()
    (damaged / "scores.ipynb").write_bytes(whole[: len(whole) // 2])
    course.nbgrader("autograde", ASSIGNMENT)
    course.nbgrader("generate_feedback", ASSIGNMENT)
    return course


@pytest.mark.parametrize("student", CLASS)
def test_points_per_exercise(graded, student):
    with Gradebook(f"sqlite:///{graded.folder / 'gradebook.db'}") as gradebook:
        pages = gradebook.find_submission(ASSIGNMENT, student).notebooks
        grades = [grade for page in pages for grade in page.grades]
        found = {g.cell.name.removeprefix("test-"): g.auto_score for g in grades}
        assert not any(grade.needs_manual_grade for grade in grades)
        assert {g.cell.name.removeprefix("test-"): g.max_score for g in grades} == POINTS
    assert found == CLASS[student][1]


def test_a_damaged_file_costs_its_own_points_and_says_why(graded):
    with Gradebook(f"sqlite:///{graded.folder / 'gradebook.db'}") as gradebook:
        pages = gradebook.find_submission(ASSIGNMENT, "damaged").notebooks
        found = {page.name: (page.score, page.needs_manual_grade) for page in pages}
    assert found == {"scores": (0.0, True), "translator": (10.0, False)}
    assert "scores.ipynb is damaged or was cut off in the middle" in feedback(graded, "damaged")


def test_formgrader_sees_and_grades_the_class(graded, monkeypatch):
    """What formgrader's pages and its autograde button call."""
    monkeypatch.chdir(graded.folder)
    app = NbGrader()
    app.initialize([])
    api = NbGraderAPI(app.coursedir, config=app.config)
    found = {entry["student"]: entry for entry in api.get_submissions(ASSIGNMENT)}
    assert set(found) == {*CLASS, "damaged"}
    assert found["reference"]["score"] == found["reference"]["max_score"] == sum(POINTS.values())
    assert all(entry["autograded"] for entry in found.values())
    again = api.autograde(ASSIGNMENT, "reference", force=True, create=True)
    assert again["success"], again["log"]
    entry = api.get_submission(ASSIGNMENT, "reference")
    assert entry["score"] == sum(POINTS.values())


def test_no_answer_lies_where_submissions_run(graded):
    files = [p for p in (graded.folder / "autograded").rglob("*") if p.is_file()]
    assert len(files) == (len(CLASS) + 1) * len(MASTERS)
    assert {p.suffix for p in files} == {".ipynb"}


@pytest.mark.parametrize("older", [{}, {"CourseDirectory": {"ignore": ["*.py", "feedback"]}}])
def test_an_older_copy_of_the_settings_hands_out_no_answers(older):
    settings = Config(older)
    configure(settings)
    folder = ROOT / "solutions" / ASSIGNMENT / "scores"
    kept = {path.name for path in folder.iterdir() if path.suffix in (".md", ".py")}
    ignored = CourseDirectory(config=settings).ignore
    assert kept - {"__init__.py"} <= {*ignored} and "feedback" in ignored


def test_the_noise_is_not_in_the_graded_cells(graded):
    for path in (graded.folder / "autograded" / "noisy").rglob("*.ipynb"):
        for cell in nbformat.read(path, 4).cells:
            if cell.id.startswith("test-"):
                assert [o for o in cell.outputs if o.get("name") == "stderr"] == []


def test_what_nbgrader_graded_the_courses_command_finds_unchanged(graded):
    untimed = graded.folder / "submitted" / "untimed" / ASSIGNMENT
    shutil.copytree(graded.folder / "submitted" / "untouched" / ASSIGNMENT, untimed)
    (untimed / "timestamp.txt").write_text("")
    try:
        graded.nbgrader("autograde", ASSIGNMENT, "--student", "untimed")
        with Gradebook(f"sqlite:///{graded.folder / 'gradebook.db'}") as gradebook:
            pages = gradebook.find_submission(ASSIGNMENT, "untimed").notebooks
            assert all(page.needs_manual_grade for page in pages)
        assert f"{ASSIGNMENT}: 0 graded, {len(CLASS) + 2} unchanged" in grade(graded.folder)
    finally:
        for folder in ("submitted", "autograded"):
            shutil.rmtree(graded.folder / folder / "untimed")
        with Gradebook(f"sqlite:///{graded.folder / 'gradebook.db'}") as gradebook:
            gradebook.remove_student("untimed")


# Feedback


def feedback(course, student: str) -> str:
    """Return a student's feedback without markup."""
    pages = sorted((course.folder / "feedback" / student / ASSIGNMENT).glob("*.html"))
    assert len(pages) == len(MASTERS)
    text = " ".join(page.read_text("utf-8") for page in pages)
    text = re.sub(r"<(style|script)\b.*?</\1>", " ", text, flags=re.S)
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def test_feedback_names_the_mistake_and_what_is_missing(graded):
    text = feedback(graded, "half")
    titles = {m.slug: m for m in load_mistakes(EXERCISES["additive_score"])}
    mistake = titles["without_tanh"]
    assert mistake.title in text
    assert mistake.hint.split(".")[0] in " ".join(text.split())
    assert "BidirectionalEncoder.forward is not written yet" in text
    assert "AttentionDecoder: right in all" in text
    assert "Score: 0.0 / 3.0" in text
    assert "Score: 6.0 / 6.0" in text


def test_feedback_tells_a_borrower_why(graded):
    text = feedback(graded, "borrower")
    assert "Only your own answer can be graded" in text


@pytest.mark.parametrize("student", CLASS)
def test_feedback_shows_no_hidden_test_and_nothing_of_ours(graded, student):
    text = feedback(graded, student)
    for word in ("HIDDEN TESTS", "examine", "instructor", "oracle", "autograder/"):
        assert word not in text, word


def test_feedback_shows_no_solution_that_the_student_did_not_write(graded):
    written, text = half(), feedback(graded, "half")
    known = text_of_given_cells() + "\n".join(written.values())
    lines = {line.strip() for answer in ANSWERS.values() for line in answer.splitlines()}
    secret = {line for line in lines if len(line) > 15 and line not in known}
    assert len(secret) > 5, "the test would compare nothing"
    assert [line for line in secret if line in text] == []

    untouched = feedback(graded, "untouched")
    secret = {line for line in lines if len(line) > 15 and line not in text_of_given_cells()}
    assert [line for line in secret if line in untouched] == []


def text_of_given_cells() -> str:
    text = "\n".join(cell.source for page in MASTERS.values() for cell in page.cells)
    return re.sub(r"### BEGIN SOLUTION.*?### END SOLUTION", "", text, flags=re.S)


# The check for imported answers, without a kernel


@pytest.fixture
def in_a_notebook(monkeypatch):
    monkeypatch.setattr(hidden_tests.card, "is_in_notebook", lambda: True)
    loaded = {name: m for name, m in sys.modules.items() if name.split(".")[0] == "solutions"}
    for name in loaded:
        monkeypatch.delitem(sys.modules, name)
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "solutions"]:
        del sys.modules[name]


def own(name: str) -> object:
    """Run a reference answer like a cell, so that it belongs to no module of ours."""
    path = ROOT / "solutions" / ASSIGNMENT / "scores" / "solution.py"
    given: dict = {"__name__": "__main__"}
    exec(compile(path.read_text("utf-8"), "cell", "exec"), given)
    return given[name]


def test_an_answer_of_ones_own_is_examined_again_and_again(in_a_notebook, capsys):
    for _ in range(2):  # the first run loads the misconceptions, which import the solutions
        examine(own("context_vector"))
        examine(own("AdditiveAttention"))
    assert not [name for name in sys.modules if name.startswith("solutions")]


def test_an_import_in_any_cell_is_found(in_a_notebook):
    import solutions.bahdanau.scores  # noqa: F401

    with pytest.raises(CheckFailed, match=r"imports the course's solutions; only an answer of"):
        examine(own("context_vector"))


def test_an_import_inside_the_answer_is_found(in_a_notebook):
    def context_vector(weights, values):
        from solutions.bahdanau import scores

        return scores.context_vector(weights, values)

    with pytest.raises(CheckFailed, match="imports the course's solutions"):
        examine(context_vector)


def test_a_solution_is_known_by_its_module_even_if_its_import_was_hidden(in_a_notebook):
    from solutions.bahdanau.scores import AdditiveAttention as Borrowed

    class AdditiveAttention(Borrowed):
        pass

    hidden_tests._forget_solutions()
    with pytest.raises(CheckFailed, match="imports the course's solutions"):
        examine(AdditiveAttention)


def test_a_file_of_ones_own_named_solutions_is_no_sin(in_a_notebook, tmp_path, monkeypatch):
    (tmp_path / "solutions.py").write_text("helper = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import solutions

    assert solutions.helper == 1
    hidden_tests.reject_solution_imports(own("context_vector"))


def test_outside_a_notebook_the_reference_may_be_examined():
    from solutions.bahdanau.scores import context_vector

    hidden_tests.reject_solution_imports(context_vector)
