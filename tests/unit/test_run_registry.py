"""Tests of the run registry, and of when classifiers read the test set."""

from __future__ import annotations

import json
import subprocess
from argparse import Namespace
from pathlib import Path

import pytest
import torch

from coursekit import datasets
from coursekit.corpora.reviews import splits
from coursekit.text.vocabulary import WordVocabulary
from coursekit.training import results
from experiments import classifiers
from experiments.__main__ import main
from experiments.run_registry import ENTRY, RUNS, command, load


@pytest.fixture
def runs(monkeypatch):
    """Return the program on synthetic reviews, its records, and its number of test set readings."""
    opened, written = [], []

    parts = {
        part: [(". ".join(map(" ".join, review.sentences)), review.label) for review in some]
        for part, some in splits(48, 24, 24, seed=1)._asdict().items()
    }
    corpus = datasets.LabelledCorpus("made-up", "free", "nobody", {}, parts)
    batches = classifiers.Task.batches

    def counted(task, part: str, *more):
        opened.append(part)
        return batches(task, part, *more)

    monkeypatch.setattr(classifiers.Task, "batches", counted)
    monkeypatch.setattr(datasets, "load", lambda name: corpus)
    monkeypatch.setattr(
        results,
        "write_result",
        lambda *names, **recorded: written.append(recorded | {"names": names}),
    )

    def run(*arguments: str) -> Namespace:
        assert main(["classifiers", "--minimum-count", "1", "--epochs", "2", *arguments]) == 0
        return Namespace(opened=opened, written=written)

    return run


def test_the_test_set_is_read_once_after_all_epochs(runs):
    outcome = runs("--model", "average")
    assert outcome.opened == ["train", "validation", "train", "validation", "test"]
    (recorded,) = outcome.written
    assert recorded["runs"][0]["metrics"].keys() == {"accuracy", "validation_accuracy"}
    assert recorded["command"].startswith(
        "python -m experiments classifiers --model average --epochs 2"
    )


@pytest.mark.parametrize("closed", [["--no-test"], ["--at-least", "1.01"]])
def test_the_test_set_stays_closed(runs, closed):
    outcome = runs("--model", "average", *closed)
    assert outcome.opened == ["train", "validation", "train", "validation"]
    assert outcome.written == []


def test_a_run_that_gets_there_is_recorded(runs):
    outcome = runs("--model", "average", "--at-least", "0.01")
    assert outcome.opened[-1] == "test"
    assert "at-least" not in outcome.written[0]["command"]


def test_the_same_model_can_be_recorded_twice(runs):
    runs("--model", "average")
    outcome = runs("--model", "average", "--name", "average-again", "--dropout", "0.1")
    assert [recorded["names"][0] for recorded in outcome.written] == ["average", "average-again"]
    assert " --name average-again " in outcome.written[1]["command"]


def test_the_hierarchy_is_built_with_means_and_with_maxima():
    """A row of padding changes neither; an empty sentence gets no weight."""
    documents = torch.randint(1, 50, (2, 3, 4))
    documents[1, 2] = 0
    for model in ("hn-ave", "hn-max"):
        task = classifiers.Task(WordVocabulary([map(str, range(46))]), {}, True, 3)
        options = classifiers.parser().parse_args(["--model", model])
        net = classifiers.build(task, options).eval()
        logits, words, sentences = net(documents)
        torch.testing.assert_close(sentences[1], torch.tensor([0.5, 0.5, 0.0]))
        torch.testing.assert_close(words[0], torch.full((3, 4), 0.25))
        padded, _, _ = net(torch.nn.functional.pad(documents, (0, 2, 0, 1)))
        torch.testing.assert_close(padded, logits)
    states, mask = torch.tensor([[[1.0], [4.0], [9.0]]]), torch.tensor([[True, True, False]])
    for model, wanted in (("hn-ave", 2.5), ("hn-max", 4.0)):
        assert classifiers.HIERARCHIES[model](1, 1)(states, mask)[0].item() == wanted


def parse(command: str) -> tuple[str, dict]:
    """Return the program and the parsed options of a command without its prefix."""
    program, *options = command.split()
    return program, vars(load(program).parser().parse_args(options))


@pytest.mark.parametrize("path", sorted(results.FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_the_table_repeats_what_is_recorded(path):
    recorded = json.loads(path.read_text(encoding="utf-8"))["command"]
    assert recorded.startswith(f"{ENTRY} ")
    program, options = parse(recorded.removeprefix(f"{ENTRY} "))
    run, repeated = parse(RUNS[path.stem if path.stem in RUNS else program])
    assert (program, options) == (run, repeated)


@pytest.mark.parametrize("run", RUNS)
def test_the_command_that_is_recorded_means_the_run(run):
    program, options = parse(RUNS[run])
    repeat = command(program, Namespace(**options))
    assert parse(repeat.removeprefix(f"{ENTRY} ")) == (program, options)


def test_runs_are_listed_by_the_beginning_of_their_names(capsys):
    assert main(["--list", "bench-b"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "bench-bucketing.reviews",
        "bench-bucketing.imdb",
    ]


def test_a_run_goes_by_its_recorded_settings_and_then_by_those_that_are_given(monkeypatch):
    trained = []
    monkeypatch.setattr(classifiers, "main", trained.append)
    assert main(["han.bbc", "--epochs", "3"]) == 0
    (options,) = trained
    assert (options.model, options.data, options.epochs) == ("han", "bbc", 3)


def test_seeds_are_trained_side_by_side_and_recorded_together(monkeypatch, tmp_path):
    """Each seed in its own process; after a stop only those that are missing are trained."""
    trained = []

    def run_one(words, check, env):
        assert check and words[1:4] == ["-m", "experiments", "classifiers"]
        options = dict(zip(words[4::2], words[5::2], strict=True))
        seed, into = int(options["--seeds"]), Path(options["--into"])
        trained.append(seed)
        if seed == 3 and trained.count(3) == 1:
            raise subprocess.CalledProcessError(1, words)
        results.write_result(
            "han",
            "bbc",
            runs=[{"seed": seed, "metrics": {"accuracy": seed / 10}, "seconds": 1.0}],
            parameters=1,
            data_sha256="0",
            command=f"{ENTRY} classifiers --model han --data bbc --seeds {seed}",
            scorer="",
            folder=into,
        )

    monkeypatch.setattr(subprocess, "run", run_one)
    monkeypatch.chdir(tmp_path)
    words = ["classifiers", "--model", "han", "--seeds", "1", "2", "3", "--jobs", "2"]
    with pytest.raises(subprocess.CalledProcessError):
        main([*words, "--into", "records"])
    assert main([*words, "--into", "records"]) == 0
    assert sorted(trained) == [1, 2, 3, 3]
    merged = results.read("han", "bbc", Path("records"))
    assert merged["command"] == f"{ENTRY} classifiers --model han --data bbc --seeds 1 2 3"
    assert merged["metrics"] == {"accuracy": 0.2}
    assert merged["hardware"].endswith("shared by 2 runs")


def test_the_rows_of_a_comparison_are_trained_side_by_side(monkeypatch, tmp_path):
    trained = []

    def run_one(words, check, env):
        options = dict(zip(words[4::2], words[5::2], strict=True))
        seed, row = int(options["--seeds"]), options["--rows"]
        trained.append((seed, row))
        run = {"seed": seed, "metrics": {"exact": seed / 10}, "seconds": 1.0, "parameters": 1}
        results.write_comparison(
            "bottleneck",
            "english-korean",
            rows={row: (row.title(), [run])},
            data_sha256="0",
            command=f"{ENTRY} bottleneck --seeds {seed} --rows {row}",
            scorer="",
            rehearsal={row: [1.0]},
            folder=Path(options["--into"]),
        )

    monkeypatch.setattr(subprocess, "run", run_one)
    monkeypatch.chdir(tmp_path)
    rows = ["attention", "fixed"]
    words = ["bottleneck", "--seeds", "1", "2", "--jobs", "4", "--rows", *rows]
    assert main([*words, "--into", "records"]) == 0
    assert sorted(trained) == [(seed, row) for seed in (1, 2) for row in rows]
    merged = results.read("bottleneck", "english-korean", Path("records"))
    assert {row: results.metric_values(merged["rows"][row], "exact") for row in rows} == {
        row: [0.1, 0.2] for row in rows
    }
    assert merged["rehearsal"] == {row: [1.0] for row in rows}
    assert merged["command"] == f"{ENTRY} bottleneck --seeds 1 2"


@pytest.mark.parametrize("arguments", [["no-such-run"], ["--all", "one", "two"]])
def test_what_is_no_run_is_refused_with_a_list_of_what_there_is(arguments, capsys):
    assert main(arguments) == 2
    assert "classifiers" in capsys.readouterr().out
