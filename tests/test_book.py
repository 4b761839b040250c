"""The book as it was built: `make test` builds it before the tests run."""

import html
import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
RESULTS = ROOT / "book" / "results"


sys.path.insert(0, str(ROOT / "book" / "_ext"))


def _module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build = _module(ROOT / "book" / "_ext" / "build.py")


@pytest.fixture(scope="module")
def chapter():
    page = SITE / "book" / "03_bahdanau.html"
    if not page.exists():
        pytest.skip("the book is not built: run make book")
    return page.read_text(encoding="utf-8")


def text_of(page):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_attention_translates_long_sentences_the_fixed_vector_does_not(chapter):
    found = re.findall(r"20 words and more\s+([\d.]+) %", text_of(chapter))
    with_attention, without = map(float, found)
    assert with_attention > 10
    assert with_attention >= 2 * without


def test_the_alignment_is_close_to_the_gold_links(chapter):
    rate = re.search(r"alignment error rate over \d+ test sentences: ([\d.]+)", text_of(chapter))
    assert float(rate[1]) < 0.15


def test_the_page_shows_the_recorded_runs(chapter):
    shown = text_of(chapter)
    for name in ("rnnsearch-all", "rnnencdec-all", "rnnsearch-10", "rnnencdec-10"):
        result = json.loads((RESULTS / f"{name}.multi30k-de-en.json").read_text())
        assert f"{result['metrics']['bleu']:.2f}" in shown, name
        assert result["scorer"] in shown or name != "rnnsearch-all"


def test_every_picture_of_a_page_has_a_text(chapter):
    for page in SITE.rglob("*.html"):
        for image in re.findall(r"<img[^>]*>", page.read_text(encoding="utf-8")):
            text = re.search(r'alt="([^"]*)"', image)
            assert text, f"{page.name}: {image}"
            assert len(text[1]) > 10, f"{page.name}: {image}"
            assert "_build" not in text[1], f"{page.name}: {image}"


def test_no_page_shows_the_body_of_an_exercise(chapter):
    pages = " ".join(text_of(p.read_text(encoding="utf-8")) for p in SITE.rglob("*.html"))
    for master in (ROOT / "solutions").glob("*/*.py"):
        source = master.read_text(encoding="utf-8")
        for body in re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", source, re.S):
            lines = [line.split("#")[0].strip() for line in body.splitlines()]
            telling = max(lines, key=len)
            assert telling not in pages, f"{master.name}: {telling}"


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
    build.forget_stale(output, tmp_path)
    cache = output / ".jupyter_cache"
    cache.mkdir()
    assert build.forget_stale(output, tmp_path) == []
    assert cache.exists()
    (tmp_path / changed).write_text("2")
    assert ".jupyter_cache" in build.forget_stale(output, tmp_path)
    assert not cache.exists()


def test_a_page_follows_what_its_cells_read(tmp_path):
    """A small book, built twice with a recorded result changed in between."""
    result = tmp_path / "book" / "results" / "x.json"
    result.parent.mkdir(parents=True)
    result.write_text('{"bleu": 11.25}')
    page = (
        "---\nkernelspec:\n  name: python3\n  display_name: Python 3\n"
        "jupytext:\n  text_representation:\n    format_name: myst\n---\n# Page\n\n"
        "```{code-cell} ipython3\nimport json\n"
        'print(json.load(open("results/x.json"))["bleu"] * 2)\n'
        'with open("runs.txt", "a") as log:\n    print("run", file=log)\n```\n'
    )
    (tmp_path / "book" / "page.md").write_text(page)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/page\n")
    (tmp_path / "_config.yml").write_text(
        "title: T\nexecute:\n  execute_notebooks: cache\nonly_build_toc_files: true\n"
    )
    assert build.main(tmp_path) == 0
    shown = tmp_path / "_build" / "html" / "book" / "page.html"
    assert "22.5" in shown.read_text()
    runs = tmp_path / "book" / "runs.txt"
    assert runs.read_text() == "run\n"  # what is executed ahead is not executed again
    result.write_text('{"bleu": 33.5}')
    assert build.main(tmp_path) == 0
    assert "67.0" in shown.read_text()
    assert "22.5" not in shown.read_text()
    assert runs.read_text() == "run\nrun\n"
    shutil.rmtree(tmp_path / "_build")


def test_recorded_results_say_where_they_come_from():
    found = list(RESULTS.glob("*.json"))
    assert found
    for path in found:
        result = json.loads(path.read_text(encoding="utf-8"))
        for key in (
            "model", "data", "metrics", "runs", "parameters", "seconds", "hardware", "versions",
            "data_sha256", "command", "scorer",
        ):  # fmt: skip
            assert result[key], f"{path.name}: {key}"
        assert path.name == f"{result['model']}.{result['data']}.json"
        assert path.stat().st_size < 1_000_000
        for name, mean in result["metrics"].items():
            values = [run["metrics"][name] for run in result["runs"]]
            assert mean == pytest.approx(sum(values) / len(values), rel=1e-4)
        assert str(Path.home()) not in path.read_text()
