"""Tests of the built book and of rebuilding it; `make book` must have run before."""

import re
import subprocess
import sys

import pytest

from tests.helpers.built_site import ROOT, list_pages, read_page, text_of
from tools import build_site

pytestmark = pytest.mark.book


def test_every_picture_of_a_page_has_a_text():
    for name in list_pages():
        for image in re.findall(r"<img[^>]*>", read_page(name)):
            text = re.search(r'alt="([^"]*)"', image)
            assert text, f"{name}: {image}"
            assert len(text[1]) > 10, f"{name}: {image}"
            assert "_build" not in text[1], f"{name}: {image}"


@pytest.mark.smoke
def test_the_body_of_an_exercise_is_shown_folded_only():
    # A notebook's given cells may show answers to earlier notebooks; two folders show all answers.
    def without_answers(page):
        folded = re.compile(r'<details class="sd-(?:(?!</details>).)*</details>', re.S)
        return folded.sub(lambda found: "" if "The code of" in found[0] else found[0], page)

    places = ("book/whole_models", "book/solved/")
    names = [n for n in list_pages() if n.startswith("book/") and not n.startswith(places)]
    pages = " ".join(text_of(without_answers(read_page(name))) for name in names)
    bodies = [
        (solution, body)
        for solution in (ROOT / "solutions").glob("*/*/solution.py")
        for body in re.findall(
            r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", solution.read_text(encoding="utf-8"), re.S
        )
    ]
    assert len(bodies) > 50
    for solution, body in bodies:
        telling = max((line.split("#")[0].strip() for line in body.splitlines()), key=len)
        assert telling not in pages, f"{solution}: {telling}"


@pytest.mark.parametrize(
    "changed", ["coursekit/tools.py", "solutions/a/b.py", "book/results/x.json", "autograder/c.py"]
)
def test_what_lies_behind_the_pages_clears_the_cache(tmp_path, changed):
    for place in (
        "coursekit/tools.py",
        "solutions/a/b.py",
        "book/results/x.json",
        "autograder/c.py",
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("1")
    output = tmp_path / "_build"
    build_site.forget_stale(output, tmp_path)
    cache = output / ".jupyter_cache"
    cache.mkdir()
    assert build_site.forget_stale(output, tmp_path) == []
    assert cache.exists()
    (tmp_path / changed).write_text("2")
    assert ".jupyter_cache" in build_site.forget_stale(output, tmp_path)
    assert not cache.exists()


def build_in_a_process(folder):
    """Build a small book in a new process, as Sphinx changes its process; return the result."""
    command = [sys.executable, "-m", "tools.build_site", str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")


def small_book(folder, cells):
    """Write a book of one page with these code cells, which read a recorded result."""
    result = folder / "book" / "results" / "x.json"
    result.parent.mkdir(parents=True)
    result.write_text('{"bleu": 11.25}')
    head = (
        "---\nkernelspec:\n  name: python3\n  display_name: Python 3\n"
        "jupytext:\n  text_representation:\n    format_name: myst\n---\n# Page\n"
    )
    page = "".join(f"\n```{{code-cell}} ipython3\n{cell}\n```\n" for cell in cells)
    (folder / "book" / "page.md").write_text(head + page)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: book/page\n")
    (folder / "_config.yml").write_text(
        "title: T\nexecute:\n  execute_notebooks: cache\nonly_build_toc_files: true\n"
    )
    return result


READ = 'import json\nbleu = json.load(open("results/x.json"))["bleu"]'


def test_a_false_claim_fails_the_build(tmp_path):
    claim = ':tags: [remove-cell]\n\nassert bleu < 20, "a translator of this kind is poor"'
    result = small_book(tmp_path, [READ, claim])
    done = build_in_a_process(tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    page = (tmp_path / "_build" / "html" / "book" / "page.html").read_text()
    assert "results/x.json" in page and "is poor" not in page
    result.write_text('{"bleu": 33.5}')
    done = build_in_a_process(tmp_path)
    assert done.returncode != 0 and "a translator of this kind is poor" in done.stdout + done.stderr


def test_a_page_follows_what_its_cells_read(tmp_path):
    """A small book, built twice with a recorded result changed in between."""
    log = 'with open("runs.txt", "a") as log:\n    print("run", file=log)'
    result = small_book(tmp_path, [f"{READ}\nprint(bleu * 2)\n{log}"])
    done = build_in_a_process(tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    shown = tmp_path / "_build" / "html" / "book" / "page.html"
    assert "22.5" in shown.read_text()
    runs = tmp_path / "book" / "runs.txt"
    assert runs.read_text() == "run\n"  # cells executed in advance are not executed again
    result.write_text('{"bleu": 33.5}')
    assert build_in_a_process(tmp_path).returncode == 0
    assert "67.0" in shown.read_text()
    assert "22.5" not in shown.read_text()
    assert runs.read_text() == "run\nrun\n"
    built = shown.stat().st_mtime_ns
    assert build_in_a_process(tmp_path).returncode == 0
    assert shown.stat().st_mtime_ns == built  # without changes, no page is rewritten
