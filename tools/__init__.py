"""The commands that build the book, its notebooks and its PDF."""
