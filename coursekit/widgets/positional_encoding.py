"""Widget that shows sinusoidal positional encodings."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from coursekit.widgets.assets import script, stylesheet


class PositionsExplorer(anywidget.AnyWidget):
    """Explorer of sinusoidal positions: the reader picks a position, a step and a wave.

    The browser computes PE(p, 2i) = sin(p / 10000^(2i / d)) and PE(p, 2i + 1), the cosine. It draws
    them all as a picture, the pairs (sin, cos) of wave i at p and p + k as clock hands, and the dot
    product of PE(p) with every other position.

    Args:
        length: number of positions, from 8 to 256.
        size: d, an even number from 4 to 512.
        position: initial p.
        step: initial k.
        wave: initial i, from 0 to d / 2 - 1.

    Raises:
        ValueError: a number is out of range.
    """

    _esm = script("positional_encoding")
    _css = stylesheet("positional_encoding", "positions")

    length = traitlets.Int(48).tag(sync=True)
    size = traitlets.Int(64).tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)
    wave = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        length: int = 48,
        size: int = 64,
        position: int = 10,
        step: int = 3,
        wave: int = 4,
        **options: Any,
    ) -> None:
        if size % 2:
            raise ValueError(f"size must be even, not {size}: each wave has a sine and a cosine.")
        for name, value, low, high in (
            ("length", length, 8, 256),
            ("size", size, 4, 512),
            ("position", position, 0, length - 1),
            ("step", step, 0, length // 2),
            ("wave", wave, 0, size // 2 - 1),
        ):
            if not low <= value <= high:
                raise ValueError(f"{name} must be from {low} to {high}, not {value}.")
        super().__init__(
            length=length, size=size, position=position, step=step, wave=wave, **options
        )
