"""Answers to the exercises of the assignment `captioning`, one module for each exercise."""
