"""Baseline text classifiers without attention, with their loss and accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from coursekit.data.batching import length_mask
from coursekit.data.documents import DocumentBatch, TextBatch
from coursekit.training import device

Pool = Callable[[Tensor, Tensor], Tensor]


class PooledClassifier(nn.Module):
    """Classifier on a pooled sentence vector, of the states of a BiLSTM or of the embeddings.

    logits = W_o pool(h_1 ... h_N) + b_o, with h_j = [h_j->; h_j<-], or h_j = E x_j without an RNN.

    Args:
        vocabulary_size: number of ids.
        embedding_size: size of an embedding.
        hidden_size: size of a state in each direction; 0 for no RNN, like fastText.
        pool: `pool(states (B, N, d), mask (B, N))` returns sentence vectors (B, d).
        classes: number of classes.
        dropout: dropout rate on the embedded words and on the sentence vector.

    Source: Joulin et al. (2017), "Bag of Tricks for Efficient Text Classification", without RNN.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        pool: Pool,
        classes: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = (
            nn.LSTM(embedding_size, hidden_size, batch_first=True, bidirectional=True)
            if hidden_size
            else None
        )
        self.pool = pool
        self.output = nn.Linear(2 * hidden_size or embedding_size, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return logits (B, C) for ids (B, N) of which `lengths` (B,) are real."""
        states = self.dropout(self.embedding(tokens))  # (B, N, e)
        if self.rnn is not None:
            row = pack_padded_sequence(
                states, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
            )
            states = pad_packed_sequence(self.rnn(row)[0], True, total_length=tokens.shape[1])[0]
        return self.output(
            self.dropout(self.pool(states, length_mask(lengths, tokens.shape[1])))
        )  # (B, C)


class ConvolutionalClassifier(nn.Module):
    """Convolutional filters over windows of words, with max pooling over time.

    c_jk = relu(w_k . [E x_j; ...; E x_{j+n-1}] + b_k),  logits = W_o (max_j c_jk)_k + b_o

    A text shorter than a window is padded; windows that reach into the padding after the last word
    count if their first word is real. In training, `dropout` acts on the pooled values only, as in
    the paper: a maximum over noisy windows would mostly select noise.

    Source: Kim (2014), "Convolutional Neural Networks for Sentence Classification".
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        filters: int,
        classes: int,
        windows: tuple[int, ...] = (3, 4, 5),
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.widths = windows
        self.windows = nn.ModuleList(nn.Conv1d(embedding_size, filters, n) for n in windows)
        self.output = nn.Linear(filters * len(windows), classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return logits (B, C) for ids (B, N) of which `lengths` (B,) are real."""
        mask = length_mask(lengths, tokens.shape[1]).unsqueeze(2)  # (B, N, 1)
        x = self.embedding(tokens).masked_fill(~mask, 0.0)  # (B, N, e)
        largest = []
        for n, window in zip(self.widths, self.windows, strict=True):
            padded = F.pad(x.transpose(1, 2), (0, n - 1))  # (B, e, N + n - 1)
            answers = torch.relu(window(padded))  # (B, f, N), not negative
            largest.append(answers.masked_fill(~mask.transpose(1, 2), 0.0).amax(dim=2))  # (B, f)
        return self.output(self.dropout(torch.cat(largest, dim=1)))  # (B, C)


def compute_outputs(model: nn.Module, batch: TextBatch | DocumentBatch) -> tuple[Any, ...]:
    """Return a classifier's outputs for a batch as a tuple: logits first, then any weights."""
    if isinstance(batch, DocumentBatch):
        output = model(batch.documents)
    else:
        output = model(batch.tokens, batch.lengths)
    return output if isinstance(output, tuple) else (output,)


def classification_loss(model: nn.Module, batch: TextBatch | DocumentBatch) -> Tensor:
    """Return the mean cross entropy of a batch, for `coursekit.training.train`."""
    return F.cross_entropy(compute_outputs(model, batch)[0], batch.labels)


@torch.no_grad()
def predictions(
    model: nn.Module, batches: Iterable[TextBatch | DocumentBatch]
) -> tuple[Tensor, Tensor]:
    """Return the predicted and the true class of every text, (M,) each, in the batches' order."""
    was_training = model.training
    model.eval()
    predicted, true = [], []
    for batch in batches:
        there = batch.to(device())
        predicted.append(compute_outputs(model, there)[0].argmax(dim=1).cpu())
        true.append(batch.labels.cpu())
    model.train(was_training)
    return torch.cat(predicted), torch.cat(true)


def accuracy(model: nn.Module, batches: Iterable[TextBatch | DocumentBatch]) -> float:
    """Return the share of texts that are classified correctly, from 0 to 1."""
    predicted, true = predictions(model, batches)
    return (predicted == true).double().mean().item()
