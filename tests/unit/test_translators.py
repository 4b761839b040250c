"""Tests of the translators: every chapter's model in training, decoding and attention plots."""

from __future__ import annotations

import random

import pytest
import torch
from torch import nn

from coursekit.data.batching import batches_by_length, length_mask, translation_batch
from coursekit.models.greedy_decoding import choose
from coursekit.models.translation import (
    AttentionTranslator,
    ContextTranslator,
    FixedContext,
    LuongTranslator,
    SequenceTranslator,
    TransformerTranslator,
    attention_weights,
    translate,
)
from coursekit.text.vocabulary import BOS, EOS, PAD
from coursekit.training import device, train
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder
from solutions.luong.decoder import LuongDecoder
from solutions.luong.local import LocalAttention
from solutions.luong.scores import GlobalAttention, Score
from solutions.seq2seq.encoder_decoder import ContextDecoder, Encoder, Seq2Seq, reverse_source
from tests.helpers.small_models import small_transformer

SOURCE_SIZE, TARGET_SIZE, EMBEDDING, HIDDEN = 17, 13, 6, 5


def translator(attention=None, dropout=0.0, seed=2):
    attention = attention or AdditiveAttention(HIDDEN, 2 * HIDDEN, 4)
    model = AttentionTranslator(
        BidirectionalEncoder(SOURCE_SIZE, EMBEDDING, HIDDEN, dropout),
        AttentionDecoder(TARGET_SIZE, EMBEDDING, HIDDEN, 2 * HIDDEN, attention, dropout),
    )
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():  # large: words differ, and sentences end
            parameter.normal_()
        model.decoder.output.bias[EOS] += 2.0
    return model.eval()


def encoded_pairs(count, seed=0):
    generator = random.Random(seed)

    def sentence(size, longest):
        words = (generator.randint(4, size - 1) for _ in range(generator.randint(1, longest)))
        return [*words, EOS]

    return [(sentence(SOURCE_SIZE, 9), sentence(TARGET_SIZE, 7)) for _ in range(count)]


PAIRS = encoded_pairs(23)
SOURCES = [source for source, _ in PAIRS]
TARGETS = [target for _, target in PAIRS]


def loss(model, batch):
    logits, _ = model(batch.source, batch.lengths, batch.previous)
    return nn.functional.cross_entropy(
        logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD
    )


def context(prepare=None):
    return ContextTranslator(
        Encoder(SOURCE_SIZE, EMBEDDING, HIDDEN),
        ContextDecoder(TARGET_SIZE, EMBEDDING, HIDDEN),
        prepare,
    )


def sequence(prepare=None):
    return SequenceTranslator(Seq2Seq(SOURCE_SIZE, TARGET_SIZE, EMBEDDING, HIDDEN), prepare)


def luong(attention, input_feeding=True):
    encoder = BidirectionalEncoder(SOURCE_SIZE, EMBEDDING, HIDDEN)
    decoder = LuongDecoder(TARGET_SIZE, EMBEDDING, HIDDEN, 2 * HIDDEN, attention, input_feeding)
    return LuongTranslator(encoder, decoder)


def transformer():
    return TransformerTranslator(
        small_transformer(max(SOURCE_SIZE, TARGET_SIZE), 2 * HIDDEN, heads=2, inner=7)
    )


def general():
    return Score("general", HIDDEN, 2 * HIDDEN)


MODELS = {
    "attention": translator,
    "fixed": lambda: translator(FixedContext()),
    "context": context,
    "context, reversed": lambda: context(reverse_source),
    "sequence": sequence,
    "sequence, reversed": lambda: sequence(reverse_source),
    "transformer": transformer,
    "general": lambda: luong(GlobalAttention(general())),
    "concat, unfed": lambda: luong(
        GlobalAttention(Score("concat", HIDDEN, 2 * HIDDEN, 4)), input_feeding=False
    ),
    "local-m": lambda: luong(LocalAttention("monotonic", general(), HIDDEN, 4, 1.0)),
    "local-p": lambda: luong(LocalAttention("predictive", general(), HIDDEN, 4, 1.5)),
}
every = pytest.mark.parametrize("name", MODELS)


def make(name) -> nn.Module:
    torch.manual_seed(3)
    model = MODELS[name]()
    with torch.no_grad():
        for parameter in model.parameters():  # large: words differ
            parameter.normal_()
    return model.eval()


# Translators


@every
def test_decoding_word_by_word_scores_like_teacher_forcing(name):
    model = make(name)
    batch = translation_batch(PAIRS[:6])
    logits, _ = model(batch.source, batch.lengths, batch.previous)  # (B, T, V)
    state = model.encode(batch.source, batch.lengths)
    for t in range(batch.previous.shape[1]):
        log_probs, state = model.step(batch.previous[:, t], state)  # (B, V)
        real = batch.previous[:, t] != PAD  # outputs after a sentence's end are meaningless
        expected = logits[:, t].log_softmax(-1)
        assert torch.allclose(log_probs[real], expected[real], atol=1e-4)


@every
def test_a_step_leaves_the_old_state_alone(name):
    # Beam search continues from the same state with several words.
    model, batch = make(name), translation_batch(PAIRS[:3])
    state = model.encode(batch.source, batch.lengths)
    before = choose(state, torch.arange(3))  # in new tensors
    first, _ = model.step(batch.previous[:, 0], state)
    again, _ = model.step(batch.previous[:, 0], state)
    assert torch.equal(first, again)
    torch.testing.assert_close(state, before, rtol=0, atol=0)


@every
def test_padding_changes_nothing(name):
    model = make(name)
    batch = translation_batch(PAIRS)
    logits, _ = model(batch.source, batch.lengths, batch.previous)
    for i, pair in enumerate(PAIRS):
        alone = translation_batch([pair])
        one, _ = model(alone.source, alone.lengths, alone.previous)
        torch.testing.assert_close(logits[i, : one.shape[1]], one[0], rtol=1e-4, atol=1e-5)


@every
def test_translations_do_not_depend_on_the_batch_size_or_the_order(name):
    model = make(name)
    translations = translate(model, SOURCES)
    assert len({tuple(row) for row in translations}) > 4, "too few different sentences to compare"
    order = random.Random(1).sample(range(len(SOURCES)), len(SOURCES))
    assert translate(model, [SOURCES[i] for i in order], batch_size=5) == [
        translations[i] for i in order
    ]
    assert [translate(model, [source])[0] for source in SOURCES] == translations


@every
def test_all_parameters_learn(name):
    model = make(name).train()
    batch = translation_batch(PAIRS)
    logits, _ = model(batch.source, batch.lengths, batch.previous)
    logits.square().mean().backward()
    for label, parameter in model.named_parameters():
        assert parameter.grad is not None, label
        assert torch.isfinite(parameter.grad).all(), label
        assert parameter.grad.abs().max() > 0, label


@pytest.mark.parametrize("name", ["general", "concat, unfed", "local-m", "local-p"])
def test_weights_lie_on_real_words(name):
    model = make(name)
    batch = translation_batch(PAIRS)
    _, weights = model(batch.source, batch.lengths, batch.previous)  # (B, T, S)
    for row, length in zip(weights, batch.lengths.tolist(), strict=True):
        assert (row[:, length:] == 0).all()
    sums = weights.sum(-1)
    assert (sums <= 1 + 1e-5).all()
    if name in ("general", "concat, unfed"):
        assert torch.allclose(sums, torch.ones_like(sums))


def test_local_attention_looks_no_further_than_its_window():
    model = make("local-m")
    for weights in attention_weights(model, SOURCES, TARGETS):  # (T, S), D = 1
        for t, row in enumerate(weights):
            far = [s for s in range(len(row)) if abs(s - t) > 1]
            assert (row[far] == 0).all()


def test_reversal_changes_what_the_model_reads_and_nothing_else():
    plain, turned = make("sequence"), make("sequence, reversed")
    turned.load_state_dict(plain.state_dict())
    batch = translation_batch(PAIRS[:4])
    backwards = reverse_source(batch.source, batch.lengths)
    one, _ = plain(backwards, batch.lengths, batch.previous)
    other, _ = turned(batch.source, batch.lengths, batch.previous)
    assert torch.equal(one, other)


def test_a_score_of_an_unknown_kind_or_impossible_sizes_is_refused():
    with pytest.raises(ValueError, match="it must be dot, scaled_dot, general or concat"):
        Score("cosine", 3, 3)
    with pytest.raises(ValueError, match="needs query and keys of one size, not 3 and 4"):
        Score("dot", 3, 4)


class CountedAttention(AdditiveAttention):
    projections = 0

    def project(self, keys):
        self.projections += 1
        return super().project(keys)


def test_keys_are_projected_once_per_batch_of_sentences():
    attention = CountedAttention(HIDDEN, 2 * HIDDEN, 4)
    model, batch = translator(attention), translation_batch(PAIRS[:5])
    assert batch.previous.shape[1] > 3

    model(batch.source, batch.lengths, batch.previous)
    assert attention.projections == 1, "in training"

    attention.projections = 0
    translations = translate(model, SOURCES, batch_size=10)
    assert max(map(len, translations)) > 3
    assert attention.projections == 3, "in decoding: 23 sentences in batches of 10"

    attention.projections = 0
    attention_weights(model, SOURCES, TARGETS, batch_size=10)
    assert attention.projections == 3


# FixedContext


def make_annotations(lengths, longest, d=3, seed=1):
    torch.manual_seed(seed)
    return torch.randn(len(lengths), longest, 2 * d), length_mask(torch.tensor(lengths), longest)


def test_the_fixed_context_is_last_forward_and_first_backward():
    keys, mask = make_annotations([2, 4], 4)
    context, weights = FixedContext()(torch.randn(2, 5), keys, mask)
    last, first = [1, 3], [0, 0]
    by_hand = torch.cat([keys[[0, 1], last, :3], keys[[0, 1], first, 3:]], -1)
    assert torch.equal(context, by_hand)
    assert torch.equal(weights, torch.zeros(2, 4))


def test_the_fixed_context_does_not_depend_on_the_query_or_on_padding():
    keys, mask = make_annotations([2, 4], 4)
    context, _ = FixedContext()(torch.randn(2, 5), keys, mask)
    other = torch.where(mask.unsqueeze(-1), keys, torch.tensor(99.0))
    assert torch.equal(FixedContext()(torch.randn(2, 5), other, mask)[0], context)
    longer = nn.functional.pad(keys, (0, 0, 0, 3), value=7.0)
    wider = nn.functional.pad(mask, (0, 3))
    assert torch.equal(FixedContext()(torch.randn(2, 5), longer, wider)[0], context)


def test_the_fixed_context_of_no_word_is_finite():
    keys, mask = make_annotations([0, 2], 2)
    context, _ = FixedContext()(torch.randn(2, 5), keys, mask)
    assert torch.isfinite(context).all()


def test_gradients_flow_through_the_fixed_context():
    keys, mask = make_annotations([2, 4], 4)
    keys.requires_grad_()
    FixedContext()(torch.randn(2, 5), keys, mask)[0].sum().backward()
    touched = keys.grad.ne(0).nonzero()[:, :2].unique(dim=0).tolist()
    assert touched == [[0, 0], [0, 1], [1, 0], [1, 3]]


# translate


def test_translations_hold_words_only():
    for row in translate(translator(), SOURCES):
        assert all(0 <= i < TARGET_SIZE and i not in (PAD, BOS, EOS) for i in row)


def test_a_translation_that_never_ends_is_cut():
    model = translator()
    with torch.no_grad():
        model.decoder.output.bias[EOS] = -1e9
        model.decoder.output.bias[[PAD, BOS]] = -1e9
    short, long = translate(model, [[4, EOS], [5] * 6 + [EOS]])
    assert (len(short), len(long)) == (2 * 2 + 10, 2 * 7 + 10)


def test_translating_leaves_no_dropout_on():
    model = translator(dropout=0.5).train()
    assert translate(model, SOURCES) == translate(model, SOURCES)


def test_nothing_to_translate():
    assert translate(translator(), []) == []


# attention_weights


@pytest.mark.parametrize("batch_size", [4, 128])
def test_weights_have_the_shape_of_each_pair_and_rows_sum_to_one(batch_size):
    weights_of = attention_weights(translator(), SOURCES, TARGETS, batch_size)
    shapes = [(len(target), len(source)) for source, target in PAIRS]
    assert [tuple(weights.shape) for weights in weights_of] == shapes
    for weights in weights_of:
        torch.testing.assert_close(weights.sum(-1), torch.ones(len(weights)))
        assert not weights.requires_grad


def test_weights_do_not_depend_on_the_batch():
    model = translator()
    together = attention_weights(model, SOURCES, TARGETS)
    for i in range(len(SOURCES)):
        alone = attention_weights(model, SOURCES[i : i + 1], TARGETS[i : i + 1])[0]
        torch.testing.assert_close(together[i], alone, rtol=1e-4, atol=1e-5)


# Training


def one_epoch():
    model = translator(dropout=0.1)
    history = train(
        model,
        lambda epoch: batches_by_length(PAIRS, 8, seed=epoch),
        loss,
        epochs=8,
        learning_rate=0.02,
        progress=False,
    )
    return model, history.column("loss")


def test_a_translator_learns_on_this_machines_device():
    model, losses = one_epoch()
    assert losses[-1] < losses[0] * 0.8
    assert next(model.parameters()).device.type == device().type
    assert len(translate(model, SOURCES)) == len(SOURCES)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
def test_a_translator_on_cuda_agrees_with_the_cpu():
    model, batch = translator(), translation_batch(PAIRS)
    on_cpu, _ = model(batch.source, batch.lengths, batch.previous)
    moved = batch.to("cuda")
    on_cuda, weights = model.to("cuda")(moved.source, moved.lengths, moved.previous)
    assert weights.device.type == "cuda"
    torch.testing.assert_close(on_cuda.cpu(), on_cpu, rtol=1e-3, atol=1e-3)
    loss(model, moved).backward()
    assert all(p.grad.device.type == "cuda" for p in model.parameters())
    assert attention_weights(model, SOURCES, TARGETS)[0].device.type == "cpu"
    assert len(translate(model, SOURCES)) == len(SOURCES)
