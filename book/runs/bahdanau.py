"""Train the chapter's translator at full size on Multi30k and record what it reaches.

    python book/runs/bahdanau.py                      # with attention, all sentences
    python book/runs/bahdanau.py --attention fixed    # one context for all steps
    python book/runs/bahdanau.py --max-words 10       # trained on sentences of up to 10 words

Writes book/results/<model>.<data>.json; `harness.py` says how.
"""

from __future__ import annotations

from harness import parser, record
from torch import nn

from coursekit.translation import FixedContext, Translator
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder


def build(
    attention: str, source_size: int, target_size: int, width: int, dropout: float
) -> Translator:
    """Return the translator of the chapter, or the same one with one context for all steps."""
    looks: nn.Module = (
        AdditiveAttention(width, 2 * width, width) if attention == "additive" else FixedContext()
    )
    encoder = BidirectionalEncoder(source_size, width, width, dropout)
    decoder = AttentionDecoder(target_size, width, width, 2 * width, looks, dropout)
    return Translator(encoder, decoder)


def main() -> None:
    """Read the command line, train with each seed, record."""
    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument("--attention", choices=["additive", "fixed"], default="additive")
    options = arguments.parse_args()
    limit = "all" if options.max_words >= 100 else str(options.max_words)
    name = {"additive": "rnnsearch", "fixed": "rnnencdec"}[options.attention]
    record(
        f"{name}-{limit}",
        "book/runs/bahdanau.py",
        options,
        lambda source, target: build(
            options.attention, source, target, options.width, options.dropout
        ),
        options.attention == "additive",
        arguments.parse_args([]),
    )


if __name__ == "__main__":
    main()
