"""Answers to the exercises of the assignment `sentences`, one module for each exercise."""
