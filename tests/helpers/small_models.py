"""Small models, built like those of the recorded runs."""

from __future__ import annotations

from argparse import Namespace

from experiments.transformer import build
from solutions.transformer.model import Transformer


def small_transformer(
    vocabulary: int, width: int, heads: int, inner: int, layers: int = 2
) -> Transformer:
    """Return a Transformer without dropout."""
    sizes = Namespace(width=width, heads=heads, inner=inner, layers=layers, dropout=0.0)
    return build(sizes, vocabulary).model
