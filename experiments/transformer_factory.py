"""Factory of small Transformers for translation, with one vocabulary for both languages."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from coursekit.models.translation import TransformerTranslator
from solutions.transformer.attention import MultiHeadAttention
from solutions.transformer.layers import (
    DecoderLayer,
    EncoderLayer,
    PositionwiseFeedForward,
    sinusoidal_positions,
)
from solutions.transformer.model import Transformer

Positions = Callable[[int, int], Tensor]


def make_transformer(
    vocabulary_size: int,
    width: int,
    heads: int,
    inner: int,
    layers: int,
    positions: Positions = sinusoidal_positions,
    kind: type[Transformer] = Transformer,
) -> TransformerTranslator:
    """Return an untrained Transformer without dropout.

    Args:
        vocabulary_size: V, source and target together.
        width: d.
        heads: of each attention.
        inner: size of the hidden layer of the feed-forward networks.
        layers: of the encoder, and of the decoder.
        positions: `positions(length, d) -> (length, d)`.
        kind: the class of the model.
    """

    def attention() -> MultiHeadAttention:
        return MultiHeadAttention(width, heads)

    def feed_forward() -> PositionwiseFeedForward:
        return PositionwiseFeedForward(width, inner)

    encoder = [EncoderLayer(width, attention(), feed_forward()) for _ in range(layers)]
    decoder = [DecoderLayer(width, attention(), attention(), feed_forward()) for _ in range(layers)]
    return TransformerTranslator(kind(vocabulary_size, width, positions, encoder, decoder))
