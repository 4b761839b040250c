"""Tests of the three fine-tuning models against `transformers`, with equal random weights."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from solutions.bert.finetuning import (
    SequenceClassifier,
    SpanPredictor,
    TokenClassifier,
    load_pretrained,
)
from tests.helpers.bert_models import a_batch, each_size, encoder, read, theirs

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def loaded(ours, source, extra):
    """Load the weights that both have in common, then the new layer."""
    missing = load_pretrained(ours, source.state_dict())
    with torch.no_grad():
        for name, tensor in extra.items():
            ours.get_parameter(name).copy_(tensor)
    assert set(missing) == set(extra)  # everything else was loaded
    return ours.eval()


@each_size
@pytest.mark.parametrize("classifier", [SequenceClassifier, TokenClassifier])
def test_classes_of_sequences_and_tokens_as_in_transformers(classifier, sizes):
    library = theirs(f"BertFor{classifier.__name__.replace('Classifier', 'Classification')}", sizes)
    extra = {"output.weight": library.classifier.weight, "output.bias": library.classifier.bias}
    model = loaded(classifier(encoder(sizes), sizes.hidden, sizes.classes), library, extra)
    tokens, segments = a_batch(sizes)
    with torch.no_grad():
        for given in ((tokens, segments), (tokens,)):
            torch.testing.assert_close(model(*given), read(library, sizes, *given).logits, **CLOSE)


@each_size
def test_spans_as_in_transformers(sizes):
    sizes = replace(sizes, classes=2)
    library = theirs("BertForQuestionAnswering", sizes)
    library.qa_outputs.bias.data.zero_()  # a bias that the paper does not have
    extra = {"start": library.qa_outputs.weight[0], "end": library.qa_outputs.weight[1]}
    model = loaded(SpanPredictor(encoder(sizes), sizes.hidden), library, extra)
    tokens, segments = a_batch(sizes)
    right = read(library, sizes, tokens, segments)
    with torch.no_grad():
        start, end = model(tokens, segments)
    torch.testing.assert_close(start, right.start_logits, **CLOSE)
    torch.testing.assert_close(end, right.end_logits, **CLOSE)


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
