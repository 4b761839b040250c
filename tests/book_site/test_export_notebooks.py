"""Tests of the published notebooks' branch and of the buttons that open it."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import types
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import jupytext
import nbformat
import pytest
from docutils import nodes

from book.site import launch_links, page_header
from book.site.recorded import cite_result
from coursekit.notebook import colab
from tests.helpers.built_site import ROOT, SITE, read_page
from tools import export_notebooks
from tools.myst_to_markdown import PlainMarkdown

pytestmark = pytest.mark.book

ADDRESS, SITE_ADDRESS = "https://github.com/example/course", "https://example.github.io/course/"
BIBLIOGRAPHY = ROOT / "book" / "references.bib"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("branch")
    export_notebooks.write_tree(folder, ROOT, ADDRESS)
    return folder


@pytest.fixture(autouse=True)
def nobody_says(monkeypatch):
    monkeypatch.delenv("COURSE_REPOSITORY", raising=False)
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)


# Where the course is published


def test_the_repository_is_what_the_first_one_says(monkeypatch, tmp_path):
    assert launch_links.find_repository(tmp_path) is None
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert launch_links.find_repository(tmp_path) is None
    remote = ["git", "-C", str(tmp_path), "remote"]
    subprocess.run([*remote, "add", "origin", "git@github.com:ada/attention.git"], check=True)
    assert launch_links.find_repository(tmp_path) == "ada/attention"
    monkeypatch.setenv("GITHUB_REPOSITORY", "bob/attention.course")
    assert launch_links.find_repository(tmp_path) == "bob/attention.course"
    monkeypatch.setenv("COURSE_REPOSITORY", "eve/course")
    assert launch_links.find_repository(tmp_path) == "eve/course"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://github.com/ada/course.git", "ada/course"),
        ("https://github.com/ada/course/", "ada/course"),
        ("ssh://git@github.com/ada/my.course", "ada/my.course"),
        ("https://example.org/ada/course.git", None),
        ("/home/ada/github/course", None),
    ],
)
def test_a_remote_elsewhere_is_not_github(tmp_path, address, expected):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", address], check=True)
    assert launch_links.find_repository(tmp_path) == expected


def test_something_else_than_owner_and_name_is_refused(monkeypatch):
    monkeypatch.setenv("COURSE_REPOSITORY", "https://github.com/ada/course")
    with pytest.raises(ValueError, match="must have the form owner/name"):
        launch_links.find_repository()


# The buttons


def read_places(page, known, monkeypatch):
    """Return the addresses below a page's title, by the text of the button."""
    monkeypatch.setattr(page_header, "find_repository", lambda _: known)
    addresses = {}
    for (node,) in page_header.list_places(page):
        if isinstance(node, nodes.reference):
            addresses[node.astext()] = node["refuri"]
        elif isinstance(node, nodes.raw):
            addresses["Download"] = re.search('href="([^"]*)"', node.astext())[1]
        else:
            addresses[node.astext()] = node["reftarget"]
    return addresses


@pytest.mark.parametrize("notebook", launch_links.list_notebooks())
def test_every_button_leads_to_a_notebook_of_the_branch(tree, notebook, monkeypatch):
    page = notebook.removesuffix(".ipynb")
    addresses = read_places(page, "example/course", monkeypatch)
    in_colab = urlsplit(addresses["Open in Colab"])
    assert in_colab.netloc == "colab.research.google.com"
    prefix = "/github/example/course/blob/notebooks/"
    assert in_colab.path.startswith(prefix)
    assert (tree / unquote(in_colab.path.removeprefix(prefix))).is_file()
    in_binder = urlsplit(addresses["Open in Binder"])
    assert (in_binder.netloc, in_binder.path) == ("mybinder.org", "/v2/gh/example/course/notebooks")
    assert (tree / parse_qs(in_binder.query)["labpath"][0]).is_file()
    source = addresses["Source"].removeprefix("https://github.com/example/course/blob/main/")
    assert (ROOT / source).is_file()
    assert Path(page).parts[0] in ("book", "exercises")


def test_without_an_address_the_buttons_say_how(monkeypatch):
    addresses = read_places("book/07_han", None, monkeypatch)
    assert addresses["Open in Colab"] == addresses["Open in Binder"] == page_header.WITHOUT_ADDRESS
    how = (ROOT / f"{page_header.WITHOUT_ADDRESS[1:]}.md").read_text(encoding="utf-8")
    assert "COURSE_REPOSITORY=owner/name" in how


@pytest.mark.parametrize("notebook", launch_links.list_notebooks())
def test_the_built_page_has_its_head_and_its_notebook(notebook):
    name = notebook.replace(".ipynb", ".html")
    head = re.search(r'<div class="course-head.*?</div>', read_page(name), re.S)[0]
    for place in ("Open in Colab", "Open in Binder", "Download"):
        assert place in head
    href = re.search(r'href="([^"]*)" download', head)[1]
    nbformat.validate(nbformat.read(((SITE / name).parent / href).resolve(), 4))
    for address in re.findall(r'href="(https://[^"]*)"', head):
        path = urlsplit(address)
        if path.netloc == "colab.research.google.com":
            assert path.path.split("/blob/notebooks/")[1] == notebook
        if path.netloc == "mybinder.org":
            assert parse_qs(path.query)["labpath"] == [notebook]


# The branch


def test_the_branch_holds_what_the_notebooks_import_and_read(tree):
    code = (
        "import sys; sys.path.insert(0, '..'); import autograder, book.figures.han; "
        "import coursekit.training.results, solutions.han.attention as s; print(s.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tree / "book", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).resolve().is_relative_to(tree.resolve())
    for name in ("book/references.bib", "requirements.txt", "constraints.txt", "pyproject.toml"):
        assert (tree / name).is_file()
    assert list((tree / "book" / "results").glob("*.json"))
    assert not list(tree.rglob("__pycache__"))


def test_pages_with_measurements_open_as_notebooks_too():
    appendices = launch_links.list_appendices()
    assert "book/published_weights" in appendices and "book/glossary" not in appendices
    pages = {name for name in launch_links.list_notebooks() if name.startswith("book/")}
    chapters = {f"{chapter.page}.ipynb" for chapter in launch_links.list_chapters()}
    assert pages == chapters | {f"{page}.ipynb" for page in appendices}


@pytest.mark.parametrize(
    "name", [name for name in launch_links.list_notebooks() if name.startswith("book/")]
)
def test_a_page_keeps_its_code_and_loses_its_markup(tree, name):
    notebook = nbformat.read(tree / name, 4)
    page = jupytext.read((ROOT / name).with_suffix(".md"), fmt="md:myst")
    code = [c.source for c in notebook.cells if c.cell_type == "code"]
    shown = [c for c in page.cells if "remove-cell" not in c.metadata.get("tags", [])]
    assert code[1:] == [c.source for c in shown if c.cell_type == "code"]
    assert all(not c.get("outputs") for c in notebook.cells)
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    prose = re.sub(r"^```.*?^```$|\$\$.*?\$\$|\$[^$\n]*\$", "", text, flags=re.S | re.M)
    assert not re.search(r"\{[a-z][a-z:-]*\}`|^:::|^```\{|^\(\S+\)=$", prose, re.M)
    for target in re.findall(r"\]\(([^()\s]+)\)", prose):
        if "://" not in target and not target.startswith("#"):
            assert (tree / "book" / target).resolve().is_file(), target
    assert text.count("<details>") == text.count("</details>")


@pytest.mark.parametrize("notebook", launch_links.list_notebooks())
def test_exercises_in_the_branch_are_those_of_the_students(tree, notebook):
    if notebook.startswith("book/"):
        return
    cells = nbformat.read(tree / notebook, 4).cells[1:]
    students = nbformat.read(ROOT / notebook, 4).cells
    for cell in (*cells, *students):
        if cell.cell_type == "markdown":  # links to the book point to its site
            assert cell in students or not re.search(r"\]\([./]*book/[^)]*\.md\)", cell.source)
            cell.source = re.sub(r"\]\([^)]*\)", "]()", cell.source)
    assert cells == students


# The first cell


@pytest.mark.parametrize("notebook", launch_links.list_notebooks())
def test_elsewhere_the_first_cell_only_tells_where_the_site_is(tree, notebook, monkeypatch):
    cell = nbformat.read(tree / notebook, 4).cells[0]
    assert cell.cell_type == "code" and "nbgrader" not in cell.metadata
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it started something"))
    monkeypatch.setenv("COURSE_SITE", "")
    monkeypatch.delenv("COURSE_SITE")
    before = list(sys.path), Path.cwd()
    exec(compile(cell.source, notebook, "exec"), {"__name__": "__main__"})
    assert (list(sys.path), Path.cwd()) == before
    assert os.environ["COURSE_SITE"] == SITE_ADDRESS  # where green cards link to


@pytest.mark.parametrize("name", ["book/07_han.ipynb", "exercises/han/attention.ipynb"])
def test_in_colab_the_first_cell_fetches_installs_and_goes_there(tree, name, monkeypatch, tmp_path):
    """Git and pip are recorded, not run; the folder that git would make is a copy of the branch."""
    started, shown = [], []
    course = tmp_path / "content" / "course"

    def run(command, **options):
        started.append(command)
        if command[0] == "git":
            course.parent.mkdir(parents=True)
            course.symlink_to(tree)
        else:
            kept = Path(options["env"]["PIP_CONSTRAINT"]).read_text(encoding="utf-8")
            started.append(kept.strip())
        return types.SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", run)
    output = types.ModuleType("google.colab.output")
    output.enable_custom_widget_manager = lambda: shown.append("widgets")
    monkeypatch.setitem(sys.modules, "google", types.ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    monkeypatch.setitem(sys.modules, "google.colab.output", output)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    cell = nbformat.read(tree / name, 4).cells[0].source
    exec(cell.replace("/content/course", str(course)), {"__name__": "__main__"})
    fetch, install, kept = started
    assert fetch[:2] == ["git", "clone"] and f"--branch={launch_links.BRANCH}" in fetch
    assert fetch[-2:] == [ADDRESS, str(course)]
    assert install[1:4] == ["-m", "pip", "install"] and install[-2:] == ["-e", str(course)]
    # For a GPU build, torch.__version__ has a suffix that pip does not know: 2.13.0+cu130.
    assert kept == f"torch=={importlib.metadata.version('torch')}"
    assert Path.cwd().resolve() == (tree / name).parent.resolve()
    assert shown == ["widgets"]


def test_in_colab_a_failure_is_one_sentence(tree, monkeypatch, tmp_path):
    failed = types.SimpleNamespace(returncode=1)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(SystemExit, match="could not be installed: see pip's message"):
        colab.prepare(tmp_path)
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    cell = nbformat.read(tree / "book" / "07_han.ipynb", 4).cells[0].source
    with pytest.raises(SystemExit, match="could not be fetched: wait a minute"):
        exec(cell.replace("/content", str(tmp_path)), {})
    cell = export_notebooks.make_first_cell("book/x.ipynb", None).source
    with pytest.raises(SystemExit, match="Upload the course's folder"):
        exec(cell.replace("/content", str(tmp_path)), {})


# Plain Markdown


def convert(text):
    titles = {"book/03_bahdanau": "Learning to align", "exercises/han/attention": "Documents I"}
    return PlainMarkdown("book/07_han", titles, BIBLIOGRAPHY).convert(text)


def test_citations_links_and_folds_become_plain():
    text = (
        "As {cite:t}`bahdanau2015` and others {cite:p}`yang2016,lin2017` say, "
        "see [](03_bahdanau.md),\n"
        "[here](../exercises/han/attention.ipynb), [that](intro.md) and [there](https://a.org).\n\n"
        ":::{dropdown} What is `x` here?\nSee {cite:p}`yang2016`.\n:::\n\n"
        "```python\nx = '{cite:p}`a`'\n```\n\n:::{note}\nOne.\n\nTwo.\n:::\n\n"
        "```{bibliography}\n:filter: docname in docnames\n```"
    )
    converted = convert(text)
    assert (
        "As Bahdanau et al. (2015) and others (Yang et al., 2016; Lin et al., 2017) say"
        in converted
    )
    assert "see [Learning to align](03_bahdanau.ipynb)" in converted
    assert "[here](../exercises/han/attention.ipynb), that and [there](https://a.org)" in converted
    fold = "<details><summary>What is <code>x</code> here?</summary>\n\nSee (Yang et al., 2016)."
    assert fold in converted
    assert "```python\nx = '{cite:p}`a`'\n```" in converted
    assert "> **Note.**\n> One.\n>\n> Two." in converted
    works = converted.rsplit("> Two.", 1)[1]
    assert works.count("\n* ") == 3 and "Hierarchical" in works


def test_a_recorded_number_becomes_plain():
    """The mean of the seeds and, where there are several, from where to where they go."""
    shown = "is {recorded}`han.imdb accuracy .1%`, and {recorded}`bags.none accuracy .1%`"
    with pytest.raises(ValueError, match=r"No result bags\.none is recorded; there are: "):
        convert(shown)
    converted = convert(shown.split(",")[0])
    assert re.fullmatch(r"is 90\.\d \(90\.\d–90\.\d\) %", converted)
    row = convert("{recorded}`bottleneck.english-korean/attention exact .0%`")
    assert re.fullmatch(r"9\d \(9\d–9\d\) %", row)


def test_a_setting_and_the_number_of_parameters_become_plain():
    converted = convert("{recorded}`han.imdb settings.vocabulary`, {recorded}`han.imdb parameters`")
    assert re.fullmatch(r"30,000, \d,\d{3},\d{3}", converted)
    converted = convert("{recorded}`bottleneck.english-korean/attention parameters`")
    assert re.fullmatch(r"\d{3},\d{3}", converted)


def test_how_results_were_made_is_told_once_where_it_is_the_same():
    converted = convert("```{provenance} han.imdb han.bbc\n```")
    assert converted.startswith("<details><summary>How these results were made</summary>")
    assert len(re.findall(r"\* seeds: 1, 2, 3$", converted, re.M)) == 1
    for record in ("han.imdb", "han.bbc"):
        assert re.search(rf"  \* `python -m experiments [^`]*` \(`{record}`\)$", converted, re.M)
    alone = convert("```{provenance} bottleneck.english-korean\n```")
    assert "How this result was made" in alone
    assert "* command: `python -m experiments bottleneck`" in alone


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("han.imdb accuracy", "write a record, a metric and a format"),
        ("han.imdb bleu .1f", "the record has no metric bleu; it has accuracy, "),
        ("bottleneck.english-korean exact .1%", "name one of the rows attention, fixed, "),
        ("han.imdb settings.hats", "the record has no setting hats; it has model, epochs, "),
    ],
)
def test_a_number_that_is_not_recorded_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        cite_result(text)


def test_questions_become_plain():
    text = (
        ":::{choice} Which {cite:p}`yang2016`?\n:name: a\n\nLook at $x$.\n\n"
        "[x] this\n: Because\n  it is.\n\n[ ] that\n: No.\n:::\n\n"
        ":::{number} How many?\n:name: b\n:tolerance: 0\n\n[x] 3\n: Three.\n:::"
    )
    choice, number = convert(text).split("**How many?**")
    assert choice.startswith("**Which (Yang et al., 2016)?**\n\nLook at $x$.")
    assert "\n* this\n* that\n" in choice
    assert "**✓ this**\n\nBecause\nit is.\n\n**✗ that**\n\nNo." in choice
    assert "* 3" not in number and "<summary>Answer</summary>\n\n**✓ 3**\n\nThree." in number
    assert ":name:" not in choice + number and ":tolerance:" not in number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```{mermaid}\nx\n```", "does not support the directive {mermaid}"),
        ("See {kbd}`x`.", "does not support the role {kbd}"),
        (":::{note}\nOne.", "is never closed"),
    ],
)
def test_what_is_not_known_is_not_published(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        convert(text)


# The head's numbers


def test_reading_time_counts_what_is_read():
    def document(*parts):
        page = nodes.document(None, None)
        page += parts
        return page

    words = nodes.paragraph("", "word " * 2200)
    assert page_header.count_reading_minutes(document(words)) == 10
    hidden = nodes.container("", nb_element="cell_code", hide_mode="input")
    hidden += nodes.literal_block("", "line\n" * 500)
    assert page_header.count_reading_minutes(document(words, hidden)) == 10
    shown = nodes.container("", nb_element="cell_code")
    shown += nodes.literal_block("", "line\n" * 150)
    assert page_header.count_reading_minutes(document(words, shown)) == 15


def test_minutes_come_from_the_notebook(tmp_path):
    minutes = page_header.read_exercise_minutes(ROOT / "exercises" / "han" / "attention.ipynb")
    assert minutes == {"AttentionPooling": 20}
    empty = tmp_path / "a.ipynb"
    cell = nbformat.v4.new_markdown_cell("# Title")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), empty)
    with pytest.raises(ValueError, match="no table of exercises"):
        page_header.read_exercise_minutes(empty)
