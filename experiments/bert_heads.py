"""What the heads of a BERT attend to: their weights, and the mean weights on typical places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.models.bert import EncodedPair, pad_items
from coursekit.training import device
from coursekit.training.metrics import entropy


@torch.no_grad()
def compute_weights(encoder: nn.Module, item: EncodedPair) -> list[Tensor]:
    """Return the attention weights (h, N, N) of each layer for one text.

    They are computed from each layer's input, because the fused operator does not return them.
    """
    found: list[Tensor] = []

    def compute(attention: Any, given: tuple[Tensor, Tensor]) -> None:
        x, _ = given
        q, k = (
            part(x).unflatten(-1, (attention.heads, -1)).transpose(1, 2)  # (1, h, N, d / h)
            for part in (attention.query, attention.key)
        )
        found.append((q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)[0].cpu())  # (h, N, N)

    layers: Any = encoder.layers
    hooks = [layer.attention.register_forward_pre_hook(compute) for layer in layers]
    tokens, segments, _ = pad_items([item])
    try:
        encoder.eval()(tokens.to(device()), segments.to(device()))
    finally:
        for hook in hooks:
            hook.remove()
    return found


def measure_habits(weights: Tensor, special: Sequence[int], last: int) -> dict[str, Tensor]:
    """Return each head's mean weights (h,) on typical places, over a text without its ends.

    Args:
        weights: of one layer, (h, N, N).
        special: the places of [CLS] and of each [SEP].
        last: the place of the last word, "stop".

    Returns:
        the mean weight on the token before, the next one, itself, [CLS], all [SEP] and the last
        word, and "used", the mean of e to the entropy of a row: how many tokens it uses.
    """
    inner = torch.arange(1, weights.shape[-1] - 1)
    rows = weights[:, inner]  # (h, N - 2, N)
    return {
        "before": weights[:, inner, inner - 1].mean(-1),
        "next": weights[:, inner, inner + 1].mean(-1),
        "itself": weights[:, inner, inner].mean(-1),
        "cls": rows[..., special[0]].mean(-1),
        "sep": rows[..., special[1:]].sum(-1).mean(-1),
        "stop": rows[..., last].mean(-1),
        "used": entropy(rows).exp().mean(-1),
    }
