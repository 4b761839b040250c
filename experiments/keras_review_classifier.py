"""Train a well-known Keras recipe for film reviews, as published and with its flaws fixed.

    python -m experiments keras_review_classifier [--keras | --masked]

With --keras, the computation is that of Keras: the LSTMs skip padding, the softmax does not, and
the test set is used for validation. Without an option, the LSTMs read padding, too. With --masked,
padding is masked, and validation data are held out.

The recipe comes from a Korean Keras course: the 10,000 most frequent words, the last 500 words of a
review with padding in front, two bidirectional LSTMs of 64, attention of size 64 whose query is the
final state, a layer of 20, dropout 0.5, Adam, batches of 256, three epochs.

Writes book/results/recipe-keras.imdb.json, recipe.imdb.json or recipe-masked.imdb.json.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit import datasets
from coursekit.data.batching import length_mask
from coursekit.data.documents import TextBatch, text_batches, words
from coursekit.models.baseline_classifiers import accuracy, classification_loss
from coursekit.text.vocabulary import PAD, WordVocabulary
from coursekit.training import results, seed_everything, train
from solutions.bahdanau.scores import AdditiveAttention
from solutions.sentences.pooling import last_state

from .run_registry import command

VOCABULARY, LENGTH, BATCH, EPOCHS = 10_000, 500, 256, 3


class BothWays(nn.Module):
    """A bidirectional LSTM over padded texts without packing, which would take four times as long.

    The backward LSTM reads each text reversed within its own length, so that padding comes last in
    both directions.

    Args:
        input_size: i.
        hidden_size: state size of one direction.
        dropout: rate of input dropout, with one mask for each text and direction at all words, like
            the argument `dropout` of a Keras LSTM.
    """

    def __init__(self, input_size: int, hidden_size: int, dropout: float = 0.0):
        super().__init__()
        self.dropout = dropout
        self.ahead = nn.LSTM(input_size, hidden_size, batch_first=True)
        self.back = nn.LSTM(input_size, hidden_size, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Return states (B, N, 2d) for x (B, N, i); those after a text's end are undefined."""
        places = torch.arange(x.shape[1], device=x.device)  # (N,)
        order = lengths.unsqueeze(1) - 1 - places  # (B, N)
        order = order.where(order >= 0, places)
        turned = _in_order(self._drop(x), order)
        back = _in_order(self.back(turned)[0], order)  # reversed twice: the original order
        return torch.cat([self.ahead(self._drop(x))[0], back], dim=2)

    def _drop(self, x: Tensor) -> Tensor:
        if not self.dropout:
            return x
        return x * F.dropout(torch.ones_like(x[:, :1]), self.dropout, self.training)


def replace_padding(states: Tensor, lengths: Tensor) -> Tensor:
    """Return states (B, N, 2d) with the padding states of a Keras LSTM that skips padding.

    Keras pads in front: there the forward LSTM has not started, so its states are 0, and the
    backward LSTM has finished and repeats its last state.
    """
    real = length_mask(lengths, states.shape[1]).unsqueeze(2)  # (B, N, 1)
    ahead, back = states.chunk(2, dim=2)  # (B, N, d) each
    last = back[:, :1] * (lengths > 0).view(-1, 1, 1)  # (B, 1, d)
    return torch.cat([ahead * real, torch.where(real, back, last)], dim=2)


def _in_order(x: Tensor, order: Tensor) -> Tensor:
    return x.gather(1, order.unsqueeze(2).expand(-1, -1, x.shape[2]))  # (B, N, i)


@torch.no_grad()
def begin_as_keras(model: nn.Module) -> None:
    """Initialise all weights with the defaults of Keras layers.

    Embeddings are uniform between -0.05 and 0.05 (in torch, they come from N(0, 1)); matrices have
    Glorot initialisation, recurrent ones are orthogonal; biases are 0, those of forget gates 1.
    """
    for name, weight in model.named_parameters():
        if "embedding" in name:
            nn.init.uniform_(weight, -0.05, 0.05)
        elif "weight_hh" in name:
            nn.init.orthogonal_(weight)
        elif weight.dim() == 2:
            nn.init.xavier_uniform_(weight)
        elif "bias" in name:
            nn.init.zeros_(weight)
            if "bias_ih" in name:  # gates i, f, g, o
                weight.chunk(4)[1].fill_(1.0)
        else:  # the vector v of additive attention, a layer with one output in Keras
            nn.init.xavier_uniform_(weight.unsqueeze(0))


class Recipe(nn.Module):
    """Two bidirectional LSTMs, additive attention with the final state as query, two layers.

    Args:
        masked: whether the LSTMs skip padding and the softmax gives it no weight.
        keras: whether the LSTMs skip padding but the softmax does not, with the dropout and the
            initialisation of Keras.
    """

    def __init__(self, masked: bool, keras: bool = False):
        super().__init__()
        self.masked, self.keras = masked, keras
        self.embedding = nn.Embedding(VOCABULARY, 128)
        if masked or keras:
            share = 0.5 if keras else 0.0
            self.layers = nn.ModuleList([BothWays(128, 64, share), BothWays(128, 64, share)])
        else:
            self.rnn = nn.LSTM(128, 64, 2, batch_first=True, bidirectional=True, dropout=0.5)
        self.attention = AdditiveAttention(128, 128, 64)
        self.hidden = nn.Linear(128, 20)
        self.output = nn.Linear(20, 2)
        self.dropout = nn.Dropout(0.5)
        if keras:
            begin_as_keras(self)

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (B, 2) and weights (B, N) for ids (B, N)."""
        if self.keras:
            tokens = F.pad(tokens, (0, LENGTH - tokens.shape[1]), value=PAD)  # (B, 500)
        embedded = self.embedding(tokens)  # (B, N, 128)
        if self.keras:
            states = self.layers[1](self.layers[0](embedded, lengths), lengths)  # (B, N, 128)
            query = torch.cat([last_state(states[..., :64], lengths), states[:, 0, 64:]], dim=1)
            states = replace_padding(states, lengths)
            mask = torch.ones_like(tokens, dtype=torch.bool)  # (B, N)
        elif self.masked:
            mask = length_mask(lengths, tokens.shape[1])  # (B, N)
            inner = self.layers[0](embedded, lengths)  # (B, N, 128)
            states = self.layers[1](self.dropout(inner), lengths)  # (B, N, 128)
            query = torch.cat([last_state(states[..., :64], lengths), states[:, 0, 64:]], dim=1)
        else:
            states, (final, _) = self.rnn(embedded)  # (B, N, 128)
            mask = torch.ones_like(tokens, dtype=torch.bool)  # (B, N)
            query = torch.cat([final[-2], final[-1]], dim=1)  # (B, 128)
        context, weights = self.attention(query, states, mask)  # (B, 128), (B, N)
        inner = torch.relu(self.hidden(context))  # (B, 20)
        return self.output(self.dropout(inner)), weights


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kind = arguments.add_mutually_exclusive_group()
    kind.add_argument("--masked", action="store_true")
    kind.add_argument("--keras", action="store_true")
    arguments.add_argument("--seed", type=int, default=1)
    return arguments


def main(options: argparse.Namespace) -> None:
    """Train, evaluate and record."""
    corpus = datasets.load("imdb")
    training = corpus.train if options.masked else [*corpus.train, *corpus.validation]
    vocabulary = WordVocabulary((words(text) for text, _ in training), size=VOCABULARY)

    def encode(items: list[tuple[str, int]]) -> list[tuple[list[int], int]]:
        rows = []
        for text, label in items:
            ids = vocabulary.encode(words(text), eos=False)[-LENGTH:]
            front = [] if options.masked or options.keras else [PAD] * (LENGTH - len(ids))
            rows.append(([*front, *ids], label))
        return rows

    seed_everything(options.seed)
    model = Recipe(options.masked, options.keras)
    train_items, test_items = encode(training), encode(corpus.test)
    chosen_on = encode(corpus.validation) if options.masked else test_items
    started = time.perf_counter()

    def batches(items: list[tuple[list[int], int]], seed: int) -> Iterator[TextBatch]:
        for batch in text_batches(items, BATCH, seed):
            whole = torch.full_like(batch.lengths, batch.tokens.shape[1])
            lengths = batch.lengths if options.masked or options.keras else whole
            yield TextBatch(batch.tokens, lengths, batch.labels)

    def validate(_: nn.Module) -> dict[str, float]:
        row = {"accuracy": accuracy(model, batches(chosen_on, 0))}
        print(f"{row}, {time.perf_counter() - started:.0f} s", flush=True)
        return row

    def keras_adam(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.Adam(parameters, lr=1e-3, eps=1e-7, fused=True)

    history = train(
        model,
        lambda epoch: batches(train_items, epoch),
        classification_loss,
        epochs=EPOCHS,
        learning_rate=1e-3,
        optimizer=keras_adam if options.keras else None,
        validate=validate,
        select="accuracy" if options.masked else None,  # the recipe keeps the last epoch
        precision=torch.bfloat16,
        progress=False,
    )
    metrics = {"accuracy": accuracy(model, batches(test_items, 0))}
    if options.masked:
        metrics["validation_accuracy"] = history.column("accuracy")[history.best_epoch - 1]
    results.write_result(
        "recipe-masked" if options.masked else "recipe-keras" if options.keras else "recipe",
        "imdb",
        runs=[
            {
                "seed": options.seed,
                "metrics": metrics,
                "seconds": history.seconds,
                "best_epoch": history.best_epoch,
                "training_texts": len(train_items),
                "history": history.epochs,
            }
        ],
        parameters=sum(p.numel() for p in model.parameters()),
        data_sha256=corpus.data_sha256,
        command=command("keras_review_classifier", options),
        scorer="share of texts that get their class",
        validation="taken out of the training part" if options.masked else "the test set itself",
        padding="masked"
        if options.masked
        else "in front, skipped by the LSTMs, part of the softmax"
        if options.keras
        else "in front, part of the softmax",
    )
