"""A learner who has solved everything: the notebooks run to their last cell."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.instructor.notebooks import masters, notebook


@pytest.mark.slow
def test_the_learners_own_model_translates_and_draws(tmp_path, monkeypatch):
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setitem(os.environ, "COURSEKIT_SIZE", "quick")
    for master in masters():
        if master.parent.name == "bahdanau":
            nbformat.write(notebook(master), tmp_path / f"{master.stem}.ipynb")
    page = nbformat.read(tmp_path / "translator.ipynb", as_version=4)
    NotebookClient(page, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = {cell.id: cell.outputs for cell in page.cells if cell.cell_type == "code"}
    translated = "".join(o.text for o in outputs["translate"] if o.output_type == "stream")
    assert translated.count("your model") == 5
    share = int(translated.split("% of the test sentences are right")[0].split()[-1])
    assert share > 25
    assert any("image/png" in o.get("data", {}) for o in outputs["picture"])


def test_the_notebooks_are_there():
    assert {Path(m).stem for m in masters()} >= {"scores", "translator"}
