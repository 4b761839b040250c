"""Answers to the exercises of the assignment `bert`, one module for each exercise."""
