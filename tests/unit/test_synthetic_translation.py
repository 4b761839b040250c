"""The comparisons on synthetic pairs: fresh sentences, measurements, and models of their own."""

from __future__ import annotations

from math import exp

import pytest
import torch

from coursekit.data.batching import translation_batch
from coursekit.models.translation import SequenceTranslator, attention_weights
from coursekit.text.vocabulary import PAD
from coursekit.training import seed_everything
from experiments import encoder_decoder, luong_scores
from experiments.encoder_decoder import ScheduledSampling, StackedSeq2Seq
from experiments.encoder_state import measure_what_is_left
from experiments.source_reversal import mean_distances
from experiments.synthetic_translation import (
    FreshPairs,
    compare_with_references,
    cross_entropy,
    first_word_gradients,
    group_by_length,
    log_probs_of_references,
)
from solutions.seq2seq.encoder_decoder import Encoder, Seq2Seq, reverse_source


@pytest.fixture(scope="module")
def corpus():
    return FreshPairs("korean", 300, 8)


@pytest.fixture
def lstm(corpus):
    def build(prepare=None):
        seed_everything(1)
        data = corpus.data
        model = Seq2Seq(len(data.source_words), len(data.target_words), 6, 8)
        return SequenceTranslator(model, prepare).eval()

    return build


def test_every_epoch_has_new_sentences_and_none_that_is_held_out(corpus):
    first, second = corpus.epoch(1), corpus.epoch(2)
    assert first is corpus.epoch(1)
    held_out = {tuple(s) for s, _ in [*corpus.data.validation, *corpus.data.test]}
    for pairs in (first, second):
        assert 200 < len(pairs) <= 300
        assert not held_out & {tuple(source) for source, _ in pairs}
    shared = {tuple(s) for s, _ in first} & {tuple(s) for s, _ in second}
    assert len(shared) < len(first) / 4  # the shortest sentences are few


def test_the_seed_changes_the_order_of_the_batches_only(corpus):
    def sentences(seed):
        rows = (row for batch in corpus.batches(1, 32, seed) for row in batch.target.tolist())
        return [tuple(token for token in row if token != PAD) for row in rows]

    one, two = sentences(1), sentences(2)
    assert one != two
    assert sorted(one) == sorted(two)


def test_groups_by_length_hold_the_means():
    table = group_by_length([4, 6, 8], [4, 5, 6, 7, 7], {"x": torch.tensor([0.0, 1, 3, 5, 7])})
    assert table == [
        {"from": 4, "to": 5, "sentences": 2, "x": 0.5},
        {"from": 6, "to": 7, "sentences": 3, "x": 5.0},
    ]


def test_a_translation_that_is_one_word_short_is_not_exact(corpus, monkeypatch):
    pairs = corpus.data.test[:2]
    (_, first), (_, second) = pairs
    said = [first[:-1], second[:-2]]  # without <eos>; the second lacks its last word
    monkeypatch.setattr("experiments.synthetic_translation.translate", lambda *_: said)
    exact, in_place = compare_with_references(None, pairs)
    assert exact.tolist() == [1.0, 0.0]
    assert in_place.tolist() == pytest.approx([1.0, 1 - 1 / (len(second) - 1)])


def test_the_probabilities_of_the_references_give_the_loss(corpus, lstm):
    pairs = corpus.data.test[:20]
    log_p, real = log_probs_of_references(lstm(), pairs)
    loss = cross_entropy(lstm(), translation_batch(pairs))
    assert -log_p[real].mean().item() == pytest.approx(loss.item(), rel=1e-5)


def test_first_word_gradients_are_of_each_sentence_alone_and_in_its_own_order(corpus, lstm):
    pairs = corpus.data.test[:7]
    for prepare in (None, reverse_source):
        model = lstm(prepare)
        together = first_word_gradients(model, model.model.source_embedding, pairs, at_once=3)
        alone = [
            first_word_gradients(model, model.model.source_embedding, [pair]).item()
            for pair in pairs
        ]
        assert together.tolist() == pytest.approx(alone, rel=1e-3)
        # An untrained LSTM forgets: the word that was read last has the largest share.
        assert (together > 1).all() if prepare else (together < 1).all()
    assert all(p.grad is None for p in model.parameters())


def test_one_layer_is_sutskevers_model_and_two_keep_their_state(corpus):
    data = corpus.data
    sizes = len(data.source_words), len(data.target_words), 6, 8
    batch = translation_batch(data.test[:5])
    given = batch.source, batch.lengths, batch.previous
    one = StackedSeq2Seq(*sizes, layers=1)
    plain = Seq2Seq(*sizes)
    plain.load_state_dict(one.state_dict())
    torch.testing.assert_close(one(*given), plain(*given))
    two = StackedSeq2Seq(*sizes, layers=2)
    state, found = two.encode(*given[:2]), []
    for t in range(batch.previous.shape[1]):
        log_p, state = two.step(batch.previous[:, t], state)
        found.append(log_p)
    torch.testing.assert_close(torch.stack(found, 1), two(*given).log_softmax(-1))


def test_scheduled_sampling_begins_with_true_words_and_ends_with_its_own(corpus, lstm):
    batch, model = translation_batch(corpus.data.test[:20]), lstm()
    loss = ScheduledSampling(half=1000)
    forced = cross_entropy(model, batch).item()
    assert loss.k / (loss.k + torch.tensor(1000 / loss.k).exp()) == pytest.approx(0.5, abs=1e-3)
    assert loss(model, batch).item() == pytest.approx(forced, rel=0.05)  # epsilon is nearly 1
    loss.updates = 10_000
    log_p, state = [], model.encode(batch.source, batch.lengths)
    tokens = batch.previous[:, 0]
    for _ in range(batch.target.shape[1]):
        step, state = model.step(tokens, state)
        tokens = step.argmax(-1)
        log_p.append(step)
    own = torch.nn.functional.nll_loss(
        torch.stack(log_p, 1).flatten(0, 1), batch.target.flatten(), ignore_index=0
    )
    assert loss(model, batch).item() == pytest.approx(own.item(), rel=1e-4)


def test_the_recorded_scheduled_sampling_ends_with_its_own_words_seven_times_in_eight():
    epsilon = ScheduledSampling(encoder_decoder.HALF)
    updates = encoder_decoder.EPOCHS * encoder_decoder.PAIRS / encoder_decoder.BATCH
    left_over = epsilon.k / (epsilon.k + exp(updates / epsilon.k))
    assert 0.11 < left_over < 0.14  # chapter 2 says so


def test_the_gates_of_a_fresh_lstm_begin_at_about_one_half(corpus):
    seed_everything(1)
    model = Seq2Seq(len(corpus.data.source_words), len(corpus.data.target_words), 48, 128)
    rnn, values = model.encoder, []
    for source, _ in corpus.data.test[:50]:
        embedded = model.source_embedding(torch.tensor(source))  # (S, e)
        states = rnn(embedded[None])[0][0]  # (S, d)
        earlier = torch.cat([torch.zeros_like(states[:1]), states[:-1]])  # (S, d)
        inputs = embedded @ rnn.weight_ih_l0.T + rnn.bias_ih_l0 + rnn.bias_hh_l0
        i, f, _, o = (inputs + earlier @ rnn.weight_hh_l0.T).sigmoid().chunk(4, dim=-1)
        values += [i.flatten(), f.flatten(), o.flatten()]
    gates = torch.cat(values).detach()
    assert gates.mean() == pytest.approx(0.5, abs=0.05)  # chapter 2 says so
    assert gates.std() < 0.2


def test_the_centers_are_those_of_the_windows_that_hold_the_weight(corpus):
    seed_everything(1)
    model = luong_scores.build("local-p", corpus.data).eval()
    source, target = corpus.data.test[0]
    positions, scores = luong_scores.window_centers(model, source, target)
    weights = attention_weights(model, [source], [target])[0]  # (T, S)
    D = model.decoder.attention.local.D
    inside = (torch.arange(len(source)) - positions[:, None]).abs() <= D  # (T, S)
    gaussian = torch.exp(-((torch.arange(len(source)) - positions[:, None]) ** 2) / (D**2 / 2))
    expected = scores.masked_fill(~inside, -torch.inf).softmax(-1) * gaussian
    assert torch.allclose(torch.as_tensor(weights), expected, atol=1e-5)


def test_distances_are_counted_in_steps_from_reading_to_writing():
    lengths, links = [3, 2], [{(0, 0), (2, 1)}, {(1, 0)}]
    # 1st: word 0 is read at step 0, word 2 at step 2, and the first word is written at step 3.
    assert mean_distances(lengths, links, reverse=False) == ((2.5 + 1) / 2, (2 + 1) / 2)
    assert mean_distances(lengths, links, reverse=True) == ((2.5 + 2) / 2, (1 + 2) / 2)


def test_what_is_left_of_a_word_is_one_after_it_and_zero_before(corpus):
    seed_everything(1)
    encoder = Encoder(len(corpus.data.source_words), 6, 8).eval()
    left = measure_what_is_left(encoder, corpus.data.test[0][0][:-1])
    assert torch.allclose(left, left.tril(), atol=1e-5)
    assert torch.allclose(left.diagonal(), torch.ones(len(left)))
    assert 0 < left[-1, 0] < 1


@pytest.mark.parametrize("row", luong_scores.COMPARISON.rows)
def test_a_translator_gives_the_same_numbers_step_by_step(corpus, row):
    seed_everything(1)
    model = luong_scores.build(row, corpus.data).eval()
    if row == "coverage":
        torch.nn.init.constant_(model.decoder.u, 0.7)
    batch = translation_batch(corpus.data.test[:6])
    logits, weights = model(batch.source, batch.lengths, batch.previous)  # (B, T, V), (B, T, S)
    state, found = model.encode(batch.source, batch.lengths), []
    for t in range(batch.previous.shape[1]):
        log_p, state = model.step(batch.previous[:, t], state)
        found.append(log_p)
    torch.testing.assert_close(torch.stack(found, 1), logits.log_softmax(-1), atol=1e-5, rtol=1e-4)
    if row in ("no-attention", "local-p"):
        assert (weights.sum(-1) <= 1 + 1e-5).all()
    elif row != "local-m":  # whose window may lie beyond the source
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]))


def test_coverage_takes_weight_from_words_that_have_had_it(corpus):
    seed_everything(1)
    model = luong_scores.build("coverage", corpus.data).eval()
    batch = translation_batch(corpus.data.test[:6])
    spread = []
    for u in (0.0, 5.0):
        torch.nn.init.constant_(model.decoder.u, u)
        _, weights = model(batch.source, batch.lengths, batch.previous)
        spread.append(weights.sum(dim=1).std(dim=-1).mean().item())
    assert spread[1] < spread[0]


def test_the_rows_of_encoder_decoder_are_built_as_they_are_named(corpus):
    for row in encoder_decoder.COMPARISON.rows:
        model = encoder_decoder.build(row, corpus.data)
        recurrent = model.encoder.rnn if row.startswith("gru") else model.model.encoder
        assert recurrent.hidden_size == int(row.split("-")[1])
        assert recurrent.num_layers == (int(row[-1]) if "layers" in row else 1)


def test_weights_read_one_step_later_link_the_word_before():
    rows = [torch.eye(4)[[0, 2, 1, 3]]]  # (T, S)
    later = luong_scores.shift_weights(rows)
    assert later[0].argmax(-1).tolist() == [2, 1, 3, 3]
    assert rows[0].argmax(-1).tolist() == [0, 2, 1, 3]
