"""Mistakes that people really make in the assignment `bert`: one module for each notebook, and one
for checkpoints."""

from solutions.bert import (
    misconceptions_finetuning,
    misconceptions_inputs,
    misconceptions_loading,
    misconceptions_pretraining,
)

MISCONCEPTIONS = {
    **misconceptions_inputs.MISCONCEPTIONS,
    **misconceptions_pretraining.MISCONCEPTIONS,
    **misconceptions_loading.MISCONCEPTIONS,
    **misconceptions_finetuning.MISCONCEPTIONS,
}
