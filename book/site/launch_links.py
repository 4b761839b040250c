"""The repository where the course is published, and links that open its notebooks.

The repository is not hard-coded, so that a fork works unchanged. It is the first of: the variable
COURSE_REPOSITORY, GITHUB_REPOSITORY (set by GitHub's workflows), the git remote "origin" if that
is on GitHub.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from book.site.toc import read_toc

ROOT = Path(__file__).resolve().parents[2]
BRANCH = "notebooks"  # the branch that publishes the output of `make notebooks`
_NAME = re.compile(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+")
_REMOTE = re.compile(r"github\.com[:/]([A-Za-z0-9-]+/[A-Za-z0-9._-]+?)(?:\.git)?/?$")


def find_repository(root: Path = ROOT) -> str | None:
    """Return the GitHub repository as owner/name, or None if it is unknown.

    Raises:
        ValueError: a variable is set to something other than owner/name.
    """
    for variable in ("COURSE_REPOSITORY", "GITHUB_REPOSITORY"):
        value = os.environ.get(variable, "").strip()
        if value and not _NAME.fullmatch(value):
            raise ValueError(f"{variable} is {value!r}: it must have the form owner/name.")
        if value:
            return value
    command = ["git", "-C", str(root), "remote", "get-url", "origin"]
    try:
        told = subprocess.run(command, capture_output=True, text=True)
    except OSError:  # git is not installed
        return None
    remote = _REMOTE.search(told.stdout.strip())
    return remote[1] if remote else None


def clone_address(repository: str) -> str:
    """Return the address for `git clone`."""
    return f"https://github.com/{repository}"


def site_address(repository: str) -> str:
    """Return the address of the site that the repository's workflow publishes."""
    owner, name = repository.split("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def colab(repository: str, notebook: str) -> str:
    """Return the address that opens a notebook of the published branch in Colab."""
    return f"https://colab.research.google.com/github/{repository}/blob/{BRANCH}/{quote(notebook)}"


def binder(repository: str, notebook: str) -> str:
    """Return the address that opens a notebook of the published branch in Binder's JupyterLab."""
    return f"https://mybinder.org/v2/gh/{repository}/{BRANCH}?labpath={quote(notebook, safe='')}"


def source(repository: str, path: str) -> str:
    """Return the address of a source file on the main branch."""
    return f"https://github.com/{repository}/blob/main/{quote(path)}"


@dataclass(frozen=True)
class Chapter:
    """A chapter's page and those of its exercises, as in _toc.yml: paths without an extension."""

    page: str
    exercises: tuple[str, ...]

    @property
    def number(self) -> int:
        """The chapter's number, from its file name."""
        return int(Path(self.page).name[:2])


def list_chapters(root: Path = ROOT) -> list[Chapter]:
    """Return the chapters in the order of _toc.yml."""
    return [
        Chapter(entry.path, entry.below)
        for entry in read_toc(root / "_toc.yml")
        if re.match(r"book/\d\d_", entry.path)
    ]


def list_pages_with_code(root: Path = ROOT) -> list[str]:
    """Return the pages whose cells are executed, in the order of _toc.yml, without an extension."""
    pages = [entry.path for entry in read_toc(root / "_toc.yml")]
    return [page for page in pages if _has_code(root / f"{page}.md")]


def _has_code(page: Path) -> bool:
    return page.is_file() and "kernelspec:" in page.read_text(encoding="utf-8")[:1000]


def list_appendices(root: Path = ROOT) -> list[str]:
    """Return the pages of the appendix with code, which open as notebooks like the chapters."""
    appendix = {entry.path for entry in read_toc(root / "_toc.yml") if entry.part == "Appendix"}
    return [page for page in list_pages_with_code(root) if page in appendix]


def is_exercise(page: str) -> bool:
    """Say whether a page is a notebook with exercises, and not one of the book."""
    return page.startswith("exercises/")


def list_notebooks(root: Path = ROOT) -> list[str]:
    """Return the paths of all notebooks of the published branch."""
    chapters = [page for c in list_chapters(root) for page in (c.page, *c.exercises)]
    return [f"{page}.ipynb" for page in (*chapters, *list_appendices(root))]
