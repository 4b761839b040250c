"""Train the translators of Luong et al. (2015) at full size on Multi30k and record what they reach.

    python book/runs/luong.py                            # general score, input feeding
    python book/runs/luong.py --attention local-p        # a predicted window
    python book/runs/luong.py --score concat --input-feeding off

Writes book/results/<model>.<data>.json; `harness.py` says how.
"""

from __future__ import annotations

import argparse

from harness import parser, record
from torch import nn

from coursekit.translators import LuongTranslator
from solutions.bahdanau.translator import BidirectionalEncoder
from solutions.luong.decoder import LuongDecoder
from solutions.luong.local import LocalAttention
from solutions.luong.scores import GlobalAttention, Score


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


def main() -> None:
    """Read the command line, train with each seed, record."""
    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument(
        "--attention", choices=["global", "local-m", "local-p"], default="global"
    )
    arguments.add_argument("--score", choices=["general", "concat"], default="general")
    arguments.add_argument("--input-feeding", choices=["on", "off"], default="on")
    arguments.add_argument("--D", type=float, default=5.0, help="half the width of the window")
    options = arguments.parse_args()
    name = (
        f"luong-{options.score}" if options.attention == "global" else f"luong-{options.attention}"
    )
    if options.input_feeding == "off":
        name += "-unfed"
    record(
        name,
        "book/runs/luong.py",
        options,
        lambda source, target: build(options, source, target),
        True,
        arguments.parse_args([]),
    )


if __name__ == "__main__":
    main()
