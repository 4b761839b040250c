"""Tests of check(): its messages to students and its side effects."""

from __future__ import annotations

import inspect
import sys

import pytest
import torch
from torch import nn

from autograder import CheckFailed, check
from autograder.checking.card import format_card_text
from autograder.checking.checker import find_exercise, verify
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import load_solution
from tests.helpers.checked_answers import ATTENTION, SOFTMAX, give_name, solve_softmax, write_card


class Stub(nn.Module):
    """The constructor from the stub of AdditiveAttention, with the parameters."""

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__()
        self.W = nn.Parameter(torch.zeros(hidden_size, query_size))
        self.U = nn.Parameter(torch.zeros(hidden_size, key_size))
        self.v = nn.Parameter(torch.zeros(hidden_size))


class Pieces(Stub):
    """A right module; each wrong one below replaces one part."""

    def project(self, keys):
        return keys @ self.U.T

    def energies(self, query, projected):
        return torch.tanh((query @ self.W.T).unsqueeze(1) + projected) @ self.v

    def weigh(self, scores, mask):
        return solve_softmax(scores, mask)

    def forward(self, query, keys, mask, projected_keys=None):
        projected = self.project(keys) if projected_keys is None else projected_keys
        weights = self.weigh(self.energies(query, projected), mask)
        return torch.einsum("bn,bnd->bd", weights, keys), weights


class KeepsTheProjection(Pieces):
    """A wrong module that reuses the projected keys of the first batch."""

    cached = None

    def forward(self, query, keys, mask, projected_keys=None):
        if projected_keys is None:
            if self.cached is None:
                self.cached = self.project(keys)
            projected_keys = self.cached
        return super().forward(query, keys, mask, projected_keys)


class OverwritesProjectedKeys(Pieces):
    def energies(self, query, projected):
        projected += (query @ self.W.T).unsqueeze(1)
        return torch.tanh(projected) @ self.v


class OneBufferForAllCalls(Pieces):
    """A wrong module that returns the same tensor each time, so that calls overwrite results."""

    buffer = None

    def forward(self, query, keys, mask, projected_keys=None):
        context, weights = super().forward(query, keys, mask, projected_keys)
        if torch.is_grad_enabled():
            return context, weights
        if self.buffer is None or self.buffer.shape != weights.shape:
            self.buffer = torch.empty_like(weights)
        self.buffer.copy_(weights)
        return context, self.buffer


class LargeEpsilon(Pieces):
    def weigh(self, scores, mask):
        e = scores.exp() * mask
        return e / (e.sum(-1, keepdim=True) + 1e-2)


# Arguments of check


def test_right_answer_returns_none_and_prints_one_card(capsys):
    assert check(give_name(lambda scores, mask: solve_softmax(scores, mask))) is None
    out, err = capsys.readouterr()
    assert out.startswith("✓ masked_softmax: right in all ")
    assert len(out.splitlines()) == 1
    assert err == ""


def test_validate_shows_the_first_line_of_the_card(monkeypatch):
    """nbgrader's Validate shows errors only, no cards."""
    with pytest.raises(CheckFailed) as failed:
        check(give_name(lambda scores, mask: scores.softmax(-1) * mask))
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    (line,) = failed.value._render_traceback_()
    assert line.startswith("CheckFailed: ✗ masked_softmax: Your mask comes after the softmax")
    monkeypatch.delenv("NBGRADER_EXECUTION")
    assert failed.value._render_traceback_() == ["CheckFailed: see the card above."]


def test_wrong_answer_raises_an_assertion_error_with_the_text_of_the_card(capsys):
    with pytest.raises(CheckFailed) as caught:
        check(give_name(lambda scores, mask: scores))
    assert isinstance(caught.value, AssertionError)
    assert str(caught.value) == capsys.readouterr().out.rstrip("\n")
    assert str(caught.value).startswith("✗ masked_softmax: ")


@pytest.mark.parametrize(
    ("passed", "kind", "sentence"),
    [
        (
            "masked_softmax",
            TypeError,
            "Pass the function itself, without quotes: check(masked_softmax).",
        ),
        (
            None,
            TypeError,
            "check takes a function or class, not a NoneType: write its name without parentheses, "
            "as in check(masked_softmax).",
        ),
        (
            torch.ones(2),
            TypeError,
            "check takes a function or class, not a Tensor: write its name without parentheses, "
            "as in check(masked_softmax).",
        ),
        (
            nn.Dropout(),
            LookupError,
            "There is no exercise named 'Dropout'; keep the name of the stub.",
        ),
        (
            give_name(lambda: None, "my_mask"),
            LookupError,
            "There is no exercise named 'my_mask'; keep the name of the stub. Did you mean "
            "causal_mask or padding_mask or mask_tokens?",
        ),
        (
            give_name(lambda s, m: s, "maskedsoftmax"),
            LookupError,
            "There is no exercise named 'maskedsoftmax'; keep the name of the stub. Did you mean "
            "masked_softmax?",
        ),
    ],
)
def test_what_is_no_answer_gets_one_sentence(passed, kind, sentence):
    with pytest.raises(kind) as caught:
        check(passed)
    assert str(caught.value).strip("'\"") == sentence
    assert type(caught.value).__name__ == kind.__name__


def test_an_object_or_a_function_in_place_of_the_class():
    class AdditiveAttention(nn.Module):
        pass

    with pytest.raises(TypeError, match=r"the class itself, not an object.*check\(Additive"):
        check(AdditiveAttention())
    with pytest.raises(TypeError, match=r"must be a class, as in the stub: class AdditiveAtt"):
        check(give_name(lambda *given: None, "AdditiveAttention"))
    assert find_exercise(AdditiveAttention, EXERCISES) is ATTENTION


# Behaviour of answers


def test_untouched_stub():
    def masked_softmax(scores, mask):
        raise NotImplementedError()

    verdict = verify(masked_softmax, SOFTMAX)
    assert format_card_text(verdict) == (
        "✗ masked_softmax is not written yet: replace raise NotImplementedError() with your code, "
        "run the cell, and check again."
    )


def test_half_a_stub_names_the_method():
    class Half(Stub):
        def project(self, keys):
            return keys @ self.U.T

        def forward(self, query, keys, mask, projected_keys=None):
            raise NotImplementedError

    assert write_card(Half, ATTENTION).startswith("✗ AdditiveAttention.forward is not written yet")


def test_not_implemented_by_torch_is_not_the_stub():
    text = write_card(lambda scores, mask: mask.softmax(-1))
    assert "not written yet" not in text
    assert "raised NotImplementedError" in text
    assert "not implemented for 'Bool'" in text


def test_wrong_signature():
    assert write_card(lambda scores: scores) == (
        "✗ masked_softmax must take 2 arguments here, (scores, mask); keep the signature of the "
        "stub, (scores, mask)."
    )

    class ThreeOnly(Pieces):
        def forward(self, query, keys, mask):
            return super().forward(query, keys, mask)

    assert write_card(ThreeOnly, ATTENTION).startswith(
        "✗ AdditiveAttention.forward must take 4 arguments here, "
        "(query, keys, mask, projected_keys); keep the signature"
    )

    class Two(Pieces):
        def __init__(self, size):
            super().__init__(size, size, size)

    assert "with (query_size, key_size, hidden_size); keep the __init__" in write_card(
        Two, ATTENTION
    )


def test_more_arguments_with_defaults_are_fine():
    assert verify(lambda s, m, dim=-1, *rest, **more: solve_softmax(s, m), SOFTMAX).passed


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (lambda w: None, "masked_softmax returned None; does it end in a return statement?"),
        (lambda w: w.detach().numpy(), "as a torch.Tensor; it returned a numpy.ndarray."),
        (lambda w: w.tolist(), "as a torch.Tensor; it returned a list."),
        (lambda w: 1.0, "as a torch.Tensor; it returned a float."),
        (lambda w: w.unsqueeze(0), "weights has shape (1, 2, N=3); it must be (2, N=3)."),
        (lambda w: w.float(), "weights is float32 for inputs in float64; the result must have"),
        (lambda w: w > 0, "weights is bool for inputs in float64"),
        (lambda w: w - 2, "weights has negative entries"),
        (lambda w: w * 0.5, "The result weights is the right one times 1/2, in all cases."),
        (lambda w: w * (1 + w), "of weights sums to 2.0000; each row must sum to 1"),
        (lambda w: w + (w == 0) * 0.1, "Masked positions get a weight in weights"),
        (lambda w: w / (w > 0), "weights has NaN entries"),
        (lambda w: w.detach() + 0, "from the graph"),
    ],
)
def test_wrong_results(result, sentence):
    assert sentence in write_card(lambda scores, mask: result(solve_softmax(scores, mask)))


def test_number_of_results():
    class One(Pieces):
        def forward(self, *given):
            return super().forward(*given)[0]

    class Three(Pieces):
        def forward(self, *given):
            return (*super().forward(*given), None)

    wanted = "AdditiveAttention.forward must return 2 tensors: context, weights; it returned "
    assert wanted + "one torch.Tensor." in write_card(One, ATTENTION)
    assert wanted + "3 things." in write_card(Three, ATTENTION)


def test_error_shows_the_students_own_line():
    def masked_softmax(scores, mask):
        shown = scores @ mask  # the mistake
        return shown

    text = write_card(masked_softmax)
    assert "masked_softmax raised RuntimeError: " in text
    assert "of its file: shown = scores @ mask  # the mistake" in text
    assert "autograder" not in text and "Traceback" not in text


def test_error_inside_torch_shows_the_students_line_too():
    def masked_softmax(scores, mask):
        return nn.functional.linear(scores, "weight")

    assert 'linear(scores, "weight")' in write_card(masked_softmax)


def test_exit_does_not_end_the_notebook():
    def masked_softmax(scores, mask):
        sys.exit(0)

    text = write_card(masked_softmax)
    assert "calls exit() or quit(), which would end the whole notebook" in text
    assert "sys.exit(0)" in text
    assert "calls exit() or quit()" in write_card(lambda s, m: exit())


def test_input_written_into():
    text = write_card(lambda scores, mask: solve_softmax(scores.mul_(1.5).div_(1.5).add_(1), mask))
    assert "writes into its input scores; compute a new tensor instead." in text
    assert "writes into its input mask" in write_card(
        lambda s, m: solve_softmax(s, m.clone()) * m.fill_(True)
    )


def test_result_written_into_by_a_later_call():
    text = write_card(OverwritesProjectedKeys, ATTENTION)
    assert "writes into its input projected_keys" in text
    text = write_card(OneBufferForAllCalls, ATTENTION)
    assert "writes into weights after it has returned it" in text


def test_gradients():
    score = EXERCISES["additive_score"]

    def cut(query, keys, W, U, v):
        return torch.tanh((query @ W.T).unsqueeze(1) + keys @ U.T) @ v.detach()

    assert "no gradient reaches v: something cuts the graph" in write_card(cut, score)

    def nan(scores, mask):
        return torch.nan_to_num((scores + mask.to(scores.dtype).log()).softmax(-1))

    text = write_card(nan)
    assert "the gradient with respect to scores has NaN or infinite entries" in text
    assert "a row without any real position, whose gradient must be 0" in text

    def through_numpy(scores, mask):
        return torch.from_numpy(scores.numpy() * 1.0) * 0 + solve_softmax(scores, mask)

    text = write_card(through_numpy)
    assert "raised RuntimeError: Can't call numpy()" in text
    assert "This happened with inputs that require gradients, as they do in training." in text


def test_loading_without_a_word_about_gradients():
    """It would raise in the notebook's next cell, where the model is one that trains."""
    exercise = EXERCISES["load_pretrained"]
    code = inspect.getsource(load_solution(exercise))
    space = dict(vars(inspect.getmodule(load_solution(exercise))))
    exec(code.replace("parameter.detach()", "parameter"), space)
    text = write_card(space["load_pretrained"], exercise)
    assert "a leaf Variable that requires grad is being used in an in-place operation" in text
    assert "put code that only fills or reads them under torch.no_grad()" in text


def test_a_mean_over_nothing():
    def sequence_loss(logits, targets, pad_id=0):
        return nn.functional.cross_entropy(logits.mT, targets, ignore_index=pad_id)

    text = write_card(sequence_loss, EXERCISES["sequence_loss"])
    assert text.startswith("✗ sequence_loss: loss has NaN entries")
    assert "Nothing counts here: the loss is 0, and so are its gradients." in text


def test_parameters():
    class Missing(Pieces):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            del self.v

    class Extra(Pieces):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.b = nn.Parameter(torch.zeros(1))

    class Turned(Pieces):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.W = nn.Parameter(torch.zeros(self.W.shape[::-1]))

    class NoModule:
        def __init__(self, query_size, key_size, hidden_size):
            pass

    assert "has no parameter 'v'; its docstring lists the parameters" in write_card(
        Missing, ATTENTION
    )
    assert "a parameter 'b' that the docstring does not list" in write_card(Extra, ATTENTION)
    text = write_card(Turned, ATTENTION)
    assert "a parameter 'W' of shape (2, 4); it must be (4, 2) here. Keep the __init__" in text
    assert "must be a class derived from nn.Module" in write_card(NoModule, ATTENTION)


def test_buffers_and_attributes_of_ones_own_are_fine():
    class Own(Pieces):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.register_buffer("one", torch.ones(1))
            self.calls = 0

        def energies(self, query, projected):
            self.calls += 1
            return super().energies(query, projected) * self.one

    assert verify(Own, ATTENTION).passed


def test_something_kept_from_one_call_for_the_next():
    text = write_card(KeepsTheProjection, ATTENTION)
    assert "a second one is not: keep nothing of one call for the next." in text
