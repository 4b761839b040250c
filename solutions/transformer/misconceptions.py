"""Mistakes that people really make in the assignment `transformer`, one module for each notebook."""

from solutions.transformer import (
    misconceptions_attention,
    misconceptions_layers,
    misconceptions_model,
)

MISCONCEPTIONS = {
    **misconceptions_attention.MISCONCEPTIONS,
    **misconceptions_layers.MISCONCEPTIONS,
    **misconceptions_model.MISCONCEPTIONS,
}
