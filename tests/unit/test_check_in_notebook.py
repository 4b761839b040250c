"""Tests of check()'s cards in a notebook's kernel."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

RIGHT = """
import dataclasses, functools, time
from torch import nn
from autograder.checking import checker

def right(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask

def logged(function):
    def wrapper(*given):
        return function(*given)
    return wrapper
"""
ODD = {
    "exit": """
def masked_softmax(scores, mask):
    exit()
check(masked_softmax)""",
    "partial": """
masked_softmax = functools.partial(right)
check(masked_softmax)""",
    "lambda": """
masked_softmax = lambda scores, mask: right(scores, mask)
check(masked_softmax)""",
    "decorated": """
@logged
def masked_softmax(scores, mask):
    return right(scores, mask)
check(masked_softmax)""",
    "scripted": """
@torch.jit.script
def masked_softmax(scores: torch.Tensor, mask: torch.Tensor):
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask
check(masked_softmax)""",
    "compiled": """
@torch.compile
def masked_softmax(scores, mask):
    return right(scores, mask)
check(masked_softmax)""",
    "unnamed": "check(lambda scores, mask: scores)",
    "itself": """
def masked_softmax(scores, mask):
    check(masked_softmax)
    return right(scores, mask)
check(masked_softmax)""",
    "method": """
class AdditiveAttention(nn.Module):
    def forward(self):
        pass
check(AdditiveAttention.forward)""",
    "dataclass": """
@dataclasses.dataclass
class AdditiveAttention(nn.Module):
    query_size: int
    key_size: int
    hidden_size: int
check(AdditiveAttention)""",
    "below": """
def masked_softmax(scores, mask):
    weights = right(scores, mask)
    raise NotImplementedError()
check(masked_softmax)""",
    "waits": """
checker.CASE_TIMEOUT_SECONDS = 0.3
def masked_softmax(scores, mask):
    time.sleep(600)
check(masked_softmax)""",
}


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """Return the outputs of an executed learner's notebook, by cell."""
    cells = {
        "import": "import torch\nfrom autograder import check",
        "early": "check(masked_softmax)",
        "other": "check(nowhere)",
        "right": (
            "import sys, warnings\n"
            "def masked_softmax(scores, mask):\n"
            "    print('hello'); sys.stderr.write('oh'); warnings.warn('careful')\n"
            "    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask\n"
            "check(masked_softmax)"
        ),
        "wrong": (
            "def masked_softmax(scores, mask):\n"
            "    return scores.softmax(-1) * mask\n"
            "check(masked_softmax)"
        ),
        "quoted": "check('masked_softmax')",
        "raising": (
            "def masked_softmax(scores, mask):\n"
            "    wrong = scores @ mask\n"
            "    return wrong\n"
            "check(masked_softmax)"
        ),
        "names": RIGHT,
        **ODD,
        "alive": "print('the kernel lives')",
    }
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(source) for source in cells.values()]
    folder = tmp_path_factory.mktemp("notebook")
    client = NotebookClient(
        book,
        timeout=120,
        allow_errors=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    # On a busy machine, a check takes more than a second and prints that it is running.
    return {
        name: [o for o in cell.outputs if not o.get("text", "").startswith("Checking ")]
        for name, cell in zip(cells, book.cells, strict=True)
    }


def _error(outputs):
    errors = [output for output in outputs if output.output_type == "error"]
    assert len(errors) == 1
    return errors[0], "\n".join(errors[0].traceback)


def test_notebook_explains_a_name_that_is_not_defined_yet(executed):
    error, shown = _error(executed["early"])
    sentence = (
        "masked_softmax is not defined yet: run the cell in which you wrote it, then this one."
    )
    assert shown == f"NameError: {sentence}"
    assert (error.ename, error.evalue) == ("NameError", sentence)


def test_notebook_leaves_other_names_to_python(executed):
    _, shown = _error(executed["other"])
    assert "name 'nowhere' is not defined" in shown and "Traceback" in shown


def test_notebook_shows_a_card_for_a_right_answer(executed):
    (output,) = executed["right"]
    assert output.output_type == "display_data"
    assert "right in all" in output.data["text/html"]
    assert output.data["text/plain"].startswith("✓ masked_softmax")


def test_notebook_shows_a_card_and_one_line_for_a_wrong_answer(executed):
    assert [output.output_type for output in executed["wrong"]] == ["display_data", "error"]
    assert "mask comes after the softmax" in executed["wrong"][0].data["text/html"]
    error, shown = _error(executed["wrong"])
    assert error.ename == "CheckFailed"
    assert shown == "CheckFailed: see the card above."  # it does not repeat the card


def test_notebook_shows_one_sentence_for_a_wrong_call(executed):
    _, shown = _error(executed["quoted"])
    assert shown == ("TypeError: Pass the function itself, without quotes: check(masked_softmax).")


def test_notebook_shows_the_line_of_an_error(executed):
    page = executed["raising"][0].data["text/html"]
    assert "in masked_softmax, line 2 of its cell: wrong = scores @ mask" in page


@pytest.mark.parametrize("name", ["partial", "lambda", "decorated", "scripted", "compiled"])
def test_an_answer_without_a_name_of_its_own_is_known_by_its_variable(executed, name):
    (card,) = executed[name]
    assert "masked_softmax: right in all" in card["data"]["text/plain"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("exit", "calls exit() or quit(), which would end the whole notebook"),
        ("itself", "the answer calls check() itself: move that line below the answer"),
        ("dataclass", "write no @dataclass above the class"),
        ("below", "still has the line raise NotImplementedError(): put the rest of your code in"),
        ("waits", "did not finish within 0.3 seconds; is there an infinite loop, or a call that"),
    ],
)
def test_odd_answers_get_one_sentence(executed, name, sentence):
    card, error = executed[name]
    assert sentence in " ".join(card["data"]["text/plain"].split())
    assert error.ename == "CheckFailed"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("unnamed", "This lambda has no name: give it the name of the stub"),
        ("method", "Pass the class itself, not its method: check(AdditiveAttention)."),
    ],
)
def test_what_is_no_answer_gets_one_sentence(executed, name, sentence):
    _, text = _error(executed[name])
    assert sentence in " ".join(text.split())


def test_the_kernel_outlives_all_of_them(executed):
    assert executed["alive"][0].text == "the kernel lives\n"
