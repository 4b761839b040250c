"""The page of all scores and models: no exercise is forgotten, links and counts are right."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
import torch
from torch import nn

from autograder.exercises import EXERCISES

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "book" / "scores_and_models.md").read_text(encoding="utf-8")
HEAD = ["ours", "equation", "paper", "shapes", "parameters", "time", "memory"]


def _rows():
    """Name -> (link, the other cells by column) of every row that describes an exercise."""
    found = {}
    for line in PAGE.splitlines():
        if not line.startswith("| [`"):
            continue
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        assert len(cells) == len(HEAD), line
        name, link = re.fullmatch(r"\[`(\w+)`\]\((.+)\)", cells[0]).groups()
        assert name not in found, f"{name} stands there twice"
        found[name] = link, dict(zip(HEAD, cells, strict=True))
    return found


ROWS = _rows()


def _masters():
    """Name -> (assignment, notebook) of what the students write, from the masters."""
    found = {}
    for path in sorted((ROOT / "solutions").glob("*/*.py")):
        if path.stem.startswith("misconceptions"):
            continue
        source = path.read_text(encoding="utf-8")
        for name in re.findall(r'"grade_id": "test-(\w+)"', source):
            found[name] = path.parent.name, path.stem
    return found


MASTERS = _masters()


def test_every_exercise_has_its_row_and_no_row_is_left_over():
    assert set(EXERCISES) <= set(ROWS), set(EXERCISES) - set(ROWS)
    assert set(ROWS) == set(MASTERS), set(ROWS) ^ set(MASTERS)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_links_to_its_exercise(name):
    assignment, notebook = MASTERS[name]
    assert ROWS[name][0] == f"../exercises/{assignment}/{notebook}.ipynb"
    if name in EXERCISES:
        assert (EXERCISES[name].assignment, EXERCISES[name].notebook) == (assignment, notebook)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_complete_and_its_source_is_in_the_bibliography(name):
    cells = ROWS[name][1]
    assert all(cells.values()), cells
    keys = re.findall(r"\{cite:t\}`(\w+)`", cells["paper"])
    bibliography = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    assert keys
    for key in keys:
        assert re.search(rf"^@\w+\{{{key},", bibliography, re.M), key


@pytest.mark.parametrize("name", [name for name, (_, row) in ROWS.items() if row["paper"]])
def test_the_equations_named_are_those_of_the_docstring(name):
    """Every number of an equation on the page stands in the docstring's source as well."""
    paper = ROWS[name][1]["paper"]
    documented = inspect.getdoc(_solution(name)) or ""
    source = documented.partition("Source:")[2]
    for part in re.findall(r"equations? ([\d, andto]+)", paper):
        for number in re.findall(r"\d+", part):
            assert re.search(rf"\b{number}\b", source), f"{name}: equation {number} in {source!r}"


def _solution(name):
    assignment, notebook = MASTERS[name]
    return getattr(import_module(f"solutions.{assignment}.{notebook}"), name)


def value(formula, sizes):
    """The value of a formula as it stands in a cell, such as "d (d_q + 1)"."""
    tokens = re.findall(r"[A-Za-z](?:_[A-Za-z])?|\d+|[()+]", formula)
    assert "".join(tokens) == formula.replace(" ", ""), formula
    code = ""
    for before, token in zip(["+", *tokens], tokens, strict=False):
        if token not in "+)" and before not in "+(":
            code += "*"
        code += str(sizes[token]) if token[0].isalpha() else token
    return eval(code)  # sums and products of numbers, nothing else


def test_a_formula_is_read_as_it_is_written():
    assert value("d (d_q + 2) + 3 d d_q", {"d": 5, "d_q": 7}) == 5 * 9 + 3 * 5 * 7


V, E, D, A, M, C, R, H = 23, 5, 6, 7, 11, 3, 2, 2
NONE = nn.Identity()  # a part without parameters of its own
BUILT = {
    "NeuralLanguageModel": ((V, M, 4, 9), {"V": V, "m": M, "n": 4, "h": 9}),
    "Encoder": ((V, E, D), {"V": V, "e": E, "d": D}),
    "ContextDecoder": ((V, E, D), {"V": V, "e": E, "d": D}),
    "Seq2Seq": ((V, 19, E, D), {"V_s": V, "V_t": 19, "e": E, "d": D}),
    "AdditiveAttention": ((4, 9, D), {"d_q": 4, "d_k": 9, "d": D}),
    "BidirectionalEncoder": ((V, E, D), {"V": V, "e": E, "d": D}),
    "AttentionDecoder": ((V, E, D, A, NONE), {"V": V, "e": E, "d": D, "a": A}),
    "LuongDecoder": ((V, E, D, A, NONE), {"V": V, "e": E, "d": D, "a": A}),
    "LocalAttention": (("predictive", NONE, 4, D, 2), {"d_q": 4, "d": D}),
    "SoftAttention": ((4, 9, D), {"d_q": 4, "d_k": 9, "d": D}),
    "CaptionDecoder": ((V, E, D, 9, NONE), {"V": V, "e": E, "d": D, "d_k": 9}),
    "AttentionClassifier": ((V, E, D, A, C), {"V": V, "e": E, "d": D, "a": A, "C": C}),
    "StructuredSelfAttention": ((D, A, R), {"d": D, "a": A, "r": R}),
    "StructuredClassifier": (
        (V, E, D, NONE, R, M, C),
        {"V": V, "e": E, "d": D, "r": R, "m": M, "C": C},
    ),
    "AttentionPooling": ((D, A), {"d": D, "a": A}),
    "HierarchicalAttentionNetwork": ((V, E, D, NONE, NONE, C), {"V": V, "e": E, "d": D, "C": C}),
    "MultiHeadAttention": ((D, H), {"d": D}),
    "PositionwiseFeedForward": ((D, M), {"d": D, "m": M}),
    "EncoderLayer": ((D, NONE, NONE), {"d": D}),
    "DecoderLayer": ((D, NONE, NONE, NONE), {"d": D}),
    "Transformer": ((V, D, torch.zeros, [], []), {"V": V, "d": D}),
    "BertEmbeddings": ((V, D, 13, 2), {"V": V, "d": D, "n": 13, "s": 2}),
    "BertEncoder": ((NONE, []), {}),
    "MaskedLanguageModelHead": ((nn.Embedding(V, D),), {"V": V, "d": D}),
    "SequenceClassifier": ((NONE, D, C), {"d": D, "C": C}),
    "TokenClassifier": ((NONE, D, C), {"d": D, "C": C}),
    "SpanPredictor": ((NONE, D), {"d": D}),
}


def test_all_modules_are_counted():
    assert set(BUILT) == {name for name in ROWS if inspect.isclass(_solution(name))}


@pytest.mark.parametrize("name", BUILT)
def test_the_parameters_are_as_many_as_the_page_says(name):
    arguments, sizes = BUILT[name]
    model = _solution(name)(*arguments)
    count = sum(parameter.numel() for parameter in model.parameters())
    if name == "MaskedLanguageModelHead":
        count -= V * D  # tied
    formula = re.search(r"\$([^$]+)\$", ROWS[name][1]["parameters"])[1]
    assert value(formula, sizes) == count, formula


def test_the_chapters_are_named_in_the_table_of_contents():
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert "book/scores_and_models" in contents
    assert "book/10_what_changed" in contents
