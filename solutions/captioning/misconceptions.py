"""Mistakes that people really make in the assignment `captioning`, one module for each notebook."""

from solutions.captioning import misconceptions_attention, misconceptions_captioner

MISCONCEPTIONS = {
    **misconceptions_attention.MISCONCEPTIONS,
    **misconceptions_captioner.MISCONCEPTIONS,
}
