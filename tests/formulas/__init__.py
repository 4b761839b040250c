"""The exercises written down once more, in numpy: what the oracles are compared with.

A formula gets what the oracle gets, inputs and weights as arrays, and returns the outputs by name.
"""

from . import (
    bahdanau,
    bert_inputs,
    bert_pretraining,
    captioning,
    embeddings,
    han,
    luong,
    sentences,
    seq2seq,
    transformer,
    transformer_layers,
    transformer_model,
)

FORMULAS = {
    **embeddings.FORMULAS,
    **seq2seq.FORMULAS,
    **bahdanau.FORMULAS,
    **luong.FORMULAS,
    **captioning.FORMULAS,
    **sentences.FORMULAS,
    **han.FORMULAS,
    **transformer.FORMULAS,
    **transformer_layers.FORMULAS,
    **transformer_model.FORMULAS,
    **bert_inputs.FORMULAS,
    **bert_pretraining.FORMULAS,
}
