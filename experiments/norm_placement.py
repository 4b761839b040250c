"""Compare post-norm and pre-norm, with and without a warm-up of the learning rate.

    python -m experiments norm_placement

Six encoder layers learn to write sequences of ten symbols backwards; every batch is new.

Writes book/results/norm_placement.sequences.json.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.data.batching import Batch
from coursekit.training import seed_everything
from solutions.transformer.layers import sinusoidal_positions

from .comparison_harness import Comparison, Train

SYMBOLS, LENGTH = 16, 10
WIDTH, HEADS, LAYERS = 32, 4, 6
BATCH, UPDATES, EPOCHS = 32, 20, 40  # updates of an epoch
WARMUP, RATE = 100, 1e-2
SEEDS = (1, 2, 3, 4, 5)
# Row -> pre-norm or not, steps of warm-up, learning rate.
ROWS = {
    "post": (False, 0, RATE),
    "post-warmup": (False, WARMUP, RATE),
    "pre": (True, 0, RATE),
    "pre-warmup": (True, WARMUP, RATE),
    "post-slow": (False, 0, RATE / 10),
    "pre-slow": (True, 0, RATE / 10),
}


@dataclass(frozen=True)
class Sequences(Batch):
    """Sequences of symbols, tokens (B, N)."""

    tokens: Tensor


class SequenceReverser(nn.Module):
    """Encoder layers of torch that write a sequence of symbols backwards."""

    def __init__(self, pre_norm: bool):
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, WIDTH)
        self.layers = nn.Sequential(
            *(
                nn.TransformerEncoderLayer(
                    WIDTH, HEADS, 4 * WIDTH, 0.0, batch_first=True, norm_first=pre_norm
                )
                for _ in range(LAYERS)
            )
        )
        self.norm = nn.LayerNorm(WIDTH) if pre_norm else nn.Identity()
        self.output = nn.Linear(WIDTH, SYMBOLS)
        self.register_buffer("positions", sinusoidal_positions(LENGTH, WIDTH), persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (B, N, V) for tokens (B, N)."""
        return self.output(self.norm(self.layers(self.embedding(tokens) + self.positions)))


def draw(seed: int, number: int) -> Iterator[Sequences]:
    """Yield a number of batches."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(number):
        yield Sequences(torch.randint(SYMBOLS, (BATCH, LENGTH), generator=generator))


def load() -> tuple[list[Sequences], str]:
    """Return the batches for validation, and their SHA-256."""
    held_out = list(draw(0, 10))
    digest = repr([batch.tokens.tolist() for batch in held_out])
    return held_out, hashlib.sha256(digest.encode()).hexdigest()


def backwards_loss(model: nn.Module, batch: Sequences) -> Tensor:
    """Return the cross entropy per symbol."""
    return F.cross_entropy(model(batch.tokens).flatten(0, 1), batch.tokens.flip(1).flatten())


@torch.no_grad()
def symbols_right(model: nn.Module, batches: list[Sequences]) -> float:
    """Return the share of the symbols that are right."""
    where = next(model.parameters()).device
    tokens = torch.cat([batch.tokens for batch in batches]).to(where)  # (M, N)
    return (model(tokens).argmax(dim=-1) == tokens.flip(1)).float().mean().item()


def train_row(row: str, seed: int, held_out: list[Sequences], train: Train) -> dict[str, Any]:
    """Train one model; return the share of symbols that it writes right, after each epoch."""
    pre_norm, warmup, rate = ROWS[row]
    seed_everything(seed)
    model = SequenceReverser(pre_norm)
    history = train(
        model,
        lambda epoch: draw(1000 * seed + epoch, UPDATES),
        backwards_loss,
        epochs=EPOCHS,
        schedule=lambda step: rate * min(1.0, step / warmup) if warmup else rate,
        optimizer=lambda parameters: torch.optim.Adam(parameters, betas=(0.9, 0.98)),
        validate=lambda model: {"right": symbols_right(model, held_out)},
        progress=False,
    )
    return {
        "metrics": {"right": history.epochs[-1]["right"]},
        "seconds": history.seconds,
        "history": history.epochs,
        "parameters": sum(p.numel() for p in model.parameters()),
    }


COMPARISON = Comparison(
    program="norm_placement",
    data="sequences",
    rows={
        "post": "post-norm",
        "post-warmup": "post-norm, warm-up",
        "pre": "pre-norm",
        "pre-warmup": "pre-norm, warm-up",
        "post-slow": "post-norm, a tenth of the rate",
        "pre-slow": "pre-norm, a tenth of the rate",
    },
    seeds=SEEDS,
    settings={
        "layers": LAYERS,
        "width": WIDTH,
        "heads": HEADS,
        "batch": BATCH,
        "updates": UPDATES,
        "epochs": EPOCHS,
        "warmup": WARMUP,
        "rate": RATE,
    },
    load=load,
    train_row=train_row,
    scorer="share of the symbols of held-out sequences that are right",
)
parser, main = COMPARISON.parser, COMPARISON.main
