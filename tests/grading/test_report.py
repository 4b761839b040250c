"""Tests of the instructor's report: right numbers, all remarks, no student code that runs."""

from __future__ import annotations

import html
import os
import re
from html.parser import HTMLParser

import pytest

from autograder.exercises import EXERCISES
from autograder.instructor import formatting
from autograder.instructor.authoring.mistake_loader import load_mistakes
from autograder.instructor.grading.course_folder import CourseError
from autograder.instructor.grading.gradebook_results import OUTCOMES
from autograder.instructor.grading.lms_records import write_groups
from autograder.instructor.report.class_statistics import (
    ClassStatistics,
    collect_statistics,
    group_similar,
)
from autograder.instructor.report.html_page import make_page, write
from autograder.instructor.report.similarity import Pair
from coursekit.plots.style import DARK, LIGHT
from tests.grading import independent_students
from tests.grading.filled_gradebook import (
    ALL_POINTS,
    ASSIGNMENT,
    MINE,
    POINTS,
    Class,
    Found,
    directory,
)
from tests.grading.test_similarity import everything, hand_in

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

EVIL = '</td><script>alert("x")</script><img src=http://x.org/y onerror=alert(1)>'
TANH, MASK = (
    next(m for m in load_mistakes(EXERCISES[exercise]) if m.slug == slug)
    for exercise, slug in (("additive_score", "without_tanh"), ("masked_softmax", "mask_ignored"))
)


def without(exercise: str, mistake) -> dict[str, Found]:
    return {exercise: Found("wrong", 0.0, mistake.title, mistake.slug)}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Class:
    made = Class(tmp_path_factory.mktemp("course"))
    answers = independent_students.students(8, 41)
    answers["s0005"] = {name: everything(text) for name, text in answers["s0002"].items()}
    for student, mine in answers.items():
        hand_in(made.folder, student, mine)
    made.hand_in("s0000", about={"first_name": "Ada", "last_name": EVIL})
    made.hand_in("s0001", without("additive_score", TANH))
    made.hand_in("s0002", without("additive_score", TANH) | without("masked_softmax", MASK))
    made.hand_in(
        "s0003",
        {
            "context_vector": Found("stopped", 0.0, f"The answer ended the process. {EVIL}"),
            "additive_score": Found("part", 1.5, "Half of it is right."),
            "AttentionDecoder": Found("unwritten", 0.0, "It is not written yet."),
        },
        remarks=(f"Two cells define {EVIL}.",),
        review=f"The notebook was made by hand {EVIL}.",
    )
    made.hand_in("s0004", without("additive_score", TANH))
    made.hand_in("s0005", at="2030-05-03T13:30:00+00:00", penalty=2.0)
    made.hand_in(
        "s0006", {"context_vector": Found("stopped", 0.0, "The answer ended the process.")}
    )
    made.by_hand("s0001", "additive_score", manual_score=1.0)
    made.by_hand("s0006", "AdditiveAttention", needs_manual_grade=True)
    made.enrol("absent")
    (made.folder / "submitted" / "ungraded" / ASSIGNMENT).mkdir(parents=True)
    return made


@pytest.fixture(scope="module")
def facts(graded: Class) -> ClassStatistics:
    return collect_statistics(graded.directory, ASSIGNMENT, EXERCISES)


class _Page(HTMLParser):
    """Collects the active elements of a page, and the text by section."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.sections: dict[str, str] = {}
        self._title, self._heading = "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("h1", "h2"):
            self._heading, self._title = True, ""

    def handle_endtag(self, tag):
        if tag in ("h1", "h2"):
            self._heading = False

    def handle_data(self, data):
        if self._heading:
            self._title += data
        else:
            self.sections[self._title] = self.sections.get(self._title, "") + f"{data} "


@pytest.fixture(scope="module")
def shown(graded: Class, tmp_path_factory: pytest.TempPathFactory) -> _Page:
    to = tmp_path_factory.mktemp("out") / "reports" / "bahdanau.html"
    write(collect_statistics(graded.directory, ASSIGNMENT, EXERCISES), to)
    assert [path.name for path in to.parent.iterdir()] == ["bahdanau.html"]
    return _Page(to.read_text("utf-8"))


# The numbers


def test_points_are_the_gradebooks(graded, facts):
    students = [f"s{number:04d}" for number in range(7)]
    totals = sorted(graded.total(student) for student in students)
    assert list(facts.points) == pytest.approx(totals)
    assert facts.mean == pytest.approx(sum(totals) / 7)
    assert facts.median == pytest.approx(totals[3])
    assert facts.max_points == ALL_POINTS
    assert facts.handed_in == 8, "one handed in and is not graded"
    assert facts.pending == 1
    assert len(facts.names) == 8


def test_exercises_count_answers_by_outcome(facts):
    by_name = {exercise.name: exercise for exercise in facts.exercises}
    assert list(by_name) == list(MINE)
    assert {name: exercise.max_points for name, exercise in by_name.items()} == POINTS
    assert by_name["additive_score"].outcomes == dict.fromkeys(OUTCOMES, 0) | {
        "right": 3,
        "wrong": 3,
        "part": 1,
    }
    assert by_name["context_vector"].outcomes["stopped"] == 2
    assert by_name["AttentionDecoder"].outcomes["unwritten"] == 1
    # 3 right answers of 3 points, 1.5 for a half one, 1 given by hand
    assert by_name["additive_score"].mean_share == pytest.approx((3 * 3 + 1.5 + 1) / (7 * 3))


def test_misconceptions_come_by_frequency_with_their_hints(facts):
    assert [(m.exercise, m.title, m.students) for m in facts.misconceptions] == [
        ("additive_score", TANH.title, ("s0001", "s0002", "s0004")),
        ("masked_softmax", MASK.title, ("s0002",)),
    ]
    assert facts.misconceptions[0].hint == TANH.hint
    assert facts.misconceptions[0].share == pytest.approx(3 / 7)


def test_the_most_frequent_mistake_comes_first_wherever_its_exercise_stands(tmp_path):
    made = Class(tmp_path)
    made.hand_in("ada", without("additive_score", TANH))
    made.hand_in("ben", without("masked_softmax", MASK))
    made.hand_in("cy", without("masked_softmax", MASK))
    found = collect_statistics(made.directory, ASSIGNMENT, EXERCISES).misconceptions
    assert [mistake.exercise for mistake in found] == ["masked_softmax", "additive_score"]


def test_other_failures_are_grouped_by_headline(facts):
    assert [(m.exercise, m.students) for m in facts.unexplained] == [
        ("additive_score", ("s0003",)),
        ("context_vector", ("s0006",)),
        ("context_vector", ("s0003",)),
    ]
    assert not any("not written" in mistake.title for mistake in facts.unexplained)


def test_reviews_late_ones_and_copies(facts):
    assert [(r.student, r.where) for r in facts.reviews] == [
        ("s0003", "scores"),
        ("s0003", "translator"),
        ("s0006", "AdditiveAttention"),
    ]
    assert [(late.student, late.seconds, late.penalty) for late in facts.late] == [
        ("s0005", (2 * 24 + 1.5) * 3600, 2.0)
    ]
    assert [group.students for group in facts.alike] == [("s0002", "s0005")]


def test_groups_join_pairs_that_share_a_student():
    def pair(first, second, likeness):
        return Pair(first, second, likeness, 50.0, (("e", likeness),))

    made = group_similar([pair("a", "b", 0.9), pair("x", "y", 0.95), pair("b", "c", 0.99)])
    assert [(group.students, group.likeness) for group in made] == [
        (("a", "b", "c"), (0.99, 0.9)),
        (("x", "y"), (0.95, 0.95)),
    ]
    assert made[0].exercises == (("e", 0.99),)
    joined = group_similar([pair("a", "b", 0.9), pair("c", "d", 0.9), pair("b", "c", 0.9)])
    assert [group.students for group in joined] == [("a", "b", "c", "d")]


# The page


def test_page_says_everything(facts, shown):
    assert set(shown.sections) >= {
        "Points",
        "Exercises",
        "What to teach next",
        "Other failures",
        "To review",
        "Near-identical",
        "Late",
    }
    text = {title: " ".join(body.split()) for title, body in shown.sections.items()}
    for word in (
        "handed in 8",
        "graded 7",
        f"mean {formatting.format_points(facts.mean)}",
        "to review 2",
    ):
        assert word in text[ASSIGNMENT], word
    for name in MINE:
        assert name in text["Exercises"]
    assert "3 right, 1 partly right, 3 wrong" in text["Exercises"]
    teach = text["What to teach next"]
    assert teach.index(TANH.title) < teach.index(MASK.title)
    assert TANH.hint in teach
    assert "3 students, 43%" in teach
    assert "s0004" in teach
    assert "The answer ended the process." in text["Other failures"]
    assert EVIL in text["To review"]
    assert "s0006 AdditiveAttention It still has to be graded by hand" in text["To review"]
    assert "s0002 , s0005" in text["Near-identical"]
    assert "2 days 1 h" in text["Late"]


def test_nothing_of_a_students_is_markup(shown):
    tags = {tag for tag, _ in shown.tags}
    assert not tags & {"script", "img", "iframe", "object", "link", "base", "form", "a", "svg"}
    for tag, attributes in shown.tags:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert not {"src", "href", "action"} & set(attributes), tag
    policy = [a["content"] for t, a in shown.tags if t == "meta" and "http-equiv" in a]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_page_is_one_file_for_light_and_dark_phone_and_paper(graded, shown):
    text = make_page(collect_statistics(graded.directory, ASSIGNMENT, EXERCISES))
    assert not re.search(r"url\(|@import|https?://(?!x\.org)", text)
    style = text[text.index("<style>") : text.index("</style>")]
    for query in ("prefers-color-scheme:dark", "max-width:40rem", "@media print"):
        assert query in style
    assert LIGHT["paper"] in style
    assert DARK["paper"] in style
    assert ("meta", "width=device-width, initial-scale=1") in [
        (tag, attributes.get("content")) for tag, attributes in shown.tags
    ]
    assert len(text) < 100_000


def test_bars_can_be_heard(shown):
    labels = [a["aria-label"] for _, a in shown.tags if a.get("role") == "img"]
    assert len(labels) == 1 + len(MINE)
    assert "3 right, 1 partly right, 3 wrong" in labels


def test_control_characters_and_long_words_do_not_break_the_page(tmp_path):
    made = Class(tmp_path)
    nasty = "\x1b[31m\u202egnp\x00" + "x" * 500
    found = {"masked_softmax": Found("wrong", 0.0, nasty)}
    made.hand_in("ada", found, about={"first_name": nasty[:100]}, review=nasty)
    text = make_page(collect_statistics(made.directory, ASSIGNMENT, EXERCISES))
    for character in "\x1b\u202e\x00":
        assert character not in text


# Odd classes


def test_class_of_which_nothing_is_graded(tmp_path):
    made = Class(tmp_path)
    made.enrol("ada")
    facts = collect_statistics(made.directory, ASSIGNMENT, EXERCISES)
    assert (facts.handed_in, facts.points, facts.exercises) == (0, (), ())
    assert "Nothing is graded yet." in make_page(facts)


def test_class_that_stock_nbgrader_graded(tmp_path):
    made = Class(tmp_path)
    made.enrol("ada")
    submission = made.gradebook.add_submission(ASSIGNMENT, "ada")
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            grade.auto_score, grade.needs_manual_grade = 0.5, False
    made.gradebook.db.commit()
    facts = collect_statistics(made.directory, ASSIGNMENT, EXERCISES)
    assert {exercise.name for exercise in facts.exercises} == set(MINE)
    assert facts.exercises[0].mean_share == 0.5 / facts.exercises[0].max_points
    assert "graded without a diagnosis" in make_page(facts)


def test_misconception_that_is_no_longer_known_keeps_its_headline(tmp_path):
    made = Class(tmp_path)
    made.hand_in("ada", {"masked_softmax": Found("wrong", 0.0, "An old mistake.", "long_gone")})
    (mistake,) = collect_statistics(made.directory, ASSIGNMENT, EXERCISES).misconceptions
    assert (mistake.title, mistake.hint) == ("An old mistake.", "")


def test_extra_credit_fits_the_distribution(tmp_path):
    made = Class(tmp_path)
    made.hand_in("ada")
    made.by_hand("ada", "masked_softmax", extra_credit=7.5)
    made.hand_in("ben", dict.fromkeys(MINE, Found()))
    facts = collect_statistics(made.directory, ASSIGNMENT, EXERCISES)
    assert max(facts.points) == ALL_POINTS + 7.5
    labels = [a["aria-label"] for t, a in _Page(make_page(facts)).tags if a.get("role") == "img"]
    assert labels[0] == "from 0 points: 1; from 25 points: 1"


def test_unknown_assignment(graded):
    with pytest.raises(CourseError, match=r"no assignment 'nope' in the .*; it has: bahdanau\."):
        collect_statistics(graded.directory, "nope", EXERCISES)


def test_no_gradebook(tmp_path):
    with pytest.raises(CourseError, match=r"no gradebook at .*none\.db; grade the assignment fi"):
        collect_statistics(directory(tmp_path, "none.db"), ASSIGNMENT, EXERCISES)
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "empty.db").touch()
    with pytest.raises(CourseError, match="The gradebook is empty"):
        collect_statistics(directory(tmp_path, "empty.db"), ASSIGNMENT, EXERCISES)


def test_large_class_stays_one_page(tmp_path):
    made = Class(tmp_path)
    for number in range(60):
        found = without("additive_score", TANH) if number % 2 else {}
        found["context_vector"] = Found("wrong", 0.0, f"Case {number} is wrong.")
        made.hand_in(f"s{number:04d}", found)
    text = make_page(collect_statistics(made.directory, ASSIGNMENT, EXERCISES))
    assert "<summary>30 students</summary>" in text
    assert "<summary>48 more</summary>" in text
    assert html.unescape(text).count("is wrong.") == 60


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (20, "1 min"),
        (3600, "1 h"),
        (5400, "1 h 30 min"),
        (90_000, "1 day 1 h"),
        (172_860, "2 days 1 min"),
    ],
)
def test_durations(seconds, said):
    assert formatting.format_duration(seconds) == said


def test_settings_of_nbgrader_name_the_folders(graded, tmp_path):
    elsewhere = directory(tmp_path, "none.db")
    elsewhere.db_url = graded.db_url
    elsewhere.submitted_directory = os.path.relpath(graded.folder / "submitted", tmp_path)
    elsewhere.autograded_directory = os.path.relpath(graded.folder / "autograded", tmp_path)
    found = collect_statistics(elsewhere, ASSIGNMENT, EXERCISES)
    assert found.handed_in == 8
    assert [group.students for group in found.alike] == [("s0002", "s0005")]


def test_who_is_missing_not_graded_or_in_a_group(tmp_path):
    with_groups = Class(tmp_path)
    for student in ("ada", "bora"):
        with_groups.hand_in(student)
    with_groups.enrol("00123")
    (tmp_path / "submitted" / "123" / ASSIGNMENT).mkdir(parents=True)
    connection = with_groups.gradebook.db.connection()
    write_groups(connection, ASSIGNMENT, {"ada": "red", "bora": "red", "00123": ""})
    with_groups.gradebook.db.commit()
    facts = collect_statistics(directory(tmp_path), ASSIGNMENT, EXERCISES)
    assert facts.missing == ("00123",)
    assert facts.ungraded == (("123", "00123"),)
    assert facts.groups == (("red", ("ada", "bora")),)
    page = make_page(facts)
    assert "handed in nothing" in page and "rename the folder" in page
    assert "handed in together: red" in page
