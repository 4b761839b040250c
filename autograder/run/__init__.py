"""Runs an answer on a case, with forbidden operators disabled."""
