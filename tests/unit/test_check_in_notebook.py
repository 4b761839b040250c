"""Tests of check()'s cards in a notebook's kernel."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient


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
    # nbgrader's Validate shows only this.
    assert shown.startswith("CheckFailed: ✗ masked_softmax: ") and "\n" not in shown
    assert "mask comes after the softmax" in shown


def test_notebook_shows_one_sentence_for_a_wrong_call(executed):
    _, shown = _error(executed["quoted"])
    assert shown == ("TypeError: Pass the function itself, without quotes: check(masked_softmax).")


def test_notebook_shows_the_line_of_an_error(executed):
    page = executed["raising"][0].data["text/html"]
    assert "in masked_softmax, line 2 of its cell: wrong = scores @ mask" in page
