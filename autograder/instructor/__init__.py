"""The instructor's side: oracles, hidden tests, fixtures and notebooks. Never given to students."""

from autograder.instructor.examining import examine

__all__ = ["examine"]
