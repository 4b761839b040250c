"""Broken submissions: misnamed, misplaced, missing, duplicate or additional files."""

from __future__ import annotations

from tests.submissions.broken.broken_submission import Bank
from tests.submissions.broken.damaged_files import DAMAGED
from tests.submissions.student_notebooks import (
    POINTS,
    SCORES,
    TRANSLATOR,
    Folder,
    Handed,
    Link,
    Pipe,
    reference,
    stub,
)

BANK = Bank()
MISSING = r"missing|there is no|not (handed in|there|found)|no (notebook|file|submission)|nothing"
ANOTHER = "it is for the instructor to say whether another file than the right one counts"
RENAMED = r"name|cop(y|ies)|instead|another file|other file|scores|translator"


def _renamed(slug: str, path: str) -> None:
    def build(hand: Handed) -> None:
        hand.save_as(path, hand.text("scores"), instead_of="scores")

    BANK.add(
        slug,
        f"the notebook is called {path}",
        build,
        maybe=SCORES,
        why=ANOTHER,
        says=MISSING + "|" + RENAMED,
    )


_renamed("renamed-by-the-browser", "scores (1).ipynb")
_renamed("renamed-upper-case", "Scores.ipynb")
_renamed("renamed-extension-upper-case", "scores.IPYNB")
_renamed("renamed-copy", "scores-Copy1.ipynb")
_renamed("renamed-final", "bahdanau_scores_final.ipynb")
_renamed("renamed-after-the-student", "김민수 HW1.ipynb")
_renamed("renamed-json", "scores.ipynb.json")
_renamed("renamed-txt", "scores.ipynb.txt")
_renamed("renamed-no-extension", "scores")
_renamed("renamed-hidden", ".scores.ipynb")
_renamed("in-a-subfolder", "scores/scores.ipynb")
_renamed("in-the-assignment-again", "bahdanau/scores.ipynb")
_renamed("only-a-checkpoint", ".ipynb_checkpoints/scores-checkpoint.ipynb")


@BANK(maybe=POINTS, why=ANOTHER, says=MISSING + "|" + RENAMED)
def exchanged_names(hand: Handed) -> None:
    """Each notebook has the other one's name."""
    hand.pages["scores"], hand.pages["translator"] = hand.pages["translator"], hand.pages["scores"]


@BANK(lost=SCORES, says=MISSING + "|" + RENAMED)
def same_notebook_twice(hand: Handed) -> None:
    """One notebook was handed in under both names."""
    hand.pages["scores"] = hand.pages["translator"]


@BANK(lost=SCORES, says=MISSING + "|" + RENAMED)
def notebook_of_another_course(hand: Handed) -> None:
    """A notebook of another course was handed in."""
    hand.pages["scores"].cells = [
        hand.own("# Homework 3: sorting", "markdown"),
        hand.own("def bubble_sort(numbers):\n    return sorted(numbers)"),
    ]


@BANK(maybe=SCORES, why=ANOTHER, says=r"not written|cop(y|ies)|other|scores-Copy1")
def untouched_and_a_copy_with_the_answers(hand: Handed) -> None:
    """The right name has the released notebook, the answers are in a copy beside it."""
    hand.save_as("scores-Copy1.ipynb", hand.text("scores"))
    hand.write(**{name: stub(name) for name in SCORES})


@BANK()
def answers_and_an_old_copy(hand: Handed) -> None:
    """The answers are under the right name; an older, unfinished copy lies beside it."""
    full = {name: reference(name) for name in SCORES}
    hand.write(**{name: stub(name) for name in SCORES})
    hand.save_as("scores-Copy1.ipynb", hand.text("scores"))
    hand.save_as(".ipynb_checkpoints/scores-checkpoint.ipynb", hand.text("scores"))
    hand.write(**full)


@BANK(maybe=SCORES, why=ANOTHER, says=MISSING + "|" + RENAMED)
def two_copies_and_no_right_name(hand: Handed) -> None:
    """Two different copies, neither under the right name."""
    hand.save_as("scores (1).ipynb", hand.text("scores"), instead_of="scores")
    hand.write(additive_score=stub("additive_score"))
    hand.save_as("scores (2).ipynb", hand.text("scores"))


# Missing


@BANK(lost=SCORES, says=MISSING)
def one_notebook_missing(hand: Handed) -> None:
    """Only the second notebook was handed in."""
    hand.save_as("scores.ipynb", None)


@BANK(lost=TRANSLATOR, says=MISSING)
def the_other_notebook_missing(hand: Handed) -> None:
    """Only the first notebook was handed in."""
    hand.save_as("translator.ipynb", None)


@BANK(lost=POINTS, says=MISSING)
def empty_folder(hand: Handed) -> None:
    """The folder is empty."""
    hand.save_as("scores.ipynb", None)
    hand.save_as("translator.ipynb", None)


@BANK(lost=POINTS, says=MISSING)
def only_a_pdf(hand: Handed) -> None:
    """A PDF was handed in, and no notebook."""
    empty_folder(hand)
    hand.save_as("homework.pdf", b"%PDF-1.7\n%%EOF\n")


# Not a file


@BANK(lost=SCORES, says=MISSING + "|folder|file|" + DAMAGED)
def folder_with_the_name(hand: Handed) -> None:
    """A folder has the notebook's name."""
    hand.save_as("scores.ipynb", Folder())


@BANK(lost=SCORES, says=MISSING + "|link|file|" + DAMAGED)
def link_to_nothing(hand: Handed) -> None:
    """The notebook is a link to a file on the student's computer."""
    hand.save_as("scores.ipynb", Link("/Users/minsu/Documents/scores.ipynb"))


@BANK(lost=SCORES, says=MISSING + "|link|file|" + DAMAGED)
def link_to_itself(hand: Handed) -> None:
    """The notebook is a link to itself."""
    hand.save_as("scores.ipynb", Link("scores.ipynb"))


@BANK(
    maybe=SCORES,
    why="links are not followed where they could lead anywhere; this one leads to a file beside it",
    says=MISSING + "|link|file",
)
def link_to_a_file_beside_it(hand: Handed) -> None:
    """The notebook is a link to a file beside it."""
    hand.save_as("mine.ipynb", hand.text("scores"))
    hand.save_as("scores.ipynb", Link("mine.ipynb"))


@BANK(lost=SCORES, says=MISSING + "|link|file|" + DAMAGED)
def link_to_a_device(hand: Handed) -> None:
    """The notebook is a link to a device that never ends."""
    hand.save_as("scores.ipynb", Link("/dev/zero"))


@BANK(lost=SCORES, says=MISSING + "|pipe|file|" + DAMAGED)
def pipe_with_the_name(hand: Handed) -> None:
    """The notebook is a named pipe that nobody writes to."""
    hand.save_as("scores.ipynb", Pipe())


# Beside it


@BANK()
def data_beside_it(hand: Handed) -> None:
    """An own cell reads a file that lies beside the notebook."""
    hand.save_as("notes/words.csv", "word,count\nthe,3\n")
    hand.add("rows = open('notes/words.csv').read().split()\nprint(rows[0])", before="setup-check")


@BANK(
    maybe=["additive_score"],
    why="a module of the student's own is not part of the notebook",
    says=r"tools|module|import|file",
)
def helper_module_beside_it(hand: Handed) -> None:
    """The answer imports a helper from a .py file beside the notebook."""
    hand.save_as("tools.py", "import torch\n\n\ndef plus(a, b):\n    return a.unsqueeze(1) + b\n")
    hand.write(
        additive_score=(
            "from tools import plus\n\n\n"
            "def additive_score(query, keys, W, U, v):\n"
            "    return torch.tanh(plus(query @ W.T, keys @ U.T)) @ v\n"
        )
    )


@BANK()
def modules_with_the_names_of_others(hand: Handed) -> None:
    """Files torch.py, autograder.py, solutions.py and json.py lie beside the notebook."""
    for name in ("torch", "autograder", "solutions", "json", "sitecustomize", "conftest"):
        hand.save_as(f"{name}.py", "raise RuntimeError('this file is a student\\'s')\n")


@BANK()
def settings_beside_it(hand: Handed) -> None:
    """Settings of nbgrader and Jupyter, a gradebook and hidden folders lie beside the notebook."""
    hand.save_as("nbgrader_config.py", "c = get_config()\nc.Exchange.course_id = 'mine'\n")
    hand.save_as("gradebook.db", b"SQLite format 3\x00")
    hand.save_as(".git/config", "[core]\n")
    hand.save_as("__pycache__/scores.cpython-311.pyc", b"\x00\x01")
    hand.save_as("__MACOSX/._scores.ipynb", b"\x00\x05\x16\x07")
    hand.save_as("timestamp.txt", "yesterday evening\n")


@BANK()
def many_files_beside_it(hand: Handed) -> None:
    """Five hundred files and a deep folder lie beside the notebook."""
    for number in range(500):
        hand.save_as(f"runs/{number // 50}/{number}.txt", "loss 0.1\n")
    hand.save_as("/".join("d" * 1 for _ in range(60)) + "/end.txt", "deep\n")


@BANK()
def notebooks_of_all_kinds_beside_it(hand: Handed) -> None:
    """Other notebooks, broken ones too, lie beside the right ones."""
    hand.save_as("Untitled.ipynb", "")
    hand.save_as("Untitled1.ipynb", "{")
    hand.save_as("draft.ipynb", hand.text("translator"))
    hand.save_as("old/scores.ipynb", hand.text("translator"))
    hand.save_as("lost.ipynb", Link("nowhere"))


# Names of students


def _named(slug: str, student: str, shown: str) -> None:
    def build(hand: Handed) -> None:
        hand.write(context_vector=stub("context_vector"))

    BANK.add(
        slug,
        f"the student's folder has {shown}",
        build,
        lost=["context_vector"],
        partly=["AdditiveAttention"],
        says="not written",
        student=student,
    )


_named("student-with-spaces", "van der Berg Zoë", "spaces and an accent")
_named("student-korean", "김민수 (20251234)", "Korean letters and brackets")
_named("student-with-quote", "O'Neil; x & $y", "a quote and signs of the shell")
_named("student-with-percent", "50% {name} [a-z]", "signs of formats and patterns")
_named("student-decomposed", "Zoe\u0308 Muller", "an accent as a sign of its own")
_named("student-long", "a" * 120, "120 letters")
