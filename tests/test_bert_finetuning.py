"""The three ways of fine-tuning against `transformers`, with the same random weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from solutions.bert.finetuning import (
    SequenceClassifier,
    SpanPredictor,
    TokenClassifier,
    load_pretrained,
)
from solutions.bert.inputs import BertEmbeddings
from solutions.bert.pretraining import BertEncoder, BertLayer

transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed: pip install -e .[test]"
)

# size, layers, heads, inner size, vocabulary, longest, classes, id of padding
SMALL = [(12, 2, 3, 20, 17, 9, 4, 0), (8, 1, 2, 5, 11, 7, 2, 3), (10, 3, 5, 40, 30, 16, 5, 0)]
EACH = pytest.mark.parametrize("sizes", SMALL)


def theirs(kind, sizes):
    """One of transformers' models with weights that are not small, so that everything matters."""
    d, layers, heads, inner, vocabulary, longest, classes, pad = sizes
    torch.manual_seed(sum(sizes))
    config = transformers.BertConfig(
        vocab_size=vocabulary,
        hidden_size=d,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        max_position_embeddings=longest,
        num_labels=classes,
        pad_token_id=pad,
        attn_implementation="eager",
    )
    model = getattr(transformers, kind)(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.4 * torch.randn_like(parameter))
    return model


def encoder(sizes):
    """Our encoder of the same size, with torch's own first weights."""
    d, layers, heads, inner, vocabulary, longest, _, pad = sizes
    stack = [BertLayer(d, heads, inner) for _ in range(layers)]
    return BertEncoder(BertEmbeddings(vocabulary, d, longest), stack, pad)


def given(sizes):
    """Ids, segments and the mask that transformers wants: two texts, one of them shorter."""
    vocabulary, longest, pad = sizes[4], sizes[5], sizes[7]
    tokens = torch.randint(vocabulary - 1, (2, longest))
    tokens = torch.where(tokens >= pad, tokens + 1, tokens)  # every id but that of padding
    tokens[1, longest // 2 :] = pad
    segments = torch.randint(2, tokens.shape)
    return tokens, segments, (tokens != pad).long()


def loaded(ours, source, extra):
    """Load what both have in common, then the new layer."""
    missing = load_pretrained(ours, source.state_dict())
    with torch.no_grad():
        for name, tensor in extra.items():
            ours.get_parameter(name).copy_(tensor)
    assert set(missing) == set(extra)  # nothing else was left as it was
    return ours.eval()


def compare(mine, right, real=None):
    real = torch.ones(right.shape[:2], dtype=torch.bool) if real is None else real.bool()
    assert mine.shape == right.shape
    torch.testing.assert_close(mine[real], right[real], atol=1e-5, rtol=1e-5)


@EACH
def test_sequences_as_in_transformers(sizes):
    source = theirs("BertForSequenceClassification", sizes)
    extra = {"output.weight": source.classifier.weight, "output.bias": source.classifier.bias}
    ours = loaded(SequenceClassifier(encoder(sizes), sizes[0], sizes[6]), source, extra)
    tokens, segments, real = given(sizes)
    with torch.no_grad():
        compare(ours(tokens, segments), source(tokens, real, segments).logits)
        compare(ours(tokens), source(tokens, real).logits)


@EACH
def test_tokens_as_in_transformers(sizes):
    source = theirs("BertForTokenClassification", sizes)
    extra = {"output.weight": source.classifier.weight, "output.bias": source.classifier.bias}
    ours = loaded(TokenClassifier(encoder(sizes), sizes[0], sizes[6]), source, extra)
    tokens, segments, real = given(sizes)
    with torch.no_grad():
        compare(ours(tokens, segments), source(tokens, real, segments).logits, real)
        compare(ours(tokens), source(tokens, real).logits, real)


@EACH
def test_spans_as_in_transformers(sizes):
    source = theirs("BertForQuestionAnswering", (*sizes[:6], 2, sizes[7]))
    source.qa_outputs.bias.data.zero_()  # a constant that the paper's two vectors do not have
    extra = {"start": source.qa_outputs.weight[0], "end": source.qa_outputs.weight[1]}
    ours = loaded(SpanPredictor(encoder(sizes), sizes[0]), source, extra)
    tokens, segments, real = given(sizes)
    with torch.no_grad():
        found, right = ours(tokens, segments), source(tokens, real, segments)
    compare(found[0], right.start_logits, real)
    compare(found[1], right.end_logits, real)


@pytest.mark.parametrize("train", [True, False])
def test_dropout_acts_in_training_alone(train):
    class Ones(nn.Module):
        def forward(self, tokens, segments=None):
            return torch.ones(*tokens.shape, 6)

    tokens = torch.zeros(3, 4, dtype=torch.long)
    for model in (SequenceClassifier(Ones(), 6, 5, 0.5), TokenClassifier(Ones(), 6, 5, 0.5)):
        model.train(train)
        torch.manual_seed(1)
        same = torch.equal(model(tokens), model(tokens))
        assert same is not train


def test_the_best_answer_may_be_as_long_as_allowed_and_no_longer():
    model = SpanPredictor(nn.Identity(), 2)
    start, end = torch.zeros(1, 6), torch.zeros(1, 6)
    start[0, 1] = end[0, 4] = 5.0  # four tokens
    end[0, 3], start[0, 3] = 1.0, 0.5
    passage = torch.ones(1, 6, dtype=torch.bool)
    assert [t.item() for t in model.best(start, end, passage, 4)] == [1, 4]
    assert [t.item() for t in model.best(start, end, passage, 3)] == [1, 3]
    passage[0, 1] = False
    assert [t.item() for t in model.best(start, end, passage, 4)] == [3, 4]
