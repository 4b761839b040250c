"""Builds the students' bundle: exercises, `coursekit` and the checks, without answers.

The bundle contains what nbgrader released. Each file is compared with a fresh release, so that
neither an outdated exercise nor a notebook solved in place gets into the bundle. If the self-study
edition was released, its answers and its links to solutions are left out.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.utils import compute_checksum, find_all_files
from traitlets.config import Config

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.notebook_builder import ROOT, strip_answers
from autograder.instructor.grading.course_folder import Course, CourseError
from autograder.instructor.nbgrader.release import strip_solutions

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGES = ("coursekit", "autograder")
# The instructor's part of `autograder`, which no check needs.
EXCLUDED_PATHS = {
    f"autograder/{name}" for name in ("instructor", "sandbox", "cli.py", "__main__.py")
}
# Packages that open notebooks; everything else that a student needs is a dependency.
TOOLS = {"jupyterlab"}

README = """\
# {title}

The exercises of the course, and the checks that tell you whether your answers are right.

## Install

You need Python 3.10, 3.11 or 3.12. In this folder:

```console
python -m venv .venv
source .venv/bin/activate
python -m pip install -r requirements.txt -e .
```

On Windows the second line is `.venv\\Scripts\\activate`.

## Open

```console
jupyter lab exercises
```

The notebooks, in the order of the course; the last assignment here is `{last}`. Some read what you
wrote in another one, from the disk: save that one first. How long you take depends on how well you
know torch; half to one and a half times the minutes here is usual.

{notebooks}

## The next bundle

If you already have a folder `attention-course`, unpack a new bundle over it, but keep what you
wrote: `unzip -n` and the name of the new file add what is new and overwrite nothing. Where your
system only offers to replace files, unpack into another folder, and move the new folders in its
`exercises` into yours.

## Check

Replace `raise NotImplementedError()` with your code, run the cell, then run the `check(...)` below
it. A green card means that your answer is right. Otherwise the card shows what is wrong, with the
smallest case that fails. You may check as often as you like, and any way of computing the right
values is right.

Below the text of an exercise of two dots and more are hints, folded; each goes one step further.

Hand in the notebooks under the names they have. Write in the cells that are yours, play with those
that begin with `# play`, add cells where you like, and leave the others as they are: they are
locked. To try something in one of them, copy it and change the copy.
"""


class BundleError(CourseError):
    """Raised if the bundle cannot be written; the message says in one sentence what to do."""


def write(folder: Path, course: Path = ROOT, last: str = "", only: Collection[str] = ()) -> Path:
    """Write the students' bundle.

    Args:
        folder: an empty or new folder to write to; or a file that ends in ".zip", for a
            reproducible archive, which takes the place of an earlier bundle.
        course: the folder with nbgrader_config.py, the sources and the release.
        last: the last assignment in the bundle, because later notebooks contain the answers to
            earlier ones; "" for all assignments.
        only: the only assignments in the bundle; empty for all.

    Returns:
        folder.

    Raises:
        BundleError: if the destination is taken, or a released file does not match its source.
        CourseError: if there is no course in the folder.
    """
    folder = Path(folder)
    packed = folder.suffix == ".zip"
    if packed and folder.exists():
        if not _is_bundle(folder):
            raise BundleError(f"{folder} is another file, not a bundle: choose another name.")
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BundleError(f"{folder} is not empty: choose a new folder for the bundle.")
    files = collect_files(Path(course), last, only)
    if packed:
        _pack(folder, files)
    else:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return folder


def collect_files(
    course: Path = ROOT, last: str = "", only: Collection[str] = ()
) -> dict[str, bytes]:
    """Return the bundle's files, sorted by name; see `write` for the arguments.

    Raises:
        BundleError: if a released file does not match its source, or the assignment is unknown.
    """
    if not (ROOT / "pyproject.toml").is_file():
        raise BundleError(
            "The bundle is made from a clone of the course: install it with `pip install -e .`."
        )
    order = list(dict.fromkeys(exercise.assignment for exercise in EXERCISES.values()))
    # Loading the settings also writes the notebooks of all text masters, as for nbgrader.
    loaded = Course(course)
    sources = course / loaded.directory.source_directory
    names = list(dict.fromkeys([*order, *sorted(p.parent.name for p in sources.glob("*/*.ipynb"))]))
    for name in filter(None, (last, *only)):
        if name not in names:
            raise BundleError(f"There is no assignment {name!r}; there are: {', '.join(names)}.")
    if last and last not in order:
        raise BundleError(f"{last} has no place in the order of the course: name it with --only.")
    left_out = set(order[order.index(last) + 1 :] if last else [])
    left_out |= set(names) - set(only) if only else set()
    exercises = dict(_released(loaded, left_out))
    project = tomllib.loads(_text(ROOT / "pyproject.toml"))
    files = {f"exercises/{name}": content for name, content in exercises.items()}
    for package in PACKAGES:
        files |= _package(package)
    files["pyproject.toml"] = _project(project).encode()
    files["requirements.txt"] = _requirements(project).encode()
    files["README.md"] = _readme(project, exercises).encode()
    for name in ("constraints.txt", "LICENSE"):
        files[name] = (ROOT / name).read_bytes()
    return dict(sorted(files.items()))


def _released(course: Course, left_out: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each released file, except those of some assignments."""
    directory, config = course.directory, course.app.config
    sources = course.root / directory.source_directory
    released = course.root / directory.release_directory
    if not sources.is_dir():
        raise BundleError(f"There is no folder {sources}: run this in the course's folder.")
    found = False
    for assignment in sorted(path for path in sources.iterdir() if path.is_dir()):
        if assignment.name in left_out or not (released / assignment.name).is_dir():
            continue  # not yet for students
        for source in sorted(map(Path, find_all_files(str(assignment), directory.ignore))):
            if (source.parent / "notebook.md").exists():
                continue  # the folder of a master is private, whatever the settings ignore
            name = source.relative_to(sources).as_posix()
            given = released / name
            content = given.read_bytes() if given.is_file() else None
            handed_out = None if content is None else _for_class(source, content, config)
            if handed_out is None:
                what = "is missing" if content is None else "is not what its source gives"
                raise BundleError(
                    f"{directory.release_directory}/{name} {what}: run `make exercises`, or in a "
                    f"folder of your own `nbgrader generate_assignment {assignment.name} --force`."
                )
            found = True
            yield name, handed_out
    if not found:
        raise BundleError(
            f"Nothing is released in {released}: run `nbgrader generate_assignment` first."
        )


def _for_class(source: Path, content: bytes, config: Config) -> bytes | None:
    """Return a released file as a class gets it, or None if it does not match its source."""
    if source.suffix != ".ipynb":
        return content if source.read_bytes() == content else None
    fresh = strip_solutions(nbformat.read(source, 4), config)
    try:
        given = json.loads(content)
        if json.loads(fresh) == given:
            return content
        for cell in given["cells"]:  # the release may be the self-study edition
            if cell["cell_type"] == "markdown":
                cell["source"] = strip_answers("".join(cell["source"]))
                options = cell["metadata"]["nbgrader"]
                options["checksum"] = compute_checksum(nbformat.from_dict(cell))
                cell["source"] = cell["source"].splitlines(keepends=True)
    except (ValueError, TypeError, KeyError):  # the released file is not a notebook
        return None
    return fresh.encode() if json.loads(fresh) == given else None


def _package(package: str) -> dict[str, bytes]:
    files = {}
    for path in sorted((ROOT / package).rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        parts = name.split("/")
        if (
            path.is_file()
            and "/".join(parts[:2]) not in EXCLUDED_PATHS
            and "__pycache__" not in parts
            and not any(part.startswith(".") for part in parts)
        ):
            files[name] = path.read_bytes()
    return files


def _project(project: dict[str, Any]) -> str:
    """Return a pyproject.toml that installs what is in the bundle."""
    ours = project["project"]
    build = {"build-system": project["build-system"]}
    names = (
        "name", "version", "description", "readme", "requires-python", "license", "license-files",
        "dependencies",
    )  # fmt: skip
    data = project["tool"]["setuptools"]["package-data"]
    tables = build | {
        "project": {name: ours[name] for name in names},
        "tool.setuptools.packages.find": {"include": [f"{package}*" for package in PACKAGES]},
        "tool.setuptools.package-data": {name: data[name] for name in PACKAGES if name in data},
    }
    return "\n".join(f"[{title}]\n{_lines(table)}" for title, table in tables.items())


def _lines(table: dict[str, Any]) -> str:
    # Strings and lists of strings look the same in TOML and JSON.
    return "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in table.items()
    )


def _requirements(project: dict[str, Any]) -> str:
    """Return the lines of our requirements.txt that a student needs."""
    needed = {_name(line) for line in project["project"]["dependencies"]} | TOOLS
    ours = _text(ROOT / "requirements.txt").splitlines()
    pinned = [line for line in ours if _name(line) in needed]
    return "\n".join(["# What the notebooks need.", "-c constraints.txt", *pinned, ""])


def _name(requirement: str) -> str:
    """Return the normalised name of the distribution; "" for a comment or an option."""
    found = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", requirement)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def _readme(project: dict[str, Any], released: dict[str, bytes]) -> str:
    """Return the students' README, which lists the notebooks in the order of the course."""
    places = dict.fromkeys(f"{e.assignment}/{e.notebook}.ipynb" for e in EXERCISES.values())
    notebooks = [name for name in released if name.endswith(".ipynb")]
    notebooks = [n for n in places if n in notebooks] + [n for n in notebooks if n not in places]
    last = notebooks[-1].split("/")[0]
    return README.format(
        title=project["project"]["description"].split(":")[0],
        last=last,
        notebooks="\n".join(f"* {_about(name, released[name])}" for name in notebooks),
    )


def _about(name: str, content: bytes) -> str:
    """Return a notebook's line in the README: its path, its duration, and what it needs."""
    minutes = sum(
        e.minutes for e in EXERCISES.values() if f"{e.assignment}/{e.notebook}.ipynb" == name
    )
    said = [f"`exercises/{name}`"]
    if minutes:
        said.append(f"about {minutes} minutes")
    brought = re.search(r"^import_answers\((.*)\)", "\n".join(_code(content)), re.MULTILINE)
    if brought:
        said.append("after " + " and ".join(f"`{n}`" for n in re.findall(r'"(.*?)"', brought[1])))
    return ", ".join(said)


def _code(content: bytes) -> Iterator[str]:
    for cell in json.loads(content)["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"])


def _is_bundle(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
    return bool(names) and all(name.startswith("attention-course/") for name in names)


def _pack(path: Path, files: dict[str, bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    with zipfile.ZipFile(partial, "w") as archive:
        for name, content in files.items():
            # One top-level folder, and no time, owner or system of the packing machine.
            entry = zipfile.ZipInfo(f"attention-course/{name}", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    partial.replace(path)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
