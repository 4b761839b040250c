"""Tests of published weights in the course's BERT: fine-tuned, frozen, against a library."""

from __future__ import annotations

import pytest
import torch

from coursekit import datasets
from coursekit.text.wordpiece import SPECIAL, WordPieceVocabulary
from experiments import minilm_encoder, minilm_heads
from experiments import minilm_finetuning as finetuning
from experiments.bert import encoder_of, judge
from solutions.bert.inputs import BertEmbeddings
from solutions.bert.pretraining import BertEncoder, BertLayer

PIECES = WordPieceVocabulary.from_pieces([*SPECIAL, "a", "dog", "cat", "sleeps", "."])


class Counts(torch.nn.Module):
    """Fake encoder: all components of a token's state are its id."""

    def forward(self, tokens, segments):
        return tokens.unsqueeze(-1).expand(*tokens.shape, minilm_encoder.WIDTH).float()


def test_a_pair_is_cut_into_what_each_text_alone_is_encoded_to():
    pair = (*PIECES.encode("a dog sleeps .", "a cat ."), 1)
    assert minilm_encoder.split_pair(pair, 0) == (*PIECES.encode("a dog sleeps ."), 1)
    assert minilm_encoder.split_pair(pair, 1) == (*PIECES.encode("a cat ."), 1)


def test_means_are_over_real_tokens_and_in_the_order_given():
    items = [(*PIECES.encode(text), 0) for text in ("a dog sleeps .", "a", "a cat .")]
    means = minilm_encoder.mean_states(Counts(), items)[:, 0]
    assert torch.allclose(means, torch.tensor([sum(ids) / len(ids) for ids, _, _ in items]))


def test_features_of_pairs_are_symmetric_and_those_of_texts_are_the_means():
    there, back = (
        (*PIECES.encode(*texts), 0) for texts in (("a dog .", "a cat"), ("a cat", "a dog ."))
    )
    assert (
        minilm_encoder.compute_features(Counts(), [there])
        == minilm_encoder.compute_features(Counts(), [back])
    ).all()
    single = [(*PIECES.encode("a dog ."), 0)]
    means = minilm_encoder.mean_states(Counts(), single)
    assert (minilm_encoder.compute_features(Counts(), single) == means.numpy()).all()


SENTENCES = [("a dog sleeps .", 1), ("dog sleeps", 1), ("a cat .", 0), ("a cat", 0), ("cat", 0)]


@pytest.mark.parametrize("validation", [0, 4])
def test_regularisation_is_chosen_by_labels_that_were_not_seen(validation):
    labels = [0, 1] * 10
    training = len(labels) - validation
    asked: dict[float, list[int]] = {}

    def fit(rows, strength):
        def tell(held):
            assert not set(held) & set(rows)
            asked.setdefault(strength, []).extend(held)
            return [labels[r] if strength == 3.0 else 0 for r in held]

        return tell

    best, strength = finetuning.fit_best(fit, labels, training)
    assert strength == 3.0
    held_out = range(training, len(labels)) if validation else range(training)
    assert all(sorted(rows) == list(held_out) for rows in asked.values())
    assert len(asked) == len(finetuning.REGULARISATIONS)
    with pytest.raises(AssertionError):
        best([0])  # it was fitted to all training rows


def test_a_run_says_how_much_of_the_texts_it_reads():
    texts = [("a dog sleeps .", 1), ("a cat .", 0), ("a dog .", "a cat .", 1)]
    items = [(*PIECES.encode(*text[:-1], longest=5), text[-1]) for text in texts]
    assert [len(ids) for ids, _, _ in items] == [5, 5, 5]
    assert finetuning.measure_reading(items, texts, PIECES) == {
        "whole_texts": 1 / 3,
        "pieces": 15 / 20,
    }


def small(**changed):
    options = finetuning.parser().parse_args(["--updates", "120", "--turn", "40", "--dropout", "0"])
    vars(options).update(width=16, layers=1, heads=2, learning_rate=0.01, rate_from_nothing=0.01)
    vars(options).update(changed)
    return options


def small_parts(validation):
    items = [(*PIECES.encode(text), label) for text, label in SENTENCES] * 4
    return {"train": items, "validation": items[:5] if validation else [], "test": items[:5]}


@pytest.mark.parametrize("validation", [False, True])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_an_encoder_is_tuned_from_weights_that_are_given_and_from_nothing(validation, precision):
    options = small(precision=precision)
    start = finetuning.encoder_of(options, len(PIECES)).state_dict()
    for state in (None, {name: weight.clone() for name, weight in start.items()}):
        told, run = finetuning.tune(small_parts(validation), state, len(PIECES), options, seed=1)
        assert told == [label for _, label in SENTENCES]
        assert run["updates"] == 120 and len(run["history"]) == 3 * validation
        assert run["best_update"] in ((40, 80, 120) if validation else (120,))


def test_the_table_of_published_word_pieces_stays_as_it_is(monkeypatch):
    made = []
    monkeypatch.setattr(
        finetuning, "encoder_of", lambda *given: made.append(encoder_of(*given)) or made[-1]
    )
    options = small()
    start = encoder_of(options, len(PIECES)).state_dict()
    for state in (None, start):
        finetuning.tune(small_parts(False), state, len(PIECES), options, seed=1)
    table, other = "embeddings.token.weight", "layers.0.inner.weight"
    nothing, published = (encoder.cpu().state_dict() for encoder in made)
    assert torch.equal(published[table], start[table])
    assert not torch.equal(published[other], start[other])
    assert not torch.equal(nothing[table], start[table])


def test_a_run_names_what_each_way_reaches():
    options = small(labels=10, ways=["bag", "fine-tuned"], length=512)
    model = torch.nn.Module()
    model.encoder = finetuning.encoder_of(options, len(PIECES))
    texts = dict.fromkeys(("train", "validation", "test"), SENTENCES * 4)
    parts = {part: small_parts(False)["train"] for part in texts}
    run = finetuning.run_seed(model, texts, parts, PIECES, options, 1)
    assert run["labels"] == 10 and run["test_texts"] == 20
    assert run["metrics"]["commonest_class"] == 0.6
    assert {"accuracy_bag", "accuracy"} <= set(run["metrics"])
    assert run["updates"] == 120 and "accuracy_from_scratch" not in run["metrics"]


def test_a_correction_of_low_rank_changes_nothing_at_first_and_is_all_that_is_trained():
    torch.manual_seed(0)
    encoder = BertEncoder(BertEmbeddings(9, 8, 6), [BertLayer(8, 2, 12) for _ in range(2)]).eval()
    tokens, segments = torch.tensor([[2, 5, 6, 3]]), torch.zeros(1, 4, dtype=torch.long)
    before = encoder(tokens, segments)
    minilm_encoder.add_corrections(encoder, rank=2)
    assert torch.equal(encoder(tokens, segments), before)
    trained = {name for name, p in encoder.named_parameters() if p.requires_grad}
    assert len(trained) == 2 * 2 * 2  # A and B, of queries and values, in two layers
    assert all(name.rpartition(".")[2] in "AB" for name in trained)
    encoder(tokens, segments).sum().backward()
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(torch.zeros_like(parameter) if parameter.grad is None else 1.0)
    assert not torch.allclose(encoder(tokens, segments), before)
    weight = encoder.layers[0].attention.query.weight
    plain = encoder.layers[0].attention.query.parametrizations.weight.original
    assert torch.linalg.matrix_rank(weight - plain) <= 2


def test_glue_s_measures():
    measured = judge([1, 1, 0, 0, 1], [1, 0, 0, 0, 1])
    assert measured["accuracy"] == pytest.approx(0.8)
    assert measured["f1"] == pytest.approx(0.8)
    assert measured["matthews"] == pytest.approx(2 / 3)
    assert judge([0, 0], [0, 1])["f1"] == judge([0, 0], [0, 1])["matthews"] == 0


def test_an_interval_holds_what_is_measured_and_narrows_with_more_texts():
    rng = torch.Generator().manual_seed(0)
    widths = []
    for number in (100, 2500):
        labels = torch.randint(2, (number,), generator=rng).tolist()
        told = [label ^ (i % 5 == 0) for i, label in enumerate(labels)]
        measured, found = judge(told, labels), finetuning.bootstrap_intervals(told, labels)
        for name, (low, high) in found.items():
            assert low < measured[name] < high
        widths.append(found["accuracy"][1] - found["accuracy"][0])
    assert widths[0] == pytest.approx(2 * 1.96 * 0.4 / 10, rel=0.15)  # of a binomial share
    assert widths[1] == pytest.approx(widths[0] / 5, rel=0.2)
    assert finetuning.bootstrap_intervals([0, 0], [0, 0])["f1"] == [0.0, 0.0]


def test_what_a_head_looks_at():
    before = torch.eye(6).roll(-1, 1)  # row i attends to position i - 1
    stop = torch.zeros(6, 6)
    stop[:, 4] = 1.0
    found = minilm_heads.measure_habits(torch.stack([before, stop]), (0, 5), 4)
    assert found["before"].tolist() == [1.0, 0.0]
    assert found["cls"].tolist() == [0.25, 0.0]  # position 1, one of four, has [CLS] before it
    assert found["sep"].tolist() == [0.0, 0.0]
    assert found["stop"].tolist() == [0.0, 1.0]
    assert found["used"].tolist() == [1.0, 1.0]


@pytest.mark.real_data
def test_real_weights_give_the_states_of_the_library():
    pytest.importorskip("transformers")
    model, pieces, _ = minilm_encoder.load_published()
    texts = ["a gripping film.", "not that it matters, but the ending is dull and long."]
    items = [(*pieces.encode(text), 0) for text in texts]
    state = dict(datasets.load("minilm-l6").split("weights"))
    assert minilm_heads.compare_states(model.encoder, items, state) < 1e-5
    with torch.no_grad():
        model.encoder.layers[3].inner.weight[0, 0] += 1.0
    assert minilm_heads.compare_states(model.encoder, items, state) > 1e-5


@pytest.mark.real_data
def test_real_sentence_vectors_know_what_is_alike():
    model, pieces, _ = minilm_encoder.load_published()
    texts = ["A man plays a guitar.", "Somebody makes music.", "The stock market fell sharply."]
    vectors = minilm_encoder.mean_states(model.encoder, [(*pieces.encode(t), 0) for t in texts])
    vectors = torch.nn.functional.normalize(vectors, dim=-1)
    alike = vectors @ vectors.T
    assert alike[0, 1] > alike[0, 2] + 0.2
