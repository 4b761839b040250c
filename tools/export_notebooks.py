"""Export chapters, appendices with code and exercises as the notebooks that Colab and Binder open.

    python -m tools.export_notebooks [FOLDER]      # by default _build/notebooks

The publish workflow pushes the tree to the branch `notebooks`. It also holds what the notebooks
import and read. The first cell of each notebook says where the site is, and downloads the course in
Colab.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from book.site.launch_links import (
    BRANCH,
    ROOT,
    clone_address,
    find_repository,
    is_exercise,
    list_notebooks,
    site_address,
)
from tools.myst_to_markdown import PlainMarkdown

FOLDERS = (
    "autograder", "coursekit", "solutions", "binder", "book/figures", "book/results", "experiments",
)  # fmt: skip
FILES = (
    "book/references.bib", "pyproject.toml", "requirements.txt", "constraints.txt", "LICENSE",
    "CITATION.cff", "README.md",
)  # fmt: skip
FIRST_CELL = """\
# Run this first. In Colab it downloads the course and missing packages.
import os, sys

os.environ.setdefault("COURSE_SITE", "{site}")  # where a green card links to
if "google.colab" in sys.modules:
    import subprocess

    folder = "/content/course"
    fetch = ["git", "clone", "--quiet", "--depth=1", "--branch={branch}", "{address}", folder]
    if not os.path.isdir(folder) and subprocess.run(fetch).returncode:
        raise SystemExit("The course could not be fetched: wait a minute and run this cell again.")
    sys.path.insert(0, folder)
    from coursekit.notebook.colab import prepare

    prepare(folder)
    os.chdir(folder + "/{working}")
"""
NO_ADDRESS = """\
# In Colab: upload the course to /content/course first. Elsewhere this does nothing.
import sys

if "google.colab" in sys.modules:
    import os

    folder = "/content/course"
    if not os.path.isdir(folder):
        raise SystemExit(f"Upload the course's folder to {{folder}}, then run this cell again.")
    sys.path.insert(0, folder)
    from coursekit.notebook.colab import prepare

    prepare(folder)
    os.chdir(folder + "/{working}")
"""
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def make_first_cell(path: str, address: str | None) -> Any:
    """Return the first cell of a notebook, given the notebook's path in the tree."""
    text = NO_ADDRESS if address is None else FIRST_CELL
    site = site_address(address.removeprefix(clone_address(""))) if address else ""
    working = Path(path).parent.as_posix()
    source = text.format(branch=BRANCH, address=address, working=working, site=site)
    cell = nbformat.v4.new_code_cell(source.rstrip(), id="colab")
    cell.metadata["jupyter"] = {"source_hidden": True}
    return cell


def read_titles(root: Path = ROOT) -> dict[str, str]:
    """Return the titles of all pages that become notebooks, by path without extension."""
    titles = {}
    for notebook in list_notebooks(root):
        page = notebook.removesuffix(".ipynb")
        if is_exercise(page):
            cells = nbformat.read(root / notebook, 4).cells
            text = next(c.source for c in cells if c.cell_type == "markdown")
        else:
            text = (root / f"{page}.md").read_text(encoding="utf-8")
        titles[page] = _title(text)
    return titles


def _title(text: str) -> str:
    title = re.search(r"^# (.+)$", text, re.M)
    assert title is not None, text[:80]
    return title[1]


def make_page_notebook(page: str, root: Path = ROOT, address: str | None = None) -> Any:
    """Return a page of the book as a notebook without outputs, with its text as plain Markdown.

    Hidden cells are left out: they check the text against the numbers of the book's build, but a
    reader may change settings to see other numbers.
    """
    source = jupytext.read(root / f"{page}.md", fmt="md:myst")
    plain = PlainMarkdown(page, read_titles(root), root / "book" / "references.bib")
    cells = [make_first_cell(page, address)]
    for number, cell in enumerate(source.cells):
        if "remove-cell" in cell.metadata.get("tags", []):
            continue
        if cell.cell_type == "markdown":
            cells.append(nbformat.v4.new_markdown_cell(plain.convert(cell.source)))
        else:
            cells.append(nbformat.v4.new_code_cell(cell.source))
            tags = cell.metadata.get("tags", [])
            if tags:
                cells[-1].metadata["tags"] = tags
            if {"hide-input", "remove-input", "hide-cell"} & set(tags):
                # The first key is for JupyterLab, the second for Colab.
                cells[-1].metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}
        cells[-1].id = f"cell-{number}"
    return nbformat.v4.new_notebook(cells=cells, metadata=METADATA)


def make_exercise_notebook(page: str, root: Path = ROOT, address: str | None = None) -> Any:
    """Return a students' exercise notebook with the first cell prepended."""
    notebook = nbformat.read(root / f"{page}.ipynb", 4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _links_out(cell.source, address)
    notebook.cells.insert(0, make_first_cell(page, address))
    return notebook


def _links_out(text: str, address: str | None) -> str:
    """Return a text with links to book pages pointing to the published site, or removed."""
    # Imported here, because it imports torch, which makes Sphinx's extensions print warnings.
    from autograder.instructor.authoring.notebook_builder import strip_answers

    if address is None:
        return strip_answers(text)
    site = site_address(address.removeprefix(clone_address("")))
    return re.sub(r"\]\((?:\.\./)*(book/[\w/]+)\.md\)", rf"]({site}\1.html)", text)


def write_notebooks(folder: Path, root: Path = ROOT, address: str | None = None) -> list[Path]:
    """Write only the notebooks into a folder; return their paths."""
    written = []
    for name in list_notebooks(root):
        page = name.removesuffix(".ipynb")
        make = make_exercise_notebook if is_exercise(page) else make_page_notebook
        notebook = make(page, root, address)
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.validate(notebook)
        nbformat.write(notebook, target)
        written.append(target)
    return written


def write_tree(folder: Path, root: Path = ROOT, address: str | None = None) -> list[Path]:
    """Write the whole branch into an empty folder: the notebooks and what they need."""
    leave_out = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "*.ipynb", "*.egg-info")
    for name in FOLDERS:
        if (root / name).is_dir():
            shutil.copytree(root / name, folder / name, ignore=leave_out)
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, folder / name)
    return write_notebooks(folder, root, address)


def main() -> int:
    """Rewrite the tree and print the number of notebooks."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "_build" / "notebooks")
    known = find_repository()
    if folder.exists() and any(folder.iterdir()) and not (folder / "coursekit").is_dir():
        print(f"{folder} contains other files: choose an empty folder.", file=sys.stderr)
        return 2
    shutil.rmtree(folder, ignore_errors=True)
    written = write_tree(folder, ROOT, known and clone_address(known))
    print(f"{len(written)} notebooks in {folder}")
    if known is None:
        print(
            "The course's repository is unknown, so in Colab the notebooks will ask for its "
            "files. Set COURSE_REPOSITORY=owner/name."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
