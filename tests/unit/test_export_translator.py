"""Tests of a reader's own translator: its file, and what the page finds in it."""

import json

import pytest
import torch
from torch import nn

from coursekit.corpora import SentencePair
from coursekit.models.translation import AttentionTranslator
from coursekit.text.vocabulary import WordVocabulary
from coursekit.widgets import HistoryExplorer, pack, save_translator
from coursekit.widgets.live.export_translator import FORMAT
from experiments import five_translators
from experiments.everyday_data import Languages
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder
from tests.helpers.javascript import javascript

KINDS = ("cho", "sutskever", "bahdanau", "luong", "transformer")
SOURCE = WordVocabulary([["the", "cat", "sleeps"]])
TARGET = WordVocabulary([["le", "chat", "dort"]])
JOINT = WordVocabulary([SOURCE.words[4:], TARGET.words[4:]])
TEXTS = ["the", "cat", "sleeps"], ["le", "chat", "dort"]


class Data:
    apart, joint = Languages(SOURCE, TARGET), Languages(JOINT, JOINT)


def build(kind):
    torch.manual_seed(0)
    model = five_translators.build(kind, Data)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model


def save(path, model, kind="bahdanau"):
    languages = Data.joint if kind == "transformer" else Data.apart
    example = languages.source.encode(TEXTS[0]), languages.target.encode(TEXTS[1])
    return save_translator(path, model, languages.source, languages.target, example)


@pytest.fixture(scope="module")
def explorer():
    pair = SentencePair(*map(tuple, TEXTS), frozenset())
    models = {"bahdanau": ("Bahdanau", pack(build("bahdanau")))}
    return HistoryExplorer(models, (SOURCE, TARGET, JOINT), {"Sleep": [pair]}, longest=20)


def verdict(explorer, path):
    """Return what the page says about a file, or the error that it shows."""
    text = json.dumps(path.read_text(encoding="utf-8"))
    return javascript(
        explorer,
        "(() => { try { return readTranslator(" + text + ", KINDS, { bos: 2 }).verdict; }"
        " catch (error) { return error.message; } })()",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_translator_is_found_to_be_right(tmp_path, explorer, kind):
    model = build(kind).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    path = save(tmp_path / "mine.json", model, kind)
    assert verdict(explorer, path) == (
        "For the sentence “the cat sleeps”, your code computes what the exercise's equations give "
        "with your parameters."
    )
    assert model.training and all(v.equal(before[n]) for n, v in model.state_dict().items())
    saved = json.loads(path.read_text(encoding="utf-8"))
    assert saved["format"] == FORMAT and saved["kind"] == kind
    assert (saved["trace"].get("heads") == 4) == (kind == "transformer")


class WithoutTanh(AdditiveAttention):
    def forward(self, query, keys, mask, projected_keys=None):
        scores = (query @ self.W.T).unsqueeze(1) + keys @ self.U.T  # (B, N, d)
        weights = (scores @ self.v).masked_fill(~mask, -torch.inf).softmax(dim=-1)
        return torch.einsum("bn,bnd->bd", weights, keys), weights


class FirstStateOfTheEnd(BidirectionalEncoder):
    def forward(self, tokens, lengths):
        states, _ = super().forward(tokens, lengths)
        return states, torch.tanh(self.first_state(states[:, -1, : states.shape[-1] // 2]))


class OnlyForward(BidirectionalEncoder):
    def forward(self, tokens, lengths):
        states, first = super().forward(tokens, lengths)
        half = states.shape[-1] // 2
        return torch.cat([states[..., :half], states[..., :half]], dim=-1), first


class WithoutContext(AttentionDecoder):
    def readout(self, embedded, states, contexts):
        return super().readout(embedded, states, torch.zeros_like(contexts))


@pytest.mark.parametrize(
    ("encoder", "attention", "decoder", "stage"),
    [
        (OnlyForward, AdditiveAttention, AttentionDecoder, "what the encoder computes for “the”"),
        (FirstStateOfTheEnd, AdditiveAttention, AttentionDecoder, "the first state of the decoder"),
        (BidirectionalEncoder, WithoutTanh, AttentionDecoder, "the attention weights for “le”"),
        (BidirectionalEncoder, AdditiveAttention, WithoutContext, "the logits of “le”"),
    ],
)
def test_the_first_stage_that_differs_is_named(
    tmp_path, explorer, encoder, attention, decoder, stage
):
    torch.manual_seed(0)
    model = AttentionTranslator(
        encoder(len(SOURCE), 6, 8, 0.0), decoder(len(TARGET), 6, 8, 16, attention(8, 16, 8), 0.0)
    )
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    assert f"first differ in {stage}." in verdict(explorer, save(tmp_path / "mine.json", model))


def test_what_a_reader_adds_to_a_model_does_not_hinder(tmp_path, explorer):
    model = build("bahdanau")
    model.register_buffer("seen", torch.ones(2, 3, dtype=torch.long))
    model.encoder.last = model.encoder(torch.tensor([[4]]), torch.tensor([1]))[0]  # with a graph
    assert "your code computes" in verdict(explorer, save(tmp_path / "mine.json", model))


class WithNan(AdditiveAttention):
    def forward(self, query, keys, mask, projected_keys=None):
        context, weights = super().forward(query, keys, mask, projected_keys)
        return context, weights * torch.nan


def test_nan_is_a_difference(tmp_path, explorer):
    decoder = AttentionDecoder(len(TARGET), 6, 8, 16, WithNan(8, 16, 8), 0.0)
    model = AttentionTranslator(BidirectionalEncoder(len(SOURCE), 6, 8, 0.0), decoder)
    told = verdict(explorer, save(tmp_path / "mine.json", model))
    assert "first differ in the attention weights for “le”." in told


def test_a_model_that_is_no_translator_is_refused(tmp_path):
    with pytest.raises(ValueError, match="This model cannot be saved for the page"):
        save(tmp_path / "mine.json", nn.Linear(2, 3))
    assert not (tmp_path / "mine.json").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "3", '{"format": "another"}'])
def test_another_file_is_refused_in_one_sentence(tmp_path, explorer, content):
    (tmp_path / "mine.json").write_text(content, encoding="utf-8")
    assert verdict(explorer, tmp_path / "mine.json").startswith("This is not a translator that")


@pytest.mark.parametrize("part", ["weights", "trace", "source_words"])
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, explorer, part):
    path = save(tmp_path / "mine.json", build("luong"))
    saved = json.loads(path.read_text(encoding="utf-8"))
    del saved[part]
    path.write_text(json.dumps(saved), encoding="utf-8")
    assert verdict(explorer, path).startswith("This file is damaged, or")
