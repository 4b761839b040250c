"""Mutants of the solutions, each with one place changed."""
