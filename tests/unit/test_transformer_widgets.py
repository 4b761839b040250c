"""Tests of the Transformer chapter's explorers: same numbers as Python, rejected input."""

import json
import math

import numpy as np
import pytest
import torch

from coursekit.training.metrics import entropy
from coursekit.widgets import HeadsExplorer, MasksExplorer, PositionsExplorer, TemperatureExplorer
from solutions.bahdanau.scores import masked_softmax
from solutions.transformer.layers import sinusoidal_positions
from solutions.transformer.model import causal_mask, padding_mask
from tests.helpers.javascript import javascript
from tests.helpers.one_line_errors import refused

WORDS = ["the", "cat", "sleeps"]
SCORES = [0.3, -1.2, 0.8]
SOURCE = ["the", "cat", "<eos>", "<pad>"]
TARGET = ["<bos>", "le", "chat"]
L, H = 2, 3


def weights(rows, columns, layers=L, heads=H):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(layers, heads, rows, columns, generator=generator).softmax(-1)


def sentence(**changed):
    given = {
        "source": SOURCE,
        "target": TARGET,
        "encoder": weights(4, 4),
        "decoder": weights(3, 3),
        "memory": weights(3, 4),
        "word": 1,
    }
    return given | changed


# --- temperature ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("d_k", [1, 16, 1024])
def test_the_softmax_its_entropy_and_its_derivative_are_torchs(d_k, scaled):
    explorer = TemperatureExplorer(WORDS, SCORES)
    call = f"softmaxOf({json.dumps(explorer.scores)}, {d_k}, {json.dumps(scaled)})"
    shown = javascript(explorer, call)
    scores = torch.tensor(SCORES, dtype=torch.float64) * (1 if scaled else math.sqrt(d_k))
    derivative = torch.autograd.functional.jacobian(lambda s: s.softmax(0), scores)
    assert shown["scores"] == pytest.approx(scores.tolist())
    assert shown["weights"] == pytest.approx(scores.softmax(0).tolist())
    assert shown["entropy"] == pytest.approx(entropy(scores.softmax(0)).item(), abs=1e-9)
    assert shown["gradient"] == pytest.approx(derivative.norm().item(), abs=1e-12)


def test_the_sentence_for_the_bars():
    explorer = TemperatureExplorer(WORDS, SCORES)
    bars = "softmaxOf([0, 0, 0], 4, false)"
    said = javascript(explorer, f"inWords({json.dumps(WORDS)}, {bars}, 4, false)")
    assert said.startswith("d_k = 4, not divided: largest weight 0.33 on “the”; entropy 1.10 of")
    assert "as if 3.0 words were used" in said


@pytest.mark.parametrize("convert", [np.array, torch.tensor, lambda row: row, tuple])
def test_scores_may_be_any_kind_of_row(convert):
    assert TemperatureExplorer(WORDS, convert(SCORES)).scores == SCORES


# --- positions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [4, 64])
def test_positions_are_those_of_the_exercise(size):
    explorer = PositionsExplorer(wave=1)
    vectors = javascript(explorer, f"[0, 1, 7, 40].map((p) => positionVector(p, {size}))")
    expected = sinusoidal_positions(41, size)[[0, 1, 7, 40]]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert javascript(explorer, f"wavelength(0, {size})") == pytest.approx(2 * math.pi)


def test_the_sentence_for_the_clock():
    said = javascript(PositionsExplorer(), "inWords({ position: 0, step: 2, wave: 0, size: 4 })")
    assert "At position 0 its sine and cosine are (0.00, 1.00)" in said
    assert f"({math.sin(2):.2f}, −{-math.cos(2):.2f})" in said
    assert f"turned by {math.degrees(2):.1f} degrees" in said
    product = (sinusoidal_positions(3, 4)[0] @ sinusoidal_positions(3, 4)[2]).item()
    assert f"is {product:.2f} of 2." in said


# --- masks ---------------------------------------------------------------------------------------


def test_the_three_masks_are_those_of_the_exercises():
    explorer = MasksExplorer(SOURCE, TARGET)
    real = padding_mask(torch.tensor([[5, 6, 3, 0]]))[0]  # (S,)
    expected = {
        "encoder": real.expand(4, 4),
        "decoder": causal_mask(3),
        "memory": real.expand(3, 4),
    }
    for use, mask in expected.items():
        call = f'maskOf("{use}", {json.dumps(SOURCE)}, {json.dumps(TARGET)}, "<pad>")'
        assert javascript(explorer, call) == mask.tolist(), use


def test_a_row_of_the_mask_in_words():
    explorer = MasksExplorer(SOURCE, TARGET)
    both = f"{json.dumps(SOURCE)}, {json.dumps(TARGET)}"
    said = javascript(explorer, f'inWords("decoder", {both}, "<pad>", 1)')
    assert said.endswith("“le” may look at 2 of 3: <bos>, le.")
    said = javascript(explorer, f'inWords("encoder", {both}, "<pad>", 3)')
    assert "3 of 4: the, cat, <eos>." in said and "nobody looks at it" in said


def test_the_mask_acts_before_the_softmax():
    scores = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    drawn = {"encoder": torch.zeros(4, 4), "decoder": torch.zeros(3, 3), "memory": scores}
    explorer = MasksExplorer(SOURCE, TARGET, scores=drawn)
    for t, row in enumerate(explorer.scores["memory"]):
        weights = javascript(explorer, f"weigh({json.dumps(row)}, [true, true, true, false])")
        expected = masked_softmax(scores[t], torch.tensor([True, True, True, False]))
        assert weights == pytest.approx(expected.tolist(), abs=1e-3)
        assert weights[3] == 0
    said = javascript(explorer, 'leakInWords([0.2, 0.3, 0.5], [true, false, false], "le")')
    assert said == "Without the mask “le” gives 80 % of its weight to what it may not see."
    said = javascript(explorer, 'leakInWords([0.2, 0.8], [true, true], "le")')
    assert said == "For “le” the mask makes no difference."


# --- heads ---------------------------------------------------------------------------------------


def test_the_browser_gets_the_weights_in_thousandths():
    given = sentence()
    explorer = HeadsExplorer([given, sentence(title="again")], layer=1, head=2)
    state = json.loads(json.dumps(explorer.get_state()))
    assert (state["part"], state["layer"], state["head"], state["word"]) == ("encoder", 1, 2, 1)
    for part in ("encoder", "decoder", "memory"):
        kept = np.array(state["sentences"][0]["weights"][part]) / 1000
        np.testing.assert_allclose(kept, given[part], atol=5.1e-4)
    assert state["sentences"][1]["title"] == "again"


def test_a_model_may_have_an_encoder_only():
    explorer = HeadsExplorer([{"source": WORDS, "encoder": weights(3, 3).numpy()}])
    assert list(explorer.sentences[0]["weights"]) == ["encoder"]
    assert explorer.sentences[0]["target"] == []


def test_where_a_head_looks_in_words():
    one = torch.tensor([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.3, 0.3, 0.4]])
    explorer = HeadsExplorer([{"source": WORDS, "encoder": one.expand(1, 1, 3, 3)}])
    given = json.dumps(explorer.sentences[0])
    said = [javascript(explorer, f'inWords({given}, "encoder", 0, 0, {i})') for i in range(3)]
    assert said == [
        "Layer 1, head 1: “the” looks at the 0.70, cat 0.20, sleeps 0.10.",
        "Layer 1, head 1: “cat” looks at cat 1.00.",
        "Layer 1, head 1: “sleeps” looks at sleeps 0.40, the 0.30, cat 0.30.",
    ]


# --- invalid input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TemperatureExplorer("the cat", SCORES), "at least two words"),
        (lambda: TemperatureExplorer(WORDS, SCORES[:2]), "3 finite numbers"),
        (lambda: TemperatureExplorer(WORDS, [0.0, 1.0, math.nan]), "3 finite numbers"),
        (lambda: TemperatureExplorer(WORDS, SCORES, d_k=48), "a power of 2 from 1 to 1024"),
        (lambda: PositionsExplorer(size=7), "size must be even"),
        (lambda: PositionsExplorer(length=8, position=8), "position must be from 0 to 7"),
        (lambda: PositionsExplorer(wave=32), "wave must be from 0 to 31"),
        (lambda: MasksExplorer("the cat", TARGET), "source must be a list"),
        (lambda: MasksExplorer(SOURCE, []), "target must be a list"),
        (lambda: MasksExplorer(SOURCE, TARGET, use="all"), "one of encoder, decoder, memory"),
        (
            lambda: MasksExplorer(SOURCE, TARGET, scores={"memory": torch.zeros(4, 3)}),
            "the scores of 'memory' must be a table",
        ),
        (
            lambda: MasksExplorer(SOURCE, TARGET, scores={"memory": torch.zeros(3, 4)}),
            "scores must hold a table for each of encoder, decoder, memory",
        ),
        (lambda: HeadsExplorer([]), "at least one sentence"),
        (lambda: HeadsExplorer([sentence(source="a b")]), "source of sentence 0 must be a list"),
        (lambda: HeadsExplorer([sentence(memory=weights(4, 3))]), r"layers, heads, 3, 4\)"),
        (lambda: HeadsExplorer([sentence(encoder=2 * weights(4, 4))]), "must be from 0 to 1"),
        (lambda: HeadsExplorer([{"source": WORDS}]), "weights of at least one attention"),
        (lambda: HeadsExplorer([sentence(word=4)]), "has 4 source words"),
        (lambda: HeadsExplorer([sentence()], head=3), "2 layers and 3 heads"),
        (
            lambda: HeadsExplorer([sentence(), sentence(encoder=weights(4, 4, heads=2))]),
            "sentence 1 must have weights of the same layers",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(make, message):
    with refused(message):
        make()
