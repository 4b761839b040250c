"""Explorers that run a trained model in the reader's browser.

`pack` writes the weights as text, engine.js computes with them, and each explorer adds its display.
"""
