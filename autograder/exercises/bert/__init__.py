"""The exercises of the assignment `bert`: one module for each notebook, and one for checkpoints."""

from autograder.exercise import Exercise
from autograder.exercises.bert import finetuning, inputs, loading, pretraining

EXERCISES: list[Exercise] = [
    *inputs.EXERCISES,
    *pretraining.EXERCISES,
    *loading.EXERCISES,
    *finetuning.EXERCISES,
]
