"""Answers to the exercises of the assignment `han`, one module for each exercise."""
