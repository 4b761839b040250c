"""Tests of the training loop: learning, best epoch, clear error messages."""

from __future__ import annotations

import math
import os
import random
import re
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from coursekit import training
from coursekit.training import History, seed_everything, train
from coursekit.training.checkpoints import save_checkpoints_to
from coursekit.training.progress_bar import ProgressBar, draw_curve

TRUE = torch.tensor([[2.0, -1.0, 0.5]])


@dataclass
class Batch:
    x: Tensor
    y: Tensor

    def to(self, device):
        return Batch(self.x.to(device), self.y.to(device))


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch):
    monkeypatch.setattr(training, "device", lambda: torch.device("cpu"))


def batches(epoch, count=8):
    generator = torch.Generator().manual_seed(epoch)
    for _ in range(count):
        x = torch.randn(16, 3, generator=generator)
        yield Batch(x, x @ TRUE.T)


def squared_error(model, batch):
    return (model(batch.x) - batch.y).square().mean()


def line(seed=0):
    torch.manual_seed(seed)
    return nn.Linear(3, 1, bias=False)


def fit(model, **options):
    options = {"epochs": 3, "learning_rate": 0.05, "progress": False} | options
    return train(model, batches, squared_error, **options)


class Scores:
    """A validation that returns given scores and records the weights it sees."""

    def __init__(self, *scores):
        self.scores = iter(scores)
        self.weights = []

    def __call__(self, model):
        self.weights.append(model.weight.detach().clone())
        return {"score": next(self.scores)}


def test_a_linear_model_learns():
    model = line()
    history = fit(model, epochs=30)
    torch.testing.assert_close(model.weight.detach(), TRUE, atol=0.01, rtol=0)
    losses = history.column("loss")
    assert losses[-1] < losses[0] / 1000
    assert history.column("epoch") == list(range(1, 31))


def test_the_recorded_loss_is_the_mean_over_the_batches():
    model = line()
    history = fit(model, epochs=1, learning_rate=0.0)
    by_hand = [squared_error(model, batch).item() for batch in batches(1)]
    assert history.column("loss") == pytest.approx([sum(by_hand) / len(by_hand)])


def test_batches_are_asked_for_by_epoch_from_one():
    asked = []

    def recorded(epoch):
        asked.append(epoch)
        return batches(epoch)

    train(line(), recorded, squared_error, epochs=3, progress=False)
    assert asked == [1, 2, 3]


def test_the_weights_of_the_best_epoch_are_restored():
    model, scores = line(), Scores(0.2, 0.9, 0.4, 0.5)
    history = fit(model, epochs=4, validate=scores, select="score")
    assert history.best_epoch == 2
    assert torch.equal(model.weight, scores.weights[1])
    assert not torch.equal(model.weight, scores.weights[3])
    assert history.column("score") == [0.2, 0.9, 0.4, 0.5]


def test_of_equal_epochs_the_first_is_kept():
    model, scores = line(), Scores(0.5, 0.5)
    assert fit(model, epochs=2, validate=scores, select="score").best_epoch == 1


def test_without_select_the_last_weights_stay():
    model, scores = line(), Scores(0.9, 0.1)
    history = fit(model, epochs=2, validate=scores)
    assert history.best_epoch == 2
    assert torch.equal(model.weight, scores.weights[-1])


def test_the_weights_of_the_last_epochs_are_kept():
    model, scores = line(), Scores(0.2, 0.9, 0.4, 0.5)
    history = fit(model, epochs=4, validate=scores, select="score", keep_last=3)
    kept = [state["weight"] for state in history.last_weights]
    assert len(kept) == 3
    assert all(torch.equal(a, b) for a, b in zip(kept, scores.weights[1:], strict=True))
    assert torch.equal(model.weight, kept[0]), "the model has those of its best epoch"
    assert fit(line()).last_weights == []


def test_patience_stops_after_so_many_epochs_without_a_better_one():
    model, scores = line(), Scores(0.1, 0.5, 0.4, 0.3, 0.9)
    history = fit(model, epochs=5, validate=scores, select="score", patience=2)
    assert len(history.epochs) == 4
    assert history.best_epoch == 2
    assert torch.equal(model.weight, scores.weights[1])


def test_patience_begins_anew_with_each_better_epoch():
    scores = Scores(0.1, 0.0, 0.2, 0.0, 0.3)
    history = fit(line(), epochs=5, validate=scores, select="score", patience=2)
    assert (len(history.epochs), history.best_epoch) == (5, 5)


def test_a_metric_that_is_never_a_number_leaves_the_last_weights():
    model, scores = line(), Scores(math.nan, math.nan)
    history = fit(model, epochs=2, validate=scores, select="score")
    assert torch.equal(model.weight, scores.weights[1])
    assert history.best_epoch == 2


def test_it_trains_in_train_mode_and_validates_in_eval_mode_without_gradients():
    model = line()
    modes = []

    def loss(model, batch):
        modes.append(("train", model.training, torch.is_grad_enabled()))
        return squared_error(model, batch)

    def validate(model):
        modes.append(("validate", model.training, torch.is_grad_enabled()))
        return {}

    train(model, batches, loss, epochs=2, validate=validate, progress=False)
    assert set(modes) == {("train", True, True), ("validate", False, False)}
    assert not model.training


class Rates(torch.optim.Adam):
    """Adam that records its learning rate and the gradient's norm at each step."""

    seen: list[tuple[float, float]]

    def step(self, *arguments, **options):
        group = self.param_groups[0]
        norm = torch.stack([p.grad.norm() for p in group["params"]]).norm().item()
        Rates.seen.append((group["lr"], norm))
        return super().step(*arguments, **options)


@pytest.fixture
def rates(monkeypatch):
    Rates.seen = []
    monkeypatch.setattr(torch.optim, "Adam", Rates)
    return Rates.seen


def test_decay_falls_linearly_to_almost_nothing(rates):
    fit(line(), epochs=4, learning_rate=0.1, decay=True)
    seen = [rate for rate, _ in rates]
    assert len(seen) == 32
    assert seen[:9] == [0.1] * 9  # the first epoch, and the first step of the second
    steps = [a - b for a, b in pairwise(seen[8:])]
    assert steps == pytest.approx([0.1 / 24] * len(steps))
    assert seen[-1] == pytest.approx(0.1 / 24)


def test_without_decay_the_rate_stays(rates):
    fit(line(), epochs=2, learning_rate=0.1)
    assert {rate for rate, _ in rates} == {0.1}


def test_a_schedule_sets_the_rate_of_each_step(rates):
    fit(line(), epochs=2, learning_rate=9.0, schedule=lambda step: 0.01 * step)
    assert [rate for rate, _ in rates] == pytest.approx([0.01 * step for step in range(1, 17)])


def test_another_optimiser_is_used_with_its_own_rate_unless_there_is_a_schedule():
    used = []

    def sgd(parameters):
        used.append(torch.optim.SGD(parameters, lr=0.125))
        return used[-1]

    history = fit(line(), optimizer=sgd, learning_rate=9.0)
    assert [group["lr"] for group in used[0].param_groups] == [0.125]
    assert history.column("loss")[-1] < history.column("loss")[0] / 4
    fit(line(), optimizer=sgd, schedule=lambda step: 0.5 / step)
    assert [group["lr"] for group in used[1].param_groups] == [0.5 / 24]


def test_decay_and_a_schedule_exclude_each_other():
    with pytest.raises(ValueError, match="pass one of them"):
        fit(line(), decay=True, schedule=lambda step: 0.1)


def test_gradients_are_clipped_to_the_norm(rates):
    fit(line(), epochs=1, clip=0.25)
    norms = [norm for _, norm in rates]
    assert max(norms) <= 0.25 + 1e-5
    assert max(norms) == pytest.approx(0.25, abs=1e-4)


def test_a_loss_that_is_not_a_number_ends_the_training_in_one_sentence():
    def loss(model, batch):
        return squared_error(model, batch) * math.nan

    with pytest.raises(FloatingPointError) as error:
        train(line(), batches, loss, epochs=3, progress=False)
    assert str(error.value) == "The loss became nan in epoch 1; use a smaller learning rate."


def test_select_and_patience_need_what_they_select_by():
    with pytest.raises(ValueError, match="pass validate too"):
        fit(line(), select="score")
    with pytest.raises(ValueError, match="pass select too"):
        fit(line(), validate=Scores(1.0), patience=2)


def test_a_select_that_validate_does_not_return_is_named():
    with pytest.raises(ValueError, match=r"'blue'.*score"):
        fit(line(), epochs=1, validate=Scores(1.0), select="blue")


def test_the_same_seed_gives_the_same_result():
    def run(seed):
        seed_everything(seed)
        model = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.3), nn.Linear(8, 1))
        history = train(model, batches, squared_error, epochs=2, progress=False)
        return history.column("loss")

    assert run(3) == run(3)
    assert run(3) != run(4)


def test_seeding_reaches_all_three_generators():
    def draw():
        return random.random(), float(np.random.rand()), torch.rand(1).item()

    seed_everything(7)
    first = draw()
    seed_everything(7)
    assert draw() == first
    seed_everything(8)
    assert all(a != b for a, b in zip(draw(), first, strict=True))


def test_history_counts_the_seconds():
    history = History([{"epoch": 1, "seconds": 1.5}, {"epoch": 2, "seconds": 2.0}], best_epoch=2)
    assert history.seconds == 3.5
    assert fit(line(), epochs=1).seconds > 0


def test_progress_is_silent_when_not_wanted(capfd):
    fit(line(), epochs=1)
    assert capfd.readouterr().err == ""
    fit(line(), epochs=1, progress=True)
    assert "epoch" in capfd.readouterr().err


def read_bar(capfd):
    """Return the last state of a progress bar."""
    return re.split(r"[\r\n]", capfd.readouterr().err.strip())[-1]


@pytest.mark.parametrize("sized", [True, False])
def test_the_bar_counts_the_steps_and_draws_the_loss(sized, capfd):
    def given(epoch):
        return list(batches(epoch, 4)) if sized else batches(epoch, 4)

    train(line(), given, squared_error, epochs=3)
    bar = read_bar(capfd)
    assert "epoch 3 of 3: 100%" in bar and "step 12 of 12" in bar
    assert re.search(r"loss \d+\.\d{3} [▁▂▃▄▅▆▇█]{12}$", bar)


def test_a_bar_with_a_known_total_moves_before_the_first_epoch_has_ended(capfd):
    bar = ProgressBar(epochs=2, done=0, steps_per_epoch=0, shown=True)
    bar.start_epoch(1, 5)
    bar.add_step(1.0)
    bar.end_epoch(1, 1)
    bar.close()
    assert "epoch 1 of 2:   0%" in capfd.readouterr().err


def test_the_bar_of_a_resumed_training_goes_on(tmp_path, capfd):
    with save_checkpoints_to(tmp_path):
        fit(line(), epochs=1)
    with save_checkpoints_to(tmp_path):
        fit(line(), epochs=3, progress=True)
    shown = capfd.readouterr().err
    counts = re.findall(r"step (\d+) of (\d+)", shown)
    assert counts[0] == ("8", "24") and counts[-1] == ("24", "24")


def test_the_bar_of_a_training_that_stops_early_ends_full(capfd):
    scores = iter([1.0, 0.5, 0.4, 0.3])
    fit(
        line(),
        epochs=9,
        progress=True,
        validate=lambda model: {"score": next(scores)},
        select="score",
        patience=2,
    )
    assert "100%" in read_bar(capfd)


def test_the_pages_of_the_site_have_no_bar():
    script = (
        "from coursekit.training.progress_bar import ProgressBar\n"
        "bar = ProgressBar(1, 0, 1, shown=True); bar.start_epoch(1, 1); bar.add_step(1.0); "
        "bar.end_epoch(1, 1); bar.close()"
    )
    plain = {name: value for name, value in os.environ.items() if name != "COURSEKIT_PAGE_BUILD"}
    for extra, is_shown in (({}, True), ({"COURSEKIT_PAGE_BUILD": "1"}, False)):
        ran = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=plain | extra
        )
        assert ran.returncode == 0 and ("epoch" in ran.stderr) == is_shown, ran.stderr


@pytest.mark.parametrize(
    ("values", "curve"),
    [
        ([], ""),
        ([3.0], "▁"),
        ([2.0, 2.0], "▁▁"),
        ([7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0], "█▇▆▅▄▃▂▁"),
        ([7.0] * 50 + [0.0] * 50, "████▁▁▁▁"),
        ([0.0] * 7 + [8.0, 8.0] + [4.0] * 7, "▁▁▁▆█▆▆▆"),
    ],
)
def test_the_curve_of_the_loss(values, curve):
    assert draw_curve(values, width=8) == curve


def test_the_device_is_one_of_the_three():
    script = "from coursekit.training import device; print(device())"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    name = ran.stdout.strip()
    if torch.cuda.is_available():
        assert name == "cuda"
    elif torch.backends.mps.is_available():
        assert name == "mps"
    else:
        assert name == "cpu"
