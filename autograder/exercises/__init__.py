"""All exercises, each declared once, by name."""

from autograder.exercise import Exercise
from autograder.exercises import bahdanau, embeddings, luong, seq2seq

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise
    for assignment in (embeddings, seq2seq, bahdanau, luong)
    for exercise in assignment.EXERCISES
}
