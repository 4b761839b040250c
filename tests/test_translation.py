"""The glue of a translator, with the course's own encoder, decoder and attention."""

from __future__ import annotations

import random

import pytest
import torch
from torch import nn

from coursekit.batching import batches_by_length, translation_batch
from coursekit.training import device, train
from coursekit.translation import (
    FixedContext,
    Translator,
    attention_weights,
    length_mask,
    translate,
)
from coursekit.vocabulary import BOS, EOS, PAD
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder

SOURCE_SIZE, TARGET_SIZE, EMBEDDING, HIDDEN = 17, 13, 6, 5


def translator(attention=None, dropout=0.0, seed=2):
    attention = attention or AdditiveAttention(HIDDEN, 2 * HIDDEN, 4)
    model = Translator(
        BidirectionalEncoder(SOURCE_SIZE, EMBEDDING, HIDDEN, dropout),
        AttentionDecoder(TARGET_SIZE, EMBEDDING, HIDDEN, 2 * HIDDEN, attention, dropout),
    )
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():  # large enough that words differ, and sentences end
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
both = pytest.mark.parametrize("attention", [None, FixedContext()], ids=["attention", "fixed"])


def loss(model, batch):
    logits, _ = model(batch.source, batch.lengths, batch.previous)
    return nn.functional.cross_entropy(
        logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD
    )


# Translator


@both
def test_shapes(attention):
    batch = translation_batch(PAIRS[:4])
    logits, weights = translator(attention)(batch.source, batch.lengths, batch.previous)
    (b, t), s = batch.target.shape, batch.source.shape[1]
    assert logits.shape == (b, t, TARGET_SIZE)
    assert weights.shape == (b, t, s)


@both
def test_word_by_word_says_the_same_as_teacher_forcing(attention):
    model, batch = translator(attention), translation_batch(PAIRS[:6])
    logits, _ = model(batch.source, batch.lengths, batch.previous)
    state = model.start(batch.source, batch.lengths)
    for i in range(batch.previous.shape[1]):
        log_probs, state = model.step(batch.previous[:, i], state)
        torch.testing.assert_close(log_probs, logits[:, i].log_softmax(-1), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(log_probs.exp().sum(-1), torch.ones(6))


def test_a_step_leaves_the_old_state_alone():
    # A beam search goes on from the same state with several words.
    model, batch = translator(), translation_batch(PAIRS[:3])
    state = model.start(batch.source, batch.lengths)
    before = {name: tensor.clone() for name, tensor in state.items()}
    first, _ = model.step(batch.previous[:, 0], state)
    again, _ = model.step(batch.previous[:, 0], state)
    assert torch.equal(first, again)
    assert all(torch.equal(state[name], before[name]) for name in before)


@both
def test_padding_changes_nothing(attention):
    model = translator(attention)
    batch = translation_batch(PAIRS)
    logits, _ = model(batch.source, batch.lengths, batch.previous)
    for i, pair in enumerate(PAIRS):
        alone = translation_batch([pair])
        one, _ = model(alone.source, alone.lengths, alone.previous)
        torch.testing.assert_close(logits[i, : one.shape[1]], one[0], rtol=1e-4, atol=1e-5)


def test_length_mask_is_true_below_the_length():
    mask = length_mask(torch.tensor([1, 3, 0]), torch.zeros(3, 4, dtype=torch.long))
    assert mask.dtype == torch.bool
    assert mask.int().tolist() == [[1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0]]


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
    found = translate(model, SOURCES, batch_size=10)
    assert max(map(len, found)) > 3
    assert attention.projections == 3, "in decoding: 23 sentences in batches of 10"

    attention.projections = 0
    attention_weights(model, SOURCES, TARGETS, batch_size=10)
    assert attention.projections == 3


def test_every_parameter_gets_a_gradient():
    model = translator().train()
    loss(model, translation_batch(PAIRS)).backward()
    assert [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()] == []


# FixedContext


def annotations(lengths, longest, d=3, seed=1):
    torch.manual_seed(seed)
    return torch.randn(len(lengths), longest, 2 * d), length_mask(
        torch.tensor(lengths), torch.zeros(len(lengths), longest)
    )


def test_the_fixed_context_is_last_forward_and_first_backward():
    keys, mask = annotations([2, 4], 4)
    context, weights = FixedContext()(torch.randn(2, 5), keys, mask)
    last, first = [1, 3], [0, 0]
    by_hand = torch.cat([keys[[0, 1], last, :3], keys[[0, 1], first, 3:]], -1)
    assert torch.equal(context, by_hand)
    assert torch.equal(weights, torch.zeros(2, 4))


def test_the_fixed_context_does_not_depend_on_the_query_or_on_padding():
    keys, mask = annotations([2, 4], 4)
    context, _ = FixedContext()(torch.randn(2, 5), keys, mask)
    other = torch.where(mask.unsqueeze(-1), keys, torch.tensor(99.0))
    assert torch.equal(FixedContext()(torch.randn(2, 5), other, mask)[0], context)
    longer = nn.functional.pad(keys, (0, 0, 0, 3), value=7.0)
    wider = nn.functional.pad(mask, (0, 3))
    assert torch.equal(FixedContext()(torch.randn(2, 5), longer, wider)[0], context)


def test_the_fixed_context_is_the_same_at_every_step():
    class Watched(FixedContext):
        def forward(self, *arguments):
            context, weights = super().forward(*arguments)
            self.seen.append(context)
            return context, weights

    watched = Watched()
    watched.seen = []
    batch = translation_batch(PAIRS[:4])
    translator(watched)(batch.source, batch.lengths, batch.previous)
    assert len(watched.seen) == batch.previous.shape[1] > 2
    assert all(torch.equal(context, watched.seen[0]) for context in watched.seen)


def test_the_fixed_context_of_no_word_is_finite():
    keys, mask = annotations([0, 2], 2)
    context, _ = FixedContext()(torch.randn(2, 5), keys, mask)
    assert torch.isfinite(context).all()


def test_gradients_flow_through_the_fixed_context():
    keys, mask = annotations([2, 4], 4)
    keys.requires_grad_()
    FixedContext()(torch.randn(2, 5), keys, mask)[0].sum().backward()
    touched = keys.grad.ne(0).nonzero()[:, :2].unique(dim=0).tolist()
    assert touched == [[0, 0], [0, 1], [1, 0], [1, 3]]


# translate


@both
def test_translations_do_not_depend_on_the_batch_size_or_the_order(attention):
    model = translator(attention)
    found = translate(model, SOURCES)
    assert len({tuple(row) for row in found}) > 8, "too few different sentences to compare"
    order = random.Random(1).sample(range(len(SOURCES)), len(SOURCES))
    assert translate(model, [SOURCES[i] for i in order], batch_size=5) == [found[i] for i in order]
    assert [translate(model, [source])[0] for source in SOURCES] == found


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
    found = attention_weights(translator(), SOURCES, TARGETS, batch_size)
    shapes = [(len(target), len(source)) for source, target in PAIRS]
    assert [tuple(weights.shape) for weights in found] == shapes
    for weights in found:
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
