"""Comparisons: every row with every seed, one record, and a rehearsal that notices a change."""

from __future__ import annotations

import os
from itertools import product

import pytest
import torch
from torch import nn

from coursekit.training import device, results, seed_everything
from experiments import comparison_harness
from experiments.comparison_harness import UPDATES, Comparison, use_device


class Batch:
    def __init__(self, x):
        self.x = x

    def to(self, where):
        assert where == torch.device("cpu")
        return self


def load():
    return torch.arange(8.0).reshape(4, 2), "ab" * 32


def train_row(row, seed, data, train, scale=1.0):
    seed_everything(seed)
    model = nn.Linear(2, 1)
    history = train(
        model,
        lambda epoch: [Batch(scale * data)] * 5,
        lambda model, batch: (model(batch.x) - 1).square().mean(),
        epochs=3 if row == "short" else 6,
        progress=False,
    )
    return {
        "metrics": {"loss": history.column("loss")[-1]},
        "seconds": history.seconds,
        "history": history.epochs,
        "parameters": 3,
    }


def make(train_row=train_row):
    return Comparison(
        program="bottleneck",  # one that the commands know
        data="lines",
        rows={"short": "three epochs", "long": "six epochs"},
        seeds=(1, 2),
        settings={"rate": 1e-3},
        load=load,
        train_row=train_row,
        scorer="mean squared error",
    )


@pytest.fixture
def record(tmp_path):
    compared = make()
    with results.write_results_to(tmp_path):
        compared.main(compared.parser().parse_args(["--device", "cpu"]))
    return results.read("bottleneck", "lines", tmp_path)


def test_every_row_is_trained_with_every_seed(record):
    assert {row: found["label"] for row, found in record["rows"].items()} == make().rows
    for found in record["rows"].values():
        assert [run["seed"] for run in found["runs"]] == [1, 2]
        first, second = results.metric_values(found, "loss")
        assert first != second
        assert found["metrics"]["loss"] == pytest.approx((first + second) / 2, rel=1e-5)
    longer = record["rows"]["long"]
    assert longer["metrics"]["loss"] < record["rows"]["short"]["metrics"]["loss"]
    assert len(results.mean_rows(longer, "history", "loss")) == 6


def test_a_rehearsal_repeats_the_first_updates(record):
    again = make().rehearse(load()[0])
    assert {row: len(losses) for row, losses in again.items()} == {
        "short": UPDATES,
        "long": UPDATES,
    }
    for row, losses in again.items():
        assert losses == pytest.approx(record["rehearsal"][row], rel=1e-5)
        first_epoch = record["rows"][row]["runs"][0]["history"][0]["loss"]
        assert sum(losses[:5]) / 5 == pytest.approx(first_epoch, rel=1e-5)


def test_a_rehearsal_notices_other_data(record):
    def changed(row, seed, data, train):
        return train_row(row, seed, data, train, scale=1.01)

    again = make(changed).rehearse(load()[0])
    assert again["long"] != pytest.approx(record["rehearsal"]["long"], rel=1e-3)


@pytest.mark.parametrize(
    "rows", [[["short", "long"]], [["short"], ["long"]]], ids=["seeds", "rows"]
)
def test_parts_that_were_recorded_apart_become_one_record(tmp_path, record, rows):
    compared, parts = make(), []
    for seed, chosen in product(("1", "2"), rows):
        options = ["--seeds", seed, "--rows", *chosen, "--device", "cpu"]
        folder = tmp_path / "-".join([seed, *chosen])
        with results.write_results_to(folder):
            compared.main(compared.parser().parse_args(options))
            results.write_weights(f"model-{seed}", "lines", nn.Linear(2, 1))
        parts.append(folder / "bottleneck.lines.json")
    results.merge_results(parts, record["command"], folder=tmp_path / "both")
    merged = results.read("bottleneck", "lines", tmp_path / "both")
    assert list(merged["rows"]) == list(record["rows"])
    for row, found in record["rows"].items():
        assert results.metric_values(merged["rows"][row], "loss") == results.metric_values(
            found, "loss"
        )
        assert [run["seed"] for run in merged["rows"][row]["runs"]] == [1, 2]
        assert merged["rows"][row]["metrics"] == found["metrics"]
    assert merged["rehearsal"] == record["rehearsal"]
    for seed in ("1", "2"):
        kept = results.read_weights(f"model-{seed}", "lines", tmp_path / "both")
        assert kept["bias"].shape == (1,)


def test_the_device_can_be_named_for_a_while(monkeypatch):
    monkeypatch.delenv("COURSEKIT_DEVICE", raising=False)
    with use_device("meta"):
        assert device() == torch.device("meta")
        with use_device(None):
            assert device() == torch.device("meta")
    assert "COURSEKIT_DEVICE" not in os.environ


def test_threads_are_given_back():
    threads = torch.get_num_threads()
    make().rehearse(load()[0])
    assert torch.get_num_threads() == threads


@pytest.mark.slow
@pytest.mark.parametrize("compared", comparison_harness.list_comparisons(), ids=lambda c: c.program)
def test_a_record_still_fits_the_code(compared):
    """Where this fails, repeat the command that the record names."""
    record = results.read(compared.program, compared.data)
    data, digest = compared.load()
    assert digest == record["data_sha256"], f"other data: {record['command']}"
    for row, losses in compared.rehearse(data).items():
        expected = pytest.approx(record["rehearsal"][row], rel=compared.tolerance)
        assert losses == expected, record["command"]
