"""End-to-end tests: with all exercises solved, the notebooks run to their last cell."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.notebook_builder import list_masters, make_notebook


@pytest.mark.slow
def test_the_learners_own_model_translates_and_draws(tmp_path, monkeypatch):
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setitem(os.environ, "COURSEKIT_SIZE", "quick")
    for master in list_masters():
        if master.parent.parent.name == "bahdanau":
            page = make_notebook(master, EXERCISES)
            nbformat.write(page, tmp_path / f"{master.parent.name}.ipynb")
    page = nbformat.read(tmp_path / "translator.ipynb", as_version=4)
    NotebookClient(page, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = {cell.id: cell.outputs for cell in page.cells if cell.cell_type == "code"}
    translated = "".join(o.text for o in outputs["translate"] if o.output_type == "stream")
    assert translated.count("your model") == 5
    share = int(translated.split("% of the test sentences are right")[0].split()[-1])
    assert share > 25
    assert any("image/png" in o.get("data", {}) for o in outputs["picture"])


@pytest.mark.slow
@pytest.mark.real_data
def test_the_chapter_trains_on_real_data_by_one_setting(monkeypatch, capsys):
    """COURSEKIT_SIZE=full, cut to one epoch of 640 pairs so that the test takes seconds."""
    import jupytext
    import matplotlib

    from coursekit.data import lesson_data

    matplotlib.use("Agg")
    root = Path(__file__).resolve().parents[2]
    monkeypatch.setenv("COURSEKIT_SIZE", "full")
    monkeypatch.chdir(root / "book")
    monkeypatch.syspath_prepend(str(root / "book"))
    whole = lesson_data.translation_data

    def part(size):
        data = whole(size)
        del data.train[640:], data.validation[64:]
        return data

    monkeypatch.setattr(lesson_data, "translation_data", part)
    page = jupytext.read(root / "book" / "03_bahdanau.md")
    # The claims in hidden cells hold only after a full training.
    cells = [c for c in page.cells if "remove-cell" not in c.metadata.get("tags", [])]
    code = "\n\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert "epochs=14" in code
    exec(compile(code.replace("epochs=14", "epochs=1"), "03_bahdanau", "exec"), {})
    assert "Multi30k" in capsys.readouterr().out
