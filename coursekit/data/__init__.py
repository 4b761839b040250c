"""Training data of chapters and notebooks, batching, and the list of papers."""
