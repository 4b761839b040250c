"""Train the translators of Luong et al. (2015) at full size on Multi30k and record their scores.

    python -m experiments luong                            # general score, input feeding
    python -m experiments luong --attention local-p        # a predicted window
    python -m experiments luong --score concat --input-feeding off

Writes book/results/<model>.<data>.json; see `translation_harness.py`.
"""

from __future__ import annotations

import argparse

from torch import nn

from coursekit.models.translation import LuongTranslator
from solutions.bahdanau.translator import BidirectionalEncoder
from solutions.luong.decoder import LuongDecoder
from solutions.luong.local import LocalAttention
from solutions.luong.scores import GlobalAttention, Score

from . import translation_harness


def build(options: argparse.Namespace, source_size: int, target_size: int) -> LuongTranslator:
    """Return Bahdanau's encoder with Luong's decoder and the attention of the options."""
    d = options.width
    score = Score(options.score, d, 2 * d, d)
    attention: nn.Module = (
        GlobalAttention(score)
        if options.attention == "global"
        else LocalAttention(
            {"local-m": "monotonic", "local-p": "predictive"}[options.attention],
            score,
            query_size=d,
            hidden_size=d,
            D=options.D,
        )
    )
    encoder = BidirectionalEncoder(source_size, d, d, options.dropout)
    decoder = LuongDecoder(
        target_size, d, d, 2 * d, attention, options.input_feeding == "on", options.dropout
    )
    return LuongTranslator(encoder, decoder)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = translation_harness.parser(__doc__)
    arguments.add_argument(
        "--attention", choices=["global", "local-m", "local-p"], default="global"
    )
    arguments.add_argument("--score", choices=["general", "concat"], default="general")
    arguments.add_argument("--input-feeding", choices=["on", "off"], default="on")
    arguments.add_argument("--D", type=float, default=5.0, help="half the width of the window")
    return arguments


def main(options: argparse.Namespace) -> None:
    """Train with each seed and record."""
    kind = options.score if options.attention == "global" else options.attention
    name = f"luong-{kind}" + ("-unfed" if options.input_feeding == "off" else "")
    plan = translation_harness.Plan(
        lambda source, target: build(options, source, target), attends=True
    )
    translation_harness.record(name, "luong", options, plan)
