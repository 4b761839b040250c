"""Compares outcomes with expected values and names the mistake."""
