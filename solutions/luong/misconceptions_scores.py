"""Mistakes that people really make in the notebook `luong/scores`.

Each function or class is one wrong implementation; the first line of its docstring is the title of
the card, the rest the hint.
"""

from __future__ import annotations

from typing import Any

MISCONCEPTIONS: dict[str, list[Any]] = {}
