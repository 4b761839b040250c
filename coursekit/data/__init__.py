"""Batches and examples for training, and what chapters and notebooks train on."""
