"""The exercises of the assignment `transformer`, one module for each notebook."""

from autograder.exercise import Exercise
from autograder.exercises.transformer import attention, layers, model

EXERCISES: list[Exercise] = [*attention.EXERCISES, *layers.EXERCISES, *model.EXERCISES]
