"""Tests of the architecture: imports point only to lower layers, and no file is long."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Layers from bottom to top: a package may import itself and those before it.
PACKAGES = ("coursekit", "solutions", "autograder", "experiments", "book", "tools", "tests")
# Layers of the autograder: each may import itself and those before it.
ROOMS = [
    "autograder.spec",
    "autograder.exercises",
    "autograder.run",
    "autograder.diagnose",
    "autograder.trace",
    "autograder.expected_values",
    "autograder.checking",
    "autograder",  # check(), which learners import
    "autograder.sandbox",
    "autograder.instructor.sanitize",
    "autograder.instructor.formatting",
    "autograder.instructor.timestamps",
    "autograder.instructor.authoring",
    "autograder.instructor.mutation",
    "autograder.instructor.expected_values",
    "autograder.instructor.grading",
    "autograder.instructor",  # examine(), which hidden tests import
    "autograder.instructor.nbgrader",
    "autograder.instructor.collecting",
    "autograder.instructor.report",
    "autograder.instructor.exports",
    "autograder.instructor.commands",
    "autograder.cli",
    "autograder.__main__",
]


def list_modules():
    """Return the paths of all modules by their dotted names."""
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = path
    return found


MODULES = list_modules()


def list_imports(name, path):
    """Return the project's modules that a module imports, at any place in it.

    That includes imports for type checkers, and names passed to `import_module` as plain strings.
    """
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    named = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, *([base] if base else [])])
            members = {f"{base}.{alias.name}" for alias in node.names}
            named.update(members & MODULES.keys() or {base})
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            named.update(a.value for a in node.args if isinstance(a, ast.Constant))
    return {other for other in named if other in MODULES and other != name}


IMPORTS = {name: list_imports(name, path) for name, path in MODULES.items()}


def find_room(name):
    """Return the index in ROOMS of a module."""
    fitting = [room for room in ROOMS if f"{name}.".startswith(f"{room}.")]
    return ROOMS.index(max(fitting, key=len))


def find_circle(graph):
    """Return modules with a circular import, or []."""
    done, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name) :]
        if name in done:
            return []
        path.append(name)
        for other in sorted(graph.get(name, ())):
            if circle := visit(other):
                return circle
        done.add(path.pop())
        return []

    return next((circle for name in sorted(graph) if (circle := visit(name))), [])


def test_no_module_is_part_of_a_circle():
    assert find_circle(IMPORTS) == []


def test_the_search_finds_a_circle():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"b"}}
    assert find_circle(graph) == ["b", "c", "d"]
    assert find_circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_floor_imports_from_one_above(package):
    for name, others in IMPORTS.items():
        if name.split(".")[0] == package:
            above = PACKAGES[PACKAGES.index(package) + 1 :]
            wrong = [other for other in others if other.split(".")[0] in above]
            assert not wrong, f"{name} imports {', '.join(wrong)}"


def test_no_room_of_the_autograder_imports_from_one_above():
    for name, others in IMPORTS.items():
        if name.split(".")[0] == "autograder":
            room = find_room(name)
            wrong = [o for o in others if o.startswith("autograder") and find_room(o) > room]
            assert not wrong, f"{name} imports {', '.join(wrong)}"


def test_no_file_has_more_than_500_lines():
    scripts = [p for p in (ROOT / "coursekit").rglob("*.js") if "vendor" not in p.parts]
    lines = {path: path.read_text("utf-8").count("\n") for path in (*MODULES.values(), *scripts)}
    assert len(lines) > 500
    assert {path.name: count for path, count in lines.items() if count > 500} == {}


def test_settings_name_tests_that_exist():
    settings = [ROOT / ".pre-commit-config.yaml", ROOT / "Makefile", ROOT / ".ci" / "run"]
    settings += (ROOT / ".github" / "workflows").iterdir()
    named = [
        name
        for path in settings
        for name in re.findall(r"\btests/[\w/]+\b(?:\.py|(?=[\s\"']))", path.read_text("utf-8"))
    ]
    assert len(named) > 5
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_documents_name_files_that_exist(document):
    """A path, or its end; a name in capitals stands for others."""
    folders = ("autograder", "book", "coursekit", "experiments", "solutions", "tests", "docs")
    files = [f"/{path.name}" for path in ROOT.iterdir()]
    for folder in folders:
        files += [f"/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / folder).rglob("*.*")]
    text = (ROOT / document).read_text("utf-8")
    for name in re.findall(r"`([\w./-]+\.(?:py|md|yml|csv|css|bib|txt))`", text):
        if "NN_" not in name and not name.endswith(".yml"):
            assert any(file.endswith(f"/{name}") for file in files), f"{document} names {name}"
