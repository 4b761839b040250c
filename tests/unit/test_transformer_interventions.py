"""Tests of the interventions in a Transformer that chapter 8 makes as its explorer does."""

from __future__ import annotations

import pytest
import torch

from coursekit.models.attention_hooks import recorded_weights
from coursekit.models.translation import TransformerTranslator, translate
from coursekit.text.vocabulary import WordVocabulary
from experiments.transformer_interventions import (
    compare_with_keys,
    find_weights,
    head_off_at,
    switch_off,
    translate_with,
)
from tests.helpers.small_models import small_transformer

TEXT = "the cow sees it now"
HEADS = 2


@pytest.fixture
def vocabulary() -> WordVocabulary:
    return WordVocabulary([TEXT.split(), ["la", "vache", "le", "voit", "maintenant"]])


@pytest.fixture
def model(vocabulary):
    torch.manual_seed(3)
    return small_transformer(len(vocabulary), 16, HEADS, 32).eval()


def logits(model, vocabulary):
    source = torch.tensor([vocabulary.encode(TEXT.split())])
    with torch.no_grad():
        return model(source, torch.tensor([[2, 5, 6, 7]]))


def test_a_text_without_changes_is_translated_as_usual(model, vocabulary):
    (ids,) = translate(TransformerTranslator(model), [vocabulary.encode(TEXT.split())])
    assert translate_with(model, vocabulary, TEXT) == " ".join(vocabulary.tokens(ids))


def test_a_head_is_off_at_one_word_alone_while_the_context_is_open(model, vocabulary):
    source = torch.tensor([vocabulary.encode(TEXT.split())])

    def read() -> torch.Tensor:
        with torch.no_grad():
            return model.encode(source)[0][0]  # (S, d)

    before = read()
    with head_off_at(model, 2, 1, 3):  # of the last layer
        changed = (read() != before).any(dim=1)
    assert changed.tolist() == [k == 3 for k in range(len(changed))]
    with torch.no_grad(), head_off_at(model, 2, 1, 3), head_off_at(model, 2, 2, 3):
        off = read()[3]
        model.encoder_layers[1].attention.output.weight.zero_()
    assert torch.equal(off, read()[3])


@pytest.mark.parametrize("part", ["encoder", "decoder", "memory"])
def test_a_head_that_is_off_adds_nothing(model, vocabulary, part):
    before = logits(model, vocabulary)
    layer = (model.encoder_layers if part == "encoder" else model.decoder_layers)[1]
    attention = layer.memory_attention if part == "memory" else layer.attention
    both = switch_off(model, [(part, 2, 1), (part, 2, 2)])
    one = switch_off(model, [(part, 2, 2)])
    assert torch.equal(logits(model, vocabulary), before)  # the model itself stays
    with torch.no_grad():
        attention.output.weight[:, 8:] = 0
        assert torch.equal(logits(model, vocabulary), logits(one, vocabulary))
        attention.output.weight.zero_()
    assert torch.equal(logits(model, vocabulary), logits(both, vocabulary))
    assert not torch.equal(before, logits(one, vocabulary))


def test_without_positions_the_order_of_the_words_does_not_matter(model, vocabulary):
    turned = " ".join(reversed(TEXT.split()))
    first, second = (
        translate_with(model, vocabulary, text, positions=False) for text in (TEXT, turned)
    )
    assert first == second


def test_without_the_causal_mask_the_first_word_stays(model, vocabulary):
    usual, free = (translate_with(model, vocabulary, TEXT, causal=c) for c in (True, False))
    assert usual.split()[:1] == free.split()[:1]


def test_products_and_scores_are_those_of_the_head(model, vocabulary):
    weights = find_weights(TransformerTranslator(model), vocabulary, TEXT)  # (L h, S)
    for layer in (1, 2):
        for head in (1, 2):
            products, scores = compare_with_keys(model, vocabulary, TEXT, layer, head)
            assert torch.allclose(products.sum(-1) / 8**0.5, scores, atol=1e-6)
            expected = weights[(layer - 1) * HEADS + head - 1]
            assert torch.allclose(scores.softmax(0), expected, atol=1e-6)


def test_the_weights_are_the_row_of_it(model, vocabulary):
    source = torch.tensor([vocabulary.encode(TEXT.split())])
    with torch.no_grad(), recorded_weights(model) as kept:
        model.encode(source)
    every = torch.cat([found[-1][0] for found in kept.values()])
    found = find_weights(TransformerTranslator(model), vocabulary, TEXT)
    assert torch.allclose(found, every[:, 3], atol=1e-6)
