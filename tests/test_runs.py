"""The runs of classifiers at full size: when they read the test set, and what they record."""

from __future__ import annotations

import importlib
import json
import re
import sys
from argparse import Namespace

import pytest
from conftest import ROOT

from coursekit import datasets, results
from coursekit.corpora.reviews import splits


@pytest.fixture
def script(monkeypatch):
    """The script, as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "book" / "runs"))
    sys.modules.pop("classifiers", None)
    yield importlib.import_module("classifiers")
    sys.modules.pop("classifiers", None)


@pytest.fixture
def runs(monkeypatch, script):
    """The script, on made-up reviews, with what it would write and how often it read the test."""
    opened, written = [], []

    parts = {
        part: [(". ".join(map(" ".join, review.sentences)), review.label) for review in some]
        for part, some in splits(48, 24, 24, seed=1)._asdict().items()
    }
    corpus = datasets.LabelledCorpus("made-up", "free", "nobody", {}, parts)
    batches = script.Task.batches

    def counted(task, part: str, *more):
        opened.append(part)
        return batches(task, part, *more)

    monkeypatch.setattr(script.Task, "batches", counted)
    monkeypatch.setattr(datasets, "load", lambda name: corpus)
    monkeypatch.setattr(
        results, "record", lambda *names, **found: written.append(found | {"names": names})
    )

    def run(*arguments: str) -> Namespace:
        monkeypatch.setattr(
            sys, "argv", ["classifiers.py", "--minimum-count", "1", "--epochs", "2", *arguments]
        )
        script.main()
        return Namespace(opened=opened, written=written)

    return run


def test_the_test_set_is_read_once_after_all_epochs(runs):
    done = runs("--model", "average")
    assert done.opened == ["train", "validation", "train", "validation", "test"]
    (found,) = done.written
    assert found["runs"][0]["metrics"].keys() == {"accuracy", "validation_accuracy"}
    assert found["command"].startswith("python book/runs/classifiers.py --model average --epochs 2")


@pytest.mark.parametrize("closed", [["--no-test"], ["--at-least", "1.01"]])
def test_the_test_set_stays_closed(runs, closed):
    done = runs("--model", "average", *closed)
    assert done.opened == ["train", "validation", "train", "validation"]
    assert done.written == []


def test_a_run_that_gets_there_is_recorded(runs):
    done = runs("--model", "average", "--at-least", "0.01")
    assert done.opened[-1] == "test"
    assert "at-least" not in done.written[0]["command"]


def test_the_same_model_can_be_recorded_twice(runs):
    runs("--model", "average")
    done = runs("--model", "average", "--name", "average-again", "--dropout", "0.1")
    assert [found["names"][0] for found in done.written] == ["average", "average-again"]
    assert " --name average-again " in done.written[1]["command"]


def test_the_makefile_repeats_what_is_recorded(script):
    """`make full-all` runs each classifier with the settings of its file in book/results."""

    def settings(text: str) -> list[dict]:
        lines = re.findall(r"book/runs/classifiers\.py(.*)", text)
        return [vars(script.parser().parse_args(line.split())) for line in lines]

    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    repeated = settings(makefile[makefile.index("\nfull-all:") : makefile.index("\nbench:")])
    for path in results.FOLDER.glob("*.json"):
        command = json.loads(path.read_text(encoding="utf-8"))["command"]
        for recorded in settings(command):
            assert recorded in repeated, f"{path.name}: {command}"
