"""Mistakes that people really make in the assignment `sentences`, one module for each notebook."""

from solutions.sentences import misconceptions_pooling, misconceptions_structured

MISCONCEPTIONS = {
    **misconceptions_pooling.MISCONCEPTIONS,
    **misconceptions_structured.MISCONCEPTIONS,
}
