"""Tests of the metrics by their definitions, and of BLEU against sacrebleu."""

from __future__ import annotations

import math

import pytest
import sacrebleu
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.training.metrics import (
    alignment_error_rate,
    argmax_links,
    bleu,
    bleu_interval,
    entropy,
    exact_match,
    hop_similarity,
)
from solutions.seq2seq.bleu import corpus_bleu

HYPOTHESES = [
    "A man is riding a brown horse, slowly.",
    "two dogs play in the snow",
    "The woman reads a book to her son .",
]
REFERENCES = [
    "a man rides a brown horse slowly.",
    "Two dogs are playing in the snow",
    "the woman reads her son a book.",
]


# BLEU


def test_bleu_is_sacrebleus():
    direct = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], tokenize="13a", lowercase=True)
    assert bleu(HYPOTHESES, REFERENCES).score == direct.score
    assert 10 < direct.score < 90


_SENTENCE = st.lists(st.sampled_from(["a", "b", "C", "cat"]), max_size=9)


@given(
    st.integers(1, 5),
    st.integers(1, 3).flatmap(  # references of a hypothesis
        lambda k: st.lists(
            st.tuples(_SENTENCE, st.lists(_SENTENCE, min_size=k, max_size=k)), min_size=1
        )
    ),
)
def test_exercise_on_bleu_is_sacrebleus(max_order, corpus):
    hypotheses = [hypothesis for hypothesis, _ in corpus]
    references = [own for _, own in corpus]
    library = sacrebleu.BLEU(tokenize="none", smooth_method="none", max_ngram_order=max_order)
    direct = library.corpus_score(
        [" ".join(words) for words in hypotheses],
        [[" ".join(words) for words in column] for column in zip(*references, strict=True)],
    )
    assert corpus_bleu(hypotheses, references, max_order) == pytest.approx(direct.score)


def test_bleu_says_how_it_was_computed():
    parts = bleu(HYPOTHESES, REFERENCES).signature.split("|")
    assert {"tok:13a", "case:lc", "nrefs:1", f"version:{sacrebleu.__version__}"} <= set(parts)


def test_the_interval_of_bleu_is_about_the_score_and_narrows_with_more_sentences():
    pairs = [
        ("a man rides a brown horse today", "a man rides a brown horse slowly"),
        ("two dogs are playing in snow", "two dogs are playing in the snow"),
        ("the woman reads her son a book", "the woman reads her son a book"),
    ]
    few, many = ([list(part) * n for part in zip(*pairs, strict=True)] for n in (10, 160))
    score = bleu(*few).score
    (low, high), (nearer, farther) = bleu_interval(*few), bleu_interval(*many)
    assert low < nearer < score < farther < high
    assert (farther - nearer) * 4 == pytest.approx(high - low, rel=0.3)
    assert bleu_interval(*few) == (low, high), "the resamples have a seed"


def test_the_interval_of_translations_that_share_nothing_is_at_0():
    assert bleu_interval(["a b c d"] * 3, ["x y"] * 3) == (0.0, 0.0)


@pytest.mark.parametrize(("hypotheses", "references"), [([], []), (["a", "b"], ["a"])])
def test_bleu_refuses_lists_that_do_not_fit_in_one_sentence(hypotheses, references):
    with pytest.raises(ValueError) as error:
        bleu(hypotheses, references)
    assert str(error.value) == (
        "bleu compares sentence by sentence; it was given "
        f"{len(hypotheses)} translations and {len(references)} references."
    )


@pytest.mark.parametrize("where", [0, 1])
def test_bleu_refuses_one_string_for_a_list(where):
    lists = [["abc"], ["abc"]]
    lists[where] = "a"
    with pytest.raises((ValueError, TypeError), match="list"):
        bleu(*lists)


# Whole sentences


def test_exact_match_is_the_share_of_right_sentences():
    assert exact_match([[1, 2], [3], [4, 5], []], [[1, 2], [3, 3], [4, 6], []]) == 0.5
    assert exact_match(["ab"], ["ab"]) == 1.0
    assert math.isnan(exact_match([], []))


def test_exact_match_refuses_lists_of_different_length():
    with pytest.raises(ValueError):
        exact_match([[1]], [[1], [2]])


# Alignments


def test_alignment_error_rate_of_a_worked_example():
    sure = {(0, 0), (1, 2)}
    possible = {(2, 1), (2, 2)}
    links = {(0, 0), (2, 1), (3, 3)}
    # |A n S| = 1, |A n P| = 2 with P = S + possible, |A| = 3, |S| = 2: 1 - 3/5
    assert alignment_error_rate([links], [sure], [possible]) == pytest.approx(0.4)
    assert alignment_error_rate([links], [sure]) == pytest.approx(1 - 2 / 5)


def test_alignment_error_rate_of_right_and_wrong():
    gold = [{(0, 0), (1, 1)}, {(0, 1)}]
    assert alignment_error_rate(gold, gold) == 0
    assert alignment_error_rate([set(), set()], gold) == 1
    assert alignment_error_rate([{(1, 0), (0, 1)}, {(1, 0)}], gold) == 1


def test_finding_only_possible_links_misses_the_sure_ones():
    assert alignment_error_rate([{(1, 1)}], [{(0, 0)}], [{(1, 1)}]) == pytest.approx(0.5)


def test_possible_includes_sure_whether_listed_again_or_not():
    sure, predicted = [{(0, 0)}], [{(0, 0), (1, 1)}]
    listed = alignment_error_rate(predicted, sure, [{(0, 0), (1, 1)}])
    assert listed == alignment_error_rate(predicted, sure, [{(1, 1)}]) == 0


def test_alignment_error_rate_counts_over_the_corpus():
    predicted = [{(0, 0)}, {(0, 0), (1, 1), (2, 2)}]
    sure = [{(0, 0)}, {(5, 5), (6, 6), (7, 7)}]
    assert alignment_error_rate(predicted, sure) == pytest.approx(1 - 2 / 8)  # not the mean, 0.5


def test_a_link_given_twice_counts_once():
    assert alignment_error_rate([[(0, 0), (0, 0)]], [[(0, 0)]]) == 0


def test_nothing_to_align_is_not_a_number():
    assert math.isnan(alignment_error_rate([set()], [set()]))


def test_links_point_to_the_largest_weight():
    weights = torch.tensor([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]])  # (T, S)
    assert argmax_links(weights) == {(1, 0), (0, 1)}
    assert argmax_links(weights, targets=[1]) == {(0, 1)}
    assert argmax_links(weights, targets=[]) == set()


# Entropy


def test_entropy_of_one_position_and_of_all():
    for dtype in (torch.float32, torch.float64):
        one_hot = torch.eye(5, dtype=dtype)
        assert torch.equal(entropy(one_hot), torch.zeros(5, dtype=dtype))
        uniform = torch.full((2, 3, 5), 0.2, dtype=dtype)
        torch.testing.assert_close(entropy(uniform), torch.full((2, 3), math.log(5), dtype=dtype))


def test_the_effective_number_of_words():
    weights = torch.tensor([[0.25, 0.25, 0.25, 0.25, 0.0], [0.5, 0.5, 0.0, 0.0, 0.0]])
    torch.testing.assert_close(entropy(weights).exp(), torch.tensor([4.0, 2.0]))


def test_the_similarity_of_hops():
    one_hot = torch.eye(3)
    assert hop_similarity(one_hot) == {"overlap": 0, "sharpness": 1, "cosine": 0}
    even = torch.full((2, 4), 0.25)
    assert hop_similarity(even) == {"overlap": 0.25, "sharpness": 0.25, "cosine": 1}
    texts = torch.rand(5, 3, 7).softmax(dim=-1)
    batched = hop_similarity(texts)
    for i, weights in enumerate(texts):
        for name, value in hop_similarity(weights).items():
            torch.testing.assert_close(batched[name][i], value)
        pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
        cosines = [torch.cosine_similarity(weights[a], weights[b], dim=0) for a, b in pairs]
        torch.testing.assert_close(batched["cosine"][i], torch.stack(cosines).mean())
    with pytest.raises(ValueError, match="at least two rows"):
        hop_similarity(torch.ones(1, 4))


def test_entropy_is_in_nats():
    weights = torch.tensor([0.9, 0.1])
    by_hand = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1))
    assert entropy(weights).item() == pytest.approx(by_hand, rel=1e-5)
