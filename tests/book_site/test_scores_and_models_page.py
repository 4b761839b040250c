"""Tests of the page of scores and models: rows match exercises, and counts are right."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
import torch
from torch import nn

from autograder.exercises import EXERCISES

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 7  # ours, equation, paper, shapes, parameters, time, memory
ROWS = {
    re.match(r"\[`(\w+)`\]", cells[0])[1]: cells
    for line in (ROOT / "book" / "scores_and_models.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| [`") and (cells := [cell.strip() for cell in line[1:-1].split(" | ")])
}


def solution(name):
    """Return the course's solution of an exercise."""
    place = EXERCISES[name]
    return getattr(import_module(f"solutions.{place.assignment}.{place.notebook}"), name)


def test_every_row_is_an_exercise_and_hardly_one_is_left_out():
    assert set(ROWS) <= set(EXERCISES)
    assert len(ROWS) >= 0.9 * len(EXERCISES)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_complete_and_leads_to_its_exercise_and_its_source(name):
    assert len(ROWS[name]) == COLUMNS and all(ROWS[name])
    place, paper = EXERCISES[name], ROWS[name][2]
    assert ROWS[name][0].endswith(f"(../exercises/{place.assignment}/{place.notebook}.ipynb)")
    assert "{cite:t}`" in paper
    source = (inspect.getdoc(solution(name)) or "").partition("Source:")[2]
    for numbers in re.findall(r"equations? ([\d, andto]+)", paper):
        for number in re.findall(r"\d+", numbers):
            assert re.search(rf"\b{number}\b", source), f"{name}: equation {number} in {source!r}"


def value(formula, sizes):
    """Return the value of a formula in a table cell, such as "d (d_q + 1)"."""
    tokens = re.findall(r"[A-Za-z](?:_[A-Za-z])?|\d+|[()+]", formula)
    assert "".join(tokens) == formula.replace(" ", ""), formula
    code = ""
    for before, token in zip(["+", *tokens], tokens, strict=False):
        code += "*" if token not in "+)" and before not in "+(" else ""
        code += str(sizes[token]) if token[0].isalpha() else token
    return eval(code)  # only sums and products of numbers


V, E, D, A, M, C, R, H = 23, 5, 6, 7, 11, 3, 2, 2
LETTERS = {"V": V, "e": E, "d": D, "a": A, "C": C, "r": R}
NONE = nn.Identity()  # a part without its own parameters
BUILT = {  # constructor arguments, and letters with another meaning there
    "NeuralLanguageModel": ((V, M, 4, 9), {"m": M, "n": 4, "h": 9}),
    "Encoder": ((V, E, D), {}),
    "ContextDecoder": ((V, E, D), {}),
    "Seq2Seq": ((V, 19, E, D), {"V_s": V, "V_t": 19}),
    "AdditiveAttention": ((4, 9, D), {"d_q": 4, "d_k": 9}),
    "BidirectionalEncoder": ((V, E, D), {}),
    "AttentionDecoder": ((V, E, D, A, NONE), {}),
    "LuongDecoder": ((V, E, D, A, NONE), {}),
    "LocalAttention": (("predictive", NONE, 4, D, 2), {"d_q": 4}),
    "SoftAttention": ((4, 9, D), {"d_q": 4, "d_k": 9}),
    "CaptionDecoder": ((V, E, D, 9, NONE), {"d_k": 9}),
    "AttentionClassifier": ((V, E, D, A, C), {}),
    "StructuredSelfAttention": ((D, A, R), {}),
    "StructuredClassifier": ((V, E, D, NONE, R, M, C), {"m": M}),
    "AttentionPooling": ((D, A), {}),
    "HierarchicalAttentionNetwork": ((V, E, D, NONE, NONE, C), {}),
    "MultiHeadAttention": ((D, H), {}),
    "PositionwiseFeedForward": ((D, M), {"m": M}),
    "EncoderLayer": ((D, NONE, NONE), {}),
    "DecoderLayer": ((D, NONE, NONE, NONE), {}),
    "Transformer": ((V, D, torch.zeros, [], []), {}),
    "BertEmbeddings": ((V, D, 13, 2), {"n": 13, "s": 2}),
    "BertEncoder": ((NONE, []), {}),
    "MaskedLanguageModelHead": ((nn.Embedding(V, D),), {}),
    "SequenceClassifier": ((NONE, D, C), {}),
    "TokenClassifier": ((NONE, D, C), {}),
    "SpanPredictor": ((NONE, D), {}),
}


@pytest.mark.parametrize("name", [name for name in ROWS if inspect.isclass(solution(name))])
def test_the_parameters_are_as_many_as_the_page_says(name):
    arguments, letters = BUILT[name]
    count = sum(parameter.numel() for parameter in solution(name)(*arguments).parameters())
    if name == "MaskedLanguageModelHead":
        count -= V * D  # tied
    formula = re.search(r"\$([^$]+)\$", ROWS[name][4])[1]
    assert value(formula, LETTERS | letters) == count, formula
