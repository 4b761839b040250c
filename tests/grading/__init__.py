"""Tests of the grading of a class."""
