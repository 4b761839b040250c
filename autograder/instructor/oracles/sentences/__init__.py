"""Oracles of the assignment `sentences`, one module for each notebook."""

from autograder.instructor.oracles.sentences import pooling, structured

ORACLES = {**pooling.ORACLES, **structured.ORACLES}
