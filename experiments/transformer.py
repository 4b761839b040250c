"""Train the Transformer of Vaswani et al. (2017) on Multi30k and record its scores.

    python -m experiments transformer

Writes book/results/transformer.<data>.json; see `translation_harness.py`. Both languages share one
vocabulary, Adam has the paper's settings, and the learning rate is that of its equation 3 times
`--rate`. Unlike in the paper, it falls linearly to 0 over the last steps (`--cooldown`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import torch
from torch import nn

from coursekit.models.translation import TransformerTranslator
from solutions.transformer.attention import MultiHeadAttention
from solutions.transformer.layers import (
    DecoderLayer,
    EncoderLayer,
    PositionwiseFeedForward,
    sinusoidal_positions,
)
from solutions.transformer.model import Transformer, noam_learning_rate

from . import translation_harness


def build(options: argparse.Namespace, vocabulary_size: int) -> TransformerTranslator:
    """Return a Transformer of the options' sizes."""
    d, drop = options.width, options.dropout

    def looks() -> MultiHeadAttention:
        return MultiHeadAttention(d, options.heads, drop)

    def inner() -> PositionwiseFeedForward:
        return PositionwiseFeedForward(d, options.inner)

    encoder = [EncoderLayer(d, looks(), inner(), drop) for _ in range(options.layers)]
    decoder = [DecoderLayer(d, looks(), looks(), inner(), drop) for _ in range(options.layers)]
    for layer in [*encoder, *decoder]:
        for weight in layer.parameters():
            if weight.dim() == 2:
                nn.init.xavier_uniform_(weight)  # as in the authors' own code
    return TransformerTranslator(
        Transformer(vocabulary_size, d, sinusoidal_positions, encoder, decoder, drop)
    )


def adam(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Return Adam with the settings of section 5.3."""
    return torch.optim.Adam(parameters, betas=(0.9, 0.98), eps=1e-9)


def rate(options: argparse.Namespace, step: int, steps: int) -> float:
    """Return the learning rate of a step, counted from 1, in a training of `steps` steps."""
    rest = (steps - step + 1) / (options.cooldown * steps) if options.cooldown else 1.0
    paper = noam_learning_rate(step, options.width, options.warmup)
    return options.rate * paper * min(1.0, max(rest, 0.0))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = translation_harness.parser(__doc__)
    arguments.add_argument(
        "--layers", type=int, default=3, help=("number of layers in the encoder and in the decoder")
    )
    arguments.add_argument("--heads", type=int, default=8)
    arguments.add_argument("--inner", type=int, default=512, help="size inside a feed-forward")
    arguments.add_argument("--warmup", type=int, default=1000, help="steps")
    arguments.add_argument("--rate", type=float, default=0.35, help="factor of the schedule")
    arguments.add_argument(
        "--cooldown", type=float, default=0.4, help="share of the steps in which the rate falls"
    )
    arguments.set_defaults(epochs=22, dropout=0.2)
    return arguments


def main(options: argparse.Namespace) -> None:
    """Train with each seed and record."""
    plan = translation_harness.Plan(
        lambda source, target: build(options, source),
        shared=True,
        schedule=lambda step, steps: rate(options, step, steps),
        optimizer=adam,
    )
    translation_harness.record("transformer", "transformer", options, plan)
