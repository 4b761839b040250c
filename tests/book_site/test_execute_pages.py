"""Tests of running a page's cells in a kernel of its own."""

import os
import sys
from pathlib import Path

import pytest

from tools import execute_pages

CELLS = (
    "import os, sys; print(os.getcwd()); print(__name__)",
    "import matplotlib.pyplot as plt; _ = plt.plot([1, 2])",
    "print('seen', file=sys.stderr)\nraise ValueError('wrong')",
    "print('and on')",
)


def write_page(folder, cells):
    page = folder / "page.md"
    head = (
        "---\njupytext: {text_representation: {format_name: myst}}\n"
        "kernelspec: {name: python3}\n---\n"
    )
    page.write_text(head + "".join(f"\n```{{code-cell}}\n{cell}\n```\n" for cell in cells))
    return page


def outputs_of(notebook):
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    patch = pytest.MonkeyPatch()
    for name, value in execute_pages.ENVIRONMENT.items():
        patch.setenv(name, value)
    notebook, done = execute_pages.run_cells(write_page(folder, CELLS), 60, allow_errors=True)
    patch.undo()
    assert done.err is None
    return Path(folder), outputs_of(notebook)


def test_a_page_runs_in_its_own_folder_as_the_main_module(executed):
    folder, ((printed,), *_) = executed
    assert printed.text.splitlines() == [os.path.realpath(folder), "__main__"]


def test_a_figure_is_an_output_of_its_cell(executed):
    _, (_, (figure,), *_) = executed
    assert "image/png" in figure.data


def test_an_error_ends_a_cell(executed):
    _, (*_, (seen, error), (on,)) = executed
    assert (seen.name, seen.text) == ("stderr", "seen\n")
    assert (error.ename, error.evalue) == ("ValueError", "wrong")
    assert on.text == "and on\n"


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")
def test_a_kernel_begins_with_the_libraries_loaded_and_nothing_of_another_page(tmp_path):
    found = []
    for _ in range(2):
        page = write_page(
            tmp_path, ["import sys; print('torch' in sys.modules, 'mine' in dir())", "mine = 1"]
        )
        notebook, _ = execute_pages.run_cells(page, 60)
        found.append(outputs_of(notebook)[0][0].text)
    assert found == ["True False\n"] * 2


def test_a_cell_that_takes_too_long_is_interrupted(tmp_path):
    page = write_page(tmp_path, ["while True: pass"])
    _, _, _, error = execute_pages.run(page, 1)
    assert error == "CellTimeoutError: a cell took more than 1 seconds"


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")
def test_kernels_that_start_at_once_cannot_take_each_others_addresses():
    managers = [execute_pages.KernelManager() for _ in range(3)]
    assert {manager.transport for manager in managers} == {"ipc"}
    assert len({manager.ip for manager in managers}) == 3
