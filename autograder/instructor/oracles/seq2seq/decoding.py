"""Oracles of the notebook `seq2seq/decoding`: loops over sentences and words, in float64."""

from __future__ import annotations

from typing import Any

ORACLES: dict[str, Any] = {}
