"""Train the translators without attention at full size on Multi30k and record their scores.

    python -m experiments seq2seq                  # LSTM, source reversed (Sutskever et al. 2014)
    python -m experiments seq2seq --order forward  # the same, source not reversed
    python -m experiments seq2seq --model gru      # GRU, context at every step (Cho et al. 2014)

Writes book/results/<model>.<data>.json; see `translation_harness.py`.
"""

from __future__ import annotations

import argparse

from coursekit.models.translation import ContextTranslator, SequenceTranslator, Translator
from solutions.seq2seq.encoder_decoder import ContextDecoder, Encoder, Seq2Seq, reverse_source

from . import translation_harness

EMBEDDING = 256
PAPER = {"lstm": "reversed", "gru": "forward"}  # the order in which each paper reads the source


def build(
    options: argparse.Namespace, order: str, source_size: int, target_size: int
) -> Translator:
    """Return the chapter's LSTM or GRU translator, with the source reversed or not."""
    prepare = reverse_source if order == "reversed" else None
    width, dropout = options.width, options.dropout
    if options.model == "lstm":
        lstm = Seq2Seq(source_size, target_size, EMBEDDING, width, dropout)
        return SequenceTranslator(lstm, prepare)
    encoder = Encoder(source_size, EMBEDDING, width, dropout)
    decoder = ContextDecoder(target_size, EMBEDDING, width, dropout)
    return ContextTranslator(encoder, decoder, prepare)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    arguments = translation_harness.parser(__doc__)
    arguments.add_argument("--model", choices=list(PAPER), default="lstm")
    arguments.add_argument(
        "--order",
        choices=list(PAPER.values()),
        help="reading order of the source; default: that of the model's paper",
    )
    arguments.set_defaults(width=512, dropout=0.3)
    return arguments


def main(options: argparse.Namespace) -> None:
    """Train with each seed and record."""
    order = options.order or PAPER[options.model]
    name = f"seq2seq-{options.model}"
    if order != PAPER[options.model]:
        name += f"-{order}"
    plan = translation_harness.Plan(lambda source, target: build(options, order, source, target))
    translation_harness.record(name, "seq2seq", options, plan)
