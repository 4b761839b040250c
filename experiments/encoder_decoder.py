"""Compare encoder-decoders without attention: size of the vector, depth, cell, scheduled sampling.

    python -m experiments encoder_decoder --jobs 2

English sentences of 4 to 12 words are translated into French. The LSTMs read the source reversed,
as Sutskever's do; Cho's GRU reads it as it stands. Every epoch has new sentences, and the learning
rate falls to 0. Recorded beside the scores: what a beam finds, and how much one wrong word costs.

Writes book/results/encoder_decoder.english-french.json.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.data.batching import EncodedPair, TranslationBatch, source_batch, translation_batch
from coursekit.data.lesson_data import TranslationData
from coursekit.models.translation import ContextTranslator, SequenceTranslator, Translator
from coursekit.text.vocabulary import BOS, EOS, PAD, until_eos
from coursekit.training import seed_everything
from solutions.seq2seq.decoding import beam_search
from solutions.seq2seq.encoder_decoder import (
    ContextDecoder,
    Encoder,
    Seq2Seq,
    reverse_source,
    sequence_loss,
)

from .comparison_harness import Comparison, Train
from .synthetic_translation import (
    BATCH,
    FreshPairs,
    cross_entropy,
    describe_run,
    log_probs_of_references,
)

EMBEDDING = 48
PAIRS, EPOCHS, MAX_LENGTH = 10_000, 16, 12
EDGES = (4, 6, 8, 10, 13)  # words of the source
LONG = 10  # words
BEAMS = (1, 2, 4, 8)
SEARCHED = 200  # test sentences that are translated with each beam
HALF = 3 / 4 * EPOCHS * PAIRS / BATCH  # updates until it reads its own words half of the time


def load() -> tuple[FreshPairs, str]:
    """Return the corpus and its SHA-256."""
    corpus = FreshPairs("french", PAIRS, MAX_LENGTH)
    return corpus, corpus.sha256()


class StackedSeq2Seq(Seq2Seq):
    """Sutskever's model with several LSTM layers; a state holds those of all layers, (B, L, d)."""

    def __init__(
        self, source_size: int, target_size: int, embedding_size: int, hidden_size: int, layers: int
    ):
        super().__init__(source_size, target_size, embedding_size, hidden_size)
        self.encoder = nn.LSTM(embedding_size, hidden_size, layers, batch_first=True)
        self.decoder = nn.LSTM(embedding_size, hidden_size, layers, batch_first=True)

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return h and c of all layers after each sentence's own last word, (B, L, d) each."""
        embedded = self.source_embedding(source)  # (B, S, e)
        packed = nn.utils.rnn.pack_padded_sequence(
            embedded, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        _, (h, c) = self.encoder(packed)  # (L, B, d) each
        return h.transpose(0, 1), c.transpose(0, 1)

    def _decode(
        self, tokens: Tensor, state: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the logits (B, T, V) after each of the tokens (B, T), and the new state."""
        h, c = (part.transpose(0, 1).contiguous() for part in state)  # (L, B, d) each
        states, (h, c) = self.decoder(self.target_embedding(tokens), (h, c))  # (B, T, d)
        return self.output(states), (h.transpose(0, 1), c.transpose(0, 1))

    def step(
        self, tokens: Tensor, state: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return log p of every next word, (B, V), after `tokens` (B,), and the new state."""
        logits, state = self._decode(tokens.unsqueeze(1), state)  # (B, 1, V)
        return logits[:, 0].log_softmax(dim=-1), state

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> Tensor:
        """Predict each target word from the true words before it: logits (B, T, V)."""
        return self._decode(previous, self.encode(source, lengths))[0]


def build(row: str, data: TranslationData) -> Translator:
    """Return the untrained translator of a row."""
    sizes = len(data.source_words), len(data.target_words), EMBEDDING
    match row.split("-"):
        case ["gru", width]:
            encoder = Encoder(sizes[0], EMBEDDING, int(width))
            return ContextTranslator(encoder, ContextDecoder(sizes[1], EMBEDDING, int(width)))
        case ["lstm", width, "layers", layers]:
            return SequenceTranslator(
                StackedSeq2Seq(*sizes, int(width), int(layers)), reverse_source
            )
        case ["lstm", width, *_]:
            return SequenceTranslator(Seq2Seq(*sizes, int(width)), reverse_source)
    raise ValueError(f"No row is called {row}.")


class ScheduledSampling:
    """A loss for which the decoder reads its own words, more and more often.

    Before each word a coin is tossed for every sentence: with probability
    epsilon = k / (k + exp(i / k)) it reads the true word, else the word that it finds most probable
    itself; i counts the updates. No gradient flows through the choice.

    Source: Bengio et al. (2015), "Scheduled Sampling for Sequence Prediction with Recurrent Neural
    Networks", section 2.4, the inverse sigmoid decay.
    """

    def __init__(self, half: float):
        self.k = _decay_constant(half)
        self.updates = 0

    def __call__(self, model: Translator, batch: TranslationBatch) -> Tensor:
        """Return the mean negative log probability per real target word."""
        epsilon = self.k / (self.k + math.exp(self.updates / self.k))
        self.updates += 1
        state = model.encode(batch.source, batch.lengths)
        tokens, scores = batch.previous[:, 0], []
        for t in range(batch.target.shape[1]):
            log_probs, state = model.step(tokens, state)  # (B, V)
            scores.append(log_probs)
            true = torch.rand(len(tokens), device=tokens.device) < epsilon  # (B,)
            tokens = torch.where(true, batch.target[:, t], log_probs.detach().argmax(dim=-1))
        return sequence_loss(torch.stack(scores, dim=1), batch.target)


def _decay_constant(half: float) -> float:
    """Return k for which epsilon is one half after `half` updates: k log k = half."""
    low, high = 1.0, half + 2.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * math.log(middle) < half else (low, middle)
    return low


@torch.no_grad()
def measure_beams(model: Translator, pairs: Sequence[EncodedPair]) -> list[dict[str, float]]:
    """Return for each beam the mean log p, the share exact, and how often it beats greedy."""
    table, greedy = [], torch.tensor([])
    for beam in BEAMS:
        totals, exact, length = [], 0, 0
        for source, target in pairs:
            state = model.encode(*source_batch([source]))
            found, total = beam_search(model.step, state, beam, BOS, EOS, 2 * len(source) + 10)
            totals.append(float(total))
            length += len(found)
            exact += until_eos(found.tolist()) == until_eos(target)
        log_p = torch.tensor(totals)  # (N,)
        greedy = log_p if beam == 1 else greedy
        table.append(
            {
                "beam": beam,
                "log_p": log_p.mean().item(),
                "exact": exact / len(pairs),
                "more_probable": (log_p > greedy + 1e-4).float().mean().item(),
                "length": length / len(pairs),
            }
        )
    return table


@torch.no_grad()
def measure_mistakes(
    model: Translator, pairs: Sequence[EncodedPair], after: int = 3
) -> list[dict[str, float]]:
    """Return p of the right words 1 to `after` places after the first mistake of each sentence.

    The model reads once the true word, and once its own wrong one, in the place of the mistake; all
    other words are the true ones. An <eos> that comes too early is not counted.
    """
    batch = translation_batch(pairs)
    logits, _ = model(batch.source, batch.lengths, batch.previous)  # (B, T, V)
    chosen = logits.argmax(dim=-1)  # (B, T)
    wrong = (chosen != batch.target) & (batch.target != PAD) & (chosen != EOS)  # (B, T)
    rows = wrong.any(dim=1).nonzero()[:, 0]
    first = wrong.int().argmax(dim=1)[rows]  # position of the first mistake
    inside = first + 1 < batch.target.shape[1]
    rows, first = rows[inside], first[inside]
    misled = batch.previous.clone()
    misled[rows, first + 1] = chosen[rows, first]
    after_own, _ = model(batch.source, batch.lengths, misled)
    table = []
    for k in range(1, after + 1):
        here = first + k < batch.target.shape[1]
        r, t = rows[here], first[here] + k
        real = batch.target[r, t] != PAD
        r, t = r[real], t[real]
        right = batch.target[r, t]
        p_true, p_own = (x.softmax(-1)[r, t, right].mean().item() for x in (logits, after_own))
        table.append({"after": k, "true_word": p_true, "own_word": p_own, "cases": len(r)})
    return table


def train_row(row: str, seed: int, corpus: FreshPairs, train: Train) -> dict[str, Any]:
    """Train one model; return its metrics, its history and its measurements."""
    data = corpus.data
    seed_everything(seed)
    model = build(row, data)
    loss = ScheduledSampling(HALF) if row.endswith("scheduled") else cross_entropy
    history = corpus.train(model, seed, train, epochs=EPOCHS, loss=loss)
    model.cpu()
    log_p, real = log_probs_of_references(model, data.test)
    run = describe_run(model, history, data, EDGES, LONG)
    run["metrics"]["perplexity"] = (-log_p[real].mean()).exp().item()
    return run | {
        "beams": measure_beams(model, data.test[:SEARCHED]),
        "mistakes": measure_mistakes(model, data.test),
    }


COMPARISON = Comparison(
    program="encoder_decoder",
    data="english-french",
    rows={
        "lstm-32": "LSTM, d = 32",
        "lstm-64": "LSTM, d = 64",
        "lstm-128": "LSTM, d = 128",
        "lstm-64-layers-2": "LSTM, d = 64, two layers",
        "lstm-64-layers-4": "LSTM, d = 64, four layers",
        "gru-64": "GRU, d = 64, context at every step",
        "lstm-64-scheduled": "LSTM, d = 64, scheduled sampling",
    },
    seeds=(1, 2, 3, 4, 5),
    settings={
        "embedding": EMBEDDING,
        "batch": BATCH,
        "epochs": EPOCHS,
        "pairs_per_epoch": PAIRS,
        "beams": list(BEAMS),
        "searched": SEARCHED,
    },
    load=load,
    train_row=train_row,
    scorer="share of sentences translated word for word as the reference",
)
parser, main = COMPARISON.parser, COMPARISON.main
