"""Tests that the course's BERT loads transformers checkpoints and computes the same.

The checkpoints are created here, in several small sizes and with random parameters.
"""

from __future__ import annotations

import pytest
import torch

from coursekit import datasets
from coursekit.models.bert import PretrainingModel
from solutions.bert.finetuning import load_pretrained
from solutions.bert.inputs import wordpiece
from solutions.bert.pretraining import MaskedLanguageModelHead, pool_first
from tests.helpers.bert_models import Sizes, a_batch, each_size, encoder, read, theirs, transformers
from tests.helpers.one_line_errors import refused

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def ours(sizes: Sizes) -> PretrainingModel:
    """Return the course's BERT of the same sizes."""
    below = encoder(sizes)
    embedding = below.get_submodule("embeddings.token")
    assert isinstance(embedding, torch.nn.Embedding)
    head = MaskedLanguageModelHead(embedding, eps=sizes.eps)
    return PretrainingModel(below, head, sizes.hidden, pool_first).eval()


@each_size
def test_states_and_pooled_vector_are_those_of_the_library(sizes):
    library = theirs("BertModel", sizes)
    model = ours(sizes)
    missing = load_pretrained(model, library.state_dict())
    assert all(name.startswith(("head.", "next.")) for name in missing)
    tokens, segments = a_batch(sizes)
    wanted = read(library, sizes, tokens, segments)
    with torch.no_grad():
        states = model.encoder(tokens, segments)
        pooled = model.summarise(states)
    torch.testing.assert_close(states, wanted.last_hidden_state, **CLOSE)
    torch.testing.assert_close(pooled, wanted.pooler_output, **CLOSE)


@each_size
def test_without_segments_and_without_padding(sizes):
    library, model = theirs("BertModel", sizes), ours(sizes)
    load_pretrained(model, library.state_dict())
    tokens = torch.randint(1, sizes.vocabulary - 1, (2, 3))
    with torch.no_grad():
        wanted = library(tokens).last_hidden_state
        torch.testing.assert_close(model.encoder(tokens), wanted, **CLOSE)


@each_size
def test_both_heads_score_as_those_of_the_library(sizes):
    library, model = theirs("BertForPreTraining", sizes), ours(sizes)
    assert any(name.startswith("bert.") for name in library.state_dict())
    assert load_pretrained(model, library.state_dict()) == []
    tokens, segments = a_batch(sizes)
    wanted = read(library, sizes, tokens, segments)
    with torch.no_grad():
        token_logits, next_logits = model(tokens, segments)
    torch.testing.assert_close(token_logits, wanted.prediction_logits, **CLOSE)
    torch.testing.assert_close(next_logits, wanted.seq_relationship_logits, **CLOSE)


def test_old_names_and_the_prefix_make_no_difference():
    sizes = Sizes()
    library = theirs("BertForPreTraining", sizes)
    state = library.state_dict()
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in state.items()
    }
    assert set(old) != set(state)
    bare = {name.removeprefix("bert."): tensor for name, tensor in old.items()}
    tokens, segments = a_batch(sizes)
    found = []
    for checkpoint in (state, old, bare):
        model = ours(sizes)
        assert load_pretrained(model, checkpoint) == []
        with torch.no_grad():
            found.append(model(tokens, segments))
    for token_logits, next_logits in found[1:]:
        assert torch.equal(token_logits, found[0][0])
        assert torch.equal(next_logits, found[0][1])


def test_a_checkpoint_without_decoder_and_one_with_more_than_is_needed():
    sizes = Sizes()
    state = theirs("BertForPreTraining", sizes).state_dict()
    lean = {name: tensor for name, tensor in state.items() if "decoder" not in name}
    assert len(lean) < len(state)
    assert load_pretrained(ours(sizes), lean) == []
    more = {**state, "bert.embeddings.position_ids": torch.arange(19), "other": torch.ones(1)}
    assert load_pretrained(ours(sizes), more) == []


def test_what_the_library_leaves_out_is_named_and_kept():
    sizes = Sizes()
    library = theirs("BertModel", sizes, add_pooling_layer=False)
    model = ours(sizes)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    missing = load_pretrained(model, library.state_dict())
    rest = [name for name, _ in model.named_parameters() if not name.startswith("encoder.")]
    assert missing == rest
    for name in missing:
        assert torch.equal(model.state_dict()[name], before[name])
    classifier = theirs("BertForSequenceClassification", sizes)
    assert load_pretrained(model, classifier.state_dict()) == [
        name for name in rest if not name.startswith("pooler.")
    ]


@pytest.mark.parametrize(
    "changed",
    [{"layers": 3}, {"vocabulary": 42}, {"inner": 38}, {"longest": 20}, {"segments": 1}],
    ids=str,
)
def test_a_checkpoint_of_another_size_changes_nothing(changed):
    model = ours(Sizes(**changed))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with refused(r"encoder\."):
        load_pretrained(model, theirs("BertForPreTraining", Sizes()).state_dict())
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name]), name


def test_the_head_stays_tied_and_the_checkpoint_untouched():
    sizes = Sizes()
    state = theirs("BertForPreTraining", sizes).state_dict()
    before = {name: tensor.clone() for name, tensor in state.items()}
    model = ours(sizes)
    load_pretrained(model, state)
    assert model.head.embedding.weight is model.encoder.embeddings.token.weight
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    assert list(state) == list(before)
    assert all(torch.equal(tensor, before[name]) for name, tensor in state.items())


@pytest.mark.real_data
def test_words_are_spelt_as_with_the_real_vocabulary():
    vocabulary = datasets.load("bert-base-uncased-vocabulary").split("pieces")
    pieces = {piece: number for number, piece in enumerate(vocabulary)}
    library = transformers.BertTokenizer(vocab=pieces)
    words = ["unaffable", "transformers", "c3po", "snowboarding", "xqzk", "o", "a" * 100, "a" * 101]
    # Words of letters only, which BERT does not split before matching pieces.
    words += [
        2 * piece for piece in vocabulary[2000:30000:97] if piece.isascii() and piece.isalpha()
    ]
    assert len(words) > 40
    for word in words:
        assert wordpiece(word, pieces) == library.tokenize(word), word
