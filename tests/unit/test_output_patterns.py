"""Tests that families of mistakes are recognised in every exercise, by their effect on results."""

from __future__ import annotations

import inspect
import re
import sys

import pytest
import torch
import torch.nn.functional as F

from autograder.checking.card import format_card_text
from autograder.checking.checker import verify
from autograder.diagnose.answer_identifiers import collect_identifiers, mentions_only_known_names
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import load_solution
from tests.helpers.checked_answers import find_headline

right = {name: load_solution(exercise) for name, exercise in EXERCISES.items()}


def on_output(name, change):
    """Return the right answer with a changed output (for a class, that of forward)."""
    if not EXERCISES[name].is_class:
        return lambda *args: change(right[name](*args))

    class Changed(right[name]):
        def forward(self, *args):
            return change(super().forward(*args))

    return Changed


def first(change):
    return lambda outputs: (change(outputs[0]), *outputs[1:])


def first_half(states):
    return states * (torch.arange(states.shape[-1]) >= states.shape[-1] // 2)


def even(positions):
    return positions + (torch.arange(positions.shape[-1]) % 2 == 0)


def after_two(positions):
    return positions * (1 + (torch.arange(positions.shape[-1]) > 1))


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        (
            "additive_score",
            lambda e: 2 * e,
            "The result scores is the right one times 2, in all cases.",
        ),
        ("additive_score", lambda e: -e, "has the wrong sign"),
        ("gru_cell", lambda h: h * 0, "is 0 everywhere"),
        ("gru_cell", torch.tanh, "one step too many: it is tanh of the right one"),
        ("merge_heads", lambda x: x.flip(1), "runs backwards along"),
        ("context_vector", lambda c: c.flip(0), "the right rows in another order"),
        (
            "BidirectionalEncoder",
            first(lambda h: h.roll(1, 1)),
            "too late along S: compare position 1 of yours with position 0 of the expected one",
        ),
        (
            "BidirectionalEncoder",
            first(lambda h: h.roll(-1, 1)),
            "too early along S: compare position 0 of yours with position 1 of the expected one",
        ),
        ("BidirectionalEncoder", first(first_half), "In annotations, the first half of the 2d"),
        ("sinusoidal_positions", even, "components 0, 2, 4, ... along d are wrong"),
        ("sinusoidal_positions", after_two, "components 0 and 1 are right, and all later ones"),
        ("lstm_cell", lambda both: (both[0], both[0]), "c_next is the same as h_next"),
        ("padding_mask", torch.logical_not, "True"),
        ("noam_learning_rate", lambda rate: rate * 6, "the right one times 6, in all cases"),
        ("attentional_state", lambda h: h.flatten(0, -2), "only the shape is not"),
        ("masked_softmax", lambda w: w.unsqueeze(0), "an axis of size 1 is too many"),
        ("BidirectionalEncoder", first(lambda h: h[:, :2]), "cut off along"),
    ],
)
def test_a_relation_to_the_right_result_is_named(name, change, said):
    found = find_headline(name, on_output(name, change))
    assert said in found, found


def test_a_factor_is_named_by_the_size_it_depends_on():
    scaled = on_output("gru_cell", lambda h: h * h.shape[-1] ** 0.5)
    assert "times the square root of d" in find_headline("gru_cell", scaled)


def test_only_rows_with_padding_are_wrong():
    class Overlooks(right["AdditiveAttention"]):
        def forward(self, query, keys, mask, *given):
            context, weights = super().forward(query, keys, mask, *given)
            return context + (~mask).any(-1, keepdim=True), weights

    said = find_headline("AdditiveAttention", Overlooks)
    assert "right for rows where mask is all True, and wrong for rows where it has a False" in said


def overlook_lengths(states, lengths):
    """Average over all positions; a batch may be wider than its longest sentence."""
    return right["last_state"](states, lengths) + (lengths < states.shape[1])[:, None]


def test_padding_is_recognised_where_a_batch_is_wider_than_its_sentences():
    said = find_headline("last_state", overlook_lengths)
    assert "right for rows without padding, and wrong for rows that have some: lengths" in said


def test_all_outputs_are_searched_for_weights_that_cannot_be():
    def forgets_the_mask(query, keys, values, score, mask=None):
        weights = right["attention"](query, keys, values, score)[1]
        if mask is not None:
            weights = (weights + weights * mask) / 2
        return right["context_vector"](
            weights, values
        ) if weights.dim() < 3 else weights @ values, weights

    said = find_headline("attention", forgets_the_mask)
    assert said == "Masked positions get a weight in weights; it must be exactly 0 there."

    def sums_over_queries(query, key, value, mask=None, dropout=None):
        scores = query @ key.mT / query.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e30)
        weights = scores.softmax(-2)
        return 1.5 * weights @ value, weights

    said = find_headline("scaled_dot_product_attention", sums_over_queries)
    assert "each row must sum to 1" in said or "the softmax runs along axis -2" in said, said


def test_an_input_without_influence_is_named():
    def forgets(x, h, *weights):
        return right["gru_cell"](x, 0 * h, *weights).sin()

    assert find_headline("gru_cell", forgets) == "The result does not depend on h, as it must."

    def cuts(x, h, *weights):
        return right["gru_cell"](x, h.detach(), *weights).sin()

    assert "something cuts the graph in between" in find_headline("gru_cell", cuts)


def test_what_only_the_failing_cases_have_is_named():
    class WrongIfPredictive(right["LocalAttention"]):
        def forward(self, *args):
            context, weights = super().forward(*args)
            return context + 0.3 * context.sin() * (self.kind == "predictive"), weights

    said = find_headline("LocalAttention", WrongIfPredictive)
    assert said == "Only cases with kind='predictive' fail."

    def wrong_with_mask(query, keys, values, score, mask=None):
        context, weights = right["attention"](query, keys, values, score, mask)
        return (context if mask is None else context + context.sin()), weights

    assert find_headline("attention", wrong_with_mask).startswith("Every case with mask fails")


def test_a_single_failing_kind_of_case_is_named_by_its_title():
    def clamps(scores, mask):
        return right["masked_softmax"](scores.clamp(max=700), mask)

    said = find_headline("masked_softmax", clamps)
    assert "Only this case fails: " in said, said


def test_wrong_values_come_before_a_wrong_dtype():
    single = on_output("sinusoidal_positions", lambda y: y.float())
    assert "positions is float32" in find_headline("sinusoidal_positions", single)
    wrong = on_output("sinusoidal_positions", lambda y: after_two(y).float())
    assert "components 0 and 1 are right" in find_headline("sinusoidal_positions", wrong)


def test_ids_of_another_number_are_shown_in_place_of_a_shape():
    def stops_early(step, state, *args):
        tokens, score = right["beam_search"](step, state, *args)
        return tokens[:1], score

    assert "You return tokens = [" in find_headline("beam_search", stops_early)


def test_a_wrong_shape_is_shown_where_sizes_differ_and_gets_the_names_of_axes():
    verdict = verify(
        lambda weights, values: (weights.unsqueeze(-1) * values).sum(-1),
        EXERCISES["context_vector"],
    )
    assert re.fullmatch(
        r"context has shape \(B=(\d), N=(\d)\); it must be \(B=\1, d_v=(?!\2)\d\)\.",
        verdict.headline,
    )
    assert verdict.details[0].startswith("A failing case (10 of 10 fail): all sizes different")


def test_an_overflow_is_told_from_other_infinite_numbers():
    def overflows(scores, mask):
        weights = torch.where(mask, scores, 0.0).exp() * mask
        return weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)

    assert "Only cases with numbers as large as" in find_headline("masked_softmax", overflows)
    divides = on_output("sinusoidal_positions", lambda y: y / y)
    assert "large" not in find_headline("sinusoidal_positions", divides)


def test_a_state_that_a_first_call_has_changed_is_told_from_a_wrong_step():
    class WritesIntoItsState(right["Transformer"]):
        def step(self, tokens, state):
            log_probs, after = super().step(tokens, state)
            state["caches"][:] = after["caches"]
            return log_probs, after

    said = find_headline("Transformer", WritesIntoItsState)
    assert said.startswith("The first call of step with state_1 is right, and the second one")

    class Wrong(right["Transformer"]):
        def step(self, tokens, state):
            log_probs, after = super().step(tokens, state)
            return log_probs + 1, after

    assert "The first call" not in find_headline("Transformer", Wrong)


def test_the_note_of_the_only_case_that_stops_with_an_error_is_shown():
    def stops(logits, targets, pad_id=0):
        assert (targets != pad_id).any()
        return right["sequence_loss"](logits, targets, pad_id)

    notes = {case.note for case in EXERCISES["sequence_loss"].draw(1)}
    said = find_headline("sequence_loss", stops)
    assert "AssertionError" in said and any(note and said.endswith(note) for note in notes)


def test_sizes_in_an_error_of_torch_get_the_names_of_axes():
    def forgets_the_transpose(query, keys, W, U, v):
        return (query @ W).unsqueeze(1).tanh() @ v

    said = find_headline("additive_score", forgets_the_transpose)
    assert "shapes cannot be multiplied" in said and "In this case " in said and "is d_q" in said


def test_minus_infinity_filled_in_after_the_softmax_is_named():
    said = find_headline(
        "masked_softmax", lambda scores, mask: scores.softmax(-1).masked_fill(~mask, -torch.inf)
    )
    assert "fill in -inf before the softmax" in said or "softmax" in said, said


def test_one_changed_place_is_named_with_what_it_concerns():
    def forgets_the_input(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
        return right["gru_cell"](0 * x, h, weight_ih, weight_hh, bias_ih, bias_hh)

    verdict = verify(forgets_the_input, EXERCISES["gru_cell"])
    assert verdict.headline.startswith("Your gru_cell gives exactly what a right answer gives when")
    assert "`x`" in verdict.headline
    assert verdict.hint


def shift_once_more():
    """Return a complete decoder that wrongly shifts its input itself."""
    decoder = right["AttentionDecoder"]
    space = {**vars(sys.modules[decoder.__module__]), "F": F}
    line = "embedded = self.dropout(self.embedding(tokens))"
    code = inspect.getsource(decoder)
    assert line in code
    exec(code.replace(line, f"{line}; embedded = F.pad(embedded[:, :-1], (0, 0, 1, 0))"), space)
    return space[decoder.__name__]


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        (
            "additive_score",
            lambda query, *rest: right["additive_score"](query[:1].expand_as(query), *rest),
            "the first of `query` stands for the whole batch",
        ),
        (
            "redundancy_penalty",
            lambda A: (A @ A.mT - torch.eye(A.shape[1], dtype=A.dtype)).sum((1, 2)).square().mean(),
            "`sum` comes before `square`",
        ),
        ("AttentionDecoder", shift_once_more(), "a shift by one position too many, zeros in front"),
    ],
)
def test_a_slip_is_named(name, answer, said):
    found = find_headline(name, answer)
    assert said in found, found


def test_a_cause_that_others_explain_as_well_is_not_named():
    found = find_headline(
        "context_vector", lambda weights, values: (weights[..., None] * values).amax(1)
    )
    assert "batch" not in found, found  # the only right row also has one word


def test_a_gradient_that_must_not_arrive_is_told_apart_from_one_that_is_cut():
    def leaks(*args):
        reward = args[1]
        return right["reinforce_loss"](*args) + (reward - reward.detach()).sum()

    said = find_headline("reinforce_loss", leaks)
    assert "a gradient reaches reward, which must get none" in said


# Results that differ from call to call


def test_dropout_in_evaluation_mode_is_named():
    class AlwaysDrops(right["PositionwiseFeedForward"]):
        def forward(self, x):
            return F.dropout(super().forward(x), 0.5)

    said = find_headline("PositionwiseFeedForward", AlwaysDrops)
    assert "in evaluation mode" in said and "self.training" in said


def test_something_kept_between_calls_is_named():
    calls = []

    def remembers(query, keys):
        calls.append(1)
        return right["dot_score"](query, keys) + len(calls)

    assert "keeps something from the previous call" in find_headline("dot_score", remembers)


def test_chance_in_a_function_is_named():
    def noisy(query, keys):
        return right["dot_score"](query, keys) + torch.rand(())

    assert "nothing here may depend on chance" in find_headline("dot_score", noisy)


# Method by method


def test_methods_that_are_right_are_said_to_be_right():
    class Halfway(right["AttentionDecoder"]):
        def step(self, *args):
            raise NotImplementedError()

    verdict = verify(Halfway, EXERCISES["AttentionDecoder"])
    assert "  ✓ readout: right" in verdict.details
    assert "  ✗ step: not written yet" in verdict.details
    assert "readout: 1 of 6 points" in verdict.details
    assert "AttentionDecoder.step is not written yet" in verdict.headline


def test_a_method_is_judged_apart_from_the_one_it_needs():
    class WrongStep(right["CaptionDecoder"]):
        def start(self, annotations):
            return tuple(2 * state for state in super().start(annotations))

    verdict = verify(WrongStep, EXERCISES["CaptionDecoder"])
    assert not verdict.passed
    assert any(line.startswith("  ✗ start") for line in verdict.details)
    assert "  ✓ readout: right" in verdict.details


def test_a_method_that_reads_what_only_the_answer_can_make_is_wrong_if_all_others_are_right():
    class AlwaysFirst(right["Transformer"]):
        def step(self, tokens, state):
            log_probs, after = super().step(tokens, {**state, "position": 0 * state["position"]})
            return log_probs, {**after, "position": state["position"] + 1}

    class Stops(right["Transformer"]):
        def step(self, tokens, state):
            raise ValueError("stop")

    verdict = verify(AlwaysFirst, EXERCISES["Transformer"])
    assert "  ✓ start: right" in verdict.details
    assert "  ✗ step: log_probs_2 is wrong" in verdict.details
    assert "  log_probs_2, state_2 = model.step(second, state_1)" in verdict.details
    assert "  ✗ step: stopped with an error" in verify(Stops, EXERCISES["Transformer"]).details


def test_a_wrong_result_from_what_was_written_into_is_traced_back():
    class CountsInPlace(right["Transformer"]):
        def step(self, tokens, state):
            log_probs, after = super().step(tokens, state)
            return log_probs, {**after, "position": state["position"].add_(1)}

    verdict = verify(CountsInPlace, EXERCISES["Transformer"])
    assert verdict.headline.startswith("Transformer writes into position_1 after it has returned")
    assert "  position_1 is state_1['position']" in verdict.details


def test_a_stub_that_is_called_is_named_by_its_own_name():
    def helper(scores):
        raise NotImplementedError()

    def masked_softmax(scores, mask):
        return helper(scores)

    assert find_headline("masked_softmax", masked_softmax).startswith("helper is not written yet")


# The card


def test_the_card_shows_few_numbers_themselves_and_many_from_the_first_wrong_row():
    def context_vector(weights, values):
        return right["context_vector"](weights, values) * 2

    text = format_card_text(verify(context_vector, EXERCISES["context_vector"]))
    assert "weights (B=1, N=1) = [[" in text

    def late(table):
        table = table.clone()
        table[7:] = 0.5
        return table

    wrong = on_output("sinusoidal_positions", late)
    text = format_card_text(verify(wrong, EXERCISES["sinusoidal_positions"]))
    assert "is the first wrong row" in text
    assert "-0.0000" not in text


def exp_by_name(query, keys, W, U, v):
    return torch.exp(torch.tanh((query @ W.T).unsqueeze(-2) + keys @ U.T)) @ v


def exp_by_hand(query, keys, W, U, v):
    return torch.e ** torch.tanh((query @ W.T).unsqueeze(-2) + keys @ U.T) @ v


def test_a_changed_place_is_named_in_words_that_the_answer_has():
    phrase = "there is an `exp` too many around what `tanh` gives"
    assert phrase in find_headline("additive_score", exp_by_name)
    assert "exp" not in find_headline("additive_score", exp_by_hand)


def test_names_of_helpers_and_of_methods_are_an_answers_own():
    class Answer:
        def forward(self, x):
            return exp_by_name(x, x, x, x, x).masked_softmax()

    names = collect_identifiers(Answer)
    assert {"exp", "masked_softmax", "softmax", "x"} <= names and "clamp" not in names
    assert mentions_only_known_names("there is an `exp` too many around the result", names)
    assert not mentions_only_known_names(
        "there is an `exp` too many around what `full_like` gives", names
    )
    assert mentions_only_known_names("`tanh` is left out", names)


def test_what_is_shown_is_not_empty_if_something_else_fails():
    verdict = verify(
        on_output("negative_sampling_loss", lambda x: 2 * x + 1),
        EXERCISES["negative_sampling_loss"],
    )
    assert "one pair" in verdict.details[0]


def test_methods_are_not_said_to_be_right_where_dropout_is_wrong():
    class Undropped(right["BertEmbeddings"]):
        def forward(self, *args):
            self.dropout.p = 0.0
            return super().forward(*args)

    verdict = verify(Undropped, EXERCISES["BertEmbeddings"])
    assert not verdict.passed and not any("✓" in line for line in verdict.details)
