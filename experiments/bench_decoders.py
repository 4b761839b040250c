"""Benchmark the order of computation in decoders: one training step of each, as ratios.

    python -m experiments bench_decoders

Times Bahdanau's decoder and three variants of Luong's in turn on the same random batch: with input
feeding, without it word by word, and without it with the whole recurrence first and one attention
call for all target words. Records the median ratio of their step times to Bahdanau's.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.training import results
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder
from solutions.luong.decoder import LuongDecoder, attentional_state
from solutions.luong.scores import GlobalAttention, Score

from .run_registry import command

VOCABULARY = 1000  # size of the target vocabulary


class AllAtOnce(LuongDecoder):
    """Luong's decoder without input feeding: the whole recurrence, then attention for all words.

    The parameters are those of `LuongDecoder`; the results are the same as word by word.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        key_size: int,
        attention: nn.Module,
        dropout: float = 0.0,
    ):
        super().__init__(
            vocabulary_size, embedding_size, hidden_size, key_size, attention, False, dropout
        )
        self.rnn = nn.GRU(embedding_size, hidden_size, batch_first=True)
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):  # shared, not copied
            setattr(self.rnn, f"{name}_l0", getattr(self.cell, name))

    def forward(
        self, tokens: Tensor, keys: Tensor, mask: Tensor, first_state: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Predict each target word from the true words before it; as in `LuongDecoder`."""
        words = self.dropout(self.embedding(tokens))  # (B, T, e)
        states, _ = self.rnn(words, first_state.unsqueeze(0))  # (B, T, d)
        contexts, weights = self.attention(states, keys, mask)  # (B, T, a), (B, T, S)
        together = attentional_state(contexts, states, self.combine.weight)  # (B, T, d)
        return self.output(self.dropout(together)), weights


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = {"batch": 64, "source": 15, "target": 14, "width": 256, "rounds": 15}
    for name, value in sizes.items():
        arguments.add_argument(f"--{name}", type=int, default=value)
    return arguments


def main(options: argparse.Namespace) -> None:
    """Time the decoders in turn; print and record the ratios."""
    b, s, t, d = options.batch, options.source, options.target, options.width
    torch.manual_seed(1)

    def luong(kind: Any, **more: Any) -> LuongDecoder:
        return kind(VOCABULARY, d, d, 2 * d, GlobalAttention(Score("general", d, 2 * d)), **more)

    decoders: dict[str, nn.Module] = {
        "bahdanau": AttentionDecoder(VOCABULARY, d, d, 2 * d, AdditiveAttention(d, 2 * d, d)),
        "fed": luong(LuongDecoder),
        "unfed": luong(LuongDecoder, input_feeding=False),
        "all_at_once": luong(AllAtOnce),
    }
    keys = torch.randn(b, s, 2 * d, requires_grad=True)  # (B, S, 2d)
    mask = torch.ones(b, s, dtype=torch.bool)  # (B, S)
    first_state = torch.randn(b, d)  # (B, d)
    tokens = torch.randint(1, VOCABULARY, (b, t))  # (B, T)
    targets = torch.randint(1, VOCABULARY, (b, t))  # (B, T)

    def seconds(decoder: nn.Module) -> float:
        started = time.perf_counter()
        logits, _ = decoder(tokens, keys, mask, first_state)  # (B, T, V)
        F.cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
        return time.perf_counter() - started

    for decoder in decoders.values():  # warm-up
        seconds(decoder)
    rounds = [
        {name: seconds(decoder) for name, decoder in decoders.items()}
        for _ in range(options.rounds)
    ]
    metrics = {
        name: statistics.median(times[name] / times["bahdanau"] for times in rounds)
        for name in decoders
        if name != "bahdanau"
    }
    metrics["all_at_once_to_unfed"] = statistics.median(
        times["all_at_once"] / times["unfed"] for times in rounds
    )
    results.write_result(
        "bench-decoders",
        "multi30k-shapes",
        runs=[
            {
                "seed": 1,
                "metrics": metrics,
                "seconds": sum(sum(times.values()) for times in rounds),
                "rounds": rounds,
            }
        ],
        parameters=sum(p.numel() for p in decoders["bahdanau"].parameters()),
        data_sha256="none: random numbers in the shapes of a batch of Multi30k",
        command=command("bench_decoders", options),
        scorer="median over the rounds of (step of the decoder) / (step of Bahdanau's decoder)",
        settings=vars(options),
    )
    for name, ratio in metrics.items():
        print(f"{name:22} {ratio:.2f}")
