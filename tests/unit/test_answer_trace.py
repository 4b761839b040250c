"""Tests of answer traces: the first wrong line, silence in doubt, no blame of right lines."""

from __future__ import annotations

import gzip
import json
import linecache
import re
import time

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load
from torch import Tensor, nn

from autograder import check, expected_values
from autograder.checking import checker
from autograder.checking.checker import CheckFailed
from autograder.exercises import EXERCISES
from autograder.instructor.authoring.reference_solution import load_solution
from autograder.instructor.expected_values import write_stages
from autograder.trace.comparison import compare_recording
from autograder.trace.recording import Recording, record_answer
from tests.answers import entries, handed_in


def define(name, code):
    """Return the answer that a cell defines."""
    file = f"<cell of {name} {abs(hash(code))}>"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    space = {"torch": torch, "F": F, "nn": nn, "Tensor": Tensor, "__name__": "student"}
    exec(compile(code, file, "exec"), space)
    return space[name]


def trace(answer):
    """Return the card of a wrong answer and what check.trace() shows."""
    with pytest.raises(CheckFailed) as failed:
        check(answer)
    found = checker._traces[0]
    return str(failed.value), found and found[0]


GRU = """
def gru_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    gi = x @ weight_ih.T + bias_ih
    gh = h @ weight_hh.T + bias_hh
    (a, b, c), (d, e, f) = gi.chunk(3, -1), gh.chunk(3, -1)
    r = (a + d).sigmoid()
    z = (b + e).sigmoid()
    n = torch.tanh(c + r * f)
    return z * h + (1 - z) * n
"""
SCORE = """
def additive_score(query, keys, W, U, v):
    q = torch.einsum("dq,bq->bd", W, query)
    k = torch.einsum("dk,bnk->bnd", U, keys)
    total = q[:, None] + k
    return torch.tanh(total) @ v
"""
SOFTMAX = """
def masked_softmax(scores, mask):
    low = scores.masked_fill(~mask, -1e30)
    exponential = torch.exp(low - low.max(-1, keepdim=True).values)
    weights = exponential / exponential.sum(-1, keepdim=True)
    return weights * mask
"""
LOOP = """
def context_vector(weights, values):
    rows = []
    for b in range(len(values)):
        row = values.new_zeros(values.shape[-1])
        for n in range(values.shape[1]):
            row = row + weights[b, n] * values[b, n]
        rows.append(row)
    return torch.stack(rows)
"""


@pytest.mark.parametrize(
    ("name", "code", "old", "new", "line", "reached"),
    [
        ("gru_cell", GRU, "z * h + (1 - z) * n", "z * h + (1 - z) * n.cos()", "n.cos()", "n"),
        ("gru_cell", GRU, "c + r * f", "c + r.exp() * f", "r.exp()", "r"),
        ("gru_cell", GRU, "x @ weight_ih.T + bias_ih", "x @ weight_ih.T.cos()", "weight_ih", ""),
        ("additive_score", SCORE, "torch.tanh(total)", "torch.sin(total)", "torch.sin", "hidden"),
        ("additive_score", SCORE, "q[:, None] + k", "q[:, None] * k", "q[:, None] * k", ""),
        ("masked_softmax", SOFTMAX, "exponential.sum(-1", "exponential.mean(-1", "mean(-1", ""),
        ("context_vector", LOOP, "weights[b, n] *", "weights[b, n].exp() *", "exp()", ""),
    ],
)
def test_the_first_wrong_line_is_named(name, code, old, new, line, reached):
    assert code.count(old) == 1
    assert record_answer(define(name, code), EXERCISES[name], EXERCISES[name].draw(1)[0]).records
    card, found = trace(define(name, code.replace(old, new)))
    assert found is not None, card
    assert line in found.first.code, found.first
    assert not reached or reached in {label.split()[-1] for _, label in found.reached}
    assert "check.trace() shows" in card


def test_the_trace_shows_values_and_what_comes_next(capsys):
    with pytest.raises(CheckFailed):
        check(define("additive_score", SCORE.replace("torch.tanh(total)", "torch.sin(total)")))
    capsys.readouterr()
    check.trace()
    shown = capsys.readouterr().out
    assert "line 3, `" in shown and 'torch.einsum("dq,bq->bd", W, query)`: projected_query' in shown
    assert "Line 6, `" in shown and "is the first value that a right answer does not have." in shown
    assert "A right answer next has hidden" in shown


def test_a_factor_is_named():
    half = SCORE.replace("return torch.tanh(total) @ v", "return torch.tanh(total) @ v / 3 - 1")
    _, found = trace(define("additive_score", half))
    assert "torch.tanh(total) @ v / 3" in found.first.code  # all of its line in Python 3.10
    assert found.match.factor == pytest.approx(1 / 3)


def test_a_value_returned_in_place_of_another_is_named():
    code = SCORE.replace("return torch.tanh(total) @ v", "return (torch.tanh(total) @ v, total)[1]")
    card, found = trace(define("additive_score", code))
    assert found.output == "scores" and "q[:, None] + k" in found.first.code
    assert "::" not in card


def test_a_selection_of_nothing_is_not_blamed():
    smoothed = """
def label_smoothed_loss(logits, targets, smoothing, pad_id=0):
    real = targets != pad_id
    log_p = logits[real].log_softmax(-1)
    true = log_p.gather(1, targets[real].unsqueeze(1)).squeeze(1)
    loss = -(1 - smoothing) * true - smoothing * log_p.mean(-1)
    return loss.mean()
"""
    card, _ = trace(define("label_smoothed_loss", smoothed))
    # Python 3.10 does not say which part of a line it runs.
    assert re.search(r"Line 7, `(?:return )?loss\.mean\(\)`, is the first value", card)


def test_a_line_is_named_where_its_code_cannot_be_read():
    code = SCORE.replace("torch.tanh(total)", "torch.sin(total)")
    space = {"torch": torch, "__name__": "student"}
    exec(compile(code, "<stdin>", "exec"), space)
    card, _ = trace(space["additive_score"])
    assert "Line 6 is the first value that a right answer does not have." in card


def test_an_error_is_traced_up_to_its_line(capsys):
    code = SCORE.replace("torch.tanh(total) @ v", "torch.tanh(total) @ v[:1]")
    card, found = trace(define("additive_score", code))
    assert "raised RuntimeError" in card and found.first is None
    check.trace()
    assert "hidden" in capsys.readouterr().out


SILENT = {
    "numbers that have left torch": SCORE.replace(
        "total = q[:, None] + k", "total = torch.tensor((2 * (q[:, None] + k)).tolist()).double()"
    ),
    "numpy": SCORE.replace(
        "torch.tanh(total) @ v", "torch.from_numpy(2 * (torch.tanh(total) @ v).detach().numpy())"
    ),
}


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_what_cannot_be_followed_is_silent(code):
    card, found = trace(define("additive_score", code))
    assert found is None and "check.trace()" not in card
    with pytest.raises(LookupError, match="No line can be named"):
        check.trace()


def test_nothing_is_traced_before_a_check_or_after_a_right_answer():
    check(load_solution(EXERCISES["additive_score"]))
    with pytest.raises(LookupError, match="nothing to trace"):
        check.trace()


ODD = {
    "in place": SCORE.replace(
        "total = q[:, None] + k", "total = k.clone(); total += 2 * q[:, None]"
    ),
    "through a view": SCORE.replace(
        "total = q[:, None] + k", "total = k.clone(); total[:, :1] = 3 * k[:, :1]"
    ),
    "a generator": SCORE.replace(
        "return torch.tanh(total) @ v", "return sum(t * w for t, w in zip(total.unbind(-1), v))"
    ),
    "no gradient": SCORE.replace("q = ", "torch.set_grad_enabled(False); q = 2 * "),
    "deep recursion": SCORE.replace(
        "total = q[:, None] + k",
        "f = lambda n: q if n == 0 else f(n - 1) + 1\n    total = f(50)[:, None] + k",
    ),
}


@pytest.mark.parametrize("code", ODD.values(), ids=ODD)
def test_odd_answers_do_not_break_the_check(code):
    try:
        card, _ = trace(define("additive_score", code))
    finally:
        torch.set_grad_enabled(True)
    assert "additive_score" in card


def test_a_long_computation_is_traced_in_limited_time():
    code = LOOP.replace("row = row +", "row = sum([row] * 400) / 400 + 1.01 *")
    start = time.process_time()
    trace(define("context_vector", code))
    assert time.process_time() - start < 60  # a guard against endless work, not a measurement


RIGHT = [e for e in entries() if e.right and e.exercise in ("gru_cell", "attention", "masked_mean")]


def test_lines_of_right_answers_are_hardly_ever_blamed():
    """Cut right answers off after each step, and pretend that the next one was the mistake."""
    tried, blamed = 0, []
    for entry in RIGHT:
        exercise = EXERCISES[entry.exercise]
        cases = [c for c in exercise.draw(1) if expected_values.read_stages(exercise, c)]
        case = next(c for c in cases if min(t.numel() for t in c.inputs.values()) > 3)
        stages = expected_values.read_stages(exercise, case)
        right = expected_values.read_expected(exercise, 1, case).outputs
        whole = record_answer(handed_in(entry), exercise, case)
        for end in range(1, len(whole.records) + 1):
            part = Recording(whole.records[:end], {}, whole.leaves_torch, "It ended here.")
            found = compare_recording(part, stages, case, right)
            last = part.records[-1]
            tried += 1
            if found and found.first and found.first.line != last.line:
                blamed.append((entry.name, found.first.code))
    assert tried > 500 and len(blamed) < tried / 50, (tried, blamed)


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda e: e.name)
def test_recorded_stages_are_those_of_the_solution(exercise, tmp_path):
    (tmp_path / exercise.assignment).mkdir()
    write_stages(exercise, tmp_path)
    place = f"{exercise.assignment}/{exercise.name}.stages.safetensors.gz"
    kept, made = (
        load(gzip.decompress((folder / place).read_bytes()))
        for folder in (expected_values.FOLDER, tmp_path)
    )
    assert json.loads(bytes(kept["index"].tolist())) == json.loads(bytes(made["index"].tolist()))
    torch.testing.assert_close(kept["values"], made["values"], rtol=1e-5, atol=1e-6, equal_nan=True)


def test_names_are_recorded_where_a_comprehension_and_a_lambda_share_one():
    """Before Python 3.13.3, reading such a variable from a frame ended the process."""
    code = SCORE.replace(
        "return torch.tanh(total) @ v",
        "size = 2\n    twice = lambda: size\n    _ = [size for size in (1, 2)]\n"
        "    return twice() * (torch.tanh(total) @ v)",
    )
    space = {"torch": torch}
    exec(compile(code, "/home/student/score.py", "exec"), space)
    exercise = EXERCISES["additive_score"]
    recording = record_answer(
        space["additive_score"], exercise, exercise.draw(1)[0], name_variables=True
    )
    assert {"q", "k", "total"} <= {name for record in recording.records for name in record.names}
