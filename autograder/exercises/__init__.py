"""All exercises, each declared once, by name."""

from autograder.exercise import Exercise
from autograder.exercises import bahdanau

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise for assignment in (bahdanau,) for exercise in assignment.EXERCISES
}
