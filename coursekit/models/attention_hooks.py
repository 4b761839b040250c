"""Recording of a model's attention weights with forward hooks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn


@contextmanager
def recorded_weights(model: nn.Module) -> Iterator[dict[str, list[Tensor]]]:
    """Collect the attention weights that a model computes inside a `with` block.

        with recorded_weights(model) as weights:
            model(source, previous)
        weights["encoder_layers.0.attention"][-1]  # (B, h, S, S)

    Args:
        model: its modules whose `forward` returns an output and weights (B, h, T, N) are recorded.

    Yields:
        a dict from the name of each such module to the weights of its calls, in order, without
        gradients.
    """
    weights_of: dict[str, list[Tensor]] = {}

    def hook(name: str) -> Any:
        def hear(module: nn.Module, given: Any, returned: Any) -> None:
            if isinstance(returned, tuple) and len(returned) == 2:
                weights = returned[1]
                if isinstance(weights, Tensor) and weights.dim() == 4:
                    weights_of.setdefault(name, []).append(weights.detach())

        return hear

    handles = [module.register_forward_hook(hook(name)) for name, module in model.named_modules()]
    try:
        yield weights_of
    finally:
        for handle in handles:
            handle.remove()
