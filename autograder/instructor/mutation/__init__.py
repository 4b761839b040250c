"""Mutants of the solutions: one place changed in each."""
