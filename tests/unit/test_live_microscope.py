"""Tests of the microscope's stages: they are those of the course's attention, number for number."""

import json

import pytest
import torch

from coursekit.widgets import TransformerExplorer, TranslatorExplorer
from solutions.bahdanau.scores import AdditiveAttention
from solutions.transformer.attention import MultiHeadAttention
from tests.helpers.javascript import javascript

N, D, HEADS, HEAD, ROW, KEY = 5, 8, 2, 1, 2, 3


def vectors(rows: torch.Tensor) -> str:
    return f"{json.dumps(rows.tolist())}.map((row) => Float32Array.from(row))"


def matrix(weight: torch.Tensor) -> str:
    rows, columns = weight.shape
    data = json.dumps(weight.flatten().tolist())
    return f"{{ rows: {rows}, columns: {columns}, data: Float32Array.from({data}) }}"


def stages(explorer: type, call: str) -> tuple[dict[str, list[float]], list[str]]:
    """Return the vectors by their names, and the sentences."""
    plain = "({ name, vector, lines }) => ({ name, lines, vector: vector && [...vector] })"
    found = javascript(explorer, f"{call}.map({plain})")
    lines = [line for stage in found for line in stage.get("lines") or []]
    return {stage["name"]: stage["vector"] for stage in found if "name" in stage}, lines


@torch.no_grad()
@pytest.mark.parametrize("is_off", [False, True])
def test_stages_of_a_head_are_those_of_multi_head_attention(is_off):
    torch.manual_seed(0)
    attention = MultiHeadAttention(D, HEADS).eval()
    x = torch.randn(1, N, D)
    mask = torch.ones(1, N, N, dtype=torch.bool)
    mask[0, ROW, 0] = False
    q, k, v = attention.query(x), attention.key(x), attention.value(x)  # (1, N, D)
    _, weights = attention(x, x, x, mask)  # (1, h, N, N)
    row = weights[0, HEAD, ROW]
    call = (
        f"dotProductStages({{ queries: {vectors(x[0])}, keys: {vectors(x[0])}, "
        f"q: {vectors(q[0])}, k: {vectors(k[0])}, v: {vectors(v[0])} }}, "
        f"{{ heads: {HEADS}, head: {HEAD}, row: {ROW}, key: {KEY}, isOff: {json.dumps(is_off)}, "
        f"weights: Float32Array.from({json.dumps(row.tolist())}), from: 'it', to: 'cow', "
        f"mask: {json.dumps(mask[0, ROW].tolist())}, output: {matrix(attention.output.weight)} }})"
    )
    found, lines = stages(TransformerExplorer, call)
    size = D // HEADS
    own = slice(HEAD * size, (HEAD + 1) * size)
    products = q[0, ROW, own] * k[0, KEY, own]
    context = row @ v[0, :, own]
    added = torch.zeros(D) if is_off else attention.output.weight[:, own] @ context
    for name, expected in {
        "vector of “it”": x[0, ROW],
        "q, its query": q[0, ROW, own],
        "k, its key": k[0, KEY, own],
        "qᵢ kᵢ, the products": products,
        "v, the value of “cow”": v[0, KEY, own],
        "sum over all words": context,
        "added to “it”": added,
    }.items():
        assert found[name] == pytest.approx(expected.tolist(), abs=1e-5), name
    score = products.sum() / size**0.5
    assert f"{score:.2f}.".replace("-", "−") in lines[0]
    assert lines[-1].endswith(f"≈ {row[KEY]:.2f}.")


@torch.no_grad()
def test_stages_of_bahdanaus_score_are_those_of_additive_attention():
    torch.manual_seed(0)
    attention = AdditiveAttention(3, 6, 5)
    state, annotations = torch.randn(1, 3), torch.randn(1, N, 6)
    context, weights = attention(state, annotations, torch.ones(1, N).bool())
    W, U, v = attention.W, attention.U, attention.v
    bent = torch.tanh(state[0] @ W.T + annotations[0] @ U.T)  # (N, 5)
    expected = bent @ v
    given = json.dumps(expected.tolist())
    row = json.dumps(weights[0].tolist())
    call = (
        f"additiveStages({{ query: {vectors(state)}[0], key: {vectors(annotations[0])}[{KEY}], "
        f"W: {matrix(W)}, U: {matrix(U)}, v: {vectors(v[None])}[0] }}, {{ at: {KEY}, "
        f"scores: Float32Array.from({given}), weights: Float32Array.from({row}), mask: null, "
        f"values: {vectors(annotations[0])}, byHand: false, from: '소', to: 'cow' }})"
    )
    found, lines = stages(TranslatorExplorer, call)
    assert found["W s"] == pytest.approx((state[0] @ W.T).tolist(), abs=1e-5)
    assert found["U h"] == pytest.approx((annotations[0, KEY] @ U.T).tolist(), abs=1e-5)
    assert found["tanh(W s + U h)"] == pytest.approx(bent[KEY].tolist(), abs=1e-5)
    assert found["c, the context"] == pytest.approx(context[0].tolist(), abs=1e-5)
    assert f"sum to {expected[KEY]:.2f}.".replace("-", "−") in lines[0]
    assert lines[-1].endswith(f"≈ {weights[0, KEY]:.2f}.")


def told(scores, mask, weights, key):
    given = ", ".join(json.dumps(value) for value in (scores, mask, weights, key))
    return javascript(TransformerExplorer, f"softmaxInWords({given})")


def test_a_masked_word_has_no_score():
    assert told([1, 2], [True, False], [1, 0], 1) == [
        "The mask bars this word: its score counts as −∞, its weight is 0."
    ]


def test_one_open_word_has_the_whole_weight():
    softmax, weight = told([1, 2], [True, False], [1, 0], 0)
    assert softmax == "Softmax: e^{1.00} ≈ 2.72. No other word may be looked at."
    assert weight == "Weight: 2.72 ÷ 2.72 ≈ 1.00."


def test_large_scores_are_told_without_large_powers():
    softmax, weight = told([30.0, 29.0], None, [0.7311, 0.2689], 1)
    assert "e^{29.00 − 30.00} ≈ 0.37 (the largest score is subtracted" in softmax
    assert "sum to 1.37" in softmax and weight == "Weight: 0.37 ÷ 1.37 ≈ 0.27."


def test_small_numbers_keep_a_digit():
    assert told([0, 7.0], None, [0.00091, 0.99909], 0)[1].endswith("≈ 0.0009.")
