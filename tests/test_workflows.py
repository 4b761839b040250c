"""What runs elsewhere: the workflows name what exists, and their scripts do what they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
on_linux = pytest.mark.skipif(
    os.name == "nt" or shutil.which("bash") is None, reason="the scripts run on Linux"
)


def read(path: Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def commands(workflow: dict) -> list[str]:
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    return [line.strip() for step in steps for line in step.get("run", "").splitlines()]


def test_the_workflows_are_there():
    assert {path.stem for path in WORKFLOWS} == {"book", "publish", "tests", "weekly"}


@each_workflow
def test_rights_are_few_and_nothing_runs_for_ever(path):
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["group"]
    rights = {}
    for name, job in workflow["jobs"].items():
        assert 5 <= job["timeout-minutes"] <= 120, name
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False, name
        if "permissions" in job:
            rights[name] = job["permissions"]
    if path.stem == "publish":
        assert rights == {
            "pages": {"pages": "write", "id-token": "write"},
            "notebooks": {"contents": "write"},
        }
        # What may write runs nothing of the course or of a package.
        assert not any("make" in c or "pip" in c for c in commands({"jobs": {
            name: workflow["jobs"][name] for name in rights}}))  # fmt: skip
    elif path.stem == "weekly":
        assert rights == {"report": {"contents": "read", "issues": "write"}}
    else:
        assert rights == {}


@each_workflow
def test_actions_are_official_and_have_a_version(path):
    used = re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert re.fullmatch(r"actions/[a-z-]+@v\d+", action), action


@each_workflow
def test_every_command_of_make_exists(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    called = {m[1] for c in commands(read(path)) if (m := re.match(r"make ([a-z-]+)", c))}
    assert called <= targets
    for script in re.findall(r"bash (\.github/\S+)", "\n".join(commands(read(path)))):
        assert (ROOT / script).is_file()


def test_no_registry_is_named():
    for path in [*WORKFLOWS, *(ROOT / "binder").iterdir()]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(index-url|extra-index-url)[ =]+\S*://|pypi\.|/simple", text), path


# The branch with the notebooks


def git(*arguments: str, folder: Path) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout.strip()


@on_linux
def test_a_branch_holds_what_the_folder_holds(tmp_path):
    remote, folder = tmp_path / "remote.git", tmp_path / "notebooks"
    git("init", "--quiet", "--bare", str(remote), folder=tmp_path)
    (folder / "binder").mkdir(parents=True)
    (folder / "binder" / "postBuild").write_text("#!/bin/bash\n", encoding="utf-8")
    (folder / "old.ipynb").write_text("1", encoding="utf-8")
    script = str(ROOT / ".github" / "push_branch.sh")

    def push() -> str:
        done = subprocess.run(
            ["bash", script, str(folder), "notebooks", str(remote)],
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert push() == "notebooks holds 2 files."
    first = git("rev-parse", "notebooks", folder=remote)
    assert push() == "notebooks is as it was."
    assert git("rev-parse", "notebooks", folder=remote) == first
    (folder / "old.ipynb").unlink()
    (folder / "new.ipynb").write_text("2", encoding="utf-8")
    assert push() == "notebooks holds 2 files."
    tree = git("ls-tree", "-r", "notebooks", folder=remote).splitlines()
    assert [(line.split()[0], line.split()[-1]) for line in tree] == [
        ("100755", "binder/postBuild"),
        ("100644", "new.ipynb"),
    ]
    assert git("rev-list", "--count", "notebooks", folder=remote) == "1"
    assert not (folder / ".git").exists()


# One issue


@on_linux
@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize(("number", "does"), [("", "issue create"), ("7", "issue comment 7")])
def test_one_issue_is_opened_or_added_to(tmp_path, number, does):
    log = tmp_path / "log"
    gh = tmp_path / "gh"
    gh.write_text(
        f'#!/bin/bash\nif [ "$2" = list ]; then echo "{number}"; exit; fi\n'
        f'echo "$@" >> "{log}"\ncat "${{@: -1}}" >> "{log}"\n',
        encoding="utf-8",
    )
    gh.chmod(0o755)
    results = {"links": {"result": "failure"}, "data": {"result": "success"}}
    subprocess.run(
        ["bash", str(ROOT / ".github" / "report.sh")],
        env=os.environ
        | {
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "RESULTS": json.dumps(results),
            "RUN": "https://example.org/run",
        },
        check=True,
    )
    said = log.read_text(encoding="utf-8")
    assert said.startswith(does)
    assert "* links" in said and "* data" not in said and "https://example.org/run" in said
    assert "close" not in said


# Binder


def test_binder_takes_torch_without_cuda_and_everything_else_from_the_requirements():
    environment = read(ROOT / "binder" / "environment.yml")
    assert environment["channels"][0] == "conda-forge"
    assert all(isinstance(line, str) for line in environment["dependencies"])  # no pins of its own
    names = {re.split(r"[<>=]", line)[0] for line in environment["dependencies"]}
    assert names == {"python", "pip", "pytorch-cpu"}
    # torch alone is named twice, in the range that the project declares.
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    declared = re.search(r'"torch(>=[\d.]+)"', project)[1]
    assert f"pytorch-cpu{declared}" in environment["dependencies"]
    python = next(d for d in environment["dependencies"] if d.startswith("python="))
    wanted = re.search(r'requires-python = "([^"]+)"', project)[1]
    assert Requirement(f"x{wanted}").specifier.contains(python.removeprefix("python=") + ".1")


@on_linux
def test_binder_installs_the_pins_but_torchs(tmp_path):
    """The script is run with a stand-in for Python that shows what it would install."""
    for name in ("requirements.txt", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(
        "#!/bin/bash\n"
        'case "$*" in\n'
        '*version*) echo "2.99.0" ;;\n'
        '*list*) cat "$PACKAGES" ;;\n'
        '*install*) for a in "$@"; do case $a in */*.txt) cat "$(dirname "$a")"/*;; esac; done ;;\n'
        "esac\n",
        encoding="utf-8",
    )
    python.chmod(0o755)

    def build(packages: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "packages").write_text(packages, encoding="utf-8")
        return subprocess.run(
            ["bash", str(ROOT / "binder" / "postBuild")],
            cwd=tmp_path,
            env=os.environ
            | {
                "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
                "PACKAGES": str(tmp_path / "packages"),
            },
            capture_output=True,
            encoding="utf-8",
        )

    done = build("numpy==2.0\ntorch==2.99.0\n")
    assert done.returncode == 0, done.stderr
    installed = set(done.stdout.splitlines())
    torches = {line for line in installed if line.startswith("torch==")}
    assert torches == {"torch==2.99.0"}
    for name in ("requirements.txt", "constraints.txt"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        assert {line for line in lines if not line.startswith("torch==")} <= installed
    done = build("torch==2.99.0\nnvidia-cublas-cu12==12.1\n")
    assert done.returncode == 1
    assert "nvidia-cublas-cu12" in done.stdout and "no room" in done.stderr


@on_linux
def test_binder_starts_what_it_is_given_with_one_thread():
    done = subprocess.run(
        ["bash", str(ROOT / "binder" / "start"), "printenv", "OMP_NUM_THREADS"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == "1"
