"""All exercises, each declared once, by name."""

from autograder.exercise import Exercise
from autograder.exercises import (
    bahdanau,
    captioning,
    embeddings,
    han,
    luong,
    sentences,
    seq2seq,
)

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise
    for assignment in (embeddings, seq2seq, bahdanau, luong, captioning, sentences, han)
    for exercise in assignment.EXERCISES
}
