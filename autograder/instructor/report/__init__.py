"""Builds the instructor's report about a graded class."""
