"""Tests that interrupted trainings resume with identical results, and never from a wrong state."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from torch import nn

from coursekit import training
from coursekit.training import seed_everything, train
from coursekit.training.checkpoints import load_or_compute, save_checkpoints_to
from tests.unit.test_training import batches, squared_error


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch):
    monkeypatch.setattr(training, "device", lambda: torch.device("cpu"))


class StoppedError(Exception):
    pass


def two_trainings(stop_at=(0, 0), seed=1, scores=(3.0, 1.0, 5.0, 2.0), patience=None, epochs=4):
    """Train two models in sequence; `stop_at` is the model and epoch at which to stop."""
    seed_everything(seed)
    found = []
    for which in (1, 2):
        model = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1))

        def given(epoch, which=which):
            if (which, epoch) == stop_at:
                raise StoppedError
            return batches(epoch)

        given_scores = iter(scores)

        def validate(_, given_scores=given_scores):
            return {"score": next(given_scores)}

        history = train(
            model, given, squared_error, epochs=epochs, learning_rate=0.05, decay=True,
            validate=None if patience is None else validate,
            select=None if patience is None else "score", patience=patience, keep_last=2,
            progress=False,
        )  # fmt: skip
        found.append((model.state_dict(), history))
    return found, (random.random(), np.random.rand(), torch.rand(1).item())


def assert_same(one, other):
    (trainings, drawn), (other_trainings, other_drawn) = one, other
    assert drawn == other_drawn
    for (weights, history), (others, other_history) in zip(trainings, other_trainings, strict=True):
        assert history.column("loss") == other_history.column("loss")
        assert history.best_epoch == other_history.best_epoch
        last, other_last = history.last_weights, other_history.last_weights
        assert len(last) == len(other_last) == 2
        for state, other_state in zip(last, other_last, strict=True):
            assert all(torch.equal(state[name], other_state[name]) for name in weights)
        for name, weight in weights.items():
            assert torch.equal(weight, others[name]), name


@pytest.mark.parametrize("stop_at", [(1, 1), (1, 3), (2, 1), (2, 4)])
def test_a_stopped_training_ends_as_if_it_had_not_been_stopped(tmp_path, stop_at, capsys):
    straight = two_trainings()
    with pytest.raises(StoppedError), save_checkpoints_to(tmp_path):
        two_trainings(stop_at)
    capsys.readouterr()
    with save_checkpoints_to(tmp_path):
        assert_same(two_trainings(), straight)
    said = capsys.readouterr().out
    which, epoch = stop_at
    if epoch > 1:
        assert f"Resuming after epoch {epoch - 1} of 4 from {tmp_path / f'{which}.pt'}." in said
    assert ("after epoch 4 of 4" in said) == (which == 2), "a finished training is not repeated"


def test_the_best_epoch_and_patience_survive(tmp_path):
    straight = two_trainings(patience=2, scores=(3.0, 1.0, 0.5, 9.0))
    with save_checkpoints_to(tmp_path):
        assert_same(two_trainings(patience=2, scores=(3.0, 1.0, 0.5, 9.0)), straight)
    with save_checkpoints_to(tmp_path):  # both had stopped early, after their third epoch
        again = two_trainings(patience=2, scores=())  # nothing is validated
    assert_same(again, straight)
    assert [history.best_epoch for _, history in again[0]] == [1, 1]


def test_nothing_is_kept_unless_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    two_trainings()
    assert not list(tmp_path.rglob("*"))


def test_another_seed_begins_anew(tmp_path, capsys):
    with save_checkpoints_to(tmp_path):
        two_trainings()
    straight = two_trainings(seed=2)
    with save_checkpoints_to(tmp_path):
        assert_same(two_trainings(seed=2), straight)
    assert "different initial weights; this part starts over." in capsys.readouterr().out


@pytest.mark.parametrize("rest", [b"", b"not a file of torch"])
def test_a_broken_file_is_said_and_the_training_begins_anew(tmp_path, rest, capsys):
    with save_checkpoints_to(tmp_path):
        two_trainings()
    (tmp_path / "1.pt").write_bytes(rest)
    straight = two_trainings()
    with save_checkpoints_to(tmp_path):
        assert_same(two_trainings(), straight)
    assert f"{tmp_path / '1.pt'} cannot be read" in capsys.readouterr().out


def test_no_half_written_file_is_left_behind(tmp_path, monkeypatch):
    with save_checkpoints_to(tmp_path):
        two_trainings(epochs=1)
    before = (tmp_path / "1.pt").read_bytes()

    def full(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr("coursekit.training.checkpoints.torch.save", full)
    (tmp_path / "2.pt").unlink()
    with pytest.raises(OSError, match="no space"), save_checkpoints_to(tmp_path):
        two_trainings(epochs=1)
    assert (tmp_path / "1.pt").read_bytes() == before and not (tmp_path / "2.pt").exists()


def test_a_result_is_computed_once_for_the_same_weights(tmp_path, capsys):
    model, asked = nn.Linear(3, 1), []

    def result(text):
        def compute():
            asked.append(text)
            return {"told": [0, 1], "text": text}

        return load_or_compute(model, compute)

    assert result("not kept")["text"] == "not kept"
    assert not list(tmp_path.iterdir())
    for _ in range(2):
        with save_checkpoints_to(tmp_path):
            assert result("a") == {"told": [0, 1], "text": "a"}
            assert result("b")["text"] == "b"
    assert asked == ["not kept", "a", "b"]
    with torch.no_grad():
        model.weight += 1
    with save_checkpoints_to(tmp_path):
        assert result("new")["text"] == "new", "other weights, other results"
    assert "different initial weights; this part starts over." in capsys.readouterr().out
