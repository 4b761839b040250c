"""Train the translators without attention at full size on Multi30k and record what they reach.

    python book/runs/seq2seq.py                     # LSTM, source reversed (Sutskever et al. 2014)
    python book/runs/seq2seq.py --order forward     # the same, source as it stands
    python book/runs/seq2seq.py --model gru         # GRU, context at every step (Cho et al. 2014)

Writes book/results/<model>.<data>.json; `harness.py` says how.
"""

from __future__ import annotations

from harness import parser, record
from torch import nn

from coursekit.translators import ContextTranslator, SequenceTranslator
from solutions.seq2seq.encoder_decoder import ContextDecoder, Encoder, Seq2Seq, reverse_source

EMBEDDING = 256
PAPER = {"lstm": "reversed", "gru": "forward"}  # the order in which each paper reads the source


def build(
    model: str, order: str, source_size: int, target_size: int, width: int, dropout: float
) -> nn.Module:
    """Return the LSTM or the GRU of the chapter, its source reversed or not."""
    prepare = reverse_source if order == "reversed" else None
    if model == "lstm":
        lstm = Seq2Seq(source_size, target_size, EMBEDDING, width, dropout)
        return SequenceTranslator(lstm, prepare)
    encoder = Encoder(source_size, EMBEDDING, width, dropout)
    decoder = ContextDecoder(target_size, EMBEDDING, width, dropout)
    return ContextTranslator(encoder, decoder, prepare)


def main() -> None:
    """Read the command line, train with each seed, record."""
    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument("--model", choices=["lstm", "gru"], default="lstm")
    arguments.add_argument(
        "--order",
        choices=list(PAPER.values()),
        help="how the source is read; left out: as in the model's paper",
    )
    arguments.set_defaults(width=512, dropout=0.3)
    options = arguments.parse_args()
    order = options.order or PAPER[options.model]
    name = f"seq2seq-{options.model}"
    if order != PAPER[options.model]:
        name += f"-{order}"
    record(
        name,
        "book/runs/seq2seq.py",
        options,
        lambda source, target: build(
            options.model, order, source, target, options.width, options.dropout
        ),
        False,
        arguments.parse_args([]),
    )


if __name__ == "__main__":
    main()
