"""Compares the tensors on an answer's way to its result with those on the solution's way."""
