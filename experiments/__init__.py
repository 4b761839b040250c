"""The recorded experiments: what the book compares, run by a command into book/results."""
