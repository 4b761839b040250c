"""Train the Bahdanau chapter's translator at full size on Multi30k and record its scores.

    python -m experiments bahdanau                      # with attention, all sentences
    python -m experiments bahdanau --attention fixed    # one context for all steps
    python -m experiments bahdanau --max-words 10       # trained on sentences of up to 10 words

Writes book/results/<model>.<data>.json; see `translation_harness.py`.
"""

from __future__ import annotations

import argparse

from coursekit.models.translation import AttentionTranslator, FixedContext
from solutions.bahdanau.scores import AdditiveAttention
from solutions.bahdanau.translator import AttentionDecoder, BidirectionalEncoder

from . import translation_harness


def build(options: argparse.Namespace, source_size: int, target_size: int) -> AttentionTranslator:
    """Return the chapter's translator, or the same one with one context for all steps."""
    d, additive = options.width, options.attention == "additive"
    looks = AdditiveAttention(d, 2 * d, d) if additive else FixedContext()
    encoder = BidirectionalEncoder(source_size, d, d, options.dropout)
    decoder = AttentionDecoder(target_size, d, d, 2 * d, looks, options.dropout)
    return AttentionTranslator(encoder, decoder)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = translation_harness.parser(__doc__)
    arguments.add_argument("--attention", choices=["additive", "fixed"], default="additive")
    return arguments


def main(options: argparse.Namespace) -> None:
    """Train with each seed and record."""
    limit = "all" if options.max_words >= 100 else str(options.max_words)
    name = {"additive": "rnnsearch", "fixed": "rnnencdec"}[options.attention]
    plan = translation_harness.Plan(
        lambda source, target: build(options, source, target),
        attends=options.attention == "additive",
    )
    translation_harness.record(f"{name}-{limit}", "bahdanau", options, plan)
