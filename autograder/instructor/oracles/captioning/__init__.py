"""Oracles of the assignment `captioning`, one module for each notebook."""

from autograder.instructor.oracles.captioning import attention, captioner

ORACLES = {**attention.ORACLES, **captioner.ORACLES}
