"""Oracles of the assignment `han`, one module for each notebook."""

from autograder.instructor.oracles.han import attention, network

ORACLES = {**attention.ORACLES, **network.ORACLES}
