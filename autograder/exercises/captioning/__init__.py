"""The exercises of the assignment `captioning`, one module for each notebook."""

from autograder.exercise import Exercise
from autograder.exercises.captioning import attention, captioner

EXERCISES: list[Exercise] = [*attention.EXERCISES, *captioner.EXERCISES]
