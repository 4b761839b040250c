"""Cheats with files in the submission's folder: links, odd names, shadowing files."""

from __future__ import annotations

import copy
import io
import json
import zipfile

from tests.submissions.cheats import After, Cheat, Files, Link, Pipe, Scene
from tests.submissions.cheats.cheat_builders import RIGHT, WRONG, handed_in, page

NOTHING: dict[str, float] = {}


def _linked(slug: str, title: str, target: str, hard: bool = False, **more) -> Cheat:
    """Return a cheat whose notebook is a link to another file."""

    def build(scene: Scene) -> Files:
        return {"scores.ipynb": Link(target, hard)}

    return Cheat(slug, title, "submission_folder", build, honest=NOTHING, **more)


def _beside(slug: str, title: str, files, opening: str = "", **more) -> Cheat:
    """Return a cheat with additional files next to a notebook with wrong answers."""

    def build(scene: Scene) -> Files:
        found = {name: text.replace("@MARK@", scene.mark) for name, text in files.items()}
        return handed_in(page(scene, opening=opening)) | {n: t.encode() for n, t in found.items()}

    return Cheat(slug, title, "submission_folder", build, **more)


def _folder_is_a_link(scene: Scene) -> Files:
    return {".": Link("../aaron/bahdanau")}


def _folder_is_the_source(scene: Scene) -> Files:
    return {".": Link("../../solutions/bahdanau")}


def _pipe(scene: Scene) -> Files:
    return {"scores.ipynb": Pipe()}


def _links_beside(scene: Scene) -> Files:
    """Return wrong answers, with links that may make the grader include the solution."""
    opening = """
from pathlib import Path
import json

STOLEN = {}
for name in ("helper.txt", "data/scores.ipynb", "all/bahdanau/scores.ipynb", "book.db"):
    try:
        text = Path(name).read_text()
        for cell in json.loads(text)["cells"]:
            if cell["cell_type"] == "code":
                try:
                    exec("".join(cell["source"]), STOLEN)
                except Exception:
                    pass
    except (OSError, ValueError) as error:
        print(error)
STOLEN.setdefault("torch", torch)
"""
    taken = {
        name: f'{code}\n{name} = STOLEN.get("{name}", {name})\n' for name, code in WRONG.items()
    }
    source = "../../../solutions/bahdanau"
    return handed_in(page(scene, taken, opening)) | {
        "helper.txt": Link(f"{source}/scores.ipynb"),
        "data": Link(source),
        "all": Link("../../../solutions"),
        "book.db": Link("../../../gradebook.db"),
    }


def _zipped_judge(scene: Scene) -> Files:
    """Return a zipped package named autograder: nbgrader excludes .py files, but not this."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name in ("autograder/__init__.py", "autograder/instructor/__init__.py"):
            file.writestr(name, "def check(answer): pass\nexamine = check\n")
    opening = """
import sys

sys.path.insert(0, "helpers.zip")
for name in [name for name in sys.modules if name.split(".")[0] == "autograder"]:
    del sys.modules[name]
sys.meta_path.sort(key=lambda finder: "editable" in repr(finder).lower())
from autograder import check
"""
    return handed_in(page(scene, opening=opening)) | {"helpers.zip": packed.getvalue()}


def _nested(scene: Scene) -> Files:
    """Return another student's right notebook in folders that a search for notebooks may find."""
    right = handed_in(page(scene, RIGHT))["scores.ipynb"]
    places = ("bahdanau/scores.ipynb", ".ipynb_checkpoints/scores-checkpoint.ipynb")
    return handed_in(page(scene)) | dict.fromkeys(places, right)


def _odd_notebook_names(scene: Scene) -> Files:
    """Return notebooks whose names a careless program may treat as options, commands or paths."""
    honest = handed_in(page(scene))
    text = honest["scores.ipynb"]
    names = (
        f"$(touch {scene.mark}-run).ipynb",
        f"; touch {scene.mark}-run;.ipynb",
        f"`touch {scene.mark}-run`.ipynb",
        "--force.ipynb",
        "-rf.ipynb",
        "..\\..\\aaron\\bahdanau\\scores.ipynb",
        "%2e%2e%2f%2e%2e%2fscores.ipynb",
        "scores.ipynb\n.ipynb",
        "ｓcores.ipynb",
        "scores%s%n{0}.ipynb",
        "*.ipynb",
        "test-scores.ipynb",
    )
    return honest | dict.fromkeys(names, text)


def _names_without_letters(scene: Scene) -> Files:
    """Return files whose names are not text, are too long, or contain line breaks."""
    names = ("caf\udce9.txt", "\udcff\udcfe", "two\nlines.txt", "x" * 250 + ".txt", "a\tb.csv")
    return handed_in(page(scene)) | dict.fromkeys(names, b"1,2\n")


def _names_that_lead_out(scene: Scene) -> Files:
    """Return attachments and saved pictures with file names that point elsewhere."""
    found = page(scene)
    out = f"../../../../{scene.mark}.png"
    cell = copy.deepcopy(found.cells[0])
    cell.source = f"![picture](attachment:{out})"
    cell.id = "picture"
    cell.metadata = {}
    cell.attachments = {out: {"image/png": "aGVyZSBJIHdhcw=="}}
    found.cells.append(cell)
    for number, place in enumerate((out, f"/tmp/{scene.mark}.png")):
        cell = copy.deepcopy(found.cells[1])
        cell.metadata = {"filenames": {"image/png": place}, "name": place}
        cell.id = f"picture-{number}"
        cell.source = "1"
        cell.outputs = [
            {
                "output_type": "display_data",
                "data": {"image/png": "aGVyZSBJIHdhcw=="},
                "metadata": {"filenames": {"image/png": place}},
            }
        ]
        found.cells.append(cell)
    return handed_in(found)


def _timestamp(slug: str, title: str, text: str) -> Cheat:
    return _beside(slug, title, {"timestamp.txt": text})


def _not_a_notebook(scene: Scene) -> Files:
    page_of_json = {"cells": [], "points": 10, "score": 10, "nbformat": 4, "nbformat_minor": 5}
    return {"scores.ipynb": json.dumps(page_of_json).encode(), "translator.ipynb": b"\x80\x04N."}


def _no_mark(after: After) -> list[str]:
    """Check that the feedback contains nothing of an environment or a password file."""
    return [
        f"{word} in the feedback" for word in ("root:x:0", "/bin/bash") if word in after.feedback
    ]


SHADOWS = {
    f"{name}": "# @MARK@\ndef check(answer): pass\nexamine = check\n"
    for name in (
        "autograder.py",
        "autograder/__init__.py",
        "autograder/instructor/__init__.py",
        "torch.py",
        "json.py",
        "sitecustomize.py",
        "usercustomize.py",
        "safetensors.py",
        "ipykernel_launcher.py",
        "nbgrader_config.py",
        "jupyter_nbconvert_config.py",
        "ipython_config.py",
        "ipython_kernel_config.py",
        "conftest.py",
        "scores.py",
        "solutions/__init__.py",
        "solutions/bahdanau/scores/solution.py",
    )
}
STARTUP = "import torch\ntorch.allclose = lambda *given, **more: True\n"

CHEATS = [
    _linked(
        "link-to-the-source",
        "the notebook is a symbolic link to the source notebook",
        "../../../solutions/bahdanau/scores.ipynb",
    ),
    _linked(
        "link-to-the-solutions",
        "the notebook is a symbolic link to the reference solutions",
        "../../../solutions/bahdanau/scores/solution.py",
    ),
    _linked(
        "link-to-another-student",
        "the notebook is a symbolic link to another student's",
        "../../aaron/bahdanau/scores.ipynb",
    ),
    _linked(
        "hard-link-to-the-source",
        "the notebook is a second name of the source notebook",
        "../../../solutions/bahdanau/scores.ipynb",
        hard=True,
    ),
    _linked(
        "link-to-passwords", "the notebook is a link to /etc/passwd", "/etc/passwd", check=_no_mark
    ),
    _linked(
        "link-to-a-process", "the notebook is a link to /proc/self/environ", "/proc/self/environ"
    ),
    _linked(
        "link-to-zeros",
        "the notebook is a link to /dev/zero",
        "/dev/zero",
        not_on_stock="it would take all the memory",
    ),
    _linked("link-to-itself", "the notebook is a link to itself", "scores.ipynb"),
    _linked("link-to-a-folder", "the notebook is a link to the course", "../../.."),
    Cheat(
        "pipe",
        "the notebook is a pipe that nobody writes to",
        "submission_folder",
        _pipe,
        honest=NOTHING,
    ),
    Cheat(
        "folder-of-another",
        "the folder is a link to another student's",
        "submission_folder",
        _folder_is_a_link,
        honest=NOTHING,
    ),
    Cheat(
        "folder-of-the-source",
        "the folder is a link to the course's sources",
        "submission_folder",
        _folder_is_the_source,
        honest=NOTHING,
    ),
    Cheat(
        "links-beside",
        "links to the solution beside the notebook",
        "submission_folder",
        _links_beside,
    ),
    Cheat(
        "zipped-judge",
        "an autograder of one's own in a zip file",
        "submission_folder",
        _zipped_judge,
    ),
    Cheat("nested", "right notebooks of others in folders below", "submission_folder", _nested),
    Cheat(
        "odd-names", "names that are commands or paths", "submission_folder", _odd_notebook_names
    ),
    Cheat(
        "names-no-text", "file names that are no text", "submission_folder", _names_without_letters
    ),
    Cheat(
        "names-that-lead-out",
        "pictures to be saved elsewhere",
        "submission_folder",
        _names_that_lead_out,
    ),
    Cheat(
        "not-a-notebook", "JSON with a score", "submission_folder", _not_a_notebook, honest=NOTHING
    ),
    _beside("shadows", "modules and settings that shadow the real ones", SHADOWS),
    _beside(
        "own-profile",
        "start-up files and kernels of one's own in hidden folders",
        {
            ".ipython/profile_default/startup/00.py": STARTUP,
            "profile_default/startup/00.py": STARTUP,
            ".jupyter/jupyter_config.py": STARTUP,
            "share/jupyter/kernels/python3/kernel.json": '{"argv": ["true"], "display_name": "x"}',
            ".pth": "import os\n",
        },
        opening="import os\nos.environ.update(HOME=os.getcwd(), IPYTHONDIR='.ipython')",
    ),
    _timestamp("timestamp-nonsense", "a time of handing in that is none", "yesterday, @MARK@"),
    _timestamp("timestamp-early", "handed in before the course began", "1970-01-01 00:00:01 UTC"),
]
