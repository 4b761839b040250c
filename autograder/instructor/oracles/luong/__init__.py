"""Oracles of the assignment `luong`, one module for each notebook."""

from autograder.instructor.oracles.luong import decoder, local, scores

ORACLES = {**scores.ORACLES, **decoder.ORACLES, **local.ORACLES}
