"""Answers to the exercises of the assignment `transformer`, one module for each exercise."""
