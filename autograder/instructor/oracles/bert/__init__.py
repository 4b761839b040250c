"""Oracles of the assignment `bert`: one module for each notebook, and one for checkpoints."""

from autograder.instructor.oracles.bert import finetuning, inputs, loading, pretraining

ORACLES = {
    **inputs.ORACLES,
    **pretraining.ORACLES,
    **loading.ORACLES,
    **finetuning.ORACLES,
}
