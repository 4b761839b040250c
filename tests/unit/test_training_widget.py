"""The explorer of a training: what is sent to the browser, and rejected input."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from coursekit.widgets import TrainingExplorer
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused

SENTENCE = {"source": ["the", "cat", "sleeps", "<eos>"], "target": ["le", "chat", "dort"]}


def snapshot(update, share, convert=list):
    weights = [[share, 1 - share, 0.0, 0.0]] * 3
    seen = {"probabilities": convert([share] * 3), "weights": convert(weights), "written": "le"}
    return {"update": update, "loss": 4 - share, "sentences": [seen]}


@pytest.mark.parametrize("convert", [list, np.array, torch.tensor])
def test_numbers_are_sent_in_thousandths(convert):
    taken = [snapshot(0, 0.12345, convert), snapshot(7, 1.0, convert)]
    explorer = TrainingExplorer([SENTENCE], taken, language="fr", word=1)
    state = json.loads(json.dumps(explorer.get_state()["sentences"]))
    (sentence,) = state
    assert sentence["title"] == "the cat sleeps <eos>"
    first, last = sentence["frames"]
    assert first["probabilities"] == [123] * 3 and first["weights"][2] == [123, 877, 0, 0]
    assert last["weights"][0] == [1000, 0, 0, 0] and last["written"] == "le"
    assert explorer.updates == [0, 7] and explorer.losses == [3.877, 3.0]
    assert explorer.shown == {"sentence": 0, "snapshot": 1, "word": 1}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([], [snapshot(0, 0.1), snapshot(1, 0.2)]), "at least one sentence"),
        (([SENTENCE], [snapshot(0, 0.1)]), "at least two snapshots"),
        (([SENTENCE], [snapshot(3, 0.1), snapshot(3, 0.2)]), "updates rise"),
        (
            ([SENTENCE | {"target": ["le"]}], [snapshot(0, 0.1), snapshot(1, 0.2)]),
            "sentence 0 needs 1 probabilities and weights of the shape",
        ),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    with refused(message):
        TrainingExplorer(*given)


def test_a_word_that_is_not_there_is_refused():
    with refused("no target word 3"):
        TrainingExplorer([SENTENCE], [snapshot(0, 0.1), snapshot(1, 0.2)], word=3)


@pytest.mark.parametrize(
    ("thousandths", "written"), [(0, "< 1 %"), (4, "< 1 %"), (12, "1 %"), (1000, "> 99 %")]
)
def test_no_probability_is_written_as_0_or_100_percent(thousandths, written):
    assert javascript(TrainingExplorer, f"inPercent({thousandths})") == written


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (0, "“le” has a probability of 92 % and looks most at “the” (0.70) and “cat” (0.25). "),
        (1, "“chat” has a probability of 5 %. "),
    ],
)
def test_a_moment_is_told_in_words(word, said):
    frame = {"probabilities": [920, 50], "weights": [[700, 250, 50], [40, 30, 20]]}
    sentence = {"source": ["the", "cat", "s"], "target": ["le", "chat"], "frames": [frame]}
    shown = {"snapshot": 0, "word": word}
    call = f"inWords({json.dumps(sentence)}, {json.dumps(shown)}, [1200])"
    told = javascript(TrainingExplorer, call)
    assert told == f"After 1,200 of 1,200 updates {said}1 of the 2 words has more than one half."
