"""The course's BERT reads checkpoints of the library, and computes what the library computes.

The checkpoints are made here, of several small sizes and with random numbers in all parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from tools.refusals import refused
from torch import nn

from coursekit import datasets
from coursekit.bert import PretrainingModel
from solutions.bert.finetuning import load_pretrained
from solutions.bert.inputs import BertEmbeddings, wordpiece
from solutions.bert.pretraining import BertEncoder, BertLayer, MaskedLanguageModelHead, pool_first

transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed: pip install -e .[test]"
)

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


@dataclass(frozen=True)
class Sizes:
    """A configuration: what the sizes of a BERT may be."""

    vocabulary: int = 41
    hidden: int = 24
    layers: int = 2
    heads: int = 3
    inner: int = 37
    longest: int = 19
    segments: int = 2
    pad_id: int = 0
    eps: float = 1e-12


CONFIGURATIONS = {
    "one layer, one head": Sizes(layers=1, heads=1, hidden=11, inner=7),
    "two layers": Sizes(),
    "three layers, odd sizes": Sizes(53, 35, 3, 5, 21, 13, 3),
    "padding is not 0": Sizes(layers=2, heads=4, pad_id=40),
    "a large eps": Sizes(eps=0.3),
    "as wide inside as outside": Sizes(hidden=16, heads=2, inner=16),
}
each_size = pytest.mark.parametrize("sizes", CONFIGURATIONS.values(), ids=CONFIGURATIONS)


def theirs(kind: str, sizes: Sizes, **more: object) -> nn.Module:
    """A model of the library, every parameter of which is random."""
    config = transformers.BertConfig(
        vocab_size=sizes.vocabulary,
        hidden_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=sizes.inner,
        max_position_embeddings=sizes.longest,
        type_vocab_size=sizes.segments,
        layer_norm_eps=sizes.eps,
        pad_token_id=sizes.pad_id,
    )
    torch.manual_seed(sizes.hidden)
    model = getattr(transformers, kind)(config, **more)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            shift = 1.0 if "LayerNorm.weight" in name else 0.0
            parameter.copy_(shift + 0.3 * torch.randn(parameter.shape))
    return model.eval()


def ours(sizes: Sizes) -> PretrainingModel:
    """The course's BERT of the same sizes."""
    embeddings = BertEmbeddings(
        sizes.vocabulary, sizes.hidden, sizes.longest, sizes.segments, eps=sizes.eps
    )
    layers = [
        BertLayer(sizes.hidden, sizes.heads, sizes.inner, eps=sizes.eps)
        for _ in range(sizes.layers)
    ]
    encoder = BertEncoder(embeddings, layers, pad_id=sizes.pad_id)
    head = MaskedLanguageModelHead(embeddings.token, eps=sizes.eps)
    return PretrainingModel(encoder, head, sizes.hidden, pool_first).eval()


def a_batch(sizes: Sizes) -> tuple[torch.Tensor, torch.Tensor]:
    """Texts of several lengths with padding behind, and a second segment in each."""
    torch.manual_seed(7)
    longest = sizes.longest - 2
    tokens = torch.randint(1, sizes.vocabulary - 1, (4, longest))
    places = torch.arange(longest)
    lengths = torch.tensor([longest, 5, 1, longest - 3]).unsqueeze(1)
    segments = ((places >= lengths // 2) & (places < lengths)).long() * (sizes.segments - 1)
    return tokens.masked_fill(places >= lengths, sizes.pad_id), segments


def states_of(model: nn.Module, tokens, segments, pad_id: int):
    with torch.no_grad():
        return model(tokens, attention_mask=(tokens != pad_id).long(), token_type_ids=segments)


@each_size
def test_states_and_pooled_vector_are_those_of_the_library(sizes):
    library = theirs("BertModel", sizes)
    model = ours(sizes)
    missing = load_pretrained(model, library.state_dict())
    assert all(name.startswith(("head.", "next.")) for name in missing)
    tokens, segments = a_batch(sizes)
    wanted = states_of(library, tokens, segments, sizes.pad_id)
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
    wanted = states_of(library, tokens, segments, sizes.pad_id)
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
    # Words of letters only, which BERT does not cut before it looks for pieces.
    words += [
        2 * piece for piece in vocabulary[2000:30000:97] if piece.isascii() and piece.isalpha()
    ]
    assert len(words) > 40
    for word in words:
        assert wordpiece(word, pieces) == library.tokenize(word), word
