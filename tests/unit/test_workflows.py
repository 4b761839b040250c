"""Tests of the GitHub workflows and Binder: existing commands, working scripts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.helpers.built_site import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
on_linux = pytest.mark.skipif(
    os.name == "nt" or shutil.which("bash") is None, reason="the scripts run on Linux"
)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_every_command_of_make_and_every_script_exists(path):
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    run = "\n".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert set(re.findall(r"^\s*make ([a-z-]+)", run, re.M)) <= targets
    for script in re.findall(r"bash (\.github/\S+)", run):
        assert (ROOT / script).is_file()


def test_no_registry_is_named():
    for path in [*WORKFLOWS, *(ROOT / "binder").iterdir(), ROOT / "constraints.txt"]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"index-url[ =]+\S*://|pypi\.|/simple|file:", text), path


# The branch with the notebooks


def git(*arguments: str, folder: Path) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout.strip()


@on_linux
def test_commits_are_checked_with_the_locked_ruff():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    hooks = {hook["id"]: hook for repo in config["repos"] for hook in repo["hooks"]}
    locked = re.findall(r"^ruff==\S+", (ROOT / "constraints.txt").read_text("utf-8"), re.M)
    assert [hooks[name]["additional_dependencies"] for name in ("ruff", "ruff-format")] == [
        locked
    ] * 2


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
