"""Compares outcomes with expected values and identifies the mistake."""
