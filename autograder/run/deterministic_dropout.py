"""Makes dropout deterministic, so that correct answers agree in training mode.

Two right answers may drop different components: one calls dropout once per sentence, the other once
per word. They agree if nothing is left to chance. Here, dropout with a probability p below 1/2
keeps every component and multiplies it by 1 / (1 - p); otherwise it keeps none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, overrides
from torch.overrides import TorchFunctionMode


class DeterministicDropout(TorchFunctionMode):
    """Replaces torch's dropout, and the random numbers from which answers build their own.

    Attributes:
        active: whether it replaces anything.
    """

    active = True

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call the function's replacement, or the function itself if it has none."""
        made = _REPLACEMENTS.get(getattr(func, "__name__", ""))
        initial = getattr(func, "__module__", "") == "torch.nn.init"  # weights are drawn
        if made is None or initial or not self.active:
            return func(*args, **(kwargs or {}))
        return made(func, *args, **(kwargs or {}))


@contextmanager
def make_dropout_deterministic(enabled: bool = True) -> Iterator[None]:
    """Replace dropout in the block if `enabled`.

    While a mode runs, torch takes it off its stack, and puts it back in a generator. An interrupt
    at that moment leaves the stack without the mode, until the traceback is deleted and the mode
    put back. So the whole stack is restored, and a mode that comes back later does nothing.
    """
    before, mode = overrides._get_current_function_mode_stack(), DeterministicDropout()
    if enabled:
        overrides._push_mode(mode)
    try:
        yield
    finally:
        mode.active = False
        while overrides._get_current_function_mode_stack():
            overrides._pop_mode()
        for outer in before:
            overrides._push_mode(outer)


def _factor(p: float) -> float:
    return 1 / (1 - p) if p < 0.5 else 0.0


def _drop(
    func: Any, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, **train: Any
) -> Tensor:
    """Replace `F.dropout(x, p, training, inplace)` and `torch.dropout(x, p, train)`."""
    factor = _factor(p) if train.get("train", training) else 1.0
    return x.mul_(factor) if inplace or func.__name__.endswith("_") else x * factor


def _attend(func: Any, *args: Any, dropout_p: float = 0.0, **kwargs: Any) -> Tensor:
    """Replace `F.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, ...)`."""
    if len(args) > 4:
        dropout_p, args = args[4], (*args[:4], 0.0, *args[5:])
    found: Tensor = func(*args, **kwargs)
    return found * (_factor(dropout_p) if dropout_p else 1.0)


def _rand(func: Any, *args: Any, **kwargs: Any) -> Tensor:
    with torch.no_grad():
        drawn: Tensor = func(*args, **kwargs)
        return drawn.fill_(0.5)


def _uniform(func: Any, x: Tensor, low: float = 0.0, high: float = 1.0, **_: Any) -> Tensor:
    return x.fill_((low + high) / 2)


def _bernoulli(func: Any, x: Tensor, p: Any = None, **_: Any) -> Tensor:
    """Replace `torch.bernoulli(x)`, `torch.bernoulli(x, p)` and `x.bernoulli_(p)`."""
    if func.__name__.endswith("_"):
        return x.copy_(torch.as_tensor(0.5 if p is None else p) > 0.5)
    return (torch.as_tensor(x if p is None else p) > 0.5).to(x).expand_as(x)


_REPLACEMENTS: dict[str, Callable[..., Tensor]] = {
    "dropout": _drop,
    "dropout_": _drop,
    "scaled_dot_product_attention": _attend,
    "rand": _rand,
    "rand_like": _rand,
    "uniform_": _uniform,
    "bernoulli": _bernoulli,
    "bernoulli_": _bernoulli,
}
