"""The glue of the translators without attention and of Luong's: decoding agrees with training."""

from __future__ import annotations

import pytest
import torch
from test_translation import EMBEDDING, HIDDEN, PAIRS, SOURCE_SIZE, SOURCES, TARGET_SIZE, TARGETS
from torch import nn

from coursekit.batching import source_batch, translation_batch
from coursekit.decoding import greedy_decode
from coursekit.translation import attention_weights, translate
from coursekit.translators import (
    ContextTranslator,
    LuongTranslator,
    SequenceTranslator,
    TransformerTranslator,
)
from coursekit.vocabulary import BOS, EOS, PAD, until_eos
from solutions.bahdanau.translator import BidirectionalEncoder
from solutions.luong.decoder import LuongDecoder
from solutions.luong.local import LocalAttention
from solutions.luong.scores import GlobalAttention, Score
from solutions.seq2seq.encoder_decoder import ContextDecoder, Encoder, Seq2Seq, reverse_source
from solutions.transformer.attention import MultiHeadAttention
from solutions.transformer.layers import (
    DecoderLayer,
    EncoderLayer,
    PositionwiseFeedForward,
    sinusoidal_positions,
)
from solutions.transformer.model import Transformer


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
    def looks():
        return MultiHeadAttention(2 * HIDDEN, 2)

    def inner():
        return PositionwiseFeedForward(2 * HIDDEN, 7)

    encoder = [EncoderLayer(2 * HIDDEN, looks(), inner()) for _ in range(2)]
    decoder = [DecoderLayer(2 * HIDDEN, looks(), looks(), inner()) for _ in range(2)]
    size = max(SOURCE_SIZE, TARGET_SIZE)
    return TransformerTranslator(
        Transformer(size, 2 * HIDDEN, sinusoidal_positions, encoder, decoder)
    )


def general():
    return Score("general", HIDDEN, 2 * HIDDEN)


MODELS = {
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


def made(name) -> nn.Module:
    torch.manual_seed(3)
    model = MODELS[name]()
    with torch.no_grad():
        for parameter in model.parameters():  # large enough that words differ
            parameter.normal_()
    return model.eval()


@every
def test_decoding_word_by_word_scores_like_teacher_forcing(name):
    model = made(name)
    batch = translation_batch(PAIRS[:6])
    logits, _ = model(batch.source, batch.lengths, batch.previous)  # (B, T, V)
    state = model.start(batch.source, batch.lengths)
    for t in range(batch.previous.shape[1]):
        log_probs, state = model.step(batch.previous[:, t], state)  # (B, V)
        real = batch.previous[:, t] != PAD  # what is read behind a sentence's end has no meaning
        expected = logits[:, t].log_softmax(-1)
        assert torch.allclose(log_probs[real], expected[real], atol=1e-4)


@every
def test_a_translation_does_not_depend_on_its_neighbours(name):
    model = made(name)
    together = translate(model, SOURCES)
    for source, found in zip(SOURCES[:5], together, strict=False):
        tokens, lengths = source_batch([source])
        state = model.start(tokens, lengths)
        alone = greedy_decode(model.step, state, BOS, EOS, 2 * len(source) + 10)[0].tolist()
        assert until_eos(alone) == found


@every
def test_all_parameters_learn(name):
    model = made(name).train()
    batch = translation_batch(PAIRS)
    logits, _ = model(batch.source, batch.lengths, batch.previous)
    logits.square().mean().backward()
    for label, parameter in model.named_parameters():
        assert parameter.grad is not None, label
        assert torch.isfinite(parameter.grad).all(), label
        assert parameter.grad.abs().max() > 0, label


@pytest.mark.parametrize("name", ["general", "concat, unfed", "local-m", "local-p"])
def test_weights_lie_on_real_words(name):
    model = made(name)
    batch = translation_batch(PAIRS)
    _, weights = model(batch.source, batch.lengths, batch.previous)  # (B, T, S)
    for row, length in zip(weights, batch.lengths.tolist(), strict=True):
        assert (row[:, length:] == 0).all()
    sums = weights.sum(-1)
    assert (sums <= 1 + 1e-5).all()
    if name in ("general", "concat, unfed"):
        assert torch.allclose(sums, torch.ones_like(sums))


def test_local_attention_looks_no_further_than_its_window():
    model = made("local-m")
    for weights in attention_weights(model, SOURCES, TARGETS):  # (T, S), D = 1
        for t, row in enumerate(weights):
            far = [s for s in range(len(row)) if abs(s - t) > 1]
            assert (row[far] == 0).all()


def test_reversal_changes_what_the_model_reads_and_nothing_else():
    plain, turned = made("sequence"), made("sequence, reversed")
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
