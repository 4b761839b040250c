"""Train the sources' classifier of film reviews as it stands, and once with its faults mended.

    python book/runs/recipe.py              # padding takes part, the test set is the validation set
    python book/runs/recipe.py --masked     # padding is masked, validation data are taken out

The recipe, known from a Korean course on Keras: the 10,000 most frequent words, the last 500 of a
review with padding in front, two bidirectional LSTMs of 64, attention of size 64 whose query is the
final state, a layer of 20, dropout 0.5, Adam, batches of 256, three epochs.

Writes book/results/recipe.imdb.json or recipe-masked.imdb.json.
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import Tensor, nn

from coursekit import datasets, results
from coursekit.classifiers import accuracy, classification_loss, real_words
from coursekit.documents import TextBatch, text_batches, words
from coursekit.training import seed_everything, train
from coursekit.vocabulary import PAD, WordVocabulary
from solutions.bahdanau.scores import AdditiveAttention
from solutions.sentences.pooling import last_state

VOCABULARY, LENGTH, BATCH, EPOCHS = 10_000, 500, 256, 3


class BothWays(nn.Module):
    """A bidirectional LSTM over padded texts, without packing, which takes four times as long here.

    The backward LSTM reads each text turned round within its own length, so that padding comes
    last for both.
    """

    def __init__(self, input_size: int, hidden_size: int):
        super().__init__()
        self.ahead = nn.LSTM(input_size, hidden_size, batch_first=True)
        self.back = nn.LSTM(input_size, hidden_size, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Return states (B, N, 2d) for x (B, N, i); those behind a text's end mean nothing."""
        places = torch.arange(x.shape[1], device=x.device)  # (N,)
        order = lengths.unsqueeze(1) - 1 - places  # (B, N)
        order = order.where(order >= 0, places)
        back = _in_order(self.back(_in_order(x, order))[0], order)  # turned twice is as before
        return torch.cat([self.ahead(x)[0], back], dim=2)


def _in_order(x: Tensor, order: Tensor) -> Tensor:
    return x.gather(1, order.unsqueeze(2).expand(-1, -1, x.shape[2]))  # (B, N, i)


class Recipe(nn.Module):
    """Two bidirectional LSTMs, additive attention with the final state as query, two layers."""

    def __init__(self, masked: bool):
        super().__init__()
        self.masked = masked
        self.embedding = nn.Embedding(VOCABULARY, 128)
        if masked:
            self.layers = nn.ModuleList([BothWays(128, 64), BothWays(128, 64)])
        else:
            self.rnn = nn.LSTM(128, 64, 2, batch_first=True, bidirectional=True, dropout=0.5)
        self.attention = AdditiveAttention(128, 128, 64)
        self.hidden = nn.Linear(128, 20)
        self.output = nn.Linear(20, 2)
        self.dropout = nn.Dropout(0.5)

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (B, 2) and weights (B, N) for ids (B, N)."""
        embedded = self.embedding(tokens)  # (B, N, 128)
        if self.masked:
            mask = real_words(tokens, lengths)  # (B, N)
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


def main() -> None:
    """Read the command line, train, record."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--masked", action="store_true")
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    corpus = datasets.load("imdb")
    training = corpus.train if options.masked else [*corpus.train, *corpus.validation]
    vocabulary = WordVocabulary((words(text) for text, _ in training), size=VOCABULARY)

    def encoded(items: list[tuple[str, int]]) -> list[tuple[list[int], int]]:
        found = []
        for text, label in items:
            ids = vocabulary.encode(words(text), eos=False)[-LENGTH:]
            front = [] if options.masked else [PAD] * (LENGTH - len(ids))
            found.append(([*front, *ids], label))
        return found

    seed_everything(options.seed)
    model = Recipe(options.masked)
    train_items, test_items = encoded(training), encoded(corpus.test)
    chosen_on = encoded(corpus.validation) if options.masked else test_items
    started = time.perf_counter()

    def batches(items: list[tuple[list[int], int]], seed: int):
        for batch in text_batches(items, BATCH, seed):
            whole = torch.full_like(batch.lengths, batch.tokens.shape[1])
            lengths = batch.lengths if options.masked else whole
            yield TextBatch(batch.tokens, lengths, batch.labels)

    def validate(_: nn.Module) -> dict[str, float]:
        row = {"accuracy": accuracy(model, batches(chosen_on, 0))}
        print(f"{row}, {time.perf_counter() - started:.0f} s", flush=True)
        return row

    history = train(
        model,
        lambda epoch: batches(train_items, epoch),
        classification_loss,
        epochs=EPOCHS,
        learning_rate=1e-3,
        validate=validate,
        select="accuracy" if options.masked else None,  # the recipe keeps the last epoch
        precision=torch.bfloat16,
        progress=False,
    )
    metrics = {"accuracy": accuracy(model, batches(test_items, 0))}
    if options.masked:
        metrics["validation_accuracy"] = history.column("accuracy")[history.best_epoch - 1]
    results.record(
        "recipe-masked" if options.masked else "recipe",
        "imdb",
        runs=[
            {
                "seed": options.seed,
                "metrics": metrics,
                "seconds": time.perf_counter() - started,
                "best_epoch": history.best_epoch,
                "training_texts": len(train_items),
                "history": history.epochs,
            }
        ],
        parameters=sum(p.numel() for p in model.parameters()),
        data_sha256=corpus.data_sha256,
        command="python book/runs/recipe.py" + (" --masked" if options.masked else ""),
        scorer="share of texts that get their class",
        validation="taken out of the training part" if options.masked else "the test set itself",
        padding="masked" if options.masked else "in front, part of the softmax",
    )


if __name__ == "__main__":
    main()
