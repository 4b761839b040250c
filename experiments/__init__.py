"""The recorded experiments behind the book's comparisons, with their results in book/results."""
