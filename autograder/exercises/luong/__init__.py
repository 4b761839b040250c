"""The exercises of the assignment `luong`, one module for each notebook."""

from autograder.exercise import Exercise
from autograder.exercises.luong import decoder, local, scores

EXERCISES: list[Exercise] = [*scores.EXERCISES, *decoder.EXERCISES, *local.EXERCISES]
