"""Models with random weights, in torch and in the live explorers' engine in Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.widgets.assets import script

CLOSE = 1e-5  # tolerance against torch with the browser's weights


@contextmanager
def open_engine(chromium: Any, *names: str) -> Iterator[Callable[..., Any]]:
    """Evaluate expressions of scripts: engine("softmax(x)", x=tensor) -> nested lists."""
    page = chromium.new_page()
    page.set_content("<!doctype html>")
    page.add_script_tag(content=script(*names))
    page.evaluate(
        """() => {
          window.typed = (v) => !Array.isArray(v) ? v
            : v.length && typeof v[0] === "number" ? Float32Array.from(v) : v.map(typed);
          window.plain = (v) => v instanceof Float32Array ? [...v]
            : v instanceof Set ? [...v] : Array.isArray(v) ? v.map(plain)
            : v && typeof v === "object"
              ? Object.fromEntries(Object.entries(v).map(([k, w]) => [k, plain(w)])) : v;
        }"""
    )

    def evaluate(expression: str, **values: Any) -> Any:
        given = {k: v.tolist() if isinstance(v, Tensor) else v for k, v in values.items()}
        names = ", ".join(given)
        return page.evaluate(
            f"given => {{ const {{ {names} }} = given; return plain({expression}); }}", given
        )

    try:
        yield evaluate
    finally:
        page.close()


def close(found: Any, expected: Tensor, within: float = CLOSE) -> None:
    torch.testing.assert_close(
        torch.tensor(found).float(), expected.float(), rtol=within, atol=within
    )


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def made(seed: int, build: Any) -> Any:
    """Return a module in eval mode with random weights and biases."""
    torch.manual_seed(seed)
    module = build().eval()
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3)
    return module.requires_grad_(False)
