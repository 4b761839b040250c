"""Greedy decoding with a scripted model: what it says is known beforehand."""

from __future__ import annotations

import pytest
import torch

from coursekit.decoding import greedy_decode
from coursekit.vocabulary import BOS, EOS, PAD

V = 10
SCRIPT = torch.tensor(
    [
        [5, 6, 7, EOS, 8, 9],
        [4, EOS, 4, 5, EOS, 4],  # says more behind its end, which must not be seen
        [9, 8, 7, 6, 5, 4],  # never ends
    ]
)


class Scripted:
    """Says a line of the script, word by word; the state is (line, position), both (B,)."""

    def __init__(self):
        self.heard = []

    def __call__(self, tokens, state):
        line, position = state
        self.heard.append(tokens.tolist())
        log_probs = torch.full((len(tokens), V), -5.0)
        log_probs[torch.arange(len(tokens)), SCRIPT[line, position]] = -0.1
        return log_probs, (line, position + 1)


def lines(*numbers):
    line = torch.tensor(numbers)
    return line, torch.zeros_like(line)


def decode(state, max_length=6):
    return greedy_decode(Scripted(), state, BOS, EOS, max_length)


def test_sentences_stop_at_eos_and_are_padded_behind_it():
    assert decode(lines(0, 1, 2)).tolist() == [
        [5, 6, 7, EOS, PAD, PAD],
        [4, EOS, PAD, PAD, PAD, PAD],
        [9, 8, 7, 6, 5, 4],
    ]


def test_decoding_ends_when_all_sentences_have():
    step = Scripted()
    tokens = greedy_decode(step, lines(1, 0), BOS, EOS, 6)
    assert tokens.tolist() == [[4, EOS, PAD, PAD], [5, 6, 7, EOS]]
    assert len(step.heard) == 4


def test_each_step_hears_the_word_before():
    step = Scripted()
    greedy_decode(step, lines(0, 2), BOS, EOS, 4)
    assert step.heard == [[BOS, BOS], [5, 9], [6, 8], [7, 7]]


def test_the_largest_length_counts_the_end_mark():
    assert decode(lines(1), max_length=2).tolist() == [[4, EOS]]
    assert decode(lines(1), max_length=1).tolist() == [[4]]
    assert decode(lines(2), max_length=3).tolist() == [[9, 8, 7]]


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_batch_says_what_each_sentence_says_alone(line):
    together = decode(lines(0, 1, 2))[line].tolist()
    alone = decode(lines(line))[0].tolist()
    assert together == alone + [PAD] * (len(together) - len(alone))


@pytest.mark.parametrize(
    ("pack", "unpack"),
    [
        (lambda line, at: torch.stack([line, at], 1), lambda s: s.unbind(1)),
        (lambda line, at: {"extra": None, "line": line, "at": at}, lambda s: (s["line"], s["at"])),
        (lambda line, at: [None, line, at], lambda s: s[1:]),
        (lambda line, at: (None, (line, at)), lambda s: s[1]),
    ],
    ids=["tensor", "dict with None", "list", "nested tuple"],
)
def test_the_state_may_be_any_of_the_usual_containers(pack, unpack):
    script = Scripted()

    def step(tokens, state):
        log_probs, (line, at) = script(tokens, unpack(state))
        return log_probs, pack(line, at)

    found = greedy_decode(step, pack(*lines(0, 1)), BOS, EOS, 6)
    assert found.tolist() == decode(lines(0, 1)).tolist()


@pytest.mark.parametrize("state", [{}, (None, None), {"a": None}])
def test_a_state_without_a_tensor_is_refused_in_one_sentence(state):
    with pytest.raises(ValueError, match="holds no tensor, so the batch size is unknown"):
        greedy_decode(lambda tokens, state: None, state, BOS, EOS, 3)


def test_a_member_without_a_tensor_is_passed_over():
    state = ((None, {}), *lines(0, 1))

    def step(tokens, state):
        log_probs, rest = Scripted()(tokens, state[1:])
        return log_probs, (state[0], *rest)

    assert greedy_decode(step, state, BOS, EOS, 6).shape[0] == 2


def test_no_graph_is_kept():
    weight = torch.randn(V, V, requires_grad=True)
    seen = []

    def step(tokens, state):
        log_probs = weight[tokens].log_softmax(-1)
        seen.append(log_probs.requires_grad)
        return log_probs, state

    tokens = greedy_decode(step, torch.zeros(2, 1), BOS, EOS, 3)
    assert tokens.dtype == torch.long
    assert not any(seen)
