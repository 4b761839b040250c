"""Data model: exercises with their cases, calls and inputs, and the outcomes of answers."""
