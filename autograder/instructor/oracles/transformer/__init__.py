"""Oracles of the assignment `transformer`, one module for each notebook."""

from autograder.instructor.oracles.transformer import attention, layers, model

ORACLES = {**attention.ORACLES, **layers.ORACLES, **model.ORACLES}
