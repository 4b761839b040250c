"""Grading a class: submissions in, verdicts computed apart from the students' code, grades out."""
