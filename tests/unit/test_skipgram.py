"""Tests of neighbour pairs, negatives and batches for word vectors."""

from pathlib import Path

import nbformat
import pytest
import torch
from nbclient import NotebookClient

from autograder.exercises import EXERCISES
from autograder.instructor.authoring.notebook_builder import make_notebook
from coursekit.data.skipgram import nearest, neighbour_pairs, noise_distribution, skipgram_batches
from solutions.embeddings.vectors import negative_sampling_loss

MASTER = (
    Path(__file__).resolve().parents[2] / "solutions" / "embeddings" / "vectors" / "notebook.md"
)


def test_every_word_meets_the_words_within_the_window_and_not_itself():
    pairs = neighbour_pairs([[4, 5, 6, 7], [8]], window=2)
    assert set(map(tuple, pairs.tolist())) == {
        *((4, 5), (4, 6)),
        *((5, 4), (5, 6), (5, 7)),
        *((6, 4), (6, 5), (6, 7)),
        *((7, 5), (7, 6)),
    }
    assert len(pairs) == 10


def test_sentences_do_not_run_into_each_other():
    assert neighbour_pairs([[4], [5], []], window=3).shape == (0, 2)
    assert neighbour_pairs([[4, 4]], window=1).tolist() == [[4, 4], [4, 4]]


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_without_a_place_is_refused(window):
    with pytest.raises(ValueError, match=r"window must be at least 1, not"):
        neighbour_pairs([[4, 5]], window=window)


def test_noise_is_frequency_to_the_power():
    noise = noise_distribution([[4, 4, 4, 4], [5, 4, 4, 4, 4] * 2], vocabulary_size=7)
    # 4 occurred twelve times, 5 twice
    weights = torch.tensor([0, 0, 0, 0, 12**0.75, 2**0.75, 0])
    torch.testing.assert_close(noise, weights / weights.sum())
    even = noise_distribution([[4, 4, 5]], vocabulary_size=6, power=0.0)
    assert even.tolist() == [0, 0, 0, 0, 0.5, 0.5]


def test_noise_of_nothing_is_refused():
    with pytest.raises(ValueError, match=r"no word"):
        noise_distribution([[]], vocabulary_size=3)


def test_batches_hold_every_pair_once_with_negatives_from_the_noise():
    pairs = torch.arange(46).reshape(23, 2)
    noise = torch.tensor([0.0, 0.3, 0.0, 0.7])
    batches = list(skipgram_batches(pairs, noise, negatives=5, batch_size=4, seed=3))
    assert [len(batch.center) for batch in batches] == [4] * 5 + [3]
    seen = torch.cat([torch.stack([b.center, b.context], 1) for b in batches])
    assert sorted(seen.tolist()) == pairs.tolist()
    assert seen.tolist() != pairs.tolist()
    negatives = torch.cat([batch.negatives for batch in batches])
    assert negatives.shape == (23, 5)
    assert set(negatives.flatten().tolist()) == {1, 3}
    again = next(skipgram_batches(pairs, noise, negatives=5, batch_size=4, seed=3))
    other = next(skipgram_batches(pairs, noise, negatives=5, batch_size=4, seed=4))
    assert torch.equal(again.negatives, batches[0].negatives)
    assert not torch.equal(other.center, batches[0].center)
    assert batches[0].to("cpu").center.tolist() == batches[0].center.tolist()


def test_the_nearest_point_the_same_way_however_long_they_are():
    vectors = torch.tensor([[1.0, 0.0], [9.0, 1.0], [0.0, 3.0], [-5.0, 0.0]])
    ids, similarities = zip(*nearest(vectors, 0, 3), strict=True)
    assert ids == (1, 2, 3)
    assert similarities == pytest.approx((9 / 82**0.5, 0.0, -1.0))
    assert len(nearest(vectors, 2, 10)) == 3


def test_words_used_alike_get_vectors_alike():
    """Skip-gram on two kinds of words that never meet."""
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    kind = torch.randint(2, (600, 1), generator=generator)
    sentences = (4 + 4 * kind + torch.randint(4, (600, 4), generator=generator)).tolist()
    pairs, noise = neighbour_pairs(sentences, 2), noise_distribution(sentences, 12)
    center, context = (0.1 * torch.randn(12, 6) for _ in range(2))
    tables = [center.requires_grad_(), context.requires_grad_()]
    optimizer = torch.optim.Adam(tables, lr=0.05)
    for batch in skipgram_batches(pairs, noise, negatives=4, batch_size=64, seed=1):
        loss = negative_sampling_loss(
            center[batch.center], context[batch.context], context[batch.negatives]
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    words = center.detach()[4:]  # earlier ids are not words
    assert {i for i, _ in nearest(words, 0, 3)} == {1, 2, 3}
    assert {i for i, _ in nearest(words, 7, 3)} == {4, 5, 6}


def test_a_batch_of_no_pairs_costs_nothing():
    tensors = [torch.zeros(shape, requires_grad=True) for shape in ((0, 3), (0, 3), (0, 2, 3))]
    loss = negative_sampling_loss(*tensors)
    loss.backward()
    assert loss.item() == 0.0
    assert all(torch.isfinite(tensor.grad).all() for tensor in tensors)


@pytest.mark.slow
def test_the_learners_own_vectors_and_language_model(tmp_path, monkeypatch):
    """A learner who has solved both exercises: the notebook runs to its last cell."""
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setenv("COURSEKIT_SIZE", "quick")
    page = nbformat.from_dict(make_notebook(MASTER, EXERCISES))
    NotebookClient(page, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = {
        cell.id: "".join(o.text for o in cell.outputs if o.get("name") == "stdout")
        for cell in page.cells
        if cell.cell_type == "code"
    }
    lines = dict(line.strip().split(":") for line in printed["neighbours"].splitlines())
    people = "teacher student doctor farmer man woman singer queen grandmother girl boy child"
    assert {near.split()[0] for near in lines["king"].split(",")} <= set(people.split())
    rows = [[float(x) for x in line.split()] for line in printed["train-language"].splitlines()[1:]]
    assert [n for n, _, _ in rows] == [1, 2, 4]
    assert all(yours < counts for _, counts, yours in rows)
    assert rows[2][2] < rows[1][2] < rows[0][2]
