"""Mistakes that people really make in the assignment `han`, one module for each notebook."""

from solutions.han import misconceptions_attention, misconceptions_network

MISCONCEPTIONS = {
    **misconceptions_attention.MISCONCEPTIONS,
    **misconceptions_network.MISCONCEPTIONS,
}
