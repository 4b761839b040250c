"""Answers to the exercises of the assignment `bahdanau`, one module for each exercise."""
