"""Tests of the students' bundle: everything that a student needs, and no answers."""

from __future__ import annotations

import functools
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.mistake_loader import SolutionText, load_mistakes
from autograder.instructor.authoring.mistake_parser import read_cards
from autograder.instructor.authoring.notebook_builder import strip_answers
from autograder.instructor.nbgrader import student_bundle

ROOT = Path(__file__).resolve().parents[2]
SOLVED = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.S)
SHORTEST = 15  # shorter lines reveal nothing: `return x`
# Longer lines that reveal nothing either: any code has such loops and indices.
SAYS_NOTHING = {
    "known[name]=tensor",
    "real=(tokens!=self.pad_id).unsqueeze(1)",
    "mask=mask.unsqueeze(1)",
    "forlengthinrange(1,max_length+1):",
    "for_inrange(max_length):",
    "positions=torch.arange(tokens.shape[1],device=tokens.device)",
    "raiseValueError(",
    "ifmaskisnotNone:",
    "found:dict[str,Tensor]={}",
    "fornumberinrange(count):",
    "mask=length_mask(lengths,tokens.shape[1])",
    "states=self.encoder(tokens,segments)",
    # Named in hints, as a replacement or as the mistake.
    "parameter.copy_(tensor)",
    "parameter.data=tensor",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return student_bundle.write(tmp_path_factory.mktemp("bundle") / "students")


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    return student_bundle.write(tmp_path_factory.mktemp("bundle") / "students.zip")


# Forbidden content


def squeezed(text: str) -> str:
    """Remove comments and white space, so that a different layout cannot hide an answer."""
    lines = [line.split("  #")[0] for line in text.splitlines() if not line.strip().startswith("#")]
    return re.sub(r"\s+", "", "".join(lines))


def telling(lines: list[str], known: str) -> set[str]:
    found = {squeezed(line) for line in lines}
    found -= SAYS_NOTHING
    return {line for line in found if len(line) > SHORTEST and line not in known}


ORDER = list(dict.fromkeys(exercise.assignment for exercise in EXERCISES.values()))


@functools.cache
def lines_of_solutions(first: str = ORDER[0]) -> set[str]:
    """Return the lines that occur only in the answers to an assignment and to later ones."""
    secret, known = set(), ""
    for assignment in ORDER:
        for solution in sorted((ROOT / "solutions" / assignment).glob("*/solution.py")):
            source = solution.read_text("utf-8")
            answers = "\n".join(SOLVED.findall(source))
            known += squeezed(SOLVED.sub("", source))
            known += squeezed(solution.with_name("notebook.md").read_text("utf-8"))
            if ORDER.index(assignment) < ORDER.index(first):
                known += squeezed(answers)
            else:
                secret |= telling(answers.splitlines(), known)
    return {line for line in secret if line not in known}


@functools.cache
def lines_of_mistakes() -> set[str]:
    stubs = squeezed(
        "".join(
            cell.source
            for path in (ROOT / "exercises").rglob("*.ipynb")
            for cell in nbformat.read(path, 4).cells
        )
    )
    lines = []
    for exercise in EXERCISES.values():
        folder = ROOT / "solutions" / exercise.assignment / exercise.notebook
        text = SolutionText((folder / "solution.py").read_text("utf-8"), exercise.name)
        right = text.text.splitlines()
        for card in read_cards(folder / "mistakes.md")[exercise.name]:
            wrong = text.change(card.arrows, [f for f in card.fences if f.method])
            own = "\n".join(fence.code for fence in card.fences)
            lines += [x for x in f"{wrong}\n{own}".splitlines() if x not in right]
    return telling(lines, stubs)


def texts(name: str, content: bytes) -> list[str]:
    """Return all readable text in a file, including archives and notebooks."""
    if name.endswith(".gz"):
        content = gzip.decompress(content)
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return [t for n in archive.namelist() for t in texts(n, archive.read(n))]
    found = [content.decode("utf-8", errors="replace")]
    if name.endswith(".ipynb"):
        page = nbformat.reads(content.decode("utf-8"), as_version=4)
        assert not [cell for cell in page.cells if cell.get("outputs") or cell.get("attachments")]
        found.append("\n".join(cell.source for cell in page.cells))
    if name.endswith(".json"):
        found.append("\n".join(strings(json.loads(content))))
    return found


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return [value] if isinstance(value, str) else []


@functools.cache
def everything(place: Path) -> dict[str, str]:
    """Return the squeezed content of each file of a bundle."""
    if place.is_dir():
        files = {p.relative_to(place).as_posix(): p for p in place.rglob("*") if p.is_file()}
        return {name: squeezed("\n".join(texts(name, p.read_bytes()))) for name, p in files.items()}
    with zipfile.ZipFile(place) as archive:
        return {n: squeezed("\n".join(texts(n, archive.read(n)))) for n in archive.namelist()}


def found_in(files: dict[str, str], secret: set[str]) -> list[tuple[str, str]]:
    return [(name, line) for name, text in files.items() for line in secret if line in text]


@pytest.mark.parametrize("kind", ["written", "packed"])
@pytest.mark.parametrize("lines", [lines_of_solutions, lines_of_mistakes])
def test_no_file_contains_an_answer(kind, lines, request):
    files = everything(request.getfixturevalue(kind))
    released = {name for name in files if name.removeprefix("attention-course/")[:9] == "exercises"}
    assert len(files) - len(released) > 30 < 2 * len(released)
    secret = lines()
    assert len(secret) > 20, "the test would compare nothing"
    assert found_in({n: text for n, text in files.items() if n not in released}, secret) == []


@pytest.mark.parametrize("assignment", ORDER)
def test_a_notebook_answers_only_earlier_assignments(assignment):
    files = everything(ROOT / "exercises" / assignment)
    secret = lines_of_solutions(assignment)
    assert len(files) >= 1 and len(secret) > 10, "the test would compare nothing"
    assert found_in(files, secret) == []


def test_it_ends_with_the_last_assignment_that_was_asked_for(tmp_path):
    files = student_bundle.collect_files(last="bahdanau")
    assert {n.split("/")[1] for n in files if n.startswith("exercises/")} == set(ORDER[:3])
    assert "the last assignment here is `bahdanau`" in files["README.md"].decode("utf-8")
    with pytest.raises(
        student_bundle.BundleError, match="no assignment 'bahdanaus'; there are: embedd"
    ):
        student_bundle.collect_files(last="bahdanaus")


def test_a_bundle_for_one_week_overwrites_nothing_that_a_student_wrote(tmp_path):
    for name, only in (("first", ["embeddings"]), ("second", ["seq2seq"]), ("all", [])):
        student_bundle.write(tmp_path / f"{name}.zip", only=only)
    home = tmp_path / "home"
    zipfile.ZipFile(tmp_path / "first.zip").extractall(home)
    written = home / "attention-course/exercises/embeddings/vectors.ipynb"
    written.write_text("mine")
    zipfile.ZipFile(tmp_path / "second.zip").extractall(home)  # as a desktop does, replacing
    assert written.read_text() == "mine"
    assert (home / "attention-course/exercises/seq2seq/cells.ipynb").exists()
    if shutil.which("unzip"):
        command = ["unzip", "-q", "-n", tmp_path / "all.zip", "-d", home]
        subprocess.run(command, check=True)
        assert written.read_text() == "mine"
        assert (home / "attention-course/exercises/luong/scores.ipynb").exists()
    with pytest.raises(student_bundle.BundleError, match="no assignment 'luongs'"):
        student_bundle.collect_files(only=["luongs"])


def test_the_search_finds_an_answer_in_every_kind_of_file(written, tmp_path):
    leaky = tmp_path / "leaky"
    shutil.copytree(written, leaky)
    answer = "    hidden = torch.tanh( projected_query.unsqueeze(1)\n        + projected_keys )\n"
    (leaky / "coursekit" / "plots.py").write_text(answer)
    page = nbformat.read(leaky / "exercises/bahdanau/scores.ipynb", 4)
    page.cells[3].source = answer
    nbformat.write(page, leaky / "exercises/bahdanau/scores.ipynb")
    (leaky / "autograder/expected_values/x.gz").write_bytes(
        gzip.compress(b"\0\xff" + answer.encode())
    )
    (leaky / "autograder/expected_values/x.json").write_text(json.dumps({"odd": [answer]}))
    with zipfile.ZipFile(leaky / "more.zip", "w") as archive:
        archive.writestr("x.txt", answer)
    given = found_in(everything(written), lines_of_solutions())  # in later notebooks
    leaked = found_in(everything(leaky), lines_of_solutions())
    assert len({name for name, _ in leaked} - {name for name, _ in given}) == 5


@pytest.mark.parametrize("kind", ["written", "packed"])
def test_no_file_has_the_name_of_something_secret(kind, request):
    for name in everything(request.getfixturevalue(kind)):
        for word in ("solution", "oracle", "misconception", "mistake", "instructor", "examin"):
            assert word not in name.lower(), name


def test_it_has_no_hidden_test_and_no_grade_to_read(written):
    files = everything(written)
    assert not [name for name, text in files.items() if "HIDDENTESTS" in text]
    assert not [name for name in files if name.endswith((".db", ".pyc", ".log"))]


# Required content


def test_it_has_what_a_student_needs(written):
    names = {path.relative_to(written).as_posix() for path in written.rglob("*") if path.is_file()}
    for exercise in EXERCISES.values():
        assert f"exercises/{exercise.assignment}/{exercise.notebook}.ipynb" in names
        assert f"autograder/expected_values/{exercise.assignment}/{exercise.name}.json" in names
    assert {
        "README.md", "LICENSE", "pyproject.toml", "requirements.txt", "constraints.txt",
        "autograder/checking/checker.py", "coursekit/data/lesson_data.py",
        "coursekit/widgets/live/engine.js",
    } <= names  # fmt: skip
    for path in (ROOT / "exercises").rglob("*.ipynb"):
        given, handed_out = (
            nbformat.read(folder / path.relative_to(ROOT), 4).cells for folder in (ROOT, written)
        )
        assert [c.id for c in handed_out] == [c.id for c in given]
        texts = [strip_answers(c.source) if c.cell_type == "markdown" else c.source for c in given]
        assert [c.source for c in handed_out] == texts


def test_it_has_hints_and_no_answers_to_questions(written):
    files = everything(written / "exercises")
    assert len([name for name, text in files.items() if "Hint1" in text]) > 15
    assert not [name for name, text in files.items() if "Answer1" in text or "book/" in text]
    assert "Answer1" in "".join(everything(ROOT / "exercises").values())


def test_the_archive_has_the_same_files(written, packed):
    with zipfile.ZipFile(packed) as archive:
        assert archive.testzip() is None
        inside = {
            info.filename.removeprefix("attention-course/"): archive.read(info)
            for info in archive.infolist()
        }
    outside = {
        p.relative_to(written).as_posix(): p.read_bytes() for p in written.rglob("*") if p.is_file()
    }
    assert inside == outside
    assert list(inside) == sorted(inside)


def test_two_archives_are_the_same(packed, tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Seoul")
    again = student_bundle.write(tmp_path / "another-name.zip")
    assert again.read_bytes() == packed.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["another-name.zip"]


def test_what_the_students_install_is_declared(written):
    ours, theirs = (
        student_bundle.tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
        for folder in (ROOT, written)
    )
    assert theirs["project"]["dependencies"] == ours["project"]["dependencies"]
    assert theirs["project"]["requires-python"] == ours["project"]["requires-python"]
    assert theirs["project"]["version"] == ours["project"]["version"]
    assert "scripts" not in theirs["project"]
    assert "optional-dependencies" not in theirs["project"]
    found = theirs["tool"]["setuptools"]["packages"]["find"]["include"]
    assert found == ["coursekit*", "autograder*"]

    lines = (written / "requirements.txt").read_text("utf-8").splitlines()
    pinned = {line for line in lines if "==" in line}
    assert pinned < set((ROOT / "requirements.txt").read_text("utf-8").splitlines())
    names = {line.split("==")[0] for line in pinned}
    declared = {re.match(r"[\w-]+", line)[0] for line in theirs["project"]["dependencies"]}
    assert names == declared | {"jupyterlab"}


# The bundle works on its own


def run_with_only(bundle_folder: Path, code: str) -> subprocess.CompletedProcess:
    """Run code in a fresh interpreter with the bundle and installed packages, not this clone."""
    # -S skips the .pth files, and with them the clone, which is an editable install.
    start = "import sys; sys.path[:0] = [{!r}]; sys.path += {!r}\n".format(
        str(bundle_folder), [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    )
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", start + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        cwd=bundle_folder,
        env=os.environ | {"PYTHONIOENCODING": "utf-8", "MPLBACKEND": "agg"},
    )


RIGHT = "def context_vector(weights, values):\n    return (weights[..., None] * values).sum(1)\n"
WRONG = "def context_vector(weights, values):\n    return values.mean(1)\n"


def test_a_check_works_with_only_the_bundle(written):
    done = run_with_only(written, f"from autograder import check\n{RIGHT}\ncheck(context_vector)")
    assert done.returncode == 0, done.stderr
    assert "✓ context_vector" in done.stdout

    done = run_with_only(written, f"from autograder import check\n{WRONG}\ncheck(context_vector)")
    assert done.returncode == 1
    assert "CheckFailed" in done.stderr
    titles = [m.title for m in load_mistakes(EXERCISES["context_vector"])]
    assert [title for title in titles if title in done.stdout], done.stdout


def test_every_module_of_the_bundle_can_be_imported(written):
    code = """
        import importlib, pkgutil
        import autograder, coursekit

        for package in (autograder, coursekit):
            for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
                if not module.name.endswith("__main__"):
                    importlib.import_module(module.name)
        ours = [m for n, m in sys.modules.items() if n.split(".")[0] in ("autograder", "coursekit")]
        print(len(ours), {m.__file__.startswith(sys.path[0]) for m in ours})
    """
    done = run_with_only(written, code)
    assert done.returncode == 0, done.stderr
    modules = len([p for n in ("autograder", "coursekit") for p in (written / n).rglob("*.py")])
    assert done.stdout.split() == [str(modules - 1), "{True}"]  # all but datasets/__main__.py


@pytest.mark.parametrize(
    "module", ["solutions", "solutions.bahdanau.scores", "autograder.instructor"]
)
def test_what_the_students_must_not_have_is_not_there(written, module):
    done = run_with_only(written, f"import {module}")
    assert "ModuleNotFoundError" in done.stderr


@pytest.mark.slow
def test_the_bundle_installs_into_a_fresh_environment(packed, tmp_path):
    """As its README says: unpack, install, open a notebook, write an answer, run it."""
    shutil.unpack_archive(packed, tmp_path)
    (folder,) = (p for p in tmp_path.iterdir())
    readme = (folder / "README.md").read_text("utf-8")
    assert "python -m venv .venv" in readme
    (install,) = re.findall(r"python -m pip (install .*)", readme)
    subprocess.run([sys.executable, "-m", "venv", folder / ".venv"], check=True)
    python = folder / ".venv" / "bin" / "python"
    done = subprocess.run(
        [python, "-m", "pip", *install.split(), "--quiet"],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    path = folder / "exercises" / "bahdanau" / "scores.ipynb"
    page = nbformat.read(path, 4)
    page.cells = [c for c in page.cells if not c.id.startswith("look")]
    for cell in page.cells:
        if cell.id == "context_vector":
            cell.source = RIGHT
    nbformat.write(page, path)
    code = """
        import nbformat
        from nbclient import NotebookClient

        page = nbformat.read("scores.ipynb", 4)
        NotebookClient(page, allow_errors=True, kernel_name="python3").execute()
        for cell in page.cells:
            if cell.id.startswith("test-"):
                print(cell.id, "passed" if "✓" in str(cell.outputs) else "failed")
    """
    done = subprocess.run(
        [python, "-c", textwrap.dedent(code)],
        cwd=path.parent, capture_output=True, text=True, env=os.environ | {"PYTHONUTF8": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "test-context_vector passed" in done.stdout
    assert "test-additive_score failed" in done.stdout
    for name in ("jupyter-lab",):
        assert (folder / ".venv" / "bin" / name).is_file()
    missing = subprocess.run([python, "-c", "import solutions"], capture_output=True, cwd=tmp_path)
    assert missing.returncode != 0
