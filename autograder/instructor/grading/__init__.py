"""Grades a class: runs submissions in a sandbox, judges them outside it, records grades."""
