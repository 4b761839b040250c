"""The exercises of the assignment `han`, one module for each notebook."""

from autograder.exercise import Exercise
from autograder.exercises.han import attention, network

EXERCISES: list[Exercise] = [*attention.EXERCISES, *network.EXERCISES]
