"""Grades a class: runs submissions in a sandbox, judges outside it, records grades."""
