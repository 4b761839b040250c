"""Tests of greedy decoding with a scripted model, rows of a state, and beam search.

The scripted model has a known output. For beam search, the reference solution is compared with
greedy decoding and with an exhaustive search.
"""

from __future__ import annotations

from collections import namedtuple
from itertools import product

import pytest
import torch

from autograder.exercises._fakes import TableStep
from coursekit.models.greedy_decoding import choose, device_of, greedy_decode
from coursekit.text.vocabulary import BOS, EOS, PAD
from solutions.seq2seq.decoding import beam_search

V = 10
SCRIPT = torch.tensor(
    [
        [5, 6, 7, EOS, 8, 9],
        [4, EOS, 4, 5, EOS, 4],  # tokens after its end must be ignored
        [9, 8, 7, 6, 5, 4],  # never ends
    ]
)


class Scripted:
    """Outputs a line of the script word by word; the state is (line, position), both (B,)."""

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

    tokens = greedy_decode(step, pack(*lines(0, 1)), BOS, EOS, 6)
    assert tokens.tolist() == decode(lines(0, 1)).tolist()


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


# Choosing rows of a state

ROWS = torch.tensor([2, 0, 2])


def test_choose_picks_rows_in_the_order_asked_for():
    state = torch.arange(6.0).reshape(3, 2)
    assert choose(state, ROWS).tolist() == [[4, 5], [0, 1], [4, 5]]
    assert choose(state, torch.tensor([], dtype=torch.long)).shape == (0, 2)


def test_choose_keeps_the_form_of_the_state():
    Pair = namedtuple("Pair", ["h", "c"])
    line, mask = torch.tensor([5, 6, 7]), torch.tensor([True, False, False])
    state = {"a": (line, [mask, None]), "b": Pair(line, 3), "c": ()}
    chosen = choose(state, ROWS)
    assert chosen["a"][0].tolist() == [7, 5, 7]
    assert chosen["a"][1][0].tolist() == [False, True, False]
    assert chosen["a"][1][1] is None
    assert type(chosen["a"]) is tuple
    assert type(chosen["a"][1]) is list
    assert chosen["b"].h.tolist() == [7, 5, 7]
    assert chosen["b"].c == 3
    assert chosen["c"] == ()


def test_choose_leaves_the_state_it_was_given_alone():
    state = {"h": torch.zeros(3, 2)}
    choose(state, ROWS)["h"].add_(1)
    assert (state["h"] == 0).all()


def test_the_device_of_a_state_is_that_of_its_tensors():
    assert device_of({"a": (None, torch.zeros(1))}) == torch.device("cpu")
    with pytest.raises(ValueError, match="holds no tensor"):
        device_of((None,))


# Beam search


def table(seed, v):
    return 2 * torch.randn(1, v, v, generator=torch.Generator().manual_seed(seed)).double()


@pytest.mark.parametrize("seed", range(10))
def test_a_beam_of_one_is_greedy_decoding(seed):
    step, state = TableStep("tensor"), table(seed, 5)
    tokens, score = beam_search(step, state, 1, 2, 3, 6)
    (greedy,) = greedy_decode(step, state, 2, 3, 6)
    assert torch.equal(tokens, greedy)
    assert tokens.dtype == torch.long
    assert float(score) == pytest.approx(total(state, tokens.tolist()))


def total(state, words):
    """Return log p of a sentence, summed word by word."""
    step, score = TableStep("tensor"), 0.0
    for last, word in zip([2, *words], words, strict=False):
        log_probs, state = step(torch.tensor([last]), state)
        score += log_probs[0, word].item()
    return score


@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_beam_that_holds_everything_finds_the_best_of_all_sentences(seed, alpha):
    state, longest = table(seed, 4), 4
    sentences = {
        words[: words.index(3) + 1] if 3 in words else words
        for words in product(range(4), repeat=longest)
    }
    best = max(sentences, key=lambda words: total(state, words) / len(words) ** alpha)
    tokens, score = beam_search(TableStep("tensor"), state, 1000, 2, 3, longest, alpha)
    assert tuple(tokens.tolist()) == best
    assert float(score) == pytest.approx(total(state, best) / len(best) ** alpha)


def test_a_beam_search_keeps_no_graph():
    state = table(0, 4).requires_grad_()
    _, score = beam_search(TableStep("tensor"), state, 3, 2, 3, 5)
    assert not score.requires_grad
