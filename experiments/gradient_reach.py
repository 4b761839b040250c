"""Reach of the gradient in untrained translators, measured while chapter 10 is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from coursekit.models.translation import (
    AttentionTranslator,
    ContextTranslator,
    LuongTranslator,
    SequenceTranslator,
)
from coursekit.training import seed_everything
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder
from solutions.luong.decoder import LuongDecoder
from solutions.luong.scores import GlobalAttention, Score
from solutions.seq2seq.encoder_decoder import ContextDecoder, Encoder, Seq2Seq

from .synthetic_translation import embed_source
from .transformer_factory import make_transformer

V, D = 600, 64
SEEDS = (1, 2, 3)

MODELS: dict[str, Callable[[], Any]] = {
    "LSTM encoder-decoder (Sutskever)": lambda: SequenceTranslator(Seq2Seq(V, V, D, D)),
    "GRU encoder-decoder (Cho)": lambda: ContextTranslator(
        Encoder(V, D, D), ContextDecoder(V, D, D)
    ),
    "attention (Luong)": lambda: LuongTranslator(
        Encoder(V, D, D),
        LuongDecoder(V, D, D, D, GlobalAttention(Score("general", D, D, D)), input_feeding=False),
    ),
    "attention (Bahdanau)": lambda: AttentionTranslator(
        BidirectionalEncoder(V, D, D),
        AttentionDecoder(V, D, D, 2 * D, AdditiveAttention(D, 2 * D, D)),
    ),
    "Transformer": lambda: make_transformer(V, D, heads=4, inner=2 * D, layers=2),
}


def measure_reach(model: str, lengths: Sequence[int]) -> list[float]:
    """Return |d log p(last target word) / d(first source word)| for sentences of n words each.

    Args:
        model: a key of MODELS; geometric mean over three untrained models and 16 sentences.
        lengths: the numbers n of words, of source and of target.
    """
    reach = []
    for n in lengths:
        logs = []
        for seed in SEEDS:
            seed_everything(seed)
            built = MODELS[model]().double().eval()  # in 32 bits the smallest would be 0
            logs.append(_measure_first_word(built, n).log().mean())
        reach.append(torch.stack(logs).mean().exp().item())
    return reach


def _measure_first_word(model: Any, n: int, sentences: int = 16) -> Tensor:
    """Return the norm of the gradient at the first source word, (B,)."""
    generator = torch.Generator().manual_seed(n)
    source, previous, target = torch.randint(4, V, (3, sentences, n), generator=generator)
    lengths = torch.full((sentences,), n)
    logits, embedded = embed_source(model, source, lengths, previous)
    last = logits[:, -1].log_softmax(-1).gather(1, target[:, -1:])  # (B, 1)
    (gradient,) = torch.autograd.grad(last.sum(), embedded)  # (B, S, e)
    return gradient[:, 0].norm(dim=-1)
