"""Tests of chapter 2's explorers: the measured state sent to the browser, rejected input."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from coursekit.widgets import BeamExplorer, SearchRecorder, StateExplorer, record_searches
from solutions.seq2seq.decoding import beam_search
from tests.helpers.one_line_errors import refused

WORDS = ["many", "cats", "sleep"]
LEFT = [[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.25049, 1.2, 1.0]]

EOS, A, B = 0, 1, 2
NAMES = {EOS: "<eos>", A: "a", B: "b", 3: "<bos>"}
# p of the next word after the words so far: greedy takes a, but b leads to more certain words.
TABLE = {(): [0.1, 0.5, 0.4], (A,): [0.4, 0.3, 0.3], (B,): [0.9, 0.05, 0.05]}


class Table:
    """A model whose state consists of the words read so far."""

    def __call__(self, tokens, state):
        words = torch.cat([state, tokens.unsqueeze(1)], dim=1)
        rows = [TABLE.get(tuple(row[1:]), [0.98, 0.01, 0.01]) for row in words.tolist()]
        return torch.tensor(rows).log(), words


def recorded(beam_size, **options):
    recorder = SearchRecorder(Table())
    state = recorder.start(torch.zeros(1, 0, dtype=torch.long))
    tokens, score = beam_search(recorder, state, beam_size, 3, EOS, 4)
    return (
        recorder.steps(beam_size, EOS, lambda ids: [NAMES[i] for i in ids], **options),
        tokens.tolist(),
        float(score),
    )


def told(step):
    return [(e["parent"], e["word"], e["fate"]) for e in step]


def test_state_holds_words_and_the_lower_triangle():
    explorer = StateExplorer(WORDS, LEFT, what="Measured.")
    assert explorer.examples == [{"words": WORDS, "left": [[1.0], [0.5, 1.0], [0.25, 1.2, 1.0]]}]
    state = explorer.get_state()
    assert json.loads(json.dumps(state["examples"])) == explorer.examples
    assert (state["example"], state["position"], state["what"]) == (
        0,
        2,
        "Measured.",
    )  # after the last word


@pytest.mark.parametrize("convert", [np.array, torch.tensor, lambda rows: rows])
def test_what_is_left_may_be_any_kind_of_array(convert):
    explorer = StateExplorer([WORDS, ["yes"]], [convert(LEFT), convert([[1.0]])])
    assert [len(e["words"]) for e in explorer.examples] == [3, 1]
    assert explorer.examples[0]["left"][2] == [0.25, 1.2, 1.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("many cats", LEFT), "list of at least one word"),
        (([], LEFT), "list of at least one word"),
        ((WORDS, LEFT[:2]), "one row and one column for each of the 3 words"),
        ((WORDS, [[float("nan")] * 3] * 3), "must contain only finite numbers from 0 up"),
        ((WORDS, [[-1.0] * 3] * 3), "must contain only finite numbers from 0 up"),
        (([WORDS, WORDS], [LEFT]), "2 sentences but 1 tables"),
        (([WORDS, []], [LEFT, LEFT]), "of sentence 1"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(arguments, message):
    with refused(message):
        StateExplorer(*arguments)


def test_a_greedy_search_is_recorded():
    steps, tokens, _ = recorded(1)
    assert tokens == [A, EOS]
    assert told(steps[0]) == [(-1, "a", "kept"), (-1, "b", "cut"), (-1, "<eos>", "cut")]
    assert told(steps[1])[0] == (0, "<eos>", "finished")
    assert steps[1][0]["total"] == pytest.approx(np.log(0.5 * 0.4), abs=1e-3)


def test_a_beam_of_two_finds_what_greedy_misses_and_the_record_shows_how():
    steps, tokens, score = recorded(2)
    assert tokens == [B, EOS]
    assert told(steps[0])[:2] == [(-1, "a", "kept"), (-1, "b", "kept")]
    assert told(steps[1])[:2] == [(1, "<eos>", "finished"), (0, "<eos>", "finished")]
    assert steps[-1][0]["total"] == pytest.approx(score, abs=1e-3)


@pytest.mark.parametrize("beam_size", [1, 2, 3, 4])
def test_a_record_agrees_with_the_search(beam_size):
    steps, tokens, score = recorded(beam_size, cut=1)
    finished = [
        (e["total"], k, place)
        for k, step in enumerate(steps)
        for place, e in enumerate(step)
        if e["fate"] == "finished"
    ]
    assert len(finished) <= beam_size
    total, k, place = max(finished)
    words = []
    while k >= 0:
        words.insert(0, steps[k][place]["word"])
        place, k = steps[k][place]["parent"], k - 1
    assert words == [NAMES[i] for i in tokens]
    assert total == pytest.approx(score, abs=1e-3)
    for step in steps:
        totals = [e["total"] for e in step]
        assert totals == sorted(totals, reverse=True)
        assert sum(e["fate"] == "cut" for e in step) <= 1


def test_hypotheses_that_run_out_of_words_count_as_finished():
    recorder = SearchRecorder(Table())
    beam_search(recorder, recorder.start(torch.zeros(1, 0, dtype=torch.long)), 2, 3, EOS, 1)
    steps = recorder.steps(2, EOS, lambda ids: [NAMES[i] for i in ids])
    assert [e["fate"] for e in steps[0]] == ["finished", "finished", "cut"]


def test_searches_with_several_beams_are_recorded():
    words = {"names": lambda ids: [NAMES[i] for i in ids]}
    model = SimpleNamespace(
        encode=lambda source, lengths: torch.zeros(1, 0, dtype=torch.long),
        step=lambda tokens, state: Table()(tokens, state),
    )

    def search(step, state, beam, bos, eos, longest):
        return beam_search(step, state, beam, 3, EOS, 4)

    found = record_searches(search, model, [5, 6], **words, beam_sizes=(1, 2))
    for beam in (1, 2):
        steps, tokens, score = recorded(beam)
        assert found[beam]["words"] == words["names"](tokens)
        assert found[beam]["log_p"] == pytest.approx(score)
        assert [len(step) for step in found[beam]["steps"]] == [len(step) for step in steps]
    assert found[2]["log_p"] > found[1]["log_p"]


def test_the_beam_explorer_holds_the_searches():
    steps, _, _ = recorded(2)
    explorer = BeamExplorer([WORDS], [{2: steps, 1: recorded(1)[0]}])
    [search] = explorer.searches
    assert search["source"] == WORDS
    assert [beam["size"] for beam in search["beams"]] == [1, 2]
    assert search["beams"][1]["steps"] == steps
    assert json.loads(json.dumps(explorer.searches)) == explorer.searches


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s[1][0].update(parent=7), "without a parent"),
        (lambda s: s[0][0].update(parent=0), "without a parent"),
        (lambda s: s[0][0].update(fate="lost"), "whose fate"),
        (lambda s: s[0][0].update(total=float("nan")), "not finite"),
        (lambda s: s[0][0].pop("word"), "an incomplete extension"),
        (lambda s: s.clear(), "has no steps"),
    ],
)
def test_a_search_that_does_not_fit_is_refused(change, message):
    steps = recorded(2)[0]
    change(steps)
    with pytest.raises(ValueError, match=message):
        BeamExplorer([WORDS], [{2: steps}])


def test_as_many_searches_as_sentences():
    with pytest.raises(ValueError, match="1 sentences and 0 searches"):
        BeamExplorer([WORDS], [])


def test_explorers_open_where_there_is_something_to_see():
    first = {size: recorded(size)[0] for size in (1, 2)}
    explorer = BeamExplorer([WORDS], [first])
    assert (explorer.beam, explorer.position) == (1, len(first[2]))  # the whole search with a beam
    greedy = BeamExplorer([WORDS], [{1: first[1]}])
    assert (greedy.beam, greedy.position) == (0, len(first[1]))
    assert BeamExplorer([WORDS], [first], position=1, beam=0).position == 1
    assert StateExplorer([WORDS, ["yes"]], [LEFT, [[1.0]]], example=1).position == 0
