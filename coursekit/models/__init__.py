"""Baseline models, and the batches, losses and decoding around the students' models."""
