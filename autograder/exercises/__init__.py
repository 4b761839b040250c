"""All exercises, each declared once, by name."""

from autograder.exercise import Exercise
from autograder.exercises import (
    bahdanau,
    bert,
    captioning,
    embeddings,
    han,
    luong,
    sentences,
    seq2seq,
    transformer,
)

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise
    for assignment in (
        embeddings,
        seq2seq,
        bahdanau,
        luong,
        captioning,
        sentences,
        han,
        transformer,
        bert,
    )
    for exercise in assignment.EXERCISES
}
