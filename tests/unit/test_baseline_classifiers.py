"""Tests of the baseline classifiers, and of the loss and accuracy of all classifiers."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from coursekit.data.documents import document_batch, text_batch
from coursekit.models.baseline_classifiers import (
    ConvolutionalClassifier,
    PooledClassifier,
    accuracy,
    classification_loss,
    compute_outputs,
    predictions,
)
from coursekit.training import seed_everything, train


def mean(states, mask):
    """Return the mean over the real words, or 0 if there are none."""
    total = (states * mask.unsqueeze(2)).sum(1)
    return total / mask.sum(1, keepdim=True).clamp(min=1)


def models() -> dict[str, nn.Module]:
    return {
        "average": PooledClassifier(20, 6, 0, mean, 3),
        "bilstm": PooledClassifier(20, 6, 5, mean, 3),
        "cnn": ConvolutionalClassifier(20, 6, 4, 3),
    }


@pytest.mark.parametrize("name", models())
def test_padding_does_not_matter(name):
    torch.manual_seed(0)
    model = models()[name].eval()
    texts = [([5, 6, 7, 8], 0), ([9], 1), ([], 2)]
    batch = text_batch(texts)
    logits = compute_outputs(model, batch)[0]
    assert logits.shape == (3, 3) and torch.isfinite(logits).all()
    wider = compute_outputs(model, text_batch(texts, length=11))[0]
    assert torch.allclose(logits, wider, atol=1e-6)
    noisy = batch.tokens.clone()
    noisy[1, 1:], noisy[2] = 13, 14  # positions after the end
    assert torch.allclose(logits, model(noisy, batch.lengths), atol=1e-6)
    for row, item in enumerate(texts):
        alone = compute_outputs(model, text_batch([item]))[0]
        assert torch.allclose(alone[0], logits[row], atol=1e-6)


def test_windows_look_at_neighbours():
    torch.manual_seed(0)
    cnn = ConvolutionalClassifier(20, 6, 4, 2, windows=(2,)).eval()
    average = PooledClassifier(20, 6, 0, mean, 2).eval()
    order = text_batch([([5, 6, 7], 0), ([7, 5, 6], 0)])
    there, back = compute_outputs(cnn, order)[0]
    assert not torch.allclose(there, back, atol=1e-4)
    there, back = compute_outputs(average, order)[0]
    assert torch.allclose(there, back, atol=1e-6)


class Documents(nn.Module):
    """Classifies a document by whether its first word is 7, and returns weights as well."""

    def forward(self, documents):
        hit = (documents[:, 0, 0] == 7).float()
        return torch.stack([1 - hit, hit], dim=1), documents, documents


def test_measures_for_texts_and_documents():
    documents = [document_batch([([[7]], 1), ([[8]], 1)]), document_batch([([[9, 7]], 0)])]
    model = Documents().train()
    assert len(compute_outputs(model, documents[0])) == 3
    predicted, true = predictions(model, documents)
    assert predicted.tolist() == [1, 0, 0] and true.tolist() == [1, 1, 0]
    assert accuracy(model, documents) == pytest.approx(2 / 3)
    assert model.training


def test_it_learns():
    seed_everything(0)
    items = [([4 + n % 2, 6, 7][:: 1 - 2 * (n % 3 == 0)], n % 2) for n in range(64)]
    model = PooledClassifier(9, 8, 0, mean, 2)
    train(
        model,
        lambda epoch: [text_batch(items)],
        classification_loss,
        epochs=60,
        learning_rate=0.05,
        progress=False,
    )
    assert accuracy(model, [text_batch(items)]) == 1.0
