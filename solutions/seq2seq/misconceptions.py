"""Mistakes that people really make in the assignment `seq2seq`, one module for each notebook."""

from solutions.seq2seq import (
    misconceptions_cells,
    misconceptions_decoding,
    misconceptions_encoder_decoder,
)

MISCONCEPTIONS = {
    **misconceptions_cells.MISCONCEPTIONS,
    **misconceptions_encoder_decoder.MISCONCEPTIONS,
    **misconceptions_decoding.MISCONCEPTIONS,
}
