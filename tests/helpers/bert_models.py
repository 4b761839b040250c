"""Small BERT models from the transformers library, and the course's encoder of the same size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from solutions.bert.inputs import BertEmbeddings
from solutions.bert.pretraining import BertEncoder, BertLayer

transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed: pip install -e .[test]"
)


@dataclass(frozen=True)
class Sizes:
    """The sizes of a BERT model."""

    vocabulary: int = 41
    hidden: int = 24
    layers: int = 2
    heads: int = 3
    inner: int = 37
    longest: int = 19
    segments: int = 2
    pad_id: int = 0
    eps: float = 1e-12
    classes: int = 4


CONFIGURATIONS = {
    "one layer, one head": Sizes(layers=1, heads=1, hidden=11, inner=7),
    "two layers": Sizes(),
    "three layers, odd sizes": Sizes(53, 35, 3, 5, 21, 13, 3),
    "padding is not 0": Sizes(layers=2, heads=4, pad_id=40),
    "a large eps": Sizes(eps=0.3),
    "as wide inside as outside": Sizes(hidden=16, heads=2, inner=16),
}
each_size = pytest.mark.parametrize("sizes", CONFIGURATIONS.values(), ids=CONFIGURATIONS)


def theirs(kind: str, sizes: Sizes, **more: object) -> nn.Module:
    """Return a library model with random values in every parameter."""
    config = transformers.BertConfig(
        vocab_size=sizes.vocabulary,
        hidden_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=sizes.inner,
        max_position_embeddings=sizes.longest,
        type_vocab_size=sizes.segments,
        layer_norm_eps=sizes.eps,
        pad_token_id=sizes.pad_id,
        num_labels=sizes.classes,
    )
    torch.manual_seed(sizes.hidden)
    model = getattr(transformers, kind)(config, **more)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            shift = 1.0 if "LayerNorm.weight" in name else 0.0
            parameter.copy_(shift + 0.3 * torch.randn(parameter.shape))
    return model.eval()


def encoder(sizes: Sizes) -> BertEncoder:
    """Return the course's encoder of the same sizes, with torch's default initialisation."""
    embeddings = BertEmbeddings(
        sizes.vocabulary, sizes.hidden, sizes.longest, sizes.segments, eps=sizes.eps
    )
    layers = [
        BertLayer(sizes.hidden, sizes.heads, sizes.inner, eps=sizes.eps)
        for _ in range(sizes.layers)
    ]
    return BertEncoder(embeddings, layers, pad_id=sizes.pad_id)


def a_batch(sizes: Sizes) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a batch of texts of several lengths, with padding at the end and two segments each."""
    torch.manual_seed(7)
    longest = sizes.longest - 2
    tokens = torch.randint(1, sizes.vocabulary - 1, (4, longest))
    places = torch.arange(longest)
    lengths = torch.tensor([longest, 5, 1, longest - 3]).unsqueeze(1)
    segments = ((places >= lengths // 2) & (places < lengths)).long() * (sizes.segments - 1)
    return tokens.masked_fill(places >= lengths, sizes.pad_id), segments


def read(library: nn.Module, sizes: Sizes, tokens: Tensor, segments: Tensor | None = None) -> Any:
    """Return the output of the library's model, given the padding mask."""
    with torch.no_grad():
        return library(
            tokens, attention_mask=(tokens != sizes.pad_id).long(), token_type_ids=segments
        )
