"""The exercises of the assignment `sentences`, one module for each notebook."""

from autograder.exercise import Exercise
from autograder.exercises.sentences import pooling, structured

EXERCISES: list[Exercise] = [*pooling.EXERCISES, *structured.EXERCISES]
