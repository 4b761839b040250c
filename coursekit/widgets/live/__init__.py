"""Widgets that run a trained model in the reader's browser.

`pack` writes the weights as text, engine.js computes with them; each explorer adds what is seen.
"""
