"""Answers to the exercises of the assignment `luong`, one module for each exercise."""
