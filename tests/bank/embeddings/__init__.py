"""Answers to the exercises of the assignment `embeddings`, one module for each exercise."""
