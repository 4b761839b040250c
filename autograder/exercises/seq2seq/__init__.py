"""The exercises of the assignment `seq2seq`, one module for each notebook."""

from autograder.exercise import Exercise
from autograder.exercises.seq2seq import cells, decoding, encoder_decoder

EXERCISES: list[Exercise] = [*cells.EXERCISES, *encoder_decoder.EXERCISES, *decoding.EXERCISES]
