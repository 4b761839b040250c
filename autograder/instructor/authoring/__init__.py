"""Turns masters into notebooks, reference solutions and known mistakes."""
