"""The exercises written down once more, in numpy: what the oracles are compared with.

A formula gets what the oracle gets, inputs and weights as arrays, and returns the outputs by name.
"""

from . import bahdanau, captioning, embeddings, han, luong, sentences, seq2seq

FORMULAS = {
    **embeddings.FORMULAS,
    **seq2seq.FORMULAS,
    **bahdanau.FORMULAS,
    **luong.FORMULAS,
    **captioning.FORMULAS,
    **sentences.FORMULAS,
    **han.FORMULAS,
}
