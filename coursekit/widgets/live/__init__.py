"""Explorers in which a trained model of the page runs in the reader's browser.

`pack` writes the weights as text, engine.js computes with them; each explorer adds what is seen.
"""
