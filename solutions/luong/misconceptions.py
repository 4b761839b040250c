"""Mistakes that people really make in the assignment `luong`, one module for each notebook."""

from solutions.luong import misconceptions_decoder, misconceptions_local, misconceptions_scores

MISCONCEPTIONS = {
    **misconceptions_scores.MISCONCEPTIONS,
    **misconceptions_decoder.MISCONCEPTIONS,
    **misconceptions_local.MISCONCEPTIONS,
}
